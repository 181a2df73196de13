/*
 * Confinement without namespaces, for machines on which bubblewrap cannot start.
 *
 *   launch --landlock --seccomp HEX [--limit NAME NUMBER]... [--network] [--foreground]
 *          (--read PATH | --device PATH)... -- ARGV...
 *       Three processes, each confined more than the one before: the launcher, known to whoever started it; the
 *       warden, which ends everything when the command or the launcher ends; and the command. What the arguments do
 *       not open is closed: reading, running, writing, TCP (unless --network), devices' ioctls, signals and abstract
 *       sockets to the outside.
 *
 * There is no process namespace whose end would be everybody's end. Instead the launcher and the warden each have a
 * Landlock domain of their own, which scopes signals: `kill(-1)` from there reaches exactly what they started, in
 * one step that no fork can outrun, and nothing that they started can signal them. One of them may be killed at any
 * moment: the other ends everything.
 */
#include "helper.h"

#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/securebits.h>

/* linux/landlock.h of Linux 6.12; the headers of the machine that builds may be older. */
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE 445
#define NR_LANDLOCK_RESTRICT_SELF 446
#define CREATE_RULESET_VERSION 1
#define RULE_PATH_BENEATH 1
#define NEEDED_VERSION 6
#define FS_EXECUTE 0x1
#define FS_WRITE_FILE 0x2
#define FS_READ_FILE 0x4
#define FS_READ_DIR 0x8
#define FS_IOCTL_DEV 0x8000
#define FS_ALL 0xffff
#define NET_BIND_AND_CONNECT_TCP 0x3
#define SCOPE_ABSTRACT_SOCKETS 0x1
#define SCOPE_SIGNALS 0x2

#define RESOLVE_NO_LINKS 0x6 /* linux/openat2.h: RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS */
#define O_PATH_ 010000000
#define O_CLOEXEC_ 02000000
#define SIGTERM_ 15
#define WNOHANG_ 1
#define WUNTRACED_ 2
#define WALL_ 0x40000000
#define ALL_SECURE_BITS (SECURE_ALL_BITS | SECURE_ALL_LOCKS)

struct options {
  const char *filter;
  int is_network_on;
  int is_foreground;
  char **all;
  char **grants; /* pairs of option and path, up to the command */
  char **command;
};

int landlock_version(void) {
  long version = CALL(NR_LANDLOCK_CREATE_RULESET, 0, 0, CREATE_RULESET_VERSION, 0);
  return version < 0 ? 0 : (int)version;
}

/* Capabilities would go around modes of files and, for root, around much else; no command needs one. */
static void drop_capabilities(void) {
  for (int capability = 0; capability < 64; capability++) {
    CALL(__NR_prctl, PR_CAPBSET_DROP, capability, 0, 0);
  }
  CALL(__NR_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0);
  CALL(__NR_prctl, PR_SET_SECUREBITS, ALL_SECURE_BITS, 0, 0);
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {{0, 0, 0}, {0, 0, 0}};
  if (CALL(__NR_capset, &header, sets, 0, 0) != 0) {
    refuse("capabilities");
  }
}

static long create_ruleset(word files, word network) {
  const unsigned long long attributes[3] = {files, network, SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS};
  /* The kernel closes it when something is run. */
  long rules = CALL(NR_LANDLOCK_CREATE_RULESET, attributes, sizeof attributes, 0, 0);
  if (rules < 0) {
    refuse("Landlock rules");
  }
  return rules;
}

static void enter_domain(long rules) {
  if (CALL(NR_LANDLOCK_RESTRICT_SELF, rules, 0, 0, 0) != 0) {
    refuse("Landlock domain");
  }
  CALL(__NR_close, rules, 0, 0, 0);
}

/* A grant in /proc is forgotten with its entry, when memory is short: the warden holds it by a descriptor. */
static int must_be_held(const char *path) {
  const char *folder = "/proc/";
  while (*folder != 0 && *folder == *path) {
    folder++;
    path++;
  }
  return *folder == 0;
}

/* What is not there any more needs no opening; what became a link since it was listed must not lead elsewhere. */
static void grant(long rules, const char *path, word accesses) {
  const unsigned long long how[3] = {O_PATH_ | O_CLOEXEC_, 0, RESOLVE_NO_LINKS};
  long descriptor = CALL(__NR_openat2, AT_FDCWD, path, how, sizeof how);
  if (descriptor == -ENOENT || descriptor == -ENOTDIR || descriptor == -EACCES) {
    return;
  }
  if (descriptor < 0) {
    say("cannot open '", path, "' to grant it");
    leave(EXIT_SETUP);
  }
  struct __attribute__((packed)) {
    unsigned long long accesses;
    int descriptor;
  } rule = {accesses, (int)descriptor};
  long result = CALL(NR_LANDLOCK_ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0);
  if (result == -EINVAL && (accesses & FS_READ_DIR) != 0) {
    rule.accesses &= ~(unsigned long long)FS_READ_DIR; /* not a folder */
    result = CALL(NR_LANDLOCK_ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0);
  }
  if (result != 0) {
    say("Landlock cannot grant '", path, "'");
    leave(EXIT_SETUP);
  }
  if (!must_be_held(path)) {
    CALL(__NR_close, descriptor, 0, 0, 0);
  }
}

static long open_rules(const struct options *options) {
  const word read = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR;
  const word device = FS_READ_FILE | FS_WRITE_FILE | FS_IOCTL_DEV;
  long rules = create_ruleset(FS_ALL, options->is_network_on ? 0 : NET_BIND_AND_CONNECT_TCP);
  for (char **at = options->grants; at + 1 < options->command; at += 2) {
    grant(rules, at[1], is_same(at[0], "--read") ? read : device);
  }
  return rules;
}

static void apply_limits(const struct options *options) {
  for (char **at = options->all; at < options->grants; at++) {
    if (is_same(*at, "--limit")) {
      set_limit(at[1], at[2]);
      at += 2;
    }
  }
}

static void __attribute__((noreturn)) become_command(const struct options *options, char **envp, long rules) {
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  if (options->is_foreground) {
    if (CALL(__NR_setpgid, 0, 0, 0, 0) != 0) {
      refuse("process group");
    }
    take_foreground((int)CALL(__NR_getpid, 0, 0, 0, 0));
  } else if (CALL(__NR_setsid, 0, 0, 0, 0) < 0) {
    refuse("session");
  }
  apply_limits(options);
  enter_domain(rules);
  load_filter(options->filter, 0);
  word none = 0;
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &none, 0, SIGSET_BYTES);
  run(options->command, envp);
}

/* Reaches what lies in this process's domain and below: see the head of the file. */
static void end_everything(void) {
  long pid;
  do {
    CALL(__NR_kill, -1, SIGKILL_, 0, 0);
    do {
      pid = CALL(__NR_wait4, -1, 0, WALL_, 0);
    } while (pid > 0 || pid == -EINTR);
  } while (pid != -ECHILD);
}

/* Ends with the command, or with the launcher, whose death comes as SIGTERM; nothing that they started outlives that. */
static void __attribute__((noreturn)) keep(long command, long launcher) {
  word wanted = 1UL << (SIGCHLD_ - 1) | 1UL << (SIGTERM_ - 1);
  for (;;) {
    int status = 0;
    long pid = CALL(__NR_wait4, -1, &status, WNOHANG_ | WUNTRACED_ | WALL_, 0);
    if (pid == command && !revive(command, status)) {
      end_everything();
      leave(exit_code(status));
    }
    if (CALL(__NR_getppid, 0, 0, 0, 0) != launcher) {
      end_everything();
      leave(128 + SIGKILL_);
    }
    if (pid == 0) {
      CALL(__NR_rt_sigtimedwait, &wanted, 0, 0, SIGSET_BYTES);
    } else if (pid < 0 && pid != -EINTR) {
      refuse("waiting for the command");
    }
  }
}

static void __attribute__((noreturn)) become_warden(const struct options *options, char **envp, long launcher) {
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGTERM_, 0, 0);
  /* A group of its own: a signal to the launcher's group must not end both. */
  if (CALL(__NR_setpgid, 0, 0, 0, 0) != 0 || CALL(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0) != 0) {
    refuse("warden of the command");
  }
  if (CALL(__NR_getppid, 0, 0, 0, 0) != launcher) {
    leave(EXIT_SETUP);
  }
  enter_domain(create_ruleset(0, 0));
  long rules = open_rules(options);
  long command = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (command < 0) {
    refuse("starting a process");
  }
  if (command == 0) {
    become_command(options, envp, rules);
  }
  keep(command, launcher);
}

static struct options parse(char **argv) {
  struct options options = {0, 0, 0, argv, 0, 0};
  for (; *argv != 0; argv++) {
    if (is_same(*argv, "--network")) {
      options.is_network_on = 1;
    } else if (is_same(*argv, "--foreground")) {
      options.is_foreground = 1;
    } else if (is_same(*argv, "--arg0") && argv[1] != 0) {
      show_as(*++argv);
    } else if (is_same(*argv, "--seccomp") && argv[1] != 0) {
      options.filter = *++argv;
    } else if (is_same(*argv, "--limit") && argv[1] != 0 && argv[2] != 0) {
      argv += 2; /* for the command alone: apply_limits() */
    } else {
      break;
    }
  }
  options.grants = argv;
  while (*argv != 0 && (is_same(*argv, "--read") || is_same(*argv, "--device")) && argv[1] != 0) {
    argv += 2;
  }
  if (*argv == 0 || !is_same(*argv, "--") || argv[1] == 0 || options.filter == 0) {
    refuse("arguments");
  }
  options.command = argv + 1;
  return options;
}

void launch_with_landlock(char **argv, char **envp) {
  const struct options options = parse(argv);
  close_descriptors(3);
  reset_signals();
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  drop_capabilities();
  if (CALL(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0) != 0) {
    refuse("no new privileges");
  }
  if (landlock_version() < NEEDED_VERSION) {
    refuse("Landlock 6 (Linux 6.12)");
  }
  enter_domain(create_ruleset(0, 0));
  /* The guarantee that everything else builds on, `kill(-1)` above all, seen to hold before it is used. */
  long parent = CALL(__NR_getppid, 0, 0, 0, 0);
  if (parent > 0 && CALL(__NR_kill, parent, 0, 0, 0) == 0) {
    refuse("scope of signals");
  }
  if (CALL(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0) != 0) {
    refuse("warden of the command");
  }
  word all = ~0UL;
  word none = 0;
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &all, 0, SIGSET_BYTES);
  long launcher = CALL(__NR_getpid, 0, 0, 0, 0);
  long warden = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (warden < 0) {
    refuse("starting a process");
  }
  if (warden == 0) {
    become_warden(&options, envp, launcher);
  }
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &none, 0, SIGSET_BYTES);
  int status = 0;
  long pid;
  do {
    pid = CALL(__NR_wait4, warden, &status, WALL_, 0);
  } while (pid == -EINTR);
  end_everything();
  leave(exit_code(status));
}
