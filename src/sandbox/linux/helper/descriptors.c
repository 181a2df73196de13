#include "helper.h"

#include <linux/prctl.h>

/* Of a process that this one can see; 0 when it cannot. The name, in parentheses, may hold anything. */
static word parent_of(word process) {
  static const char name[] = "/stat";
  char path[6 + NUMBER_SIZE + sizeof name] = "/proc/";
  char text[512];
  write_number(path + 6, (long)process);
  char *to = path + length(path);
  for (word at = 0; at < sizeof name; at++) {
    to[at] = name[at];
  }
  long file = CALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  long size = CALL(__NR_read, file, text, sizeof text, 0);
  CALL(__NR_close, file, 0, 0, 0);
  long at = size;
  while (at > 0 && text[at - 1] != ')') {
    at--;
  }
  word parent = 0;
  /* A space, the state, a space. */
  for (at += 3; at < size && text[at] >= '0' && text[at] <= '9'; at++) {
    parent = parent * 10 + (word)(text[at] - '0');
  }
  return parent;
}

int is_started_by(word runtime) {
  word parent = (word)CALL(__NR_getppid, 0, 0, 0, 0);
  return parent == runtime || (parent > 1 && parent_of(parent) == runtime);
}

/*
 * bubblewrap asks to be killed with its parent only at the end of its set-up (seen in 0.8.0). When the launcher is
 * killed before, the command would be started all the same and be nobody's. Hence a descriptor of the launcher's
 * process, made before bubblewrap and looked at after it has asked: one of the two notices any death.
 */
void announce_launcher(word runtime) {
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  if (runtime != 0 && !is_started_by(runtime)) {
    refuse("the runtime has ended");
  }
  long process = CALL(__NR_pidfd_open, CALL(__NR_getpid, 0, 0, 0, 0), 0, 0, 0);
  if (process == -ENOSYS) {
    return; /* Linux before 5.3: the window stays open. */
  }
  if (process != LAUNCHER_FD || CALL(__NR_fcntl, process, F_SETFD, 0, 0) != 0) {
    refuse("watching the launcher");
  }
}

void check_launcher(void) {
  struct waited launcher = {LAUNCHER_FD, POLLIN_, 0};
  static const word no_time[2];
  if (CALL(__NR_ppoll, &launcher, 1, no_time, 0) > 0 && (launcher.found & POLLIN_) != 0) {
    refuse("the launcher has ended");
  }
}

/* close_range is Linux 5.9; before it, /proc/self/fd names what is open. */
void close_descriptors(int first) {
  if (CALL(__NR_close_range, first, ~0U, 0, 0) == 0) {
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
        if (number >= first && number != folder) {
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
