/*
 * The launcher's companion on Linux: no library, a few kilobytes, starts in well under a millisecond.
 *
 *   launch --outer -- PATH ARGS...
 *       Before bubblewrap: closes every inherited descriptor above 2, so that neither bubblewrap nor the command
 *       ever holds one (a terminal host is known to leave pty masters and sockets inheritable), then runs PATH,
 *       handing it one descriptor that tells whether this process, bubblewrap from then on, is still alive.
 *   launch [--seccomp HEX] [--foreground] -- ARGV...
 *       Inside bubblewrap, as its command and the sandbox's process 1: descriptors again, signal dispositions,
 *       no_new_privs, Landlock scope, the seccomp program, then ARGV in a process group of its own. Process 1 is under the same
 *       filter as the command: who takes it over through /proc/1/mem has won nothing.
 *   launch --check
 *       Exits with 0: the cheapest command to try a sandbox with.
 *
 * Exit code: the command's, 128 + N for signal N; 127 not found, 126 not executable, 125 not confined, not run.
 * The filter comes as an argument because a pseudoterminal's child cannot be handed a descriptor.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

#define EXIT_SETUP 125
/* The lowest free one after all above 2 were closed. */
#define LAUNCHER_FD 3
#define MAX_INSTRUCTIONS 1024
#define MAX_PATH 4096

#define SIGKILL_ 9
#define SIGCHLD_ 17
#define SIGCONT_ 18
#define SIGSTOP_ 19
#define SIGTSTP_ 20
#define SIG_BLOCK_ 0
#define SIG_SETMASK_ 2
#define SIGNAL_COUNT 64
#define SIGSET_BYTES 8
#define TIOCSPGRP_ 0x5410
#define WUNTRACED_ 2
#define WALL_ 0x40000000

/* linux/landlock.h of Linux 6.12; the headers of the machine that builds may be older. */
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_SCOPE_ABSTRACT_SOCKETS 1

#define POLLIN_ 1

typedef unsigned long word;

static long call6(long number, word a, word b, word c, word d, word e, word f) {
#if defined(__x86_64__)
  long result;
  register word r10 __asm__("r10") = d;
  register word r8 __asm__("r8") = e;
  register word r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register word x0 __asm__("x0") = a;
  register word x1 __asm__("x1") = b;
  register word x2 __asm__("x2") = c;
  register word x3 __asm__("x3") = d;
  register word x4 __asm__("x4") = e;
  register word x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return (long)x0;
#else
#error "Only x86-64 and arm64 are supported."
#endif
}

#define CALL(number, a, b, c, d) call6(number, (word)(a), (word)(b), (word)(c), (word)(d), 0, 0)

static void leave(int code) {
  for (;;) {
    CALL(__NR_exit_group, code, 0, 0, 0);
  }
}

static word length(const char *text) {
  word count = 0;
  while (text[count] != 0) {
    count++;
  }
  return count;
}

static int is_same(const char *a, const char *b) {
  while (*a != 0 && *a == *b) {
    a++;
    b++;
  }
  return *a == *b;
}

static char line[MAX_PATH + 128];

/* One write for the whole line, so that it cannot be torn apart by other output. */
static void say(const char *before, const char *middle, const char *after) {
  const char *parts[] = {"cordon: ", before, middle, after, "\n"};
  word used = 0;
  for (int part = 0; part < 5; part++) {
    for (const char *from = parts[part]; *from != 0 && used < sizeof line; from++) {
      line[used++] = *from;
    }
  }
  CALL(__NR_write, 2, line, used, 0);
}

static void refuse(const char *step) {
  say("the sandbox could not be set up, nothing was run (", step, ")");
  leave(EXIT_SETUP);
}

/*
 * bubblewrap asks to be killed with its parent only at the end of its set-up (seen in 0.8.0). When the launcher is
 * killed before, the command would be started all the same and be nobody's. Hence a descriptor of the launcher's
 * process, made before bubblewrap and looked at after it has asked: one of the two notices any death.
 */
static void announce_launcher(void) {
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  long process = CALL(__NR_pidfd_open, CALL(__NR_getpid, 0, 0, 0, 0), 0, 0, 0);
  if (process == -ENOSYS) {
    return; /* Linux before 5.3: the window stays open. */
  }
  if (process != LAUNCHER_FD || CALL(__NR_fcntl, process, F_SETFD, 0, 0) != 0) {
    refuse("watching the launcher");
  }
}

static void check_launcher(void) {
  struct {
    int descriptor;
    short wanted;
    short found;
  } launcher = {LAUNCHER_FD, POLLIN_, 0};
  static const word no_time[2];
  if (CALL(__NR_ppoll, &launcher, 1, no_time, 0) > 0 && (launcher.found & POLLIN_) != 0) {
    refuse("the launcher has ended");
  }
}

/* close_range is Linux 5.9; before it, /proc/self/fd names what is open. */
static void close_descriptors(void) {
  if (CALL(__NR_close_range, 3, ~0U, 0, 0) == 0) {
    return;
  }
  static char entries[4096] __attribute__((aligned(8)));
  long folder = CALL(__NR_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
  if (folder < 0) {
    refuse("open descriptors");
  }
  int found;
  do {
    found = 0;
    /* Closing while reading makes the listing skip, hence again from the start until nothing is found. */
    CALL(__NR_lseek, folder, 0, 0, 0);
    long size;
    while ((size = CALL(__NR_getdents64, folder, entries, sizeof entries, 0)) > 0) {
      for (long at = 0; at < size; at += *(unsigned short *)(entries + at + 16)) {
        long number = 0;
        const char *digit = entries + at + 19;
        if (*digit < '0' || *digit > '9') {
          continue;
        }
        for (; *digit >= '0' && *digit <= '9'; digit++) {
          number = number * 10 + (*digit - '0');
        }
        if (number > 2 && number != folder) {
          CALL(__NR_close, number, 0, 0, 0);
          found = 1;
        }
      }
    }
    if (size < 0) {
      refuse("open descriptors");
    }
  } while (found);
  CALL(__NR_close, folder, 0, 0, 0);
}

/* Node leaves SIGPIPE and SIGXFSZ ignored in what it starts; a command expects the defaults. */
static void reset_signals(void) {
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

static void load_filter(const char *hex) {
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
  if (CALL(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program, 0) != 0) {
    refuse("loading the seccomp program");
  }
}

/*
 * Abstract Unix sockets belong to the network namespace, so with the network on the command could talk to every
 * such service of the machine (X11, D-Bus, container shims). Landlock's scopes stop that from Linux 6.12 on; before,
 * the kernel answers ENOSYS, EOPNOTSUPP, E2BIG or EINVAL, and the policy's other clauses hold as they are.
 */
static void scope_abstract_sockets(void) {
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

/* A file without a known format is a shell script, as every shell and execvp(3) take it. */
static long execute(const char *path, char **argv, char **envp) {
  long error = CALL(__NR_execve, path, argv, envp, 0);
  if (error == -ENOEXEC) {
    /* argv[-1] is the "--" before the command or an option before it: ours to overwrite. */
    argv[-1] = "/bin/sh";
    argv[0] = (char *)path;
    error = CALL(__NR_execve, "/bin/sh", argv - 1, envp, 0);
  }
  return error;
}

static const char *search_path(char **envp) {
  for (; *envp != 0; envp++) {
    const char *entry = *envp;
    if (entry[0] == 'P' && entry[1] == 'A' && entry[2] == 'T' && entry[3] == 'H' && entry[4] == '=') {
      return entry + 5;
    }
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

/* Relative folders on PATH are skipped: a workspace must not be able to stand in for a system program. */
static long execute_on_path(char **argv, char **envp) {
  static char candidate[MAX_PATH];
  const char *name = argv[0];
  long result = -ENOENT;
  const char *from = search_path(envp);
  while (*from != 0) {
    word size = 0;
    while (from[size] != 0 && from[size] != ':') {
      size++;
    }
    if (from[0] == '/' && size + length(name) + 2 <= sizeof candidate) {
      char *to = candidate;
      for (word at = 0; at < size; at++) {
        *to++ = from[at];
      }
      *to++ = '/';
      for (const char *at = name; *at != 0; at++) {
        *to++ = *at;
      }
      *to = 0;
      long error = execute(candidate, argv, envp);
      argv[0] = (char *)name;
      if (error == -EACCES) {
        result = error;
      } else if (error != -ENOENT && error != -ENOTDIR) {
        return error;
      }
    }
    from += size;
    from += *from == ':';
  }
  return result;
}

static void run(char **argv, char **envp) {
  char *name = argv[0];
  int has_slash = 0;
  for (const char *at = name; *at != 0; at++) {
    has_slash |= *at == '/';
  }
  long error = -ENOENT;
  if (*name != 0) {
    error = has_slash ? execute(name, argv, envp) : execute_on_path(argv, envp);
  }
  if (error == -ENOENT || error == -ENOTDIR) {
    say("cannot run '", name, "': not found");
    leave(127);
  }
  say("cannot run '", name, error == -E2BIG ? "': arguments or environment too long" : "': not executable");
  leave(126);
}

/* The terminal's Ctrl-C then reaches the command, and not bubblewrap, whose end would be the end of everything. */
static void take_foreground(int group) {
  word blocked = ~0UL;
  word none = 0;
  CALL(__NR_rt_sigprocmask, SIG_BLOCK_, &blocked, 0, SIGSET_BYTES);
  if (CALL(__NR_ioctl, 0, TIOCSPGRP_, &group, 0) != 0) {
    refuse("foreground of the terminal");
  }
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &none, 0, SIGSET_BYTES);
}

/* What process 1 is for: reap everything, end with the command. */
static void wait_for(long command) {
  for (;;) {
    int status = 0;
    long pid = CALL(__NR_wait4, -1, &status, WUNTRACED_ | WALL_, 0);
    if (pid == -EINTR || (pid > 0 && pid != command)) {
      continue;
    }
    if (pid < 0) {
      refuse("waiting for the command");
    }
    if ((status & 0xff) == 0x7f) {
      /* Nobody could bring it back from Ctrl-Z: behave like the leader of a session, which does not stop. */
      if ((status >> 8 & 0xff) == SIGTSTP_) {
        CALL(__NR_kill, -command, SIGCONT_, 0, 0);
      }
      continue;
    }
    leave((status & 0x7f) == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f));
  }
}

static void start(char **argv, char **envp, int is_foreground) {
  long command = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (command < 0) {
    refuse("starting a process");
  }
  if (command == 0) {
    if (CALL(__NR_setpgid, 0, 0, 0, 0) != 0) {
      refuse("process group");
    }
    if (is_foreground) {
      take_foreground((int)CALL(__NR_getpid, 0, 0, 0, 0));
    }
    run(argv, envp);
  }
  wait_for(command);
}

__attribute__((used)) void launch(word *stack) {
  char **argv = (char **)(stack + 1);
  char **envp = argv + stack[0] + 1;
  const char *filter = 0;
  int is_foreground = 0;
  int is_outer = 0;
  if (stack[0] < 1) {
    refuse("arguments");
  }
  for (argv++; *argv != 0 && !is_same(*argv, "--"); argv++) {
    if (is_same(*argv, "--check")) {
      leave(0);
    } else if (is_same(*argv, "--outer")) {
      is_outer = 1;
    } else if (is_same(*argv, "--foreground")) {
      is_foreground = 1;
    } else if (is_same(*argv, "--seccomp") && argv[1] != 0) {
      filter = *++argv;
    } else {
      refuse("arguments");
    }
  }
  if (*argv == 0 || argv[1] == 0) {
    refuse("arguments");
  }
  argv++;

  if (!is_outer) {
    check_launcher();
  }
  close_descriptors();
  reset_signals();
  if (is_outer) {
    announce_launcher();
    run(argv, envp);
  }
  if (CALL(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0) != 0) {
    refuse("no new privileges");
  }
  scope_abstract_sockets();
  if (filter != 0) {
    load_filter(filter);
  }
  start(argv, envp, is_foreground);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call launch\n");
#else
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl launch\n");
#endif
