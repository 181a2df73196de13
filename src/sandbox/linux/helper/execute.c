#include "helper.h"

#include <linux/stat.h>

/* What a search passes by. */
struct file {
  unsigned long long inode;
  unsigned major;
  unsigned minor;
};

static int identify(const char *path, struct file *file) {
  struct statx found;
  if (call6(__NR_statx, (word)AT_FDCWD, (word)path, 0, STATX_INO, (word)&found, 0) != 0) {
    return 0;
  }
  file->inode = found.stx_ino;
  file->major = found.stx_dev_major;
  file->minor = found.stx_dev_minor;
  return 1;
}

static int is_at(const char *path, const struct file *file) {
  struct file other;
  return file != 0 && identify(path, &other) && other.inode == file->inode && other.major == file->major &&
         other.minor == file->minor;
}

static char *shown_name;

void show_as(char *name) {
  shown_name = name;
}

/* A file without a known format is a shell script, as every shell and execvp(3) take it. */
long execute(const char *path, char **argv, char **envp) {
  long error = CALL(__NR_execve, path, argv, envp, 0);
  if (error == -ENOEXEC) {
    /* argv[-1] is the "--" before the command or an option before it: ours to overwrite. */
    argv[-1] = "/bin/sh";
    argv[0] = (char *)path;
    error = CALL(__NR_execve, "/bin/sh", argv - 1, envp, 0);
  }
  return error;
}

static int has_slash(const char *name) {
  int has = 0;
  for (; *name != 0; name++) {
    has |= *name == '/';
  }
  return has;
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
static long execute_on_path(const char *name, char **argv, char **envp, const struct file *except) {
  static char candidate[MAX_PATH];
  char *shown = argv[0];
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
      /* Some programs look for what is theirs beside the path that they are told. */
      argv[0] = has_slash(shown) && shown != shown_name ? candidate : shown;
      long error = is_at(candidate, except) ? -ENOENT : execute(candidate, argv, envp);
      argv[0] = shown;
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

static void __attribute__((noreturn)) give_up(const char *name, long error) {
  if (error == -ENOENT || error == -ENOTDIR) {
    say("cannot run '", name, "': not found");
    leave(127);
  }
  say("cannot run '", name, error == -E2BIG ? "': arguments or environment too long" : "': not executable");
  leave(126);
}

void run(char **argv, char **envp) {
  const char *name = argv[0];
  long error = -ENOENT;
  if (shown_name != 0) {
    argv[0] = shown_name;
  }
  if (*name != 0) {
    error = has_slash(name) ? execute(name, argv, envp) : execute_on_path(name, argv, envp, 0);
  }
  give_up(name, error);
}

void run_another(const char *path, const char *name, char **argv, char **envp) {
  struct file own;
  if (!identify(path, &own)) {
    give_up(name, -ENOENT);
  }
  give_up(name, execute_on_path(name, argv, envp, &own));
}
