#include "helper.h"

#include <linux/prctl.h>

/* Where the launcher shows the proxy inside the sandbox. */
static const char proxy_path[] = "/run/cordon/proxy.sock";

static char buffer[65536];

static int write_all(int to, const char *from, word size) {
  while (size > 0) {
    long count = CALL(__NR_write, to, from, size, 0);
    if (count < 0 && count != -EINTR) {
      return 0;
    }
    from += count < 0 ? 0 : count;
    size -= count < 0 ? 0 : (word)count;
  }
  return 1;
}

/* Until the sender ends or the receiver is gone. */
static void copy(int from, int to) {
  for (;;) {
    long count = CALL(__NR_read, from, buffer, sizeof buffer, 0);
    if (count == -EINTR) {
      continue;
    }
    if (count <= 0 || !write_all(to, buffer, (word)count)) {
      return;
    }
  }
}

static char *append(char *to, const char *text) {
  for (; *text != 0; text++) {
    /* What would end the line would begin another one. */
    if (*text <= ' ' || *text >= 0x7f || to >= buffer + sizeof buffer / 2) {
      refuse("name of the host");
    }
    *to++ = *text;
  }
  return to;
}

/* host:port, with brackets around an IPv6 address. */
static char *append_place(char *to, const char *host, const char *port) {
  int has_colon = 0;
  for (const char *at = host; *at != 0; at++) {
    has_colon |= *at == ':';
  }
  to = append(to, has_colon && *host != '[' ? "[" : "");
  to = append(to, host);
  to = append(to, has_colon && *host != '[' ? "]" : "");
  to = append(to, ":");
  return append(to, port);
}

static char *append_raw(char *to, const char *text) {
  while (*text != 0) {
    *to++ = *text++;
  }
  return to;
}

static void ask(int proxy, const char *host, const char *port) {
  char *end = append_raw(buffer, "CONNECT ");
  end = append_place(end, host, port);
  end = append_raw(end, " HTTP/1.1\r\nHost: ");
  end = append_place(end, host, port);
  end = append_raw(end, "\r\n\r\n");
  if (!write_all(proxy, buffer, (word)(end - buffer))) {
    refuse("asking the network proxy");
  }
}

/* Reads the head of the answer and nothing behind it; true when the way is free. */
static int is_granted(int proxy) {
  static const char granted[] = "HTTP/1.1 200";
  static const char end[] = "\r\n\r\n";
  word size = 0;
  word matched = 0;
  while (matched < 4) {
    long count = size < sizeof buffer ? CALL(__NR_read, proxy, buffer + size, 1, 0) : 0;
    if (count == -EINTR) {
      continue;
    }
    if (count <= 0) {
      refuse("answer of the network proxy");
    }
    matched = buffer[size] == end[matched] ? matched + 1 : buffer[size] == '\r';
    size++;
  }
  for (word at = 0; at < sizeof granted - 1; at++) {
    if (at >= size || buffer[at] != granted[at]) {
      return 0;
    }
  }
  return 1;
}

void connect_through_proxy(const char *host, const char *port) {
  long proxy = connect_to(proxy_path);
  if (proxy < 0) {
    refuse("reaching the network proxy");
  }
  ask((int)proxy, host, port);
  if (!is_granted((int)proxy)) {
    /* The proxy's own words: which host, and why not. */
    copy((int)proxy, 2);
    leave(1);
  }
  /* One process for each direction: neither can keep the other waiting. */
  long sender = CALL(__NR_clone, SIGCHLD_, 0, 0, 0);
  if (sender < 0) {
    refuse("starting a process");
  }
  if (sender == 0) {
    CALL(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL_, 0, 0);
    CALL(__NR_close, 1, 0, 0, 0);
    copy(0, (int)proxy);
    CALL(__NR_shutdown, proxy, 1, 0, 0);
    leave(0);
  }
  CALL(__NR_close, 0, 0, 0, 0);
  copy((int)proxy, 1);
  CALL(__NR_kill, sender, SIGKILL_, 0, 0);
  leave(0);
}
