/*
 * Mount points for names that must not come to be are empty folders (or files) on the machine. Removing one detaches
 * the masks of every sandbox that has it, so all runs that need a mount point share a lease: a file that holds its
 * path, locked by each. Whoever finds that it is the last one removes both.
 *
 * The kernel ends locks with their holders, however they die. A lease without holders is stale: the next run that
 * needs it takes it over, the next start of the runtime sweeps it.
 */
#include "helper.h"

#include <linux/stat.h>

#define LOCK_SH_ 1
#define LOCK_EX_ 2
#define LOCK_NB_ 4
#define AT_REMOVEDIR_ 0x200
#define PRIVATE 0600
#define ENTRIES_SIZE 1024

static long lock(long lease, int kind) {
  return CALL(__NR_flock, lease, kind, 0, 0);
}

static long look_at(long folder, const char *path, int flags, struct statx *found) {
  return call6(__NR_statx, (word)folder, (word)path, (word)flags, STATX_BASIC_STATS, (word)found, 0);
}

/* 1: made; -EEXIST: something is there; another error otherwise. */
static long make(const char *path, int is_file) {
  if (!is_file) {
    long error = CALL(__NR_mkdirat, AT_FDCWD, path, 0755, 0);
    return error == 0 ? 1 : error;
  }
  long made = CALL(__NR_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
  if (made < 0) {
    return made;
  }
  CALL(__NR_close, made, 0, 0, 0);
  return 1;
}

/* An empty folder lists itself and its parent. */
static int is_empty_folder(const char *path) {
  char entries[ENTRIES_SIZE] __attribute__((aligned(8)));
  long folder = CALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) {
    return 0;
  }
  int count = 0;
  long size;
  while ((size = CALL(__NR_getdents64, folder, entries, sizeof entries, 0)) > 0) {
    for (long at = 0; at < size; at += *(unsigned short *)(entries + at + 16)) {
      count++;
    }
  }
  CALL(__NR_close, folder, 0, 0, 0);
  return size == 0 && count <= 2;
}

static int is_vacant(const char *path) {
  struct statx found;
  if (look_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &found) != 0) {
    return 0;
  }
  return S_ISDIR(found.stx_mode) ? is_empty_folder(path) : S_ISREG(found.stx_mode) && found.stx_size == 0;
}

static void remove_mount_point(const char *path) {
  struct statx found;
  if (look_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &found) != 0) {
    return;
  }
  if (S_ISDIR(found.stx_mode)) {
    CALL(__NR_unlinkat, AT_FDCWD, path, AT_REMOVEDIR_, 0); /* The kernel refuses when it is not empty. */
  } else if (S_ISREG(found.stx_mode) && found.stx_size == 0) {
    CALL(__NR_unlinkat, AT_FDCWD, path, 0, 0);
  }
}

static long give_up(long folder, const char *name, const char *path, long lease, int is_alone, long error) {
  if (is_alone) {
    CALL(__NR_unlinkat, folder, name, 0, 0);
  }
  CALL(__NR_close, lease, 0, 0, 0);
  if (error == -EEXIST) {
    say("nothing was run: ", path, " came to be while the sandbox was set up; run the command again");
  } else {
    say("nothing was run: ", path, " could not be kept from being made (check the permissions of its folder)");
  }
  return -1;
}

long take_lease(long folder, const char *name, const char *path, int is_file) {
  for (;;) {
    long lease = CALL(__NR_openat, folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, PRIVATE);
    if (lease < 0) {
      say("nothing was run: the note about ", path, " could not be made");
      return -1;
    }
    /* Alone, it may be made from nothing; otherwise somebody has done that. */
    int is_alone = lock(lease, LOCK_EX_ | LOCK_NB_) == 0;
    struct statx found;
    if ((!is_alone && lock(lease, LOCK_SH_) != 0) || look_at(lease, "", AT_EMPTY_PATH, &found) != 0) {
      return give_up(folder, name, path, lease, is_alone, -EIO);
    }
    int is_new = found.stx_size == 0;
    if (found.stx_nlink != 0 && (is_alone || !is_new)) {
      word size = length(path);
      if (is_new && CALL(__NR_write, lease, path, size, 0) != (long)size) {
        return give_up(folder, name, path, lease, is_alone, -EIO);
      }
      long made = make(path, is_file);
      /* Nobody's lease and something there already: that is the person's, even if it is empty. */
      if (made != 1 && !(made == -EEXIST && !is_new && is_vacant(path))) {
        return give_up(folder, name, path, lease, is_alone, made);
      }
      if (!is_alone) {
        return lease;
      }
      /* Between the two locks the file is free for a moment, in which another run may have removed it. */
      if (lock(lease, LOCK_SH_) == 0 && look_at(lease, "", AT_EMPTY_PATH, &found) == 0 && found.stx_nlink != 0) {
        return lease;
      }
    }
    CALL(__NR_close, lease, 0, 0, 0);
  }
}

long take_note(long folder, const char *name) {
  long note = CALL(__NR_openat, folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, PRIVATE);
  if (note < 0 || lock(note, LOCK_SH_) != 0) {
    say("nothing was run: the note about the run could not be made", "", "");
    return -1;
  }
  return note;
}

void drop_lease(long folder, const char *name, const char *path, long lease) {
  struct statx found;
  /* Trying takes our shared lock away first, in one step: of several that end at once the last one succeeds. */
  if (lock(lease, LOCK_EX_ | LOCK_NB_) == 0 && look_at(lease, "", AT_EMPTY_PATH, &found) == 0 &&
      found.stx_nlink != 0) {
    if (*path == '/') {
      remove_mount_point(path);
    }
    CALL(__NR_unlinkat, folder, name, 0, 0);
  }
  CALL(__NR_close, lease, 0, 0, 0);
}

void sweep(const char *path) {
  static char entries[4096] __attribute__((aligned(8)));
  static char held[MAX_PATH];
  long folder = CALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) {
    refuse("folder of the leases");
  }
  long size;
  while ((size = CALL(__NR_getdents64, folder, entries, sizeof entries, 0)) > 0) {
    for (long at = 0; at < size; at += *(unsigned short *)(entries + at + 16)) {
      const char *name = entries + at + 19;
      long lease = CALL(__NR_openat, folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
      if (lease < 0) {
        continue; /* "." and "..", or gone meanwhile. */
      }
      long used = CALL(__NR_read, lease, held, sizeof held - 1, 0);
      held[used > 0 ? used : 0] = 0;
      drop_lease(folder, name, held, lease);
    }
  }
  leave(size == 0 ? 0 : EXIT_SETUP);
}
