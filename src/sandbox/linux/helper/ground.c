/*
 * What every sandbox has of its own: a /proc of its processes and a /dev of harmless devices. bubblewrap can make them,
 * too, with the same things in them, but it reads the whole table of mounts for each device.
 */
#include "helper.h"

#include <linux/mount.h>
#include <linux/stat.h>

#define TCGETS_ 0x5401
#define OUTPUT 1

static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "tty"};
#define DEVICE_COUNT (sizeof devices / sizeof *devices)

static const struct {
  const char *name;
  const char *target;
} links[] = {
    {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
    {"fd", "/proc/self/fd"},      {"core", "/proc/kcore"},       {"ptmx", "pts/ptmx"},
};

/* A device of the machine, on a mount that allows devices: nothing else in the sandbox does. */
static int device_at(int place, const char *path) {
  int device = clone_of(place, path);
  set_attributes(device, path, 0, MOUNT_ATTR_NODEV, 0, 0);
  return device;
}

static int is_same_device(int place, int other) {
  struct statx found[2];
  const int both[] = {place, other};
  for (int at = 0; at < 2; at++) {
    if (call6(__NR_statx, (word)both[at], (word) "", AT_EMPTY_PATH, STATX_BASIC_STATS, (word)&found[at], 0) != 0) {
      return 0;
    }
  }
  return S_ISCHR(found[0].stx_mode) && found[0].stx_ino == found[1].stx_ino &&
         found[0].stx_dev_minor == found[1].stx_dev_minor && found[0].stx_dev_major == found[1].stx_dev_major;
}

/* The terminal of the output, which programs look for by its name; -1 without one. */
static int own_terminal(int root) {
  static char path[MAX_PATH];
  char settings[64];
  if (CALL(__NR_ioctl, OUTPUT, TCGETS_, settings, 0) != 0 ||
      CALL(__NR_readlinkat, AT_FDCWD, "/proc/self/fd/1", path, sizeof path - 1) <= 0) {
    return -1;
  }
  int place = open_in(root, path);
  if (place >= 0 && is_same_device(place, OUTPUT)) {
    return device_at(place, path);
  }
  CALL(__NR_close, place, 0, 0, 0);
  return -1;
}

static void place_device(int folder, const char *name, int device) {
  if (CALL(__NR_mknodat, folder, name, S_IFREG | 0444, 0) != 0) {
    refuse_at(name);
  }
  move_to(device, open_in(folder, name), name);
  CALL(__NR_close, device, 0, 0, 0);
}

static void make_folder(int folder, const char *name) {
  if (CALL(__NR_mkdirat, folder, name, 0755, 0) != 0) {
    refuse_at(name);
  }
}

void make_ground(void) {
  int taken[DEVICE_COUNT];
  long mask = CALL(__NR_umask, 0, 0, 0, 0);
  int root = (int)CALL(__NR_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
  int machine = open_in(root, "/dev");
  for (word at = 0; at < DEVICE_COUNT; at++) {
    taken[at] = device_at(open_in(machine, devices[at]), devices[at]);
  }
  int terminal = own_terminal(root);
  int folder = new_file_system("tmpfs", "755", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, "/dev");
  move_to(folder, machine, "/dev");
  for (word at = 0; at < DEVICE_COUNT; at++) {
    place_device(folder, devices[at], taken[at]);
  }
  if (terminal >= 0) {
    place_device(folder, "console", terminal);
  }
  for (word at = 0; at < sizeof links / sizeof *links; at++) {
    if (CALL(__NR_symlinkat, links[at].target, folder, links[at].name, 0) != 0) {
      refuse_at(links[at].name);
    }
  }
  make_folder(folder, "shm");
  make_folder(folder, "pts");
  int terminals = new_file_system("devpts", "620", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, "/dev/pts");
  move_to(terminals, open_in(folder, "pts"), "/dev/pts");
  int processes = new_file_system("proc", 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, "/proc");
  move_to(processes, open_in(root, "/proc"), "/proc");
  close_descriptors(KEEPER_FD + 1);
  CALL(__NR_umask, mask, 0, 0, 0);
}
