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

/* "USER 0 1": the person's own number, which is 0 outside of this namespace. */
static void write_map(const char *path, const char *user) {
  char line[32];
  word used = length(user);
  if (used > 10) {
    refuse("arguments");
  }
  for (word at = 0; at < used; at++) {
    line[at] = user[at];
  }
  const char *rest = " 0 1";
  for (word at = 0; at <= length(rest); at++) {
    line[used + at] = rest[at];
  }
  write_text(path, line);
}

void forbid_user_namespaces(void) {
  write_text("/proc/sys/user/max_user_namespaces", "1");
}

/* As bubblewrap's --disable-userns does it: the one namespace that the limit allows is taken, and it owns no mount. */
void enter_last_namespace(const char *user, const char *group) {
  if (CALL(__NR_unshare, CLONE_NEWUSER, 0, 0, 0) != 0) {
    refuse("user namespace");
  }
  write_text("/proc/self/setgroups", "deny");
  write_map("/proc/self/uid_map", user);
  write_map("/proc/self/gid_map", group);
}

void drop_capabilities(void) {
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
