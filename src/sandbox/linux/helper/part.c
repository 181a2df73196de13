/*
 * Programs of a script that are asked about one by one. Inside the sandbox a folder comes first on the search path, with
 * a link to the companion for each name that a rule speaks of. Called by such a link, the companion sends the words
 * and the folder to the runtime, over a socket that only this sandbox has, and gets one answer:
 *   R  run the program here, as if nobody had asked
 *   D  do not; a message follows
 *   E  it runs elsewhere: the word that follows names it on a second connection, over which it gets the standard streams
 * Then come F and a message when it could not be started, or X, its exit code and its signal. Signals to this process
 * are passed on as S and their number; when the connection ends, so does what runs elsewhere.
 *
 * A frame is the size of the rest in four bytes, a letter, and what belongs to it.
 */
#include "helper.h"

#define MAX_QUESTION (128 * 1024)
#define MAX_ANSWER 8192
#define KEY_SIZE 32
#define NOT_RUN 126
#define TCGETS_ 0x5401
#define AT_EXECFN_ 31
#define SIGHUP_ 1
#define SIGINT_ 2
#define SIGQUIT_ 3
#define SIGUSR1_ 10
#define SIGUSR2_ 12
#define SIGTERM_ 15
#define SIGWINCH_ 28
#define BIT(signal) (1UL << ((signal) - 1))

static const char folder_path[] = "/run/cordon/parts/";
static const char socket_path[] = "/run/cordon/parts.sock";

static char answer[MAX_ANSWER + 1];

static void __attribute__((noreturn)) give_up(const char *name, const char *reason) {
  say(name, ": ", reason);
  leave(NOT_RUN);
}

/* The path that execve(2) got; behind the environment. */
static const char *path_called(char **envp) {
  while (*envp != 0) {
    envp++;
  }
  for (const word *entry = (const word *)(envp + 1); entry[0] != 0; entry += 2) {
    if (entry[0] == AT_EXECFN_) {
      return (const char *)entry[1];
    }
  }
  return "";
}

const char *part_called(char **envp) {
  const char *path = path_called(envp);
  for (word at = 0; at < sizeof folder_path - 1; at++) {
    if (path[at] != folder_path[at]) {
      return 0;
    }
  }
  const char *name = path;
  for (; *path != 0; path++) {
    name = *path == '/' ? path + 1 : name;
  }
  return name;
}

static int send_all(int to, const void *from, word size) {
  const char *next = from;
  while (size > 0) {
    long count = call6(__NR_sendto, (word)to, (word)next, size, MSG_NOSIGNAL_, 0, 0);
    if (count < 0 && count != -EINTR) {
      return 0;
    }
    next += count < 0 ? 0 : count;
    size -= count < 0 ? 0 : (word)count;
  }
  return 1;
}

static int read_all(int from, void *to, word size) {
  char *next = to;
  while (size > 0) {
    long count = CALL(__NR_read, from, next, size, 0);
    if (count == 0 || (count < 0 && count != -EINTR)) {
      return 0;
    }
    next += count < 0 ? 0 : count;
    size -= count < 0 ? 0 : (word)count;
  }
  return 1;
}

static int send_frame(int to, char letter, const void *rest, word size) {
  unsigned whole = (unsigned)size + 1;
  return send_all(to, &whole, sizeof whole) && send_all(to, &letter, 1) && send_all(to, rest, size);
}

/* The letter of the next frame, with the rest as a text in `answer`; 0 when there is none. */
static char read_frame(int from) {
  unsigned size;
  char letter;
  if (!read_all(from, &size, sizeof size) || size < 1 || size > MAX_ANSWER || !read_all(from, &letter, 1) ||
      !read_all(from, answer, size - 1)) {
    return 0;
  }
  answer[size - 1] = 0;
  return letter;
}

static int is_terminal(int descriptor) {
  char settings[64];
  return CALL(__NR_ioctl, descriptor, TCGETS_, settings, 0) == 0;
}

/* False for more than is ever asked about. */
static int ask(int runtime, const char *name, char **argv) {
  static char folder[MAX_PATH];
  long folder_size = CALL(__NR_getcwd, folder, sizeof folder, 0, 0);
  unsigned size = 2 + (unsigned)folder_size + (unsigned)length(name) + 1;
  for (char **argument = argv + 1; folder_size > 0 && *argument != 0; argument++) {
    word more = length(*argument) + 1;
    if (more > MAX_QUESTION - size) {
      return 0;
    }
    size += (unsigned)more;
  }
  if (folder_size <= 0 || size > MAX_QUESTION) {
    return 0;
  }
  char head[] = {'A', is_terminal(0) && is_terminal(1) ? 't' : 'p'};
  int is_sent = send_all(runtime, &size, sizeof size) && send_all(runtime, head, sizeof head) &&
                send_all(runtime, folder, (word)folder_size) && send_all(runtime, name, length(name) + 1);
  for (char **argument = argv + 1; is_sent && *argument != 0; argument++) {
    is_sent = send_all(runtime, *argument, length(*argument) + 1);
  }
  /* When it was not, there is no answer either. */
  return 1;
}

/* What a program finds closed it may take for something else. */
static void fill_streams(void) {
  for (int stream = 0; stream < STREAM_COUNT; stream++) {
    if (CALL(__NR_fcntl, stream, F_GETFD, 0, 0) < 0 &&
        CALL(__NR_openat, AT_FDCWD, "/dev/null", O_RDWR, 0) != stream) {
      leave(NOT_RUN);
    }
  }
}

/* When it fails, what runs elsewhere fails, too, and the runtime tells. */
static void hand_over_streams(const char *key) {
  char byte = 0;
  struct span span = {&byte, 1};
  struct streams streams = {STREAMS_SIZE, SOL_SOCKET_, SCM_RIGHTS_, {0, 1, 2}};
  struct parcel parcel = {0, 0, &span, 1, &streams, sizeof streams, 0};
  long connection = connect_to(socket_path);
  /* The byte comes from whom the streams are for: whoever read before would lose them. */
  if (send_frame((int)connection, 'H', key, KEY_SIZE) && read_all((int)connection, &byte, 1)) {
    CALL(__NR_sendmsg, connection, &parcel, MSG_NOSIGNAL_, 0);
  }
  CALL(__NR_close, connection, 0, 0, 0);
}

static void __attribute__((noreturn)) stand_in(int runtime, const char *name) {
  static const word passed = BIT(SIGHUP_) | BIT(SIGINT_) | BIT(SIGQUIT_) | BIT(SIGUSR1_) | BIT(SIGUSR2_) |
                             BIT(SIGTERM_) | BIT(SIGWINCH_);
  long signals = CALL(__NR_signalfd4, -1, &passed, SIGSET_BYTES, O_CLOEXEC);
  if (signals < 0 || CALL(__NR_rt_sigprocmask, SIG_BLOCK_, &passed, 0, SIGSET_BYTES) != 0) {
    give_up(name, "signals cannot be passed on");
  }
  hand_over_streams(answer);
  for (;;) {
    struct waited sources[] = {{runtime, POLLIN_, 0}, {(int)signals, POLLIN_, 0}};
    if (CALL(__NR_ppoll, sources, 2, 0, 0) <= 0) {
      continue;
    }
    if (sources[1].found != 0) {
      unsigned information[32];
      CALL(__NR_read, signals, information, sizeof information, 0);
      char number = (char)information[0];
      send_frame(runtime, 'S', &number, 1);
    }
    if (sources[0].found == 0) {
      continue;
    }
    switch (read_frame(runtime)) {
    case 'X':
      end_like(answer[1] != 0 ? answer[1] : (answer[0] & 0xff) << 8);
    case 'F':
      give_up(name, answer);
    default:
      give_up(name, "Cordon has gone");
    }
  }
}

void ask_about_part(const char *name, char **argv, char **envp) {
  const char *path = path_called(envp);
  fill_streams();
  long runtime = connect_to(socket_path);
  if (runtime < 0) {
    give_up(name, "Cordon cannot be asked whether it may run");
  }
  if (argv[0] == 0 || !ask((int)runtime, name, argv)) {
    run_another(path, name, argv, envp);
  }
  switch (read_frame((int)runtime)) {
  case 'R':
    run_another(path, name, argv, envp);
  case 'D':
    give_up(name, answer);
  case 'E':
    stand_in((int)runtime, name);
  default:
    give_up(name, "Cordon does not say whether it may run");
  }
}
