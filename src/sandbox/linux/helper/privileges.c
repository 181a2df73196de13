#include "helper.h"

#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/securebits.h>

static void write_text(const char *path, const char *text) {
  long file = CALL(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (file < 0 || CALL(__NR_write, file, text, length(text), 0) != (long)length(text)) {
    say("", path, " cannot be written");
    refuse("user namespace");
  }
  CALL(__NR_close, file, 0, 0, 0);
}

/*
 * Turns a map from "0 OUTSIDE 1" into "OUTSIDE 0 1": the person's own number, which this namespace knows as 0, becomes
 * the number of the person in the one to come.
 */
static void read_map(const char *path, char *line) {
  char map[64];
  long file = CALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  long size = CALL(__NR_read, file, map, sizeof map - 1, 0);
  CALL(__NR_close, file, 0, 0, 0);
  map[size > 0 ? size : 0] = 0;
  const char *from = map;
  while (*from == ' ') {
    from++;
  }
  if (from[0] != '0' || from[1] != ' ') {
    refuse("map of the user namespace");
  }
  from++;
  while (*from == ' ') {
    from++;
  }
  while (*from >= '0' && *from <= '9') {
    *line++ = *from++;
  }
  for (const char *rest = " 0 1"; *rest != 0;) {
    *line++ = *rest++;
  }
  *line = 0;
}

void forbid_user_namespaces(void) {
  write_text("/proc/sys/user/max_user_namespaces", "1");
}

/* As bubblewrap's --disable-userns does it: the one namespace that the limit allows is taken, and it owns no mount. */
void enter_last_namespace(void) {
  char users[80];
  char groups[80];
  read_map("/proc/self/uid_map", users);
  read_map("/proc/self/gid_map", groups);
  if (CALL(__NR_unshare, CLONE_NEWUSER, 0, 0, 0) != 0) {
    refuse("user namespace");
  }
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", users);
  write_text("/proc/self/gid_map", groups);
}

void drop_all_capabilities(void) {
  long error = 0;
  for (int capability = 0; error == 0; capability++) {
    error = CALL(__NR_prctl, PR_CAPBSET_DROP, capability, 0, 0);
  }
  const word bits = SECBIT_NOROOT | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_CAP_AMBIENT_RAISE;
  const word locks = SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  const struct __user_cap_header_struct own = {_LINUX_CAPABILITY_VERSION_3, 0};
  const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  if (error != -EINVAL || CALL(__NR_prctl, PR_SET_SECUREBITS, bits | locks, 0, 0) != 0 ||
      call6(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0) != 0 ||
      CALL(__NR_capset, &own, none, 0, 0) != 0) {
    refuse("capabilities");
  }
}
