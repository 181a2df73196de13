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
#include "helper.h"

#include <linux/prctl.h>

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
