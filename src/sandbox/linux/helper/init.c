#include "helper.h"

#define TIOCSPGRP_ 0x5410
#define WUNTRACED_ 2
#define WALL_ 0x40000000

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
static void __attribute__((noreturn)) wait_for(long command) {
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

void start(char **argv, char **envp, int is_foreground) {
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
