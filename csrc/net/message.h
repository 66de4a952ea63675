/* SPDX-License-Identifier: MIT
 *
 * Message: bytes on their way. Those of one that was made are from malloc, those of one that was
 * received are as ZeroMQ holds them, so that they need not be copied.
 *
 * Each message that was made or received is closed once, sent, or moved to another one. */
#ifndef MS_NET_MESSAGE_H
#define MS_NET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct ms_message {
  void *bytes;
  size_t size;
  bool foreign;                       /* the bytes are those of `room` */
  _Alignas(8) unsigned char room[64]; /* ZeroMQ's message */
} ms_message;

/* A message of `size` bytes that are to be written. MS_NET: out of memory. */
int ms_message_make(ms_message *message, size_t size, ms_error *err);

/* A message's bytes, and how many. */
void *ms_message_data(ms_message *message);
size_t ms_message_size(const ms_message *message);

/* `to`, which holds no message, gets that of `from`, which is to be closed all the same. */
void ms_message_move(ms_message *to, ms_message *from);

/* Frees what a message holds; it is empty then. */
void ms_message_close(ms_message *message);

#endif
