/* SPDX-License-Identifier: MIT
 *
 * Message: see message.h. */
#include "net/message.h"

#include <stdlib.h>

#include "net/zeromq.h"

_Static_assert(sizeof((ms_message *)0)->room == sizeof(zmq_msg_t), "room for one of ZeroMQ's");

int ms_message_make(ms_message *message, size_t size, ms_error *err) {
  *message = (ms_message){.bytes = malloc(size + 1), .size = size};
  if (message->bytes != NULL) return 0;
  return ms_error_memory(err, MS_NET, "a message of %zu bytes", size);
}

void *ms_message_data(ms_message *message) {
  return message->bytes;
}

size_t ms_message_size(const ms_message *message) {
  return message->size;
}

/* ZeroMQ holds the bytes of short messages in the message itself: they move with it. */
void ms_message_move(ms_message *to, ms_message *from) {
  *to = *from;
  if (from->foreign) {
    ms_zeromq.msg_init(ms_zeromq_message(to));
    ms_zeromq.msg_move(ms_zeromq_message(to), ms_zeromq_message(from));
    to->bytes = ms_zeromq.msg_data(ms_zeromq_message(to));
    ms_zeromq.msg_close(ms_zeromq_message(from));
  }
  *from = (ms_message){0};
}

void ms_message_close(ms_message *message) {
  if (message->foreign) {
    ms_zeromq.msg_close(ms_zeromq_message(message));
  } else {
    free(message->bytes);
  }
  *message = (ms_message){0};
}
