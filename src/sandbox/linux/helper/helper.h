/* The kernel without a library, and what the parts of the companion offer each other. */
#ifndef CORDON_HELPER_H
#define CORDON_HELPER_H

#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>

#define EXIT_SETUP 125
#define MAX_PATH 4096

#define SIGKILL_ 9
#define SIGCHLD_ 17
#define SIGCONT_ 18
#define SIGSTOP_ 19
#define SIGTSTP_ 20
#define SIG_BLOCK_ 0
#define SIG_SETMASK_ 2
#define SIGNAL_COUNT 64
#define SIGSET_BYTES 8
#define POLLIN_ 1
#define MSG_NOSIGNAL_ 0x4000

/* Descriptors that the part before bubblewrap leaves for the part inside; everything else above 2 is closed. */
#define LAUNCHER_FD 3
#define KEEPER_FD 4

typedef unsigned long word;

#define SOL_SOCKET_ 1
#define SCM_RIGHTS_ 1
#define STREAM_COUNT 3

/* A byte that carries the standard streams from process to process: of sendmsg(2), recvmsg(2) and cmsg(3). */
struct span {
  void *start;
  word size;
};

struct parcel {
  void *name;
  unsigned name_size;
  struct span *spans;
  word span_count;
  void *control;
  word control_size;
  int flags;
};

struct streams {
  word size;
  int level;
  int type;
  int descriptors[STREAM_COUNT];
} __attribute__((aligned(8)));
/* Without what fills it up. */
#define STREAMS_SIZE (sizeof(word) + 2 * sizeof(int) + STREAM_COUNT * sizeof(int))

struct waited {
  int descriptor;
  short wanted;
  short found;
};

static inline long call6(long number, word a, word b, word c, word d, word e, word f) {
#if defined(__x86_64__)
  long result;
  register word r10 __asm__("r10") = d;
  register word r8 __asm__("r8") = e;
  register word r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register word x0 __asm__("x0") = a;
  register word x1 __asm__("x1") = b;
  register word x2 __asm__("x2") = c;
  register word x3 __asm__("x3") = d;
  register word x4 __asm__("x4") = e;
  register word x5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return (long)x0;
#else
#error "Only x86-64 and arm64 are supported."
#endif
}

#define CALL(number, a, b, c, d) call6(number, (word)(a), (word)(b), (word)(c), (word)(d), 0, 0)

/* system.c */
void leave(int code) __attribute__((noreturn));
word length(const char *text);
int is_same(const char *a, const char *b);
/* Of a decimal number that is not negative, with its end. */
#define NUMBER_SIZE 20
void write_number(char *to, long number);
/* A decimal number; refuses anything else. */
word number_in(const char *text);
/* One line on standard error, in one write. */
void say(const char *before, const char *middle, const char *after);
/* Fail closed: says which step of the set-up failed and ends; nothing was run. */
void refuse(const char *step) __attribute__((noreturn));

/* descriptors.c */
void close_descriptors(int first);
/* Whether that process has started this one, by itself or by its spawner, and is still there. */
int is_started_by(word runtime);
/* Ends with its parent, unless that has ended already; the launcher's process becomes LAUNCHER_FD. */
void announce_launcher(word runtime);
void check_launcher(void);

/* lease.c */
/* The lease of a mount point that this run has made or shares, as a locked descriptor; -1 when it said why not. */
long take_lease(long folder, const char *name, const char *path, int is_file);
/* A lease without a mount point: tells that the run lasts. */
long take_note(long folder, const char *name);
/* Removes the mount point, if it is still empty, and the lease, unless another run has it, too. */
void drop_lease(long folder, const char *name, const char *path, long lease);
/* Does that for every lease in the folder that nobody has. */
void sweep(const char *folder) __attribute__((noreturn));

/* keeper.c */
enum duty { NOTE, HOLD_FOLDER, HOLD_FILE, HIDE, READ, TRAP, CALLS, GROUP };

/* What the keeper does for one path during and after the run. */
struct task {
  enum duty duty;
  const char *name;
  const char *path;
  long lease;
  /* Of the folder above, and the part of the path in it. */
  long watch;
  const char *last;
};

struct tasks {
  const char *folder;
  /* The keeper works beside bubblewrap, and process 1 waits for it. */
  int is_beside;
  int count;
  struct task all[512];
};

struct task *add_task(struct tasks *tasks, enum duty duty, const char *name, const char *path);
/* Starts the keeper, which outlives this process; returns when everything is held, unless it works beside bubblewrap. */
void start_keeper(struct tasks *tasks, char **argv, char **envp);
/* Waits for the keeper's next word; ends when that is trouble. */
void await_keeper(void);
/* In process 1: tells the keeper whom to wait for; false where the socket has to tell the end (Linux before 5.3). */
int meet_keeper(void);
/* In process 1: does what the keeper asks for; ends when the keeper has ended. */
void heed_keeper(void);

/* watch.c */
/* An inotify descriptor that notices what happens to the masks; -1 when there are none. */
long watch_masks(struct tasks *tasks);
/* Joins the sandbox and puts masks back that the machine has lifted. */
void guard_masks(struct tasks *tasks, long events, long mounts, long sandbox, long keeper)
    __attribute__((noreturn));

/* limits.c */
void set_limit(const char *name, const char *value);
void set_standard_limits(void);
/* Sets one limit of a control group that the keeper has made; negative on failure. */
long set_group_limit(const char *group, const char *file, const char *value);
/* Moves a process, 0 for this one, into the group; negative on failure. */
long join_group(const char *group, long process);

/* confine.c */
void reset_signals(void);
/* A descriptor on which refused calls are heard, if wanted and possible; -1 otherwise: the kernel refuses them itself. */
long load_filter(const char *hex, int is_heard);
void scope_abstract_sockets(void);

/* mountCalls.c */
void refuse_at(const char *path) __attribute__((noreturn));
/* A path from a folder on that never leaves it, and leads over no link; negative when it cannot be opened. */
int open_in(int folder, const char *path);
/* Of a mount; of all below it with AT_RECURSIVE. */
void set_attributes(int tree, const char *path, word set, word cleared, word propagation, word flags);
/* A mount, not attached anywhere, of what is at the place, which is closed. */
int clone_of(long place, const char *path);
/* A mount, not attached anywhere, of a new one; without a mode where that means nothing. */
int new_file_system(const char *type, const char *mode, word attributes, const char *path);
/* Attaches a mount; the target is closed. */
void move_to(int tree, int target, const char *path);

/* ground.c */
/* Mounts /dev and /proc. */
void make_ground(void);

/* mounts.c */
/* Reads a list of mounts to its "--", or the end, and returns where that is. */
char **read_mounts(char **list);
void make_mounts(void);

/* privileges.c */
/* Allows one more user namespace below this one. */
void forbid_user_namespaces(void);
/* Takes that one, in which this process is the person again. */
void enter_last_namespace(void);
void drop_all_capabilities(void);

/* refusals.c */
/* Of the distinct refused calls of one run that are noted. */
#define MOST_REFUSALS 24
/* In process 1: refuses the call that waits at the listener. */
void refuse_call(long listener);

/* execute.c */
/* Becomes the program at the path; `argv[-1]` may be overwritten. Returns what went wrong. */
long execute(const char *path, char **argv, char **envp);
/* Becomes the program, searched on PATH when its name has no slash; ends with 127 or 126 when it cannot. */
void run(char **argv, char **envp) __attribute__((noreturn));
/* What a command that runs from here on sees as its own name. */
void show_as(char *name);
/* Becomes the program of that name which is not the file at the path. */
void run_another(const char *path, const char *name, char **argv, char **envp) __attribute__((noreturn));

/* init.c */
/* Starts the command as the first child of process 1 and ends with it. `listener`: of refused calls, or -1. */
void start(char **argv, char **envp, int is_foreground, int has_keeper, long listener) __attribute__((noreturn));
void take_foreground(int group);
/* Whether the command only stopped; it is sent on if that was Ctrl-Z. */
int revive(long command, int status);
/* What a shell makes of a wait status: 128 + N for signal N. */
int exit_code(int status);

/* landlock.c */
/* Of the kernel's interface; 0 when there is none, or when it is switched off. */
int landlock_version(void);
/* Everything after --landlock: confines and runs the command, without bubblewrap. */
void launch_with_landlock(char **argv, char **envp) __attribute__((noreturn));

/* own.c */
/* Runs the command as it is, with everything that it starts ending with that process, which started this one. */
void own(word runtime, char **argv, char **envp) __attribute__((noreturn));
/* Ends as a process with that wait status did. */
void end_like(int status) __attribute__((noreturn));

/* probe.c */
/* Everything after --probe: tries one thing that a sandbox refuses or allows; exit code 0 when it worked. */
void probe(char **argv, char **envp) __attribute__((noreturn));

/* bridge.c */
/* Listens on that port of 127.0.0.1, for the Unix socket at the path; connections wait until it is started. */
void open_bridge(const char *port, const char *path);
/* Readable when the first connection waits; -1 when there is no bridge, or it has been started. */
int bridge_listener(void);
/* Forwards in a process of its own. */
void start_bridge(void);
/* A descriptor that is connected to a Unix socket, or the negated error. */
long connect_to(const char *path);

/* connect.c */
/* Joins standard input and output with a host, through the network proxy: a ProxyCommand for ssh. */
void connect_through_proxy(const char *host, const char *port) __attribute__((noreturn));

/* part.c */
/* The name under which a program of a script was called that is asked about first; nothing for any other call. */
const char *part_called(char **envp);
/* Asks the runtime, and does what it says: becomes the program, ends with a message, or as what runs in its place did. */
void ask_about_part(const char *name, char **argv, char **envp) __attribute__((noreturn));

/* spawn.c */
/* Starts commands for that process, this one's parent, until it ends. */
void spawn(word parent) __attribute__((noreturn));

/* adopt.c */
/* Runs the command with the standard streams that come over the connection which is its input. */
void adopt(char **argv, char **envp) __attribute__((noreturn));

#endif
