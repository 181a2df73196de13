/*
 * What the filter refuses is answered by process 1, which notes it for the keeper: the runtime then knows what a
 * command was denied, whatever the command makes of it. Every answer is the error of the filter, never a permission;
 * were process 1 to end, so would the whole sandbox, and the kernel itself refuses calls that nobody listens to.
 * Calls that the filter allows, or answers with "no such call" because programs try them all day, never come here.
 */
#include "helper.h"

#include <linux/seccomp.h>

#define MSG_NOSIGNAL_ 0x4000
#define MSG_DONTWAIT_ 0x40
/* linux/seccomp.h of Linux 5.0; the kernel's own structures may grow, so that there is room behind them. */
#define NOTIF_RECV 0xc0502100U
#define NOTIF_SEND 0xc0182101U
#define ROOM 256

struct heard_call {
  unsigned long long id;
  unsigned process;
  unsigned flags;
  struct seccomp_data data;
};

struct answer {
  unsigned long long id;
  long long value;
  int error;
  unsigned flags;
};

struct refusal {
  int call;
  unsigned detail;
};

/* Family of a socket, request of an ioctl: what tells apart calls of one name. */
static unsigned detail_of(const struct seccomp_data *data) {
  if (data->nr == __NR_socket) {
    return (unsigned)data->args[0];
  }
  return data->nr == __NR_ioctl ? (unsigned)data->args[1] : 0;
}

/* Tells the keeper, each kind of call once. */
static void note(const struct seccomp_data *data) {
  static struct refusal known[MOST_REFUSALS];
  static int count;
  const struct refusal refusal = {data->nr, detail_of(data)};
  for (int at = 0; at < count; at++) {
    if (known[at].call == refusal.call && known[at].detail == refusal.detail) {
      return;
    }
  }
  if (count < MOST_REFUSALS) {
    known[count++] = refusal;
    char text[2 * NUMBER_SIZE + 2];
    write_number(text, refusal.call);
    word used = length(text);
    text[used++] = ' ';
    write_number(text + used, refusal.detail);
    used += length(text + used);
    text[used++] = '\n';
    call6(__NR_sendto, KEEPER_FD, (word)text, used, MSG_NOSIGNAL_ | MSG_DONTWAIT_, 0, 0);
  }
}

void refuse_call(long listener) {
  union {
    struct heard_call call;
    char room[ROOM];
  } heard = {.room = {0}};
  if (CALL(__NR_ioctl, listener, NOTIF_RECV, &heard, 0) != 0) {
    return; /* Its process was killed, or a signal came first. */
  }
  const struct seccomp_data *data = &heard.call.data;
  note(data);
  union {
    struct answer answer;
    char room[ROOM];
  } reply = {.room = {0}};
  reply.answer.id = heard.call.id;
  reply.answer.error = data->nr == __NR_socket ? -EAFNOSUPPORT : -EPERM;
  CALL(__NR_ioctl, listener, NOTIF_SEND, &reply, 0);
}
