/*
 * The mounts of the sandbox, made by its process 1 while it still may. bubblewrap can make them too, but it reads the
 * whole table of mounts anew for each of them (0.2 ms, and more on a machine that has many); the kernel's own newer
 * calls take some microseconds. No path of the list may lead over a symbolic link: what was planned outside is what
 * is mounted here, or nothing is run.
 *
 * bubblewrap has bound the machine's whole tree without devices and set-user-ID programs, and ground.c has made /dev and
 * /proc; everything here is cloned from that. The mounts belong to the user namespace that bubblewrap has made, as its own
 * would; the command lives in a namespace within (privileges.c) that owns none of them. The guard of the masks
 * (watch.c) thus finds and joins the owner as it does with bubblewrap's mounts.
 */
#include "helper.h"

#include <linux/mount.h>
#include <linux/resource.h>
#include <linux/stat.h>

#define MAX_MOUNTS 4096
#define MAX_NAME 256
#define MNT_DETACH_ 2
#define UNPRIVILEGED (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

enum kind { WRITABLE, READABLE, SCRATCH, SHOWN, PASSAGE, CLOSED, UNREADABLE, EMPTY, FOLDER, STEP, LINK };

static const struct {
  const char *name;
  int has_source;
  /* Of the file system in memory that it is. */
  const char *mode;
} kinds[] = {
    [WRITABLE] = {"write", 1, 0},     [READABLE] = {"read", 1, 0},          [SCRATCH] = {"scratch", 0, "1777"},
    [SHOWN] = {"shown", 0, "755"},    [PASSAGE] = {"passage", 0, "111"},    [CLOSED] = {"closed", 0, 0},
    [EMPTY] = {"empty", 0, 0},        [UNREADABLE] = {"unreadable", 0, 0},  [FOLDER] = {"folder", 0, 0},
    [STEP] = {"step", 0, 0},          [LINK] = {"link", 1, 0},
};

static struct entry {
  int kind;
  int tree;
  const char *source;
  const char *path;
} entries[MAX_MOUNTS];
static int count;

/* Where the mounts are made: the root of this process, or what will become it. */
static int root;

static int new_memory(const char *mode, const char *path) {
  return new_file_system("tmpfs", mode, UNPRIVILEGED, path);
}

static int is_folder(int descriptor) {
  struct statx found;
  if (call6(__NR_statx, (word)descriptor, (word) "", AT_EMPTY_PATH, STATX_TYPE, (word)&found, 0) != 0) {
    refuse("type of a mount");
  }
  return S_ISDIR(found.stx_mode);
}

/* The rest of the path when it lies in the folder, otherwise nothing. */
static const char *rest_in(const char *path, const char *folder) {
  word size = is_same(folder, "/") ? 0 : length(folder);
  for (word at = 0; at < size; at++) {
    if (path[at] != folder[at]) {
      return 0;
    }
  }
  return path[size] == '/' ? path + size + 1 : 0;
}

/* The disk is a person's, who also has other processes take mount points away again; private places are Cordon's. */
static int gets_mount_points(const struct entry *holder) {
  return kinds[holder->kind].mode != 0 || holder->kind == FOLDER || holder->kind == STEP ||
         (holder->kind == WRITABLE && !is_same(holder->source, holder->path));
}

/* Opens the folder above an entry, made where it is missing; the entry's name in it is left in `name`. */
static int open_folder_above(const struct entry *entry, const char **name) {
  const struct entry *holder = 0;
  const char *rest = 0;
  for (const struct entry *before = entries; before < entry; before++) {
    const char *found = rest_in(entry->path, before->path);
    if (found != 0) {
      holder = before;
      rest = found;
    }
  }
  if (holder == 0 || !gets_mount_points(holder)) {
    refuse_at(entry->path);
  }
  int folder = open_in(root, holder->path);
  for (;;) {
    static char part[MAX_NAME];
    word size = 0;
    while (rest[size] != 0 && rest[size] != '/' && size < sizeof part - 1) {
      part[size] = rest[size];
      size++;
    }
    if (rest[size] == 0) {
      break;
    }
    part[size] = 0;
    CALL(__NR_mkdirat, folder, part, 0755, 0);
    int next = rest[size] == '/' ? open_in(folder, part) : -ENAMETOOLONG;
    CALL(__NR_close, folder, 0, 0, 0);
    folder = next;
    if (folder < 0) {
      refuse_at(entry->path);
    }
    rest += size + 1;
  }
  *name = rest;
  return folder;
}

static void place(const struct entry *entry) {
  int target = open_in(root, entry->path);
  /* A socket or file that has gone since the plan was made. Should it come back, the keeper's guard hides it. */
  if (target == -ENOENT && entry->kind == UNREADABLE) {
    CALL(__NR_close, entry->tree, 0, 0, 0);
    return;
  }
  if (target == -ENOENT) {
    const char *name;
    int folder = open_folder_above(entry, &name);
    if (is_folder(entry->tree)) {
      CALL(__NR_mkdirat, folder, name, 0755, 0);
    } else {
      CALL(__NR_mknodat, folder, name, S_IFREG | 0644, 0);
    }
    target = open_in(folder, name);
    CALL(__NR_close, folder, 0, 0, 0);
  }
  move_to(entry->tree, target, entry->path);
}

static void make(const struct entry *entry) {
  const char *name;
  int folder = open_folder_above(entry, &name);
  long error = entry->kind == LINK
                   ? CALL(__NR_symlinkat, entry->source, folder, name, 0)
                   : CALL(__NR_mkdirat, folder, name, entry->kind == STEP ? 0111 : 0755, 0);
  CALL(__NR_close, folder, 0, 0, 0);
  if (error != 0) {
    refuse_at(entry->path);
  }
}

/*
 * One file system for all folders that show nothing, attached because older kernels clone no other, and left there:
 * /proc comes over it, and to detach a mount takes as long as to make several.
 */
static void take_nothing(void) {
  int nothing = new_memory("755", "/proc");
  if (CALL(__NR_mkdirat, nothing, kinds[EMPTY].name, 0755, 0) != 0 ||
      CALL(__NR_mkdirat, nothing, kinds[CLOSED].name, 0, 0) != 0) {
    refuse("place that shows nothing");
  }
  set_attributes(nothing, "/proc", MOUNT_ATTR_RDONLY, 0, 0, 0);
  move_to(nothing, open_in(root, "/proc"), "/proc");
  for (struct entry *entry = entries; entry < entries + count; entry++) {
    if (entry->kind == EMPTY || entry->kind == CLOSED) {
      entry->tree = clone_of(open_in(nothing, kinds[entry->kind].name), entry->path);
    } else if (entry->kind == UNREADABLE) {
      /* On a mount without devices nobody can open one, and programs that search folders pass it by. */
      entry->tree = clone_of(open_in(root, "/dev/null"), entry->path);
      set_attributes(entry->tree, entry->path, MOUNT_ATTR_RDONLY | UNPRIVILEGED, 0, 0, 0);
    }
  }
  CALL(__NR_close, nothing, 0, 0, 0);
}

/* Before anything is covered. */
static void take_sources(void) {
  for (struct entry *entry = entries + 1; entry < entries + count; entry++) {
    if (kinds[entry->kind].has_source && entry->kind != LINK) {
      entry->tree = clone_of(open_in(root, entry->source), entry->source);
      if (entry->kind == READABLE) {
        set_attributes(entry->tree, entry->path, MOUNT_ATTR_RDONLY, 0, 0, AT_RECURSIVE);
      }
    }
  }
}

/* The machine's tree as it is, read-only, or an empty one over it. */
static void make_root(void) {
  if (entries->kind == READABLE) {
    set_attributes(root, "/", MOUNT_ATTR_RDONLY, 0, 0, AT_RECURSIVE);
  } else if (entries->kind == SHOWN) {
    entries->tree = new_memory(kinds[SHOWN].mode, "/");
    move_to(entries->tree, root, "/");
    root = entries->tree;
  }
}

static void enter_root(void) {
  if (entries->kind != SHOWN) {
    return;
  }
  if (CALL(__NR_fchdir, root, 0, 0, 0) != 0 || CALL(__NR_pivot_root, ".", ".", 0, 0) != 0 ||
      CALL(__NR_umount2, ".", MNT_DETACH_, 0, 0) != 0) {
    refuse("root of the sandbox");
  }
}

char **read_mounts(char **list) {
  for (; *list != 0 && !is_same(*list, "--"); list++) {
    int kind = 0;
    while (!is_same(*list, kinds[kind].name)) {
      if (++kind == sizeof kinds / sizeof *kinds) {
        refuse("list of mounts");
      }
    }
    struct entry *entry = &entries[count];
    if (count++ == MAX_MOUNTS || list[1] == 0 || (kinds[kind].has_source && list[2] == 0)) {
      refuse("list of mounts");
    }
    entry->kind = kind;
    entry->tree = -1;
    entry->source = *++list;
    list += kinds[kind].has_source;
    entry->path = *list;
  }
  if (count == 0 || !is_same(entries->path, "/") || (entries->kind > READABLE && entries->kind != SHOWN)) {
    refuse("list of mounts");
  }
  return list;
}

/* A descriptor for each mount; what is allowed in the end is what the command gets. */
static struct rlimit64 allow_descriptors(const struct rlimit64 *wanted) {
  struct rlimit64 before;
  if (CALL(__NR_prlimit64, 0, RLIMIT_NOFILE, wanted, &before) != 0) {
    refuse("limit of open files");
  }
  return before;
}

void make_mounts(void) {
  static char folder[MAX_PATH];
  if (CALL(__NR_getcwd, folder, sizeof folder, 0, 0) < 0) {
    refuse("working folder");
  }
  long mask = CALL(__NR_umask, 0, 0, 0, 0);
  struct rlimit64 before = allow_descriptors(0);
  struct rlimit64 most = {before.rlim_max, before.rlim_max};
  allow_descriptors(&most);
  root = (int)CALL(__NR_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
  /* What the machine mounts later must not come over what is hidden here. */
  set_attributes(root, "/", 0, 0, MS_PRIVATE, AT_RECURSIVE);
  take_sources();
  take_nothing();
  make_root();
  for (struct entry *entry = entries + 1; entry < entries + count; entry++) {
    if (entry->kind == FOLDER || entry->kind == STEP || entry->kind == LINK) {
      make(entry);
      continue;
    }
    if (kinds[entry->kind].mode != 0) {
      entry->tree = new_memory(kinds[entry->kind].mode, entry->path);
    }
    place(entry);
  }
  /* Last, because mount points had to be made in them. */
  for (const struct entry *entry = entries; entry < entries + count; entry++) {
    if (entry->kind == SHOWN || entry->kind == PASSAGE) {
      set_attributes(entry->tree, entry->path, MOUNT_ATTR_RDONLY, 0, 0, 0);
    }
  }
  enter_root();
  /* The working folder, still the one of before, would lead around every mount. */
  long entered = open_in(root, folder);
  if (entered < 0 || CALL(__NR_fchdir, entered, 0, 0, 0) != 0) {
    refuse_at(folder);
  }
  close_descriptors(KEEPER_FD + 1);
  allow_descriptors(&before);
  CALL(__NR_umask, mask, 0, 0, 0);
}
