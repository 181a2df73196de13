/*
 * Commands without a sandbox, which end with the runtime all the same.
 *
 *   launch --own RUNTIME [--arg0 NAME] -- ARGV...
 *       Three processes: the launcher, known to RUNTIME, which started it, by its spawner or itself; the warden, to which everything comes whose
 *       own parent ends; and the command, in the session and the process group of the launcher, with its terminal,
 *       limits, descriptors and rights as they are. When the launcher is killed, or RUNTIME ends and it with it, the
 *       warden ends all that the command has started, in other sessions, too; when the warden is killed, the launcher
 *       does. After SIGTERM from RUNTIME nothing outlives the command. When it ends by itself, what it has left goes
 *       on, and the launcher ends as the command did.
 *
 * The warden has a session of its own: signals to the command's group must not end it, and for the kernel's handling
 * of Ctrl-Z the command has to look as if nobody in its session had started it.
 */
#include "helper.h"

#include <linux/prctl.h>

#define FIRST_BEYOND_STANDARD 3
#define AF_UNIX_ 1
#define SOCK_SEQPACKET_ 5
#define SOCK_CLOEXEC_ 02000000
#define SIGTERM_ 15
#define LAST_SIGNAL 31
#define WNOHANG_ 1
#define WALL_ 0x40000000
/* Of struct signalfd_siginfo. */
#define SIGNAL_WORDS 32
#define SIGNAL_NUMBER 0
#define SIGNAL_SENDER 3

/* Where launcher and warden have what they listen to; they hold nothing else open. */
#define TALK_FD 0
#define SIGNALS_FD 1

static void __attribute__((noreturn)) give_up(const char *step) {
  say("the command could not be started (", step, ")");
  leave(EXIT_SETUP);
}

/* A number that the kernel lists ends with a space; one that was cut off comes again in the next round. */
static void kill_children(void) {
  static char list[4096];
  long file = CALL(__NR_openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY, 0);
  long size = CALL(__NR_read, file, list, sizeof list, 0);
  long pid = 0;
  for (long at = 0; at < size; at++) {
    if (list[at] == ' ') {
      CALL(__NR_kill, pid, SIGKILL_, 0, 0);
      pid = 0;
    } else {
      pid = pid * 10 + (list[at] - '0');
    }
  }
  CALL(__NR_close, file, 0, 0, 0);
}

/* The children of what ends come here, until there are none. */
static void end_everything(void) {
  do {
    kill_children();
  } while (CALL(__NR_wait4, -1, 0, WALL_, 0) != -ECHILD);
}

/* Neither the command's pipes nor its folder may be held. */
static void listen_to(long talk, const word *signals) {
  if (talk != TALK_FD) {
    CALL(__NR_dup3, talk, TALK_FD, 0, 0);
  }
  close_descriptors(SIGNALS_FD);
  CALL(__NR_chdir, "/", 0, 0, 0);
  if (CALL(__NR_signalfd4, -1, signals, SIGSET_BYTES, 0) != SIGNALS_FD) {
    end_everything();
    leave(EXIT_SETUP);
  }
}

static void wait_for_news(struct waited sources[2]) {
  while (CALL(__NR_ppoll, sources, 2, 0, 0) <= 0) {
  }
}

/*
 * The launcher may have been killed together with the command, and its end of the socket is still open: only its
 * answer tells that it knows that the command has ended by itself, and lets go of what that has left.
 */
static void __attribute__((noreturn)) report(int status) {
  char answer;
  CALL(__NR_write, TALK_FD, &status, sizeof status, 0);
  if (CALL(__NR_read, TALK_FD, &answer, 1, 0) != 1) {
    end_everything();
  }
  leave(0);
}

/* Tells the command's number and how it ended, and leaves with it; ends everything with the launcher. */
static void __attribute__((noreturn)) keep(long talk, int command) {
  static const word ended_child = 1UL << (SIGCHLD_ - 1);
  listen_to(talk, &ended_child);
  CALL(__NR_write, TALK_FD, &command, sizeof command, 0);
  for (;;) {
    struct waited sources[] = {{TALK_FD, POLLIN_, 0}, {SIGNALS_FD, POLLIN_, 0}};
    wait_for_news(sources);
    if (sources[0].found != 0) {
      end_everything();
      leave(0);
    }
    unsigned signal[SIGNAL_WORDS];
    CALL(__NR_read, SIGNALS_FD, signal, sizeof signal, 0);
    int status = 0;
    long pid;
    while ((pid = CALL(__NR_wait4, -1, &status, WNOHANG_ | WALL_, 0)) > 0) {
      if (pid == command) {
        report(status);
      }
    }
  }
}

/* Signals to the group that came before the command was in it: it has them waiting when it begins. */
static void hand_over(word early, long command) {
  word pending = 0;
  CALL(__NR_rt_sigpending, &pending, SIGSET_BYTES, 0, 0);
  for (int signal = 1; signal <= LAST_SIGNAL; signal++) {
    if (((pending | early) >> (signal - 1) & 1) != 0 && signal != SIGCHLD_) {
      CALL(__NR_kill, command, signal, 0, 0);
    }
  }
}

static void __attribute__((noreturn)) become_warden(long talk, word mask, word early, char **argv, char **envp) {
  int gate[2];
  if (CALL(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0) != 0 ||
      CALL(__NR_pipe2, gate, O_CLOEXEC, 0, 0) != 0) {
    give_up("warden");
  }
  long command = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (command < 0) {
    give_up("a process");
  }
  if (command == 0) {
    /* Not before the warden is out of the session, and not without it. */
    char go;
    CALL(__NR_close, gate[1], 0, 0, 0);
    if (CALL(__NR_read, gate[0], &go, 1, 0) != 1) {
      leave(EXIT_SETUP);
    }
    /* Nor with what the runtime itself was started with. */
    close_descriptors(FIRST_BEYOND_STANDARD);
    CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &mask, 0, SIGSET_BYTES);
    run(argv, envp);
  }
  hand_over(early, command);
  if (CALL(__NR_setsid, 0, 0, 0, 0) < 0 || CALL(__NR_write, gate[1], "", 1, 0) != 1) {
    give_up("session of the warden");
  }
  keep(talk, (int)command);
}

/* Without a core of its own: the command has left that. */
void end_like(int status) {
  int signal = status & 0x7f;
  if (signal != 0) {
    word only = ~(1UL << (signal - 1));
    CALL(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0);
    CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &only, 0, SIGSET_BYTES);
    CALL(__NR_kill, CALL(__NR_getpid, 0, 0, 0, 0), signal, 0, 0);
  }
  leave(exit_code(status));
}

/* A signal to the group has reached the command, too, unless that has made a group of its own, as shells do. */
static void pass_on(int signal, int command) {
  long group = command == 0 ? 0 : CALL(__NR_getpgid, command, 0, 0, 0);
  if (signal != SIGCHLD_ && group > 1 && group != CALL(__NR_getpid, 0, 0, 0, 0)) {
    CALL(__NR_kill, -group, signal, 0, 0);
  }
}

static void __attribute__((noreturn)) wait_for_warden(long talk, word runtime) {
  static const word all = ~0UL;
  int command = 0;
  int is_ending = 0;
  listen_to(talk, &all);
  for (;;) {
    struct waited sources[] = {{TALK_FD, POLLIN_, 0}, {SIGNALS_FD, POLLIN_, 0}};
    wait_for_news(sources);
    if (sources[1].found != 0) {
      unsigned signal[SIGNAL_WORDS];
      CALL(__NR_read, SIGNALS_FD, signal, sizeof signal, 0);
      is_ending |= signal[SIGNAL_NUMBER] == SIGTERM_ && signal[SIGNAL_SENDER] == runtime;
      pass_on((int)signal[SIGNAL_NUMBER], command);
      continue;
    }
    int told;
    if (CALL(__NR_read, TALK_FD, &told, sizeof told, 0) != sizeof told) {
      end_everything();
      leave(128 + SIGKILL_);
    }
    if (command == 0) {
      command = told;
      continue;
    }
    if (is_ending) {
      end_everything();
    } else {
      CALL(__NR_write, TALK_FD, "", 1, 0);
    }
    end_like(told);
  }
}

void own(word runtime, char **argv, char **envp) {
  word all = ~0UL;
  word mask = 0;
  word early = 0;
  int talk[2];
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  if (!is_started_by(runtime)) {
    give_up("the runtime has ended");
  }
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &all, &mask, SIGSET_BYTES);
  if (CALL(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0) != 0 ||
      CALL(__NR_socketpair, AF_UNIX_, SOCK_SEQPACKET_ | SOCK_CLOEXEC_, 0, talk) != 0) {
    give_up("warden");
  }
  CALL(__NR_rt_sigpending, &early, SIGSET_BYTES, 0, 0);
  long warden = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (warden < 0) {
    give_up("a process");
  }
  if (warden == 0) {
    CALL(__NR_close, talk[0], 0, 0, 0);
    become_warden(talk[1], mask, early, argv, envp);
  }
  wait_for_warden(talk[0], runtime);
}
