/* SPDX-License-Identifier: MIT
 *
 * Sockets: see socket.h. */
#include "net/socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "net/zeromq.h"

#define SEAL 64 /* more bytes than CURVE adds to a message; the limit counts them */

int ms_curve_keys_make(ms_curve_keys *keys, ms_error *err) {
  if (ms_zeromq_load(err) != 0) return -1;
  if (ms_zeromq.curve_keypair(keys->server_public, keys->server_secret) == 0 &&
      ms_zeromq.curve_keypair(keys->client_public, keys->client_secret) == 0) {
    return 0;
  }
  return ms_error_set(err, MS_NET,
                      "this ZeroMQ has no CURVE security, which TCP needs: %s; use "
                      "MEISSA_TRANSPORT=ipc",
                      ms_zeromq.strerror(errno));
}

int ms_socket_identity(char identity[MS_IDENTITY_SIZE], ms_error *err) {
  unsigned char noise[12];
  if (getrandom(noise, sizeof noise, 0) != (ssize_t)sizeof noise) {
    return ms_error_set(err, MS_NET, "no random numbers: %s", strerror(errno));
  }
  for (size_t i = 0; i < sizeof noise; i++) snprintf(identity + 2 * i, 3, "%02x", noise[i]);
  return 0;
}

typedef struct setting {
  int option;
  const void *value;
  size_t size;
} setting;

static int apply(void *socket, const setting *settings, size_t count, ms_error *err) {
  for (size_t i = 0; i < count; i++) {
    if (settings[i].value == NULL) continue;
    if (ms_zeromq.setsockopt(socket, settings[i].option, settings[i].value, settings[i].size) !=
        0) {
      return ms_error_set(err, MS_NET, "ZeroMQ refuses socket option %d: %s", settings[i].option,
                          ms_zeromq.strerror(errno));
    }
  }
  return 0;
}

static int set_keys(void *socket, const ms_curve_keys *keys, bool server, ms_error *err) {
  const int yes = 1;
  if (server) {
    const setting settings[] = {{ZMQ_CURVE_SERVER, &yes, sizeof yes},
                                {ZMQ_CURVE_SECRETKEY, keys->server_secret, MS_KEY_SIZE},
                                {ZMQ_ZAP_DOMAIN, "meissa", 6}};
    return apply(socket, settings, 3, err);
  }
  const setting settings[] = {{ZMQ_CURVE_SERVERKEY, keys->server_public, MS_KEY_SIZE},
                              {ZMQ_CURVE_PUBLICKEY, keys->client_public, MS_KEY_SIZE},
                              {ZMQ_CURVE_SECRETKEY, keys->client_secret, MS_KEY_SIZE}};
  return apply(socket, settings, 3, err);
}

/* A configured socket, neither bound nor connected. */
static void *make(void *context, int type, const ms_socket_options *options, bool server,
                  ms_error *err) {
  void *socket = ms_zeromq.socket(context, type);
  if (socket == NULL) {
    ms_error_set(err, MS_NET, "no ZeroMQ socket: %s", ms_zeromq.strerror(errno));
    return NULL;
  }
  const int no_linger = 0, yes = 1;
  const int64_t cap = (int64_t)MS_FRAME_LIMIT + SEAL;
  const char *identity = options->identity;
  const setting settings[] = {
      {ZMQ_LINGER, &no_linger, sizeof no_linger},
      {ZMQ_MAXMSGSIZE, &cap, sizeof cap},
      {ZMQ_SNDHWM, &options->send_limit, sizeof options->send_limit},
      {ZMQ_RCVHWM, &options->receive_limit, sizeof options->receive_limit},
      {ZMQ_ROUTER_MANDATORY, options->mandatory ? &yes : NULL, sizeof yes},
      {ZMQ_ROUTING_ID, identity, identity != NULL ? strlen(identity) : 0},
  };
  if (apply(socket, settings, sizeof settings / sizeof settings[0], err) == 0 &&
      (options->keys == NULL || set_keys(socket, options->keys, server, err) == 0)) {
    return socket;
  }
  ms_zeromq.close(socket);
  return NULL;
}

void *ms_socket_bind(void *context, const ms_socket_options *options, const char *address,
                     char bound[MS_ADDRESS_SIZE], ms_error *err) {
  void *socket = make(context, ZMQ_ROUTER, options, true, err);
  if (socket == NULL) return NULL;
  size_t size = MS_ADDRESS_SIZE;
  if (ms_zeromq.bind(socket, address) == 0 &&
      ms_zeromq.getsockopt(socket, ZMQ_LAST_ENDPOINT, bound, &size) == 0) {
    return socket;
  }
  ms_error_set(err, MS_NET, "cannot listen on %s: %s", address, ms_zeromq.strerror(errno));
  ms_zeromq.close(socket);
  return NULL;
}

void *ms_socket_connect(void *context, const ms_socket_options *options, const char *address,
                        ms_error *err) {
  void *socket = make(context, ZMQ_DEALER, options, false, err);
  if (socket == NULL) return NULL;
  if (ms_zeromq.connect(socket, address) == 0) return socket;
  ms_error_set(err, MS_NET, "cannot connect to %s: %s", address, ms_zeromq.strerror(errno));
  ms_zeromq.close(socket);
  return NULL;
}

void ms_socket_close(void **socket) {
  if (*socket != NULL) ms_zeromq.close(*socket);
  *socket = NULL;
}

/* Sockets and descriptors. */
static int poll_mixed(ms_poll_item *items, int count, int timeout) {
  zmq_pollitem_t few[MS_PLAIN_ITEMS], *all = few;
  if (count > MS_PLAIN_ITEMS) all = malloc((size_t)count * sizeof *all);
  if (all == NULL) {
    errno = ENOMEM;
    return -1;
  }
  for (int i = 0; i < count; i++)
    all[i] = (zmq_pollitem_t){.socket = items[i].socket, .fd = items[i].fd, .events = ZMQ_POLLIN};
  int ready = ms_zeromq.poll(all, count, timeout);
  for (int i = 0; i < count; i++) items[i].ready = ready > 0 && all[i].revents != 0;
  if (all != few) free(all);
  return ready;
}

static int poll_plain(ms_poll_item *items, int count, int timeout) {
  struct pollfd all[MS_PLAIN_ITEMS];
  for (int i = 0; i < count; i++) all[i] = (struct pollfd){.fd = items[i].fd, .events = POLLIN};
  int ready = poll(all, (nfds_t)count, timeout);
  for (int i = 0; i < count; i++) items[i].ready = ready > 0 && all[i].revents != 0;
  return ready;
}

int ms_socket_poll(ms_poll_item *items, int count, int timeout, ms_error *err) {
  bool plain = count <= MS_PLAIN_ITEMS;
  for (int i = 0; plain && i < count; i++) plain = items[i].socket == NULL;
  int ready = plain ? poll_plain(items, count, timeout) : poll_mixed(items, count, timeout);
  if (ready >= 0) return ready;
  if (errno == EINTR) return 0;
  return ms_error_set(err, MS_NET, "waiting for messages failed: %s",
                      plain ? strerror(errno) : ms_zeromq.strerror(errno));
}

static void release(void *bytes, void *hint) {
  (void)hint;
  free(bytes);
}

/* A message as ZeroMQ's, which frees its bytes; NULL: no memory. */
static zmq_msg_t *hand_over(ms_message *message) {
  zmq_msg_t *foreign = ms_zeromq_message(message);
  if (!message->foreign &&
      ms_zeromq.msg_init_data(foreign, message->bytes, message->size, release, NULL) != 0) {
    return NULL;
  }
  message->foreign = true;
  return foreign;
}

int ms_socket_send(void *socket, const char *to, ms_message *message, ms_error *err) {
  zmq_msg_t *foreign = hand_over(message);
  if (foreign != NULL &&
      (to == NULL || ms_zeromq.send(socket, to, strlen(to), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0) &&
      ms_zeromq.msg_send(foreign, socket, ZMQ_DONTWAIT) >= 0) {
    *message = (ms_message){0};
    return 0;
  }
  ms_error_set(err, MS_NET, "a message cannot be sent: %s", ms_zeromq.strerror(errno));
  ms_message_close(message);
  return -1;
}

/* Drops what is left of a message. */
static void drop_parts(void *socket) {
  zmq_msg_t part;
  int more = 1;
  while (more) {
    ms_zeromq.msg_init(&part);
    if (ms_zeromq.msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
      ms_zeromq.msg_close(&part);
      return;
    }
    more = ms_zeromq.msg_more(&part);
    ms_zeromq.msg_close(&part);
  }
}

/* Receives the next part: 1, 0 when none is there. */
static int next_part(void *socket, zmq_msg_t *part) {
  ms_zeromq.msg_init(part);
  int got;
  do {
    got = ms_zeromq.msg_recv(part, socket, ZMQ_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0) ms_zeromq.msg_close(part);
  return got >= 0;
}

int ms_socket_receive(void *socket, char from[MS_IDENTITY_SIZE], ms_message *received) {
  zmq_msg_t *message = ms_zeromq_message(received);
  if (!next_part(socket, message)) return 0;
  if (from != NULL) {
    size_t length = ms_zeromq.msg_size(message);
    bool good = length < MS_IDENTITY_SIZE && ms_zeromq.msg_more(message);
    if (good) memcpy(from, ms_zeromq.msg_data(message), length);
    if (good) from[length] = '\0';
    bool more = ms_zeromq.msg_more(message);
    ms_zeromq.msg_close(message);
    if (!good) {
      if (more) drop_parts(socket);
      return -1;
    }
    if (!next_part(socket, message)) return -1;
  }
  if (!ms_zeromq.msg_more(message)) {
    received->bytes = ms_zeromq.msg_data(message);
    received->size = ms_zeromq.msg_size(message);
    received->foreign = true;
    return 1;
  }
  ms_zeromq.msg_close(message);
  drop_parts(socket);
  return -1;
}
