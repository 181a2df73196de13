/* The kernel's newer calls for mounts, on descriptors instead of paths. Whatever fails ends the set-up. */
#include "helper.h"

#include <linux/mount.h>
#include <linux/openat2.h>

void refuse_at(const char *path) {
  say("the sandbox could not be set up, nothing was run (mount on ", path, ")");
  leave(EXIT_SETUP);
}

int open_in(int folder, const char *path) {
  struct open_how how = {O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS | RESOLVE_IN_ROOT};
  return (int)CALL(__NR_openat2, folder, path, &how, sizeof how);
}

void set_attributes(int tree, const char *path, word set, word cleared, word propagation, word flags) {
  struct mount_attr change = {set, cleared, propagation, 0};
  if (call6(__NR_mount_setattr, (word)tree, (word) "", AT_EMPTY_PATH | flags, (word)&change, sizeof change, 0) != 0) {
    refuse_at(path);
  }
}

int clone_of(long place, const char *path) {
  long tree = CALL(__NR_open_tree, place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE, 0);
  CALL(__NR_close, place, 0, 0, 0);
  if (tree < 0) {
    refuse_at(path);
  }
  return (int)tree;
}

static void configure(long context, const char *option, const char *value, const char *path) {
  if (value != 0 &&
      call6(__NR_fsconfig, (word)context, FSCONFIG_SET_STRING, (word)option, (word)value, 0, 0) != 0) {
    refuse_at(path);
  }
}

int new_file_system(const char *type, const char *mode, word attributes, const char *path) {
  long context = CALL(__NR_fsopen, type, FSOPEN_CLOEXEC, 0, 0);
  if (context < 0) {
    refuse_at(path);
  }
  configure(context, "mode", mode, path);
  configure(context, "ptmxmode", is_same(type, "devpts") ? "666" : 0, path);
  if (call6(__NR_fsconfig, (word)context, FSCONFIG_CMD_CREATE, 0, 0, 0, 0) != 0) {
    refuse_at(path);
  }
  long tree = CALL(__NR_fsmount, context, FSMOUNT_CLOEXEC, attributes, 0);
  CALL(__NR_close, context, 0, 0, 0);
  if (tree < 0) {
    refuse_at(path);
  }
  return (int)tree;
}

void move_to(int tree, int target, const char *path) {
  if (target < 0 || call6(__NR_move_mount, (word)tree, (word) "", (word)target, (word) "",
                          MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH, 0) != 0) {
    refuse_at(path);
  }
  CALL(__NR_close, target, 0, 0, 0);
}
