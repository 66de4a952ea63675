/* SPDX-License-Identifier: MIT
 *
 * ZeroMQ, for the files of this room: no other includes it. */
#ifndef MS_NET_ZEROMQ_H
#define MS_NET_ZEROMQ_H

#include <zmq.h>

#include "net/message.h"

static inline zmq_msg_t *ms_zeromq_message(ms_message *message) {
  return (zmq_msg_t *)message;
}

#endif
