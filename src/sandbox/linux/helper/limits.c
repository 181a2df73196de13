#include "helper.h"

#include <linux/resource.h>

struct limit {
  word soft;
  word hard;
};

static void set(int resource, word soft, word hard) {
  struct limit now;
  if (CALL(__NR_prlimit64, 0, resource, 0, &now) != 0) {
    refuse("resource limits");
  }
  /* What already holds is never widened. */
  struct limit then = {soft < now.hard ? soft : now.hard, hard < now.hard ? hard : now.hard};
  if (CALL(__NR_prlimit64, 0, resource, &then, 0) != 0) {
    refuse("resource limits");
  }
}

void set_limit(const char *name, const char *value) {
  word number = number_in(value);
  if (is_same(name, "processes")) {
    set(RLIMIT_NPROC, number, number);
  } else if (is_same(name, "memory")) {
    /* Not the address space: Node and WebAssembly reserve much more of that than they use. */
    set(RLIMIT_DATA, number, number);
  } else if (is_same(name, "file-size")) {
    set(RLIMIT_FSIZE, number, number);
  } else if (is_same(name, "cpu")) {
    /* A second to end in order. */
    set(RLIMIT_CPU, number, number + 1);
  } else {
    refuse("arguments");
  }
}

/* A core holds whatever the process had in memory, and lands in the working folder. */
void set_standard_limits(void) {
  set(RLIMIT_CORE, 0, 0);
}

static long write_file(const char *folder, const char *name, const char *text) {
  static char path[MAX_PATH];
  word used = 0;
  const char *parts[] = {folder, "/", name};
  for (int part = 0; part < 3; part++) {
    for (const char *from = parts[part]; *from != 0 && used < sizeof path - 1; from++) {
      path[used++] = *from;
    }
  }
  path[used] = 0;
  long file = CALL(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
  if (file < 0) {
    return file;
  }
  long written = CALL(__NR_write, file, text, length(text), 0);
  CALL(__NR_close, file, 0, 0, 0);
  return written;
}

long set_group_limit(const char *group, const char *file, const char *value) {
  return write_file(group, file, value);
}

long join_group(const char *group, long process) {
  char text[NUMBER_SIZE];
  write_number(text, process);
  return write_file(group, "cgroup.procs", text);
}
