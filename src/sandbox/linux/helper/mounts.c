/*
 * The mounts of the sandbox, made by its process 1 while it still may. bubblewrap can make them too, but it reads the
 * whole table of mounts anew for each of them (0.2 ms, and more on a machine that has many); the kernel's own newer
 * calls take some microseconds. No path of the list may lead over a symbolic link: what was planned outside is what
 * is mounted here, or nothing is run.
 */
#include "helper.h"

#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#define MAX_MOUNTS 4096
#define MODE_FOLDER 0040000
#define MODE_FILE 0100000
#define MODE_TYPE 0170000
#define READ_ONLY MOUNT_ATTR_RDONLY
#define UNPRIVILEGED (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

enum kind { WRITABLE, READABLE, SCRATCH, VEIL, EMPTY, NONE, LINK };

static const struct {
  const char *name;
  int has_source;
} kinds[] = {{"write", 1}, {"read", 1}, {"scratch", 0}, {"veil", 0}, {"empty", 0}, {"none", 0}, {"link", 1}};

static struct entry {
  int kind;
  int tree;
  const char *source;
  const char *path;
} entries[MAX_MOUNTS];
static int count;

static void __attribute__((noreturn)) refuse_at(const char *path) {
  say("the sandbox could not be set up, nothing was run (mount on ", path, ")");
  leave(EXIT_SETUP);
}

static int open_path(const char *path) {
  struct open_how how = {O_PATH | O_CLOEXEC, 0, RESOLVE_NO_SYMLINKS};
  return (int)CALL(__NR_openat2, AT_FDCWD, path, &how, sizeof how);
}

static void set_attributes(int folder, const char *path, word set, word clear, int is_recursive) {
  struct mount_attr attributes = {set, clear, 0, 0};
  word flags = AT_EMPTY_PATH | (is_recursive ? AT_RECURSIVE : 0);
  if (call6(__NR_mount_setattr, (word)folder, (word)path, flags, (word)&attributes, sizeof attributes, 0) != 0) {
    refuse_at(path);
  }
}

static unsigned mode_of(int descriptor) {
  struct statx found;
  if (call6(__NR_statx, (word)descriptor, (word) "", AT_EMPTY_PATH, STATX_TYPE, (word)&found, 0) != 0) {
    refuse("type of a mount");
  }
  return found.stx_mode & MODE_TYPE;
}

static int clone_of(int place, const char *path) {
  long tree = CALL(__NR_open_tree, place, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE, 0);
  CALL(__NR_close, place, 0, 0, 0);
  if (tree < 0) {
    refuse_at(path);
  }
  return (int)tree;
}

static int new_memory(const char *mode, const char *path) {
  long context = CALL(__NR_fsopen, "tmpfs", FSOPEN_CLOEXEC, 0, 0);
  if (context < 0 || call6(__NR_fsconfig, (word)context, FSCONFIG_SET_STRING, (word) "mode", (word)mode, 0, 0) != 0 ||
      call6(__NR_fsconfig, (word)context, FSCONFIG_CMD_CREATE, 0, 0, 0, 0) != 0) {
    refuse_at(path);
  }
  long tree = CALL(__NR_fsmount, context, FSMOUNT_CLOEXEC, UNPRIVILEGED, 0);
  CALL(__NR_close, context, 0, 0, 0);
  if (tree < 0) {
    refuse_at(path);
  }
  return (int)tree;
}

static int is_inside(const char *path, const char *folder) {
  word size = length(folder);
  for (word at = 0; at < size; at++) {
    if (path[at] != folder[at]) {
      return 0;
    }
  }
  return path[size] == '/';
}

/* Mount points are made in memory only: on the disk they are somebody else's, who also takes them away again. */
static void make_folders(const struct entry *entry) {
  static char folder[MAX_PATH];
  const struct entry *holder = 0;
  for (const struct entry *before = entries; before < entry; before++) {
    if (is_inside(entry->path, before->path)) {
      holder = before;
    }
  }
  if (holder == 0 || (holder->kind != SCRATCH && holder->kind != VEIL) || length(entry->path) >= sizeof folder) {
    refuse_at(entry->path);
  }
  word at = 0;
  for (; entry->path[at] != 0; at++) {
    if (entry->path[at] == '/' && at > length(holder->path)) {
      folder[at] = 0;
      CALL(__NR_mkdirat, AT_FDCWD, folder, 0755, 0);
    }
    folder[at] = entry->path[at];
  }
}

static void place(const struct entry *entry, int tree) {
  int target = open_path(entry->path);
  if (target == -ENOENT) {
    make_folders(entry);
    if (mode_of(tree) == MODE_FOLDER) {
      CALL(__NR_mkdirat, AT_FDCWD, entry->path, 0755, 0);
    } else {
      CALL(__NR_mknodat, AT_FDCWD, entry->path, MODE_FILE | 0644, 0);
    }
    target = open_path(entry->path);
  }
  if (target < 0 || call6(__NR_move_mount, (word)tree, (word) "", (word)target, (word) "",
                          MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH, 0) != 0) {
    refuse_at(entry->path);
  }
  CALL(__NR_close, target, 0, 0, 0);
}

/*
 * One file system for everything that shows nothing. It is attached, because older kernels clone no other, and lies
 * hidden under the first mount in memory that the list has.
 */
static int new_nothing(const struct entry *cover) {
  int tree = new_memory("755", cover->path);
  if (CALL(__NR_mkdirat, tree, "folder", 0555, 0) != 0 || CALL(__NR_mkdirat, tree, "sealed", 0, 0) != 0 ||
      CALL(__NR_mknodat, tree, "file", MODE_FILE, 0) != 0) {
    refuse_at(cover->path);
  }
  set_attributes(tree, "", READ_ONLY, 0, 0);
  place(cover, tree);
  return tree;
}

static int clone_of_nothing(int nothing, const struct entry *entry) {
  const char *name = "folder";
  if (entry->kind == NONE) {
    int hidden = open_path(entry->path);
    if (hidden < 0) {
      refuse_at(entry->path);
    }
    name = mode_of(hidden) == MODE_FOLDER ? "sealed" : "file";
    CALL(__NR_close, hidden, 0, 0, 0);
  }
  return clone_of((int)CALL(__NR_openat, nothing, name, O_PATH | O_CLOEXEC, 0), entry->path);
}

static void read_list(char **list) {
  while (*list != 0 && !is_same(*list, "--")) {
    int kind = 0;
    while (!is_same(*list, kinds[kind].name)) {
      if (++kind == sizeof kinds / sizeof kinds[0]) {
        refuse("list of mounts");
      }
    }
    if (count == MAX_MOUNTS || list[1] == 0 || (kinds[kind].has_source && list[2] == 0)) {
      refuse("list of mounts");
    }
    entries[count].kind = kind;
    entries[count].source = *++list;
    list += kinds[kind].has_source;
    entries[count++].path = *list++;
  }
}

/* Everything at once; bubblewrap's own two folders keep what they allow. */
static void make_root_read_only(void) {
  set_attributes(AT_FDCWD, "/", READ_ONLY, 0, 1);
  set_attributes(AT_FDCWD, "/dev", 0, READ_ONLY, 1);
  set_attributes(AT_FDCWD, "/proc", 0, READ_ONLY, 0);
}

void make_mounts(char **list) {
  read_list(list);
  /* Sources first: what follows may cover them. */
  for (struct entry *entry = entries; entry < entries + count; entry++) {
    if (entry->kind == WRITABLE || entry->kind == READABLE) {
      entry->tree = clone_of(open_path(entry->source), entry->source);
    }
  }
  int nothing = -1;
  for (struct entry *entry = entries; entry < entries + count; entry++) {
    if (is_same(entry->path, "/")) {
      if (entry->kind == READABLE) {
        make_root_read_only();
      }
      continue;
    }
    switch (entry->kind) {
    case READABLE:
      set_attributes(entry->tree, "", READ_ONLY, 0, 1);
      break;
    case SCRATCH:
    case VEIL:
      if (nothing < 0) {
        nothing = new_nothing(entry);
      }
      entry->tree = new_memory(entry->kind == SCRATCH ? "1777" : "755", entry->path);
      break;
    case EMPTY:
    case NONE:
      entry->tree = clone_of_nothing(nothing, entry);
      break;
    case LINK:
      make_folders(entry);
      if (CALL(__NR_symlinkat, entry->source, AT_FDCWD, entry->path, 0) != 0) {
        refuse_at(entry->path);
      }
      continue;
    }
    place(entry, entry->tree);
  }
  /* Last, because mount points had to be made in them. */
  for (const struct entry *entry = entries; entry < entries + count; entry++) {
    if (entry->kind == VEIL) {
      set_attributes(entry->tree, "", READ_ONLY, 0, 0);
    }
  }
}
