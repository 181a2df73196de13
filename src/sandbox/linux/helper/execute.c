#include "helper.h"

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

void run(char **argv, char **envp) {
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
