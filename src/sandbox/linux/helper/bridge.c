#include "helper.h"

#include <linux/eventpoll.h>
#include <linux/in.h>

/* Two descriptors each: below the usual limit of 1,024 of them. More connections wait in the backlog. */
#define MAX_PAIRS 500
#define BUFFER_BYTES 16384
#define MAX_EVENTS 64
/* How many buffers one connection may move before the others have their turn. */
#define MAX_ROUNDS 16
#define BACKLOG 512
#define RETRY_NANOSECONDS 10000000
#define LISTENER_ENTRY MAX_PAIRS
#define NONE (-1)

#define AF_UNIX_ 1
#define AF_INET_ 2
#define SOCK_STREAM_ 1
#define TCP_NODELAY_ 1
#define SHUT_WR_ 1

/* One direction of a connection. */
struct flow {
  unsigned used;
  unsigned sent;
  int is_ended;
  int is_shut;
  /* The receiver is gone: what still comes is read and thrown away. */
  int is_deaf;
  char bytes[BUFFER_BYTES];
};

/* A connection of the command (near) and its counterpart at the proxy (far). */
struct pair {
  int near;
  int far;
  int next_free;
  int has_more;
  struct flow out;
  struct flow in;
};

enum progress { IDLE, MORE, UNREADABLE, UNWRITABLE };

static struct pair pairs[MAX_PAIRS];
static int first_free;
static int pending;
static int is_accepting;
static int poller;
static int listener = NONE;
static const char *target;

static void watch(int descriptor, unsigned events, unsigned long long entry) {
  struct epoll_event event = {events, entry};
  if (CALL(__NR_epoll_ctl, poller, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    refuse("network bridge");
  }
}

static void accept_again(void) {
  if (!is_accepting) {
    watch(listener, EPOLLIN, LISTENER_ENTRY);
    is_accepting = 1;
  }
}

/* Until a connection ends: a listener that is watched, but never accepted from, would keep the loop spinning. */
static void stop_accepting(void) {
  struct epoll_event unused = {0, 0};
  CALL(__NR_epoll_ctl, poller, EPOLL_CTL_DEL, listener, &unused);
  is_accepting = 0;
}

static void set_more(struct pair *pair, int has_more) {
  pending += has_more - pair->has_more;
  pair->has_more = has_more;
}

static void release(struct pair *pair) {
  CALL(__NR_close, pair->near, 0, 0, 0);
  CALL(__NR_close, pair->far, 0, 0, 0);
  set_more(pair, 0);
  pair->near = NONE;
  pair->next_free = first_free;
  first_free = (int)(pair - pairs);
  accept_again();
}

static enum progress pump(struct flow *flow, int from, int to) {
  for (int round = 0; round < MAX_ROUNDS; round++) {
    if (flow->sent < flow->used && !flow->is_deaf) {
      long count = call6(__NR_sendto, (word)to, (word)(flow->bytes + flow->sent), flow->used - flow->sent,
                         MSG_NOSIGNAL_, 0, 0);
      if (count == -EAGAIN) {
        return IDLE;
      }
      if (count < 0 && count != -EINTR) {
        return UNWRITABLE;
      }
      flow->sent += count < 0 ? 0 : (unsigned)count;
      continue;
    }
    if (flow->is_ended) {
      if (!flow->is_shut) {
        CALL(__NR_shutdown, to, SHUT_WR_, 0, 0);
        flow->is_shut = 1;
      }
      return IDLE;
    }
    long count = call6(__NR_recvfrom, (word)from, (word)flow->bytes, BUFFER_BYTES, 0, 0, 0);
    if (count == -EAGAIN) {
      return IDLE;
    }
    if (count < 0 && count != -EINTR) {
      return UNREADABLE;
    }
    flow->sent = 0;
    flow->used = count < 0 ? 0 : (unsigned)count;
    flow->is_ended = count == 0;
  }
  return MORE;
}

static void serve(struct pair *pair) {
  enum progress out = pump(&pair->out, pair->near, pair->far);
  if (out == UNWRITABLE) {
    /* The proxy has answered and closed; its answer is still to be read. */
    pair->out.is_deaf = 1;
    out = MORE;
  }
  enum progress in = pump(&pair->in, pair->far, pair->near);
  if (out == UNREADABLE || in == UNREADABLE || in == UNWRITABLE || (pair->out.is_shut && pair->in.is_shut)) {
    release(pair);
    return;
  }
  set_more(pair, out == MORE || in == MORE);
}

static void reset(struct flow *flow) {
  flow->used = 0;
  flow->sent = 0;
  flow->is_ended = 0;
  flow->is_shut = 0;
  flow->is_deaf = 0;
}

static void accept_all(void) {
  while (first_free != NONE) {
    long near = CALL(__NR_accept4, listener, 0, 0, O_NONBLOCK | O_CLOEXEC);
    if (near == -EMFILE || near == -ENFILE) {
      stop_accepting();
      return;
    }
    if (near < 0) {
      return;
    }
    long far = connect_to(target);
    if (far < 0 || CALL(__NR_fcntl, far, F_SETFL, O_NONBLOCK, 0) != 0) {
      CALL(__NR_close, near, 0, 0, 0);
      if (far >= 0) {
        CALL(__NR_close, far, 0, 0, 0);
      }
      continue;
    }
    static const int on = 1;
    call6(__NR_setsockopt, (word)near, IPPROTO_TCP, TCP_NODELAY_, (word)&on, sizeof on, 0);
    struct pair *pair = &pairs[first_free];
    unsigned long long entry = (unsigned long long)first_free;
    first_free = pair->next_free;
    pair->near = (int)near;
    pair->far = (int)far;
    reset(&pair->out);
    reset(&pair->in);
    watch(pair->near, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, entry);
    watch(pair->far, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, entry);
  }
  stop_accepting();
}

static void __attribute__((noreturn)) forward(void) {
  static struct epoll_event events[MAX_EVENTS];
  poller = (int)CALL(__NR_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0);
  if (poller < 0) {
    refuse("network bridge");
  }
  for (int index = 0; index < MAX_PAIRS; index++) {
    pairs[index].near = NONE;
    pairs[index].next_free = index + 1 < MAX_PAIRS ? index + 1 : NONE;
  }
  accept_again();
  for (;;) {
    long count = call6(__NR_epoll_pwait, (word)poller, (word)events, MAX_EVENTS, (word)(pending > 0 ? 0 : -1), 0,
                       SIGSET_BYTES);
    if (count < 0 && count != -EINTR) {
      refuse("network bridge");
    }
    for (long at = 0; at < count; at++) {
      struct pair *pair = events[at].data < MAX_PAIRS ? &pairs[events[at].data] : 0;
      if (pair == 0) {
        accept_all();
      } else if (pair->near != NONE) {
        serve(pair);
      }
    }
    for (int index = 0; pending > 0 && index < MAX_PAIRS; index++) {
      if (pairs[index].has_more) {
        serve(&pairs[index]);
      }
    }
  }
}

long connect_to(const char *path) {
  static struct {
    unsigned short family;
    char path[108];
  } address;
  address.family = AF_UNIX_;
  word size = length(path) + 1;
  if (size > sizeof address.path) {
    return -ENAMETOOLONG;
  }
  for (word at = 0; at < size; at++) {
    address.path[at] = path[at];
  }
  long descriptor = CALL(__NR_socket, AF_UNIX_, SOCK_STREAM_ | O_CLOEXEC, 0, 0);
  if (descriptor < 0) {
    return descriptor;
  }
  long error;
  do {
    error = CALL(__NR_connect, descriptor, &address, sizeof address, 0);
  } while (error == -EINTR);
  if (error != 0) {
    CALL(__NR_close, descriptor, 0, 0, 0);
    return error;
  }
  return descriptor;
}

static unsigned port_number(const char *text) {
  unsigned port = 0;
  for (; *text >= '0' && *text <= '9' && port <= 0xffff; text++) {
    port = port * 10 + (unsigned)(*text - '0');
  }
  return *text == 0 && port <= 0xffff ? port : 0;
}

void open_bridge(const char *port, const char *path) {
  unsigned number = port_number(port);
  struct sockaddr_in address = {AF_INET_, 0, {0}, {0}};
  address.sin_port = (unsigned short)(number >> 8 | (number & 0xff) << 8);
  ((unsigned char *)&address.sin_addr)[0] = 127;
  ((unsigned char *)&address.sin_addr)[3] = 1;
  target = path;
  listener = (int)CALL(__NR_socket, AF_INET_, SOCK_STREAM_ | O_NONBLOCK | O_CLOEXEC, 0, 0);
  if (number == 0 || listener < 0 || CALL(__NR_bind, listener, &address, sizeof address, 0) != 0 ||
      CALL(__NR_listen, listener, BACKLOG, 0, 0) != 0) {
    refuse("network bridge");
  }
}

int bridge_listener(void) {
  return listener;
}

void start_bridge(void) {
  static const word moment[2] = {0, RETRY_NANOSECONDS};
  long child = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (child < 0) {
    /* The command has all processes that the limits allow: its connection waits until it has one less. */
    CALL(__NR_ppoll, 0, 0, moment, 0);
    return;
  }
  if (child == 0) {
    /* Neither the command's output, whose reader waits for the end of all writers, nor what is process 1's own. */
    CALL(__NR_dup3, listener, 0, O_CLOEXEC, 0);
    listener = 0;
    close_descriptors(1);
    forward();
  }
  CALL(__NR_close, listener, 0, 0, 0);
  listener = NONE;
}
