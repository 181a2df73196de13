/*
 * Part of a script that runs outside of the script's sandbox, with the very streams that it had in there.
 *
 *   launch --adopt -- ARGV...
 *       Standard input is a connection with the part's place in the script (part.c). Says with one byte that it
 *       listens, takes three descriptors, makes them its standard streams and runs ARGV, with nothing else open.
 */
#include "helper.h"

#define MSG_CMSG_CLOEXEC_ 0x40000000

static void __attribute__((noreturn)) give_up(const char *step) {
  say("the part of the script was not run (", step, ")");
  leave(EXIT_SETUP);
}

void adopt(char **argv, char **envp) {
  char byte = 0;
  struct waited connection = {0, POLLIN_, 0};
  struct span span = {&byte, 1};
  struct streams streams = {0};
  struct parcel parcel = {0, 0, &span, 1, &streams, sizeof streams, 0};
  if (call6(__NR_sendto, 0, (word)&byte, 1, MSG_NOSIGNAL_, 0, 0) != 1) {
    give_up("nobody waits for it");
  }
  while (CALL(__NR_ppoll, &connection, 1, 0, 0) <= 0) {
  }
  long count = CALL(__NR_recvmsg, 0, &parcel, MSG_CMSG_CLOEXEC_, 0);
  if (count != 1 || parcel.control_size < STREAMS_SIZE || streams.size != STREAMS_SIZE ||
      streams.level != SOL_SOCKET_ || streams.type != SCM_RIGHTS_) {
    give_up("its streams did not come");
  }
  for (int stream = 0; stream < STREAM_COUNT; stream++) {
    if (CALL(__NR_dup3, streams.descriptors[stream], stream, 0, 0) != stream) {
      give_up("its streams cannot be used");
    }
  }
  close_descriptors(STREAM_COUNT);
  run(argv, envp);
}
