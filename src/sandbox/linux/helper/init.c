#include "helper.h"

#define TIOCSPGRP_ 0x5410
#define WNOHANG_ 1
#define WUNTRACED_ 2
#define WALL_ 0x40000000

/* The terminal's Ctrl-C then reaches the command, and not bubblewrap, whose end would be the end of everything. */
void take_foreground(int group) {
  word blocked = ~0UL;
  word none = 0;
  CALL(__NR_rt_sigprocmask, SIG_BLOCK_, &blocked, 0, SIGSET_BYTES);
  if (CALL(__NR_ioctl, 0, TIOCSPGRP_, &group, 0) != 0) {
    refuse("foreground of the terminal");
  }
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &none, 0, SIGSET_BYTES);
}

int revive(long command, int status) {
  if ((status & 0xff) != 0x7f) {
    return 0;
  }
  /* Nobody could bring it back from Ctrl-Z: behave like the leader of a session, which does not stop. */
  if ((status >> 8 & 0xff) == SIGTSTP_) {
    CALL(__NR_kill, -command, SIGCONT_, 0, 0);
  }
  return 1;
}

int exit_code(int status) {
  return (status & 0x7f) == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f);
}

/* Reaps what has ended; leaves when the command is among it. */
static void reap(long command) {
  for (;;) {
    int status = 0;
    long pid = CALL(__NR_wait4, -1, &status, WNOHANG_ | WUNTRACED_ | WALL_, 0);
    if (pid == 0) {
      return;
    }
    if (pid < 0) {
      refuse("waiting for the command");
    }
    if (pid == command && !revive(command, status)) {
      leave(exit_code(status));
    }
  }
}

void start(char **argv, char **envp, int is_foreground, int has_keeper, long listener) {
  word ended_child = 1UL << (SIGCHLD_ - 1);
  word none = 0;
  CALL(__NR_rt_sigprocmask, SIG_BLOCK_, &ended_child, 0, SIGSET_BYTES);
  long signals = CALL(__NR_signalfd4, -1, &ended_child, SIGSET_BYTES, O_CLOEXEC);
  long command = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (signals < 0 || command < 0) {
    refuse("starting a process");
  }
  if (command == 0) {
    close_descriptors(3);
    CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &none, 0, SIGSET_BYTES);
    if (CALL(__NR_setpgid, 0, 0, 0, 0) != 0) {
      refuse("process group");
    }
    if (is_foreground) {
      take_foreground((int)CALL(__NR_getpid, 0, 0, 0, 0));
    }
    run(argv, envp);
  }
  /*
   * What process 1 is for: reap everything, heed the keeper, start the bridge when it is used, refuse calls, end with
   * the command.
   */
  struct waited sources[] = {
      {(int)signals, POLLIN_, 0},
      {has_keeper ? KEEPER_FD : -1, POLLIN_, 0},
      {bridge_listener(), POLLIN_, 0},
      {(int)listener, POLLIN_, 0},
  };
  for (;;) {
    if (CALL(__NR_ppoll, sources, 4, 0, 0) <= 0) {
      continue;
    }
    if (sources[3].found != 0) {
      refuse_call(listener);
    }
    if (sources[0].found != 0) {
      char information[128];
      CALL(__NR_read, signals, information, sizeof information, 0);
      reap(command);
    }
    if (sources[1].found != 0) {
      heed_keeper();
    }
    if (sources[2].found != 0) {
      start_bridge();
      sources[2].descriptor = bridge_listener();
    }
  }
}
