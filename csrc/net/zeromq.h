/* SPDX-License-Identifier: MIT
 *
 * ZeroMQ, for the files of this room: no other includes it.
 *
 * It is loaded with the first context, or the first keys. Most processes never have one: where
 * memory is shared, driver and workers speak over lanes, and to load ZeroMQ, and the seventeen
 * libraries that it brings on Debian, is a fifth of the time of a worker's start. */
#ifndef MS_NET_ZEROMQ_H
#define MS_NET_ZEROMQ_H

#include <zmq.h>

#include "net/message.h"

/* What is called of it, without "zmq_". */
#define MS_ZEROMQ_CALLS(X) \
  X(bind)                  \
  X(close)                 \
  X(connect)               \
  X(ctx_new)               \
  X(ctx_shutdown)          \
  X(ctx_term)              \
  X(curve_keypair)         \
  X(getsockopt)            \
  X(msg_close)             \
  X(msg_data)              \
  X(msg_init)              \
  X(msg_init_data)         \
  X(msg_more)              \
  X(msg_move)              \
  X(msg_recv)              \
  X(msg_send)              \
  X(msg_size)              \
  X(poll)                  \
  X(recv)                  \
  X(send)                  \
  X(setsockopt)            \
  X(socket)                \
  X(strerror)              \
  X(z85_decode)

#define MS_ZEROMQ_FIELD(name) __typeof__(zmq_##name) *name;

/* ms_zeromq.send is zmq_send, once there is a context. */
typedef struct ms_zeromq_calls {
  MS_ZEROMQ_CALLS(MS_ZEROMQ_FIELD)
} ms_zeromq_calls;

extern ms_zeromq_calls ms_zeromq;

static inline zmq_msg_t *ms_zeromq_message(ms_message *message) {
  return (zmq_msg_t *)(void *)message->room;
}

/* Loads it, once in a process. MS_NET. */
int ms_zeromq_load(ms_error *err);

#endif
