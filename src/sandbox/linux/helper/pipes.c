/*
 * Pipes for the runtime, which cannot make any: those of Node are sockets, and a socket cannot be opened by name
 * (/dev/stdout), nor is a shell fond of one (bash takes it for the work of rshd).
 *
 *   launch --pipes PARENT
 *       Serves PARENT, which started it, and ends with it. For each "m" on standard input it makes PIPE_COUNT pipes,
 *       the descriptors FIRST_PIPE (to read), FIRST_PIPE + 1 (to write), and so on, and says "m" on standard output:
 *       PARENT opens them in /proc/PID/fd. For each "c" it closes them and says "c": from then on only PARENT's
 *       descriptors and those of its children count for the end of the data.
 */
#include "helper.h"

#include <linux/prctl.h>

/* As in pipeMaker.ts. */
#define FIRST_PIPE 3
#define PIPE_COUNT 32

static void fill(void) {
  for (int at = 0; at < PIPE_COUNT; at++) {
    int ends[2];
    if (CALL(__NR_pipe2, ends, O_CLOEXEC, 0, 0) != 0 || ends[0] != FIRST_PIPE + 2 * at || ends[1] != ends[0] + 1) {
      leave(EXIT_SETUP);
    }
  }
}

void make_pipes(word parent) {
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  if ((word)CALL(__NR_getppid, 0, 0, 0, 0) != parent) {
    leave(EXIT_SETUP);
  }
  close_descriptors(FIRST_PIPE);
  char order;
  while (CALL(__NR_read, 0, &order, 1, 0) == 1) {
    if (order == 'm') {
      fill();
    } else {
      close_descriptors(FIRST_PIPE);
    }
    if (CALL(__NR_write, 1, &order, 1, 0) != 1) {
      break;
    }
  }
  leave(0);
}
