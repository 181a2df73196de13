/*
 * Starts commands for the runtime. A process of many MiB takes milliseconds to fork, and does nothing else meanwhile;
 * this one takes some microseconds. It makes real pipes, too, which Node cannot: Node's are sockets, and a socket cannot
 * be opened by name (/dev/stdout), nor is a shell fond of one (bash takes it for the work of rshd).
 *
 *   launch --spawn PARENT
 *       Serves PARENT, which started it and ends with it: so does every command that it has started and that asks for
 *       nothing else. Reads orders from standard input and writes answers to standard output (spawnerWire.ts).
 *
 * From an answer STARTED on, until the order OPENED, both ends of each pipe are here as well: PARENT opens its own in
 * /proc/PID/fd, as a new description whose end of data the kernel tells only when it has seen a writer. A command that
 * has ended keeps its number until the order FORGET, so that PARENT never signals somebody else.
 */
#include "helper.h"

#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>

#define ORDERS 0
#define ANSWERS 1
#define FIRST_OWN_FD 2
#define FIRST_PIPE 3
#define MOST_CHILDREN 8192
/* The kernel takes at most 6 MiB of arguments and environment. */
#define MOST_BYTES (16UL << 20)
#define MOST_TEXTS (1U << 20)
#define PAGE 4096UL
#define P_PID_ 1
#define WNOHANG_ 1
#define WEXITED_ 4
#define WNOWAIT_ 0x01000000
#define CLD_EXITED_ 1

enum order_kind { START = 1, OPENED = 2, FORGET = 3 };

/* Followed by `size` bytes of texts that end with NUL: the folder, the arguments, the environment. */
struct order {
  unsigned kind;
  /* START: of the answer; otherwise of the process. */
  unsigned number;
  unsigned has_input;
  unsigned arguments;
  unsigned variables;
  unsigned size;
};

enum answer_kind { READY = 1, STARTED = 2, ENDED = 3 };

struct answer {
  int kind;
  /* STARTED: of the order; ENDED: of the process. */
  int number;
  /* STARTED: the process, or a negated error; ENDED: the exit code; READY: the version of all this. */
  int value;
  /* ENDED: what ended it, if anything. */
  int signal;
  /* STARTED: to write its input to, and to read its output and its errors from. */
  int streams[STREAM_COUNT];
};

#define VERSION 1

static struct child {
  int process;
  int has_ended;
  int ends[2 * STREAM_COUNT];
} children[MOST_CHILDREN];
/* Every child is below it. */
static int count;

/* Of waitid(2). */
struct ending {
  int signal;
  int error;
  int code;
  int unused;
  int process;
  int user;
  int status;
  char rest[100];
};

static void answer(const struct answer *answer) {
  word done = 0;
  while (done < sizeof *answer) {
    long size = CALL(__NR_write, ANSWERS, (const char *)answer + done, sizeof *answer - done, 0);
    if (size <= 0 && size != -EINTR) {
      leave(0);
    }
    done += size > 0 ? (word)size : 0;
  }
}

static void read_orders(void *to, word size) {
  for (word done = 0; done < size;) {
    long got = CALL(__NR_read, ORDERS, (char *)to + done, size - done, 0);
    if (got <= 0 && got != -EINTR) {
      leave(0);
    }
    done += got > 0 ? (word)got : 0;
  }
}

static struct child *find(int process) {
  for (struct child *child = children; child < children + count; child++) {
    if (child->process == process) {
      return child;
    }
  }
  return 0;
}

static void close_ends(int *ends) {
  for (int at = 0; at < 2 * STREAM_COUNT; at++) {
    if (ends[at] != 0) {
      CALL(__NR_close, ends[at], 0, 0, 0);
      ends[at] = 0;
    }
  }
}

/* The ends to read from are the even ones. */
static long make_pipes(int *ends, int has_input) {
  for (int stream = has_input ? 0 : 1; stream < STREAM_COUNT; stream++) {
    long error = CALL(__NR_pipe2, ends + 2 * stream, O_CLOEXEC, 0, 0);
    if (error != 0) {
      return error;
    }
  }
  return 0;
}

/* In the child, which has this process's memory and none of its descriptors above 2; returns what went wrong. */
static long become(long spawner, const int *ends, const char *folder, char **argv, char **envp) {
  static const word none;
  CALL(__NR_setsid, 0, 0, 0, 0);
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  if (CALL(__NR_getppid, 0, 0, 0, 0) != spawner) {
    return -ESRCH;
  }
  long input = ends[0] != 0 ? ends[0] : CALL(__NR_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
  const long streams[STREAM_COUNT] = {input, ends[3], ends[5]};
  for (int stream = 0; stream < STREAM_COUNT; stream++) {
    long error = streams[stream] < 0 ? streams[stream] : CALL(__NR_dup3, streams[stream], stream, 0, 0);
    if (error < 0) {
      return error;
    }
  }
  long error = CALL(__NR_chdir, folder, 0, 0, 0);
  if (error != 0) {
    return error;
  }
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &none, 0, SIGSET_BYTES);
  return execute(argv[0], argv, envp);
}

/*
 * The process, or what went wrong. A function of its own, because the child goes on with this one's stack: a caller
 * that has it as a part of itself may keep its own values where the child writes.
 */
static __attribute__((noinline)) long start_process(const int *ends, const char *folder, char **argv, char **envp) {
  static volatile long problem;
  problem = 0;
  long self = CALL(__NR_getpid, 0, 0, 0, 0);
  long process = CALL(__NR_clone, CLONE_VM | CLONE_VFORK | SIGCHLD_, 0, 0, 0);
  if (process == 0) {
    problem = become(self, ends, folder, argv, envp);
    leave(EXIT_SETUP);
  }
  if (process > 0 && problem != 0) {
    CALL(__NR_wait4, process, 0, 0, 0);
    return problem;
  }
  return process;
}

static struct child *free_child(void) {
  struct child *child = find(0);
  return child != 0 || count == MOST_CHILDREN ? child : &children[count++];
}

/* Of that many texts, with nothing behind the last one; what follows them. */
static char *split(char *text, const char *end, char **to, unsigned texts) {
  for (unsigned at = 0; at < texts; at++) {
    *to++ = text;
    while (text < end && *text != 0) {
      text++;
    }
    if (text++ >= end) {
      leave(EXIT_SETUP);
    }
  }
  *to = 0;
  return text;
}

/* So that the next order is found where it begins. */
static void pass_over(word size) {
  static char lost[PAGE];
  while (size > 0) {
    word part = size < sizeof lost ? size : sizeof lost;
    read_orders(lost, part);
    size -= part;
  }
}

static void start_child(const struct order *order) {
  if (order->size > MOST_BYTES || order->arguments == 0 || order->arguments > MOST_TEXTS ||
      order->variables > MOST_TEXTS) {
    leave(EXIT_SETUP);
  }
  /* The folder and the slot that a shell needs for scripts without a known format, then both lists and their ends. */
  word pointers = (3 + order->arguments + 1 + order->variables + 1) * sizeof(char *);
  word size = (pointers + order->size + PAGE) & ~(PAGE - 1);
  long memory = call6(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1UL, 0);
  struct answer told = {STARTED, (int)order->number, -EAGAIN, 0, {-1, -1, -1}};
  if (memory < 0 && memory > -(long)PAGE) {
    pass_over(order->size);
    told.value = (int)memory;
    answer(&told);
    return;
  }
  char **folder = (char **)memory;
  char **argv = folder + 3;
  char **envp = argv + order->arguments + 1;
  char *text = (char *)memory + pointers;
  const char *end = text + order->size;
  read_orders(text, order->size);
  text = split(text, end, folder, 1);
  text = split(text, end, argv, order->arguments);
  split(text, end, envp, order->variables);

  struct child *child = free_child();
  if (child != 0) {
    long made = make_pipes(child->ends, order->has_input != 0);
    told.value = (int)(made != 0 ? made : start_process(child->ends, *folder, argv, envp));
  }
  /* The environment may hold secrets. */
  CALL(__NR_munmap, memory, size, 0, 0);
  if (child != 0 && told.value > 0) {
    child->process = told.value;
    child->has_ended = 0;
    told.streams[0] = order->has_input != 0 ? child->ends[1] : -1;
    told.streams[1] = child->ends[2];
    told.streams[2] = child->ends[4];
  } else if (child != 0) {
    close_ends(child->ends);
  }
  answer(&told);
}

static void take_order(void) {
  struct order order;
  read_orders(&order, sizeof order);
  if (order.kind == START) {
    start_child(&order);
    return;
  }
  struct child *child = find((int)order.number);
  if (child == 0 || order.number == 0 || order.size != 0) {
    leave(EXIT_SETUP);
  }
  close_ends(child->ends);
  if (order.kind == FORGET) {
    CALL(__NR_wait4, child->process, 0, 0, 0);
    child->process = 0;
    while (count > 0 && children[count - 1].process == 0) {
      count--;
    }
  }
}

static void look_for_ended(void) {
  for (struct child *child = children; child < children + count; child++) {
    struct ending ending = {0};
    if (child->process == 0 || child->has_ended ||
        call6(__NR_waitid, P_PID_, (word)child->process, (word)&ending, WEXITED_ | WNOHANG_ | WNOWAIT_, 0, 0) != 0 ||
        ending.process != child->process) {
      continue;
    }
    child->has_ended = 1;
    int is_exit = ending.code == CLD_EXITED_;
    struct answer told = {ENDED, child->process, is_exit ? ending.status : 0, is_exit ? 0 : ending.status, {-1, -1, -1}};
    answer(&told);
  }
}

void spawn(word parent) {
  static const word ended_child = 1UL << (SIGCHLD_ - 1);
  CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
  if ((word)CALL(__NR_getppid, 0, 0, 0, 0) != parent) {
    leave(EXIT_SETUP);
  }
  CALL(__NR_prctl, PR_SET_NAME, "cordon-spawner", 0, 0);
  close_descriptors(FIRST_OWN_FD);
  reset_signals();
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &ended_child, 0, SIGSET_BYTES);
  /* Standard error is taken by it, so that all pipes are above the standard streams. */
  long signals = CALL(__NR_signalfd4, -1, &ended_child, SIGSET_BYTES, O_CLOEXEC);
  if (signals != FIRST_PIPE - 1) {
    leave(EXIT_SETUP);
  }
  struct answer ready = {READY, 0, VERSION, 0, {-1, -1, -1}};
  answer(&ready);
  for (;;) {
    struct waited sources[] = {{ORDERS, POLLIN_, 0}, {(int)signals, POLLIN_, 0}};
    if (CALL(__NR_ppoll, sources, 2, 0, 0) <= 0) {
      continue;
    }
    if (sources[1].found != 0) {
      char information[128];
      CALL(__NR_read, signals, information, sizeof information, 0);
      look_for_ended();
    }
    if (sources[0].found != 0) {
      take_order();
    }
  }
}
