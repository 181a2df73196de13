/*
 * A mount over a path is silently lifted, in every sandbox, when a program on the machine removes or replaces what
 * lies under it; editors and git save that way. So the folders above the masks are watched, from before the mounts
 * are made, and a guard that has joined the sandbox's mounts puts back what is lifted. That is a window of some
 * microseconds, not a proof: masks on folders, which nobody replaces in passing, are better than masks on files.
 */
#include "helper.h"

#include <linux/mount.h>
#include <linux/nsfs.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/stat.h>

/* linux/inotify.h clashes with linux/fcntl.h on old headers. */
#define IN_MOVED_FROM_ 0x40
#define IN_MOVED_TO_ 0x80
#define IN_CREATE_ 0x100
#define IN_DELETE_ 0x200
#define IN_DELETE_SELF_ 0x400
#define IN_MOVE_SELF_ 0x800
#define IN_Q_OVERFLOW_ 0x4000
#define IN_ONLYDIR_ 0x01000000
#define IN_OF_ENTRIES (IN_MOVED_FROM_ | IN_MOVED_TO_ | IN_CREATE_ | IN_DELETE_)
#define IN_OF_FOLDER (IN_DELETE_SELF_ | IN_MOVE_SELF_)
#define IN_FLAGS 0x80800 /* close on exec, not blocking */

#define MSG_NOSIGNAL_ 0x4000
/* How long a name may be gone while an editor saves: between its two renames. */
#define PATIENCE_MS 300
/* How often a way may change while it is being looked at. */
#define MAX_TRIES 64

/* What statfs(2) says of a mount, as far as a mount of less may not lack it. */
#define ST_KEPT 0x040f
#define ST_NODIRATIME_ 0x0800
#define ST_RELATIME_ 0x1000

struct event {
  int watch;
  unsigned mask;
  unsigned cookie;
  unsigned size;
  char name[];
};

static int is_guarded(const struct task *task) {
  return task->duty == HOLD_FOLDER || task->duty == HOLD_FILE || task->duty == HIDE || task->duty == READ;
}

/* Splits a path at its last slash. */
static const char *split(const char *path, char *folder) {
  word slash = 0;
  for (word at = 0; path[at] != 0; at++) {
    if (path[at] == '/') {
      slash = at;
    }
  }
  for (word at = 0; at < slash; at++) {
    folder[at] = path[at];
  }
  folder[slash] = 0;
  return path + slash + 1;
}

static char above[MAX_PATH];

long watch_masks(struct tasks *tasks) {
  long events = -1;
  for (int at = 0; at < tasks->count; at++) {
    struct task *task = &tasks->all[at];
    if (!is_guarded(task)) {
      continue;
    }
    if (length(task->path) >= sizeof above) {
      say("nothing was run: ", task->path, " is too long to be watched");
      return -EIO;
    }
    if (events < 0 && (events = CALL(__NR_inotify_init1, IN_FLAGS, 0, 0, 0)) < 0) {
      say("nothing was run: changes of protected files cannot be noticed ", "",
          "(raise fs.inotify.max_user_instances)");
      return -EIO;
    }
    task->last = split(task->path, above);
    task->watch = CALL(__NR_inotify_add_watch, events, *above == 0 ? "/" : above,
                       IN_OF_ENTRIES | IN_OF_FOLDER | IN_ONLYDIR_, 0);
    /* Whoever may not list a folder may not watch it; nor may the command. */
    if (task->watch < 0 && task->watch != -EACCES) {
      say("nothing was run: changes of ", task->path, " cannot be noticed (raise fs.inotify.max_user_watches)");
      return -EIO;
    }
  }
  return events;
}

static long look_at(const char *path, struct statx *found) {
  return call6(__NR_statx, AT_FDCWD, (word)path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID,
               (word)found, 0);
}

/* A mask is a mount of its own. Before Linux 5.8, which does not tell, every mask that was touched is made again. */
static int is_masked(const char *path, const struct statx *found) {
  struct statx folder;
  split(path, above);
  return look_at(*above == 0 ? "/" : above, &folder) == 0 && (found->stx_mask & STATX_MNT_ID) != 0 &&
         folder.stx_mnt_id != found->stx_mnt_id;
}

static long mount(const char *source, const char *path, const char *type, word flags) {
  return call6(__NR_mount, (word)source, (word)path, (word)type, flags, 0, 0);
}

static word kept_flags(const char *path) {
  word found[16] = {0};
  if (CALL(__NR_statfs, path, found, 0, 0) != 0) {
    return 0;
  }
  word flags = found[10];
  return (flags & ST_KEPT) | ((flags & ST_NODIRATIME_) != 0 ? MS_NODIRATIME : 0) |
         ((flags & ST_RELATIME_) != 0 ? MS_RELATIME : 0);
}

static int bind(const char *source, const char *path) {
  return mount(source, path, 0, MS_BIND) == 0 &&
         mount(0, path, 0, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept_flags(path)) == 0;
}

static int mask(const struct task *task, const struct statx *found) {
  if (S_ISLNK(found->stx_mode)) {
    return 0;
  }
  if (task->duty == READ) {
    return bind(task->path, task->path);
  }
  return S_ISDIR(found->stx_mode)
             ? mount("tmpfs", task->path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV) == 0
             : bind("/dev/null", task->path);
}

static void tell(long sandbox, const char *text) {
  call6(__NR_sendto, (word)sandbox, (word)text, length(text), MSG_NOSIGNAL_, 0, 0);
}

static void __attribute__((noreturn)) end_sandbox(long sandbox, const struct task *task) {
  static char reason[MAX_PATH + 64];
  word used = 0;
  const char *parts[] = {task->path, " was replaced by another program and could not be protected again"};
  for (int part = 0; part < 2; part++) {
    for (const char *from = parts[part]; *from != 0 && used < sizeof reason - 1; from++) {
      reason[used++] = *from;
    }
  }
  tell(sandbox, reason);
  leave(1);
}

/* Makes what was removed, so that there is something to cover; false when it may stay away. */
static int bring_back(const struct task *task, long sandbox, struct statx *found) {
  if (task->duty == HIDE) {
    return 0; /* Nothing to see; a new file is covered as soon as it comes. */
  }
  if (task->duty == HOLD_FOLDER) {
    CALL(__NR_mkdirat, AT_FDCWD, task->path, 0755, 0);
  } else if (task->duty == HOLD_FILE) {
    long made = CALL(__NR_openat, AT_FDCWD, task->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    CALL(__NR_close, made, 0, 0, 0);
  } else {
    tell(sandbox, "S");
    for (int left = PATIENCE_MS; left > 0 && look_at(task->path, found) != 0; left--) {
      word millisecond[2] = {0, 1000000};
      CALL(__NR_ppoll, 0, 0, millisecond, 0);
    }
  }
  if (look_at(task->path, found) != 0) {
    end_sandbox(sandbox, task);
  }
  return 1;
}

static void restore(const struct task *task, long sandbox) {
  struct statx found;
  int is_stopped = 0;
  if (look_at(task->path, &found) != 0) {
    if (!bring_back(task, sandbox, &found)) {
      return;
    }
    is_stopped = task->duty == READ;
  }
  if (!is_masked(task->path, &found) && !mask(task, &found)) {
    end_sandbox(sandbox, task);
  }
  if (is_stopped) {
    tell(sandbox, "C");
  }
}

/* The part of the path up to and with the first name of the rest, in `above`. */
static void step_down(const struct task *task) {
  word size = 0;
  for (const char *rest = task->last; task->path + size < rest || (task->path[size] != 0 && task->path[size] != '/'); size++) {
    above[size] = task->path[size];
  }
  above[size] = 0;
}

/*
 * The folder of something hidden went away, together with it: the deepest folder on the way that is left is watched
 * for the next one, so that what comes back is hidden in its turn.
 */
static void watch_way(struct task *task, long events, long sandbox) {
  for (int tries = 0; tries < MAX_TRIES; tries++) {
    split(task->path, above);
    for (;;) {
      task->watch = CALL(__NR_inotify_add_watch, events, *above == 0 ? "/" : above,
                         IN_OF_ENTRIES | IN_OF_FOLDER | IN_ONLYDIR_, 0);
      if (task->watch >= 0 || task->watch == -EACCES || *above == 0) {
        break;
      }
      static char folder[MAX_PATH];
      split(above, folder);
      word at = 0;
      do {
        above[at] = folder[at];
      } while (folder[at++] != 0);
    }
    if (task->watch < 0 && task->watch != -EACCES) {
      break;
    }
    task->last = task->path + length(above) + 1;
    struct statx next;
    step_down(task);
    if (task->watch == -EACCES || is_same(above, task->path) || look_at(above, &next) != 0 || !S_ISDIR(next.stx_mode)) {
      return;
    }
  }
  end_sandbox(sandbox, task);
}

/* Whether folders are missing between what is watched and the path. */
static int is_far(const struct task *task) {
  const char *rest = task->last;
  while (*rest != 0 && *rest != '/') {
    rest++;
  }
  return *rest == '/';
}

/* Whether a name is the first of the rest of a path. */
static int is_next(const char *name, const char *rest) {
  for (; *name != 0 && *name == *rest; rest++) {
    name++;
  }
  return *name == 0 && (*rest == 0 || *rest == '/');
}

void guard_masks(struct tasks *tasks, long events, long mounts, long sandbox, long keeper) {
  static char buffer[8192] __attribute__((aligned(8)));
  long owner = CALL(__NR_ioctl, mounts, NS_GET_USERNS, 0, 0);
  int has_joined = owner >= 0 && CALL(__NR_setns, owner, CLONE_NEWUSER, 0, 0) == 0 &&
                   CALL(__NR_setns, mounts, CLONE_NEWNS, 0, 0) == 0;
  /* Only now: the kernel forgets it with the change of user namespace. */
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  if (CALL(__NR_getppid, 0, 0, 0, 0) != keeper) {
    leave(1);
  }
  for (;;) {
    struct waited change = {(int)events, POLLIN_, 0};
    CALL(__NR_ppoll, &change, 1, 0, 0);
    long size = CALL(__NR_read, events, buffer, sizeof buffer, 0);
    for (long at = 0; at < size;) {
      struct event *event = (struct event *)(buffer + at);
      at += (long)sizeof *event + event->size;
      for (int index = 0; index < tasks->count; index++) {
        struct task *task = &tasks->all[index];
        int is_touched = (event->mask & IN_Q_OVERFLOW_) != 0 ||
                         (task->watch == event->watch &&
                          ((event->mask & IN_OF_FOLDER) != 0 || (event->size > 0 && is_next(event->name, task->last))));
        if (!is_guarded(task) || !is_touched) {
          continue;
        }
        /* Folders above that move take masks with them, and leave the place to others. */
        int has_gone = (event->mask & IN_OF_FOLDER) != 0;
        if (!has_joined || (has_gone && task->duty != HIDE)) {
          end_sandbox(sandbox, task);
        }
        if (has_gone || is_far(task)) {
          watch_way(task, events, sandbox);
        }
        restore(task, sandbox);
      }
    }
  }
}
