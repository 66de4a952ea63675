/* SPDX-License-Identifier: MIT
 *
 * Sockets: ZeroMQ contexts and sockets as Meissa wants them.
 *
 * Every socket has LINGER 0, a cap on message size, and on TCP a CURVE key pair; every option's
 * return is checked. Local sockets are ipc:// files in a private directory. A socket belongs to
 * the thread that made it. */
#ifndef MS_NET_SOCKET_H
#define MS_NET_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "net/frame.h"
#include "net/message.h"

#define MS_KEY_SIZE      41 /* Z85 text and its terminator */
#define MS_ADDRESS_SIZE  128
#define MS_IDENTITY_SIZE 32
#define MS_PLAIN_ITEMS   64

/* The keys of a session, made anew for each: whoever holds `client` may speak to whoever holds
 * `server`. Empty strings on local transports. */
typedef struct ms_curve_keys {
  char server_public[MS_KEY_SIZE], server_secret[MS_KEY_SIZE];
  char client_public[MS_KEY_SIZE], client_secret[MS_KEY_SIZE];
} ms_curve_keys;

/* How a socket is to be set up. */
typedef struct ms_socket_options {
  const ms_curve_keys *keys; /* NULL: no CURVE */
  const char *identity;      /* routing id, NULL: none */
  int send_limit;            /* ZMQ_SNDHWM: 0 where the sender itself bounds what is in flight */
  int receive_limit;         /* ZMQ_RCVHWM */
  bool mandatory;            /* ROUTER: sending to who is not there fails */
} ms_socket_options;

/* Makes two key pairs. MS_NET when ZeroMQ was built without CURVE. */
int ms_curve_keys_make(ms_curve_keys *keys, ms_error *err);

/* A random routing id that a stranger cannot guess. */
int ms_socket_identity(char identity[MS_IDENTITY_SIZE], ms_error *err);

/* A socket that many connect to, bound to `address`; `bound` receives the address to connect to (a
 * port chosen). It knows its peers by their routing ids (ROUTER). */
void *ms_socket_bind(void *context, const ms_socket_options *options, const char *address,
                     char bound[MS_ADDRESS_SIZE], ms_error *err);

/* A socket that connects to `address`: it has one peer (DEALER). */
void *ms_socket_connect(void *context, const ms_socket_options *options, const char *address,
                        ms_error *err);

/* Closes a socket; nothing if it is NULL, which it is afterwards. */
void ms_socket_close(void **socket);

/* Something to be read from: a socket or, when that is NULL, a descriptor. */
typedef struct ms_poll_item {
  void *socket;
  int fd;
  bool ready;
} ms_poll_item;

/* Waits up to `timeout` ms (-1: for ever) until one of the items is ready, or a signal comes: how
 * many are; -1: MS_NET. One call of the kernel when all are descriptors, MS_PLAIN_ITEMS at most. */
int ms_socket_poll(ms_poll_item *items, int count, int timeout, ms_error *err);

/* Sends a message without waiting, to `to` where the socket has many peers, else NULL. The message
 * is gone afterwards. MS_NET when it cannot be sent. */
int ms_socket_send(void *socket, const char *to, ms_message *message, ms_error *err);

/* Receives one message without waiting. 1: `*message` is initialised with the frame, and `from`
 * (when the socket is a ROUTER; else NULL) with the sender's routing id; 0: none is there; -1: one
 * was there, but had another number of parts or a strange id, and was dropped. */
int ms_socket_receive(void *socket, char from[MS_IDENTITY_SIZE], ms_message *message);

#endif
