/* SPDX-License-Identifier: MIT
 *
 * Message: see message.h. */
#include "net/message.h"

#include "net/zeromq.h"

_Static_assert(sizeof(ms_message) == sizeof(zmq_msg_t), "a message is one of ZeroMQ's");

int ms_message_make(ms_message *message, size_t size, ms_error *err) {
  if (zmq_msg_init_size(ms_zeromq_message(message), size) == 0) return 0;
  return ms_error_memory(err, MS_NET, "a message of %zu bytes", size);
}

void *ms_message_data(ms_message *message) {
  return zmq_msg_data(ms_zeromq_message(message));
}

size_t ms_message_size(const ms_message *message) {
  return zmq_msg_size((const zmq_msg_t *)message);
}

void ms_message_move(ms_message *to, ms_message *from) {
  zmq_msg_init(ms_zeromq_message(to));
  zmq_msg_move(ms_zeromq_message(to), ms_zeromq_message(from));
}

void ms_message_close(ms_message *message) {
  zmq_msg_close(ms_zeromq_message(message));
}
