/*
 * The launcher's companion on Linux: no library, some kilobytes, starts in well under a millisecond.
 *
 *   launch --outer [--runtime PID] [--leases FOLDER TASK...] -- PATH ARGS...
 *       Before bubblewrap: closes every inherited descriptor above 2, so that neither bubblewrap nor the command
 *       ever holds one (a terminal host is known to leave pty masters and sockets inheritable), then runs PATH,
 *       handing it one descriptor that tells whether this process, bubblewrap from then on, is still alive.
 *       It ends with PID, which started it, from its first moment on.
 *       Tasks are for the keeper (keeper.c), a process that outlives all others of the run:
 *         --note NAME             keeps the file NAME in FOLDER until everything else is done; comes first
 *         --hold NAME PATH        makes the empty folder PATH, a mount point; the lease NAME keeps runs apart (lease.c)
 *         --hold-file NAME PATH   the same with an empty file
 *         --hide PATH, --read PATH  puts the mask on PATH back when the machine lifts it (watch.c)
 *         --trap NAME PATH        removes the file PATH after the run, leaving the note NAME in FOLDER
 *         --calls NAME            leaves the system calls that the filter refused in the file NAME of FOLDER, if any
 *         --group PATH FILE VALUE  runs everything in the control group PATH (held, too), with VALUE in its FILE
 *   launch [--seccomp HEX] [--limit NAME NUMBER]... [--bridge PORT SOCKET] [--foreground] [--arg0 NAME] [--kept]
 *          [--beside] [--grouped] [--last-namespace] [--mounts MOUNT...] -- ARGV...
 *       Inside bubblewrap, as its command and the sandbox's process 1: descriptors again, signal dispositions,
 *       no_new_privs, limits (limits.c), Landlock scope, the seccomp program, then ARGV in a process group of its
 *       own. Process 1 is under the same filter as the command, and its memory and descriptors are closed to it.
 *       --kept: there is a keeper, to be met before anything runs, and to be told what the filter refuses (refusals.c). --beside: it works beside bubblewrap (both ends are
 *       told so), and process 1 waits for the mount points, and with --grouped for the control groups, too.
 *       --arg0: what the command sees as its own name.
 *       --bridge: 127.0.0.1:PORT leads to the Unix socket (bridge.c), from before the command's first step.
 *       --mounts: last of all options. bubblewrap has left the capabilities for it and user 0, which becomes the person
 *       again when the mounts are made (ground.c, mounts.c) and every capability is dropped (privileges.c); with
 *       --last-namespace the kernel makes no user namespace for the command. A MOUNT is one of these. The first is on
 *       "/", and each comes after those that contain its PATH:
 *         write SOURCE PATH, read SOURCE PATH  the machine's own
 *         scratch PATH            empty, writable, in memory
 *         shown PATH, passage PATH  the same, read-only, with mount points for what is mounted in it; may be listed, or
 *                                 only passed
 *         folder PATH, step PATH, link TARGET PATH  made in one of these; a step may only be passed
 *         empty PATH, closed PATH, unreadable PATH  a read-only nothing; a folder, and a file, that nobody may open
 *   launch --sweep FOLDER
 *       Removes what runs left whose keeper was killed.
 *   launch --connect HOST PORT
 *       Inside, standard input and output through the network proxy (connect.c): what ssh takes as its ProxyCommand.
 *   launch --landlock OPTIONS... -- ARGV...
 *       Instead of bubblewrap: see landlock.c.
 *   launch --own RUNTIME [--arg0 NAME] -- ARGV...
 *       Without a sandbox: see own.c.
 *   launch --adopt -- ARGV...
 *       Takes its standard streams from a connection: see adopt.c.
 *   launch --spawn PARENT
 *       Starts commands for the runtime: see spawn.c.
 *   launch, called by a link in /run/cordon/parts
 *       Inside: asks the runtime about the program with the name of the link: see part.c.
 *   launch --landlock-version
 *       Exits with the version of Landlock's interface; 0 when the kernel offers none.
 *   launch --probe NAME ARGS...
 *       One attack or its harmless counterpart, for the self-test: see probe.c.
 *   launch --check
 *       Exits with 0: the cheapest command to try a sandbox with.
 *
 * Exit code: the command's, 128 + N for signal N; 127 not found, 126 not executable, 125 not confined, not run.
 * The filter comes as an argument because a pseudoterminal's child cannot be handed a descriptor.
 */
#include "helper.h"

#include <linux/prctl.h>

static struct tasks tasks;

/* True for an option with that many values; then `*at` is left on its last word and `values` on the first value. */
static int has(char ***at, char ***values, const char *name, int count) {
  if (!is_same(**at, name)) {
    return 0;
  }
  for (int index = 1; index <= count; index++) {
    if ((*at)[index] == 0) {
      return 0;
    }
  }
  *values = *at + 1;
  *at += count;
  return 1;
}

static void __attribute__((noreturn)) launch_outer(word runtime, char **argv, char **envp) {
  close_descriptors(3);
  reset_signals();
  announce_launcher(runtime);
  if (tasks.folder != 0) {
    start_keeper(&tasks, argv, envp);
  }
  for (int at = 0; at < tasks.count; at++) {
    const struct task *task = &tasks.all[at];
    if (task->duty != GROUP || tasks.is_beside) {
      continue;
    }
    if (set_group_limit(task->path, task->name, task->last) < 0 || join_group(task->path, 0) < 0) {
      refuse("control group");
    }
  }
  run(argv, envp);
}

__attribute__((used)) void launch(word *stack) {
  char **argv = (char **)(stack + 1);
  char **envp = argv + stack[0] + 1;
  char **value = 0;
  const char *filter = 0;
  char **bridge = 0;
  int has_mounts = 0;
  int is_last = 0;
  int is_foreground = 0;
  int is_kept = 0;
  int is_grouped = 0;
  int is_outer = 0;
  word runtime = 0;
  if (stack[0] < 1) {
    refuse("arguments");
  }
  const char *part = part_called(envp);
  if (part != 0) {
    ask_about_part(part, argv, envp);
  }
  if (stack[0] > 3 && is_same(argv[1], "--adopt") && is_same(argv[2], "--")) {
    adopt(argv + 3, envp);
  }
  if (stack[0] == 3 && is_same(argv[1], "--spawn")) {
    spawn(number_in(argv[2]));
  }
  if (stack[0] > 4 && is_same(argv[1], "--own") && is_same(argv[3], "--")) {
    own(number_in(argv[2]), argv + 4, envp);
  }
  if (stack[0] > 6 && is_same(argv[1], "--own") && is_same(argv[3], "--arg0") && is_same(argv[5], "--")) {
    show_as(argv[4]);
    own(number_in(argv[2]), argv + 6, envp);
  }
  set_standard_limits();
  if (argv[1] != 0 && is_same(argv[1], "--landlock")) {
    launch_with_landlock(argv + 2, envp);
  }
  if (argv[1] != 0 && is_same(argv[1], "--landlock-version")) {
    leave(landlock_version());
  }
  if (argv[1] != 0 && is_same(argv[1], "--probe")) {
    probe(argv + 2, envp);
  }
  for (argv++; *argv != 0 && !is_same(*argv, "--"); argv++) {
    if (has(&argv, &value, "--check", 0)) {
      leave(0);
    } else if (has(&argv, &value, "--sweep", 1)) {
      sweep(value[0]);
    } else if (has(&argv, &value, "--outer", 0)) {
      is_outer = 1;
    } else if (has(&argv, &value, "--runtime", 1)) {
      runtime = number_in(value[0]);
    } else if (has(&argv, &value, "--leases", 1)) {
      tasks.folder = value[0];
    } else if (has(&argv, &value, "--note", 1)) {
      add_task(&tasks, NOTE, value[0], "");
    } else if (has(&argv, &value, "--hold", 2)) {
      add_task(&tasks, HOLD_FOLDER, value[0], value[1]);
    } else if (has(&argv, &value, "--hold-file", 2)) {
      add_task(&tasks, HOLD_FILE, value[0], value[1]);
    } else if (has(&argv, &value, "--hide", 1)) {
      add_task(&tasks, HIDE, 0, value[0]);
    } else if (has(&argv, &value, "--read", 1)) {
      add_task(&tasks, READ, 0, value[0]);
    } else if (has(&argv, &value, "--trap", 2)) {
      add_task(&tasks, TRAP, value[0], value[1]);
    } else if (has(&argv, &value, "--calls", 1)) {
      add_task(&tasks, CALLS, value[0], "");
    } else if (has(&argv, &value, "--group", 3)) {
      add_task(&tasks, GROUP, value[1], value[0])->last = value[2];
    } else if (has(&argv, &value, "--foreground", 0)) {
      is_foreground = 1;
    } else if (has(&argv, &value, "--beside", 0)) {
      tasks.is_beside = 1;
    } else if (has(&argv, &value, "--kept", 0)) {
      is_kept = 1;
    } else if (has(&argv, &value, "--grouped", 0)) {
      is_grouped = 1;
    } else if (has(&argv, &value, "--arg0", 1)) {
      show_as(value[0]);
    } else if (has(&argv, &value, "--seccomp", 1)) {
      filter = value[0];
    } else if (has(&argv, &value, "--limit", 2)) {
      set_limit(value[0], value[1]);
    } else if (has(&argv, &value, "--bridge", 2)) {
      bridge = value;
    } else if (has(&argv, &value, "--connect", 2)) {
      connect_through_proxy(value[0], value[1]);
    } else if (has(&argv, &value, "--last-namespace", 0)) {
      is_last = 1;
    } else if (has(&argv, &value, "--mounts", 0)) {
      has_mounts = 1;
      argv = read_mounts(argv + 1);
      break;
    } else {
      refuse("arguments");
    }
  }
  if (*argv == 0 || argv[1] == 0 || (tasks.count > 0 && tasks.folder == 0)) {
    refuse("arguments");
  }
  argv++;
  if (is_outer) {
    launch_outer(runtime, argv, envp);
  }
  check_launcher();
  if (has_mounts) {
    make_ground();
  }
  if (is_last) {
    forbid_user_namespaces();
  }
  if (is_kept && tasks.is_beside) {
    await_keeper();
  }
  if (has_mounts) {
    make_mounts();
    enter_last_namespace();
    drop_all_capabilities();
  }
  close_descriptors(is_kept ? KEEPER_FD + 1 : 3);
  reset_signals();
  if (CALL(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0) != 0) {
    refuse("no new privileges");
  }
  int is_heard = 0;
  if (is_kept) {
    is_heard = meet_keeper();
    if (is_grouped) {
      await_keeper();
    }
  }
  /* Closes /proc/1/mem, fd and environ; a program that is started from here is open again. */
  if (CALL(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0) != 0) {
    refuse("closing process 1");
  }
  scope_abstract_sockets();
  long listener = filter == 0 ? -1 : load_filter(filter, is_heard);
  if (bridge != 0) {
    open_bridge(bridge[0], bridge[1]);
  }
  start(argv, envp, is_foreground, is_kept, listener);
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call launch\n");
#else
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl launch\n");
#endif
