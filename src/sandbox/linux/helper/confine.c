#include "helper.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

#define MAX_INSTRUCTIONS 1024

/* linux/landlock.h of Linux 6.12; the headers of the machine that builds may be older. */
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_SCOPE_ABSTRACT_SOCKETS 1

/* linux/seccomp.h of Linux 5.19 */
#define RET_USER_NOTIF 0x7fc00000U
#define FLAG_NEW_LISTENER (1UL << 3)
#define FLAG_WAIT_KILLABLE_RECV (1UL << 5)

/* Node leaves SIGPIPE and SIGXFSZ ignored in what it starts; a command expects the defaults. */
void reset_signals(void) {
  static const word defaults[4];
  static const word none;
  for (int number = 1; number <= SIGNAL_COUNT; number++) {
    if (number != SIGKILL_ && number != SIGSTOP_) {
      CALL(__NR_rt_sigaction, number, defaults, 0, SIGSET_BYTES);
    }
  }
  if (CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &none, 0, SIGSET_BYTES) != 0) {
    refuse("signal mask");
  }
}

static int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') {
    return digit - '0';
  }
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static long install(const struct sock_fprog *program, word flags) {
  return CALL(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, program, 0);
}

/* Puts one kind of answer in the place of another wherever the program answers with "not permitted" or "no such family". */
static void change_answers(const struct sock_fprog *program, unsigned from, unsigned to) {
  for (int at = 0; at < program->len; at++) {
    struct sock_filter *line = &program->filter[at];
    if (line->code == (BPF_RET | BPF_K) && (line->k == (from | EPERM) || line->k == (from | EAFNOSUPPORT))) {
      line->k = to | (line->k & SECCOMP_RET_DATA);
    }
  }
}

/* Linux before 5.0 has no listeners, and nobody gets a second one: the sandbox inside of another goes without. */
static long install_with_listener(const struct sock_fprog *program) {
  change_answers(program, SECCOMP_RET_ERRNO, RET_USER_NOTIF);
  long listener = install(program, FLAG_NEW_LISTENER | FLAG_WAIT_KILLABLE_RECV);
  if (listener == -EINVAL) {
    listener = install(program, FLAG_NEW_LISTENER); /* before Linux 5.19 */
  }
  change_answers(program, RET_USER_NOTIF, SECCOMP_RET_ERRNO);
  return listener;
}

long load_filter(const char *hex, int is_heard) {
  static struct sock_filter instructions[MAX_INSTRUCTIONS];
  unsigned char *bytes = (unsigned char *)instructions;
  word digits = length(hex);
  word size = digits / 2;
  if (size == 0 || digits % 16 != 0 || size > sizeof instructions) {
    refuse("length of the seccomp program");
  }
  for (word at = 0; at < size; at++) {
    int high = hex_digit(hex[2 * at]);
    int low = hex_digit(hex[2 * at + 1]);
    if (high < 0 || low < 0) {
      refuse("text of the seccomp program");
    }
    bytes[at] = (unsigned char)(high << 4 | low);
  }
  struct sock_fprog program = {(unsigned short)(size / sizeof(struct sock_filter)), instructions};
  long listener = is_heard ? install_with_listener(&program) : -1;
  if (listener < 0 && install(&program, 0) != 0) {
    refuse("loading the seccomp program");
  }
  return listener;
}

/*
 * Abstract Unix sockets belong to the network namespace, so with the network on the command could talk to every
 * such service of the machine (X11, D-Bus, container shims). Landlock's scopes stop that from Linux 6.12 on; before,
 * the kernel answers ENOSYS, EOPNOTSUPP, E2BIG or EINVAL, and the policy's other clauses hold as they are.
 */
void scope_abstract_sockets(void) {
  const unsigned long long attributes[3] = {0, 0, LANDLOCK_SCOPE_ABSTRACT_SOCKETS};
  long rules = CALL(NR_LANDLOCK_CREATE_RULESET, attributes, sizeof attributes, 0, 0);
  if (rules < 0) {
    return;
  }
  if (CALL(NR_LANDLOCK_RESTRICT_SELF, rules, 0, 0, 0) != 0) {
    refuse("Landlock scope");
  }
  CALL(__NR_close, rules, 0, 0, 0);
}
