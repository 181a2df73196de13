/*
 * The keeper is a process of its own session that outlives everything else of a run. It is started before anything
 * else is done, makes the mount points and holds their leases, puts masks back that the machine lifts, and when the
 * sandbox's process 1 has ended (and with it, as the kernel promises, every process of the sandbox) it removes what
 * the run left. The launcher, bubblewrap and the runtime may be killed at any moment: the keeper learns of it from
 * the closing of its socket or from the death of process 1. When the keeper itself is killed, process 1 ends.
 *
 * One socket, of messages, joins the two. Keeper to launcher: one message when everything is held. Process 1 to
 * keeper: one message with descriptors of itself and of its mounts, then one for each kind of call that was refused
 * (refusals.c), which nobody reads before the end. Keeper to process 1: "S" (stop all processes),
 * "C" (continue them), or a sentence: end, with that reason.
 *
 * Where process 1 makes the mounts, it is the one that waits for the first message, so that keeper and bubblewrap work
 * side by side. The keeper then also sees to the control groups (joining one costs the kernel several milliseconds,
 * most of which pass while the launcher is moved in advance) and tells process 1 with a second message that it is in, too; where
 * there are none, nobody waits for that.
 */
#include "helper.h"

#include <linux/prctl.h>
#include <linux/sched.h>

#define AF_UNIX_ 1
#define SOCK_SEQPACKET_CLOEXEC 0x80005
#define SOL_SOCKET_ 1
#define SCM_RIGHTS_ 1
#define MSG_DONTWAIT_ 0x40
#define MSG_NOSIGNAL_ 0x4000
#define MSG_CMSG_CLOEXEC_ 0x40000000
#define KILLED (128 + SIGKILL_)
/* Above those that are handed on. */
#define FIRST_OWN_FD 8

struct buffer {
  void *start;
  word size;
};

struct message {
  void *name;
  int name_size;
  struct buffer *buffers;
  word buffer_count;
  void *control;
  word control_size;
  int flags;
};

/* A control message with room for two descriptors. */
struct handover {
  word size;
  int level;
  int type;
  int descriptors[2];
};

static long process_descriptor(long process) {
  return CALL(__NR_pidfd_open, process, 0, 0, 0);
}

/* The number of a process behind its descriptor, as the keeper sees it; 0 when the kernel does not tell. */
static long number_of(int process) {
  static char text[1024];
  static const char folder[] = "/proc/self/fdinfo/";
  char path[sizeof folder + NUMBER_SIZE];
  for (word at = 0; at < sizeof folder; at++) {
    path[at] = folder[at];
  }
  write_number(path + sizeof folder - 1, process);
  long file = CALL(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  long size = file < 0 ? -1 : CALL(__NR_read, file, text, sizeof text - 1, 0);
  CALL(__NR_close, file, 0, 0, 0);
  long number = 0;
  for (long at = 0; at + 5 < size; at++) {
    if ((at == 0 || text[at - 1] == '\n') && text[at] == 'P' && text[at + 1] == 'i' && text[at + 2] == 'd' &&
        text[at + 3] == ':') {
      for (at += 4; at < size && (text[at] == '\t' || text[at] == ' '); at++) {
      }
      for (; at < size && text[at] >= '0' && text[at] <= '9'; at++) {
        number = number * 10 + (text[at] - '0');
      }
    }
  }
  return number;
}

struct task *add_task(struct tasks *tasks, enum duty duty, const char *name, const char *path) {
  if (tasks->count == sizeof tasks->all / sizeof *tasks->all) {
    refuse("too many arguments");
  }
  struct task *task = &tasks->all[tasks->count++];
  task->duty = duty;
  task->name = name;
  task->path = path;
  task->lease = -1;
  task->watch = -1;
  return task;
}

static int is_held(const struct task *task) {
  return task->duty == HOLD_FOLDER || task->duty == HOLD_FILE;
}

/* Leaves a note for the runtime, then removes the file: whatever happens in between, the runtime can tell. */
static void spring_trap(long folder, const struct task *trap) {
  if (CALL(__NR_faccessat, AT_FDCWD, trap->path, 0, 0) != 0) {
    return;
  }
  long note = CALL(__NR_openat, folder, trap->name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (note >= 0) {
    CALL(__NR_close, note, 0, 0, 0);
  }
  CALL(__NR_unlinkat, AT_FDCWD, trap->path, 0, 0);
}

/* What process 1 has said before it ended. */
static void save_calls(const struct tasks *tasks, long folder, long socket) {
  for (int at = 0; at < tasks->count; at++) {
    if (tasks->all[at].duty != CALLS) {
      continue;
    }
    char text[2 * NUMBER_SIZE + 2];
    long file = -1;
    long size;
    while ((size = call6(__NR_recvfrom, (word)socket, (word)text, sizeof text, MSG_DONTWAIT_, 0, 0)) > 0) {
      if (file < 0) {
        file = CALL(__NR_openat, folder, tasks->all[at].name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
      }
      CALL(__NR_write, file, text, size, 0);
    }
    if (file >= 0) {
      CALL(__NR_close, file, 0, 0, 0);
    }
  }
}

/* Backwards, so that the note about the run, which comes first, goes last. */
static void clean_up(const struct tasks *tasks, long folder) {
  for (int at = tasks->count - 1; at >= 0; at--) {
    const struct task *task = &tasks->all[at];
    if (task->duty == TRAP) {
      spring_trap(folder, task);
    } else if (task->lease >= 0) {
      drop_lease(folder, task->name, task->path, task->lease);
    }
  }
}

/* True when it was the second one that ended, too. */
static int wait_for_one(long a, long b) {
  struct waited ends[] = {{(int)a, POLLIN_, 0}, {(int)b, POLLIN_, 0}};
  while (CALL(__NR_ppoll, ends, 2, 0, 0) < 0) {
  }
  return (ends[1].found & POLLIN_) != 0;
}

/* Fills in the two descriptors; false when the other end is closed: there is no process 1, and never was a command. */
static int receive(long socket, int *descriptors) {
  char text;
  struct handover handover = {0};
  struct buffer buffer = {&text, 1};
  struct message message = {.buffers = &buffer, .buffer_count = 1, .control = &handover, .control_size = sizeof handover};
  if (CALL(__NR_recvmsg, socket, &message, MSG_CMSG_CLOEXEC_, 0) != 1) {
    return 0;
  }
  int count = handover.size < 16 ? 0 : (int)((handover.size - 16) / sizeof(int));
  for (int at = 0; at < count && at < 2; at++) {
    descriptors[at] = handover.descriptors[at];
  }
  return 1;
}

static void tell(long socket, const char *text) {
  call6(__NR_sendto, (word)socket, (word)text, length(text) + 1, MSG_NOSIGNAL_, 0, 0);
}

/* The launcher is moved so that the kernel has done its waiting when process 1 is. What went wrong, or an empty text. */
static const char *make_groups(const struct tasks *tasks, long launcher) {
  for (int at = 0; at < tasks->count; at++) {
    const struct task *task = &tasks->all[at];
    if (task->duty == GROUP && set_group_limit(task->path, task->name, task->last) < 0) {
      return "limits of the control group";
    }
    if (task->duty == GROUP) {
      join_group(task->path, launcher);
    }
  }
  return "";
}

static int has_groups(const struct tasks *tasks) {
  for (int at = 0; at < tasks->count; at++) {
    if (tasks->all[at].duty == GROUP) {
      return 1;
    }
  }
  return 0;
}

/* What went wrong, or an empty text. */
static const char *enter_groups(const struct tasks *tasks, int process) {
  long number = process < 0 ? -1 : number_of(process);
  for (int at = 0; at < tasks->count; at++) {
    const struct task *task = &tasks->all[at];
    if (task->duty == GROUP && (number <= 0 || join_group(task->path, number) < 0)) {
      return "joining the control group";
    }
  }
  return "";
}

static void __attribute__((noreturn)) keep(struct tasks *tasks, long socket, long launcher, long launcher_group) {
  CALL(__NR_setsid, 0, 0, 0, 0);
  CALL(__NR_prctl, PR_SET_NAME, "cordon-keeper", 0, 0);
  word all = ~0UL;
  CALL(__NR_rt_sigprocmask, SIG_SETMASK_, &all, 0, SIGSET_BYTES);
  long folder = CALL(__NR_openat, AT_FDCWD, tasks->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) {
    refuse("folder of the leases");
  }
  int is_complete = 1;
  for (int at = 0; at < tasks->count && is_complete; at++) {
    struct task *task = &tasks->all[at];
    if (task->duty == NOTE || is_held(task)) {
      task->lease = task->duty == NOTE ? take_note(folder, task->name)
                                       : take_lease(folder, task->name, task->path, task->duty == HOLD_FILE);
      is_complete = task->lease >= 0;
    }
  }
  long events = is_complete ? watch_masks(tasks) : -1;
  if (!is_complete || events == -EIO) {
    clean_up(tasks, folder);
    leave(EXIT_SETUP);
  }
  /* From here on it has nothing of its origin: no output that somebody waits for the end of, no folder. */
  for (int number = 0; number <= 2; number++) {
    CALL(__NR_close, number, 0, 0, 0);
  }
  CALL(__NR_chdir, "/", 0, 0, 0);
  tell(socket, "");
  const char *trouble = tasks->is_beside ? make_groups(tasks, launcher) : "";

  /* First process 1, then its mounts. Without pidfd_open (Linux before 5.3) the socket alone must tell the end. */
  int sandbox[2] = {-1, -1};
  /* A bubblewrap that dies while its child waits for the user mapping leaves that waiting for ever (seen in 0.8.0). */
  if (wait_for_one(socket, LAUNCHER_FD) && launcher_group > 1) {
    CALL(__NR_kill, -launcher_group, SIGKILL_, 0, 0);
  }
  if (receive(socket, sandbox)) {
    if (tasks->is_beside && has_groups(tasks)) {
      tell(socket, *trouble != 0 ? trouble : enter_groups(tasks, sandbox[0]));
    }
    long guard = -1;
    long guard_end = -1;
    if (events >= 0) {
      long self = CALL(__NR_getpid, 0, 0, 0, 0);
      guard = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
      if (guard == 0) {
        guard_masks(tasks, events, sandbox[1], socket, self);
      }
      guard_end = guard < 0 ? -1 : process_descriptor(guard);
    }
    /* As long as the mounts exist, removing each of their mount points costs the kernel milliseconds. */
    CALL(__NR_close, sandbox[1], 0, 0, 0);
    int is_unguarded = 0;
    if (events < 0 || guard > 0) {
      is_unguarded = wait_for_one(sandbox[0] >= 0 ? sandbox[0] : socket, guard_end);
    }
    /* Whoever waits for the command waits for bubblewrap's end, which no tidying up may hold up. */
    if (!is_unguarded && sandbox[0] >= 0 && (events < 0 || guard > 0)) {
      wait_for_one(LAUNCHER_FD, -1);
    }
    /* Without its guard the sandbox may not go on: process 1 ends when this end of the socket is closed. */
    if (guard > 0) {
      CALL(__NR_kill, guard, SIGKILL_, 0, 0);
      CALL(__NR_wait4, guard, 0, 0, 0);
    }
    CALL(__NR_shutdown, socket, 1, 0, 0);
    wait_for_one(sandbox[0] >= 0 ? sandbox[0] : socket, -1);
    save_calls(tasks, folder, socket);
    /* The launcher is in the control group, too. */
    wait_for_one(LAUNCHER_FD, -1);
  }
  clean_up(tasks, folder);
  leave(0);
}

/* The command line and the environment may hold secrets, and the keeper is not the command. */
static void forget(char **argv, char **envp) {
  char *end = argv[0];
  for (char **at = argv; *at != 0; at++) {
    end = *at + length(*at);
  }
  for (char **at = envp; *at != 0; at++) {
    end = *at + length(*at);
  }
  for (char *at = argv[0]; at < end; at++) {
    *at = 0;
  }
}

void start_keeper(struct tasks *tasks, char **argv, char **envp) {
  int pair[2];
  if (CALL(__NR_socketpair, AF_UNIX_, SOCK_SEQPACKET_CLOEXEC, 0, pair) != 0) {
    refuse("socket of the keeper");
  }
  long own = CALL(__NR_fcntl, pair[0], F_DUPFD_CLOEXEC, FIRST_OWN_FD, 0);
  long handed = CALL(__NR_fcntl, pair[1], F_DUPFD_CLOEXEC, FIRST_OWN_FD, 0);
  CALL(__NR_close, pair[0], 0, 0, 0);
  CALL(__NR_close, pair[1], 0, 0, 0);
  if (own < 0 || handed < 0 || CALL(__NR_dup3, handed, KEEPER_FD, 0, 0) != KEEPER_FD) {
    refuse("socket of the keeper");
  }
  CALL(__NR_close, handed, 0, 0, 0);
  long self = CALL(__NR_getpid, 0, 0, 0, 0);
  long group = CALL(__NR_getpgid, 0, 0, 0, 0) == self ? self : 0;
  /*
   * Through a process between that ends at once: bubblewrap must have no child but the sandbox's process 1. It has this
   * process's memory, which waits for its end, so that only one copy is made.
   */
  long between = CALL(__NR_clone, CLONE_VM | CLONE_VFORK | SIGCHLD_, 0, 0, 0);
  if (between == 0) {
    if (CALL(__NR_clone, SIGCHLD_, 0, 0, 0) == 0) {
      CALL(__NR_close, KEEPER_FD, 0, 0, 0);
      forget(argv, envp);
      keep(tasks, own, self, group);
    }
    leave(0);
  }
  CALL(__NR_close, own, 0, 0, 0);
  if (between < 0 || CALL(__NR_wait4, between, 0, 0, 0) != between) {
    refuse("starting the keeper");
  }
  if (!tasks->is_beside) {
    await_keeper();
  }
}

void await_keeper(void) {
  static char text[MAX_PATH];
  long size = CALL(__NR_read, KEEPER_FD, text, sizeof text - 1, 0);
  if (size <= 0) {
    /* The keeper has said what is the matter. */
    leave(EXIT_SETUP);
  }
  if (*text != 0) {
    refuse(text);
  }
}

int meet_keeper(void) {
  char text = 0;
  long process = process_descriptor(CALL(__NR_getpid, 0, 0, 0, 0));
  long mounts = CALL(__NR_openat, AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC, 0);
  if (mounts < 0) {
    refuse("own mounts");
  }
  struct handover handover = {sizeof handover, SOL_SOCKET_, SCM_RIGHTS_, {(int)process, (int)mounts}};
  struct buffer buffer = {&text, 1};
  struct message message = {.buffers = &buffer, .buffer_count = 1, .control = &handover, .control_size = sizeof handover};
  if (process == -ENOSYS) {
    message.control = 0;
    message.control_size = 0;
  } else if (process < 0) {
    refuse("own process");
  }
  if (CALL(__NR_sendmsg, KEEPER_FD, &message, MSG_NOSIGNAL_, 0) != 1) {
    refuse("meeting the keeper");
  }
  CALL(__NR_close, mounts, 0, 0, 0);
  CALL(__NR_close, process, 0, 0, 0);
  return process >= 0;
}

void heed_keeper(void) {
  static char text[MAX_PATH + 64];
  long size = CALL(__NR_read, KEEPER_FD, text, sizeof text - 1, 0);
  if (size == -EINTR) {
    return;
  }
  if (size <= 0) {
    say("the command was stopped: ", "the process that guards its sandbox has ended", "");
    leave(KILLED);
  }
  text[size] = 0;
  if (is_same(text, "S") || is_same(text, "C")) {
    /* Without a PID namespace of its own, "all" would be every process of the machine. */
    if (CALL(__NR_getpid, 0, 0, 0, 0) == 1) {
      CALL(__NR_kill, -1, *text == 'S' ? SIGSTOP_ : SIGCONT_, 0, 0);
    }
  } else {
    say("the command was stopped: ", text, "");
    leave(KILLED);
  }
}
