/*
 * The self-test's hands: each probe is one system call, or the few that belong together, that a sandbox must refuse
 * to a command, or must go on allowing. Exit code 0: it worked; 1: refused, with the number of the error on standard
 * output. Nothing is changed that was not made for the test.
 */
#include "helper.h"

#define AF_UNIX_ 1
#define AF_INET_ 2
#define SOCK_STREAM_ 1
#define PTRACE_ATTACH_ 16
#define PTRACE_DETACH_ 17
#define TIOCSTI_ 0x5412
#define CLONE_NEWUSER_ 0x10000000
#define SPECIAL_KEYRING_PROCESS_ (-2)

static long number_of(const char *text) {
  long number = 0;
  for (; *text >= '0' && *text <= '9'; text++) {
    number = number * 10 + (*text - '0');
  }
  return number;
}

static void __attribute__((noreturn)) verdict(long result) {
  if (result >= 0) {
    leave(0);
  }
  char digits[8];
  word at = sizeof digits;
  digits[--at] = '\n';
  for (long error = -result; error > 0 && at > 0; error /= 10) {
    digits[--at] = (char)('0' + error % 10);
  }
  CALL(__NR_write, 1, digits + at, sizeof digits - at, 0);
  leave(1);
}

static long open_at(const char *path, int flags) {
  return CALL(__NR_openat, AT_FDCWD, path, flags, 0600);
}

static long create(const char *path) {
  long result = open_at(path, O_WRONLY | O_CREAT | O_EXCL);
  return result < 0 ? result : CALL(__NR_unlinkat, AT_FDCWD, path, 0, 0);
}

static long make_folder(const char *path) {
  long result = CALL(__NR_mkdirat, AT_FDCWD, path, 0700, 0);
  return result < 0 ? result : CALL(__NR_unlinkat, AT_FDCWD, path, AT_REMOVEDIR, 0);
}

static long list(const char *path) {
  static char entries[4096] __attribute__((aligned(8)));
  long folder = open_at(path, O_RDONLY | O_DIRECTORY);
  return folder < 0 ? folder : CALL(__NR_getdents64, folder, entries, sizeof entries, 0);
}

/* A minute: what a sandbox fails to end must not stay for good. */
static void __attribute__((noreturn)) stay(void) {
  static const word minute[2] = {60, 0};
  CALL(__NR_ppoll, 0, 0, minute, 0);
  leave(0);
}

static long start_child(void) {
  long child = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (child == 0) {
    stay();
  }
  return child;
}

static long end_child(long child, long result) {
  CALL(__NR_kill, child, SIGKILL_, 0, 0);
  CALL(__NR_wait4, child, 0, 0, 0);
  return result;
}

static long trace(long pid) {
  long result = CALL(__NR_ptrace, PTRACE_ATTACH_, pid, 0, 0);
  if (result == 0) {
    CALL(__NR_wait4, pid, 0, 0x40000000, 0);
    CALL(__NR_ptrace, PTRACE_DETACH_, pid, 0, 0);
  }
  return result;
}

struct inet_address {
  unsigned short family;
  unsigned char port[2];
  unsigned char host[4];
  unsigned char rest[8];
};

static struct inet_address loopback(long port) {
  struct inet_address address = {AF_INET_, {(unsigned char)(port >> 8), (unsigned char)port}, {127, 0, 0, 1}, {0}};
  return address;
}

static long connect_to_port(long port) {
  struct inet_address address = loopback(port);
  long socket = CALL(__NR_socket, AF_INET_, SOCK_STREAM_, 0, 0);
  return socket < 0 ? socket : CALL(__NR_connect, socket, &address, sizeof address, 0);
}

/* A server on the loopback, and a client that reaches it. */
static long serve_loopback(void) {
  struct inet_address address = loopback(0);
  int size = sizeof address;
  long server = CALL(__NR_socket, AF_INET_, SOCK_STREAM_, 0, 0);
  if (server < 0) {
    return server;
  }
  long result = CALL(__NR_bind, server, &address, sizeof address, 0);
  if (result == 0) {
    result = CALL(__NR_listen, server, 1, 0, 0);
  }
  if (result == 0) {
    result = CALL(__NR_getsockname, server, &address, &size, 0);
  }
  return result < 0 ? result : connect_to_port(address.port[0] << 8 | address.port[1]);
}

struct unix_address {
  unsigned short family;
  char path[108];
};

static long connect_or_serve(const char *path, int is_abstract, int is_server) {
  static struct unix_address address;
  word size = length(path) + (is_abstract != 0);
  if (size >= sizeof address.path) {
    return -ENAMETOOLONG;
  }
  address.family = AF_UNIX_;
  for (word at = 0; path[at] != 0; at++) {
    address.path[at + (is_abstract != 0)] = path[at];
  }
  long socket = CALL(__NR_socket, AF_UNIX_, SOCK_STREAM_, 0, 0);
  if (socket < 0) {
    return socket;
  }
  long result = CALL(is_server ? __NR_bind : __NR_connect, socket, &address, 2 + size, 0);
  if (is_server && result == 0) {
    result = CALL(__NR_listen, socket, 1, 0, 0);
    if (result == 0) {
      result = connect_or_serve(path, is_abstract, 0);
    }
    CALL(__NR_unlinkat, AT_FDCWD, path, 0, 0);
  }
  return result;
}

static long any_capability(void) {
  unsigned header[2] = {0x20080522, 0};
  unsigned sets[6] = {0, 0, 0, 0, 0, 0};
  long result = CALL(__NR_capget, header, sets, 0, 0);
  return result < 0 ? result : (sets[0] | sets[1] | sets[3] | sets[4]) != 0 ? 0 : -EPERM;
}

static long has_variable(char **envp, const char *name) {
  for (; *envp != 0; envp++) {
    word at = 0;
    while (name[at] != 0 && (*envp)[at] == name[at]) {
      at++;
    }
    if (name[at] == 0 && (*envp)[at] == '=') {
      return 0;
    }
  }
  return -ENOENT;
}

/* A grandchild in a session of its own that says so and stays, with the standard output in its hand. */
static void __attribute__((noreturn)) outlive(void) {
  if (CALL(__NR_clone, SIGCHLD_, 0, 0, 0) == 0) {
    CALL(__NR_setsid, 0, 0, 0, 0);
    if (CALL(__NR_clone, SIGCHLD_, 0, 0, 0) == 0) {
      CALL(__NR_write, 1, "ready\n", 6, 0);
    }
  }
  stay();
}

static long of_kernel(const char *name) {
  static char buffer[256];
  if (is_same(name, "mount")) {
    return CALL(__NR_mount, 0, "/", 0, 0x1020); /* MS_REMOUNT | MS_BIND: as it is */
  }
  if (is_same(name, "user-namespace")) {
    return CALL(__NR_unshare, CLONE_NEWUSER_, 0, 0, 0);
  }
  if (is_same(name, "keys")) {
    return call6(__NR_add_key, (word) "user", (word) "cordon-self-test", (word) "x", 1, (word)SPECIAL_KEYRING_PROCESS_, 0);
  }
  if (is_same(name, "io-uring")) {
    return CALL(__NR_io_uring_setup, 1, buffer, 0, 0);
  }
  if (is_same(name, "userfaultfd")) {
    return CALL(__NR_userfaultfd, 1, 0, 0, 0);
  }
  if (is_same(name, "tiocsti")) {
    return CALL(__NR_ioctl, 0, 0xdeadbeef00000000UL | TIOCSTI_, "!", 0);
  }
  if (is_same(name, "capabilities")) {
    return any_capability();
  }
  refuse("name of the probe");
}

static long with_argument(const char *name, const char *argument, char **envp) {
  if (is_same(name, "read")) {
    return open_at(argument, O_RDONLY);
  }
  if (is_same(name, "write")) {
    return open_at(argument, O_WRONLY | O_APPEND);
  }
  if (is_same(name, "create")) {
    return create(argument);
  }
  if (is_same(name, "make-folder")) {
    return make_folder(argument);
  }
  if (is_same(name, "list")) {
    return list(argument);
  }
  if (is_same(name, "chmod")) {
    return CALL(__NR_fchmodat, AT_FDCWD, argument, 0600, 0);
  }
  if (is_same(name, "connect")) {
    return connect_to_port(number_of(argument));
  }
  if (is_same(name, "unix")) {
    return connect_or_serve(argument, 0, 0);
  }
  if (is_same(name, "abstract")) {
    return connect_or_serve(argument, 1, 0);
  }
  if (is_same(name, "own-unix")) {
    return connect_or_serve(argument, 0, 1);
  }
  if (is_same(name, "signal")) {
    return CALL(__NR_kill, number_of(argument), 0, 0, 0);
  }
  if (is_same(name, "trace")) {
    return trace(number_of(argument));
  }
  if (is_same(name, "descriptor")) {
    return CALL(__NR_fcntl, number_of(argument), 1 /* F_GETFD */, 0, 0);
  }
  if (is_same(name, "variable")) {
    return has_variable(envp, argument);
  }
  return of_kernel(name);
}

void probe(char **argv, char **envp) {
  const char *name = argv[0];
  if (name == 0) {
    refuse("name of the probe");
  }
  if (argv[1] != 0) {
    verdict(with_argument(name, argv[1], envp));
  }
  if (is_same(name, "outlive")) {
    outlive();
  }
  if (is_same(name, "wait")) {
    char end;
    leave(CALL(__NR_read, 0, &end, 1, 0) < 0);
  }
  if (is_same(name, "own-loopback")) {
    verdict(serve_loopback());
  }
  if (is_same(name, "own-signal")) {
    long child = start_child();
    verdict(end_child(child, CALL(__NR_kill, child, 0, 0, 0)));
  }
  if (is_same(name, "own-trace")) {
    long child = start_child();
    verdict(end_child(child, trace(child)));
  }
  verdict(of_kernel(name));
}
