/* SPDX-License-Identifier: MIT
 *
 * Gatekeeper: see zap.h. */
#include "net/zap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "net/zeromq.h"

#define KEY_BYTES    32
#define PART_SIZE    256
#define MOST_PARTS   7 /* version, request, domain, address, identity, mechanism, credentials */
#define VERSION_PART 0
#define REQUEST_PART 1
#define MECHANISM    5
#define CREDENTIALS  6

struct ms_zap {
  pthread_t thread;
  void *socket; /* the thread's once it runs */
  unsigned char key[KEY_BYTES];
};

typedef struct part {
  char bytes[PART_SIZE];
  size_t size;
} part;

static int is(const part *one, const void *bytes, size_t size) {
  return one->size == size && memcmp(one->bytes, bytes, size) == 0;
}

/* Reads a whole request: the number of its parts, 0 for one of another form, -1 when the context
 * is shutting down. */
static int read_request(void *socket, part parts[MOST_PARTS]) {
  int count = 0, good = 1;
  for (;;) {
    part spare;
    part *into = count < MOST_PARTS ? &parts[count] : &spare;
    int size = ms_zeromq.recv(socket, into->bytes, PART_SIZE, 0);
    if (size < 0) {
      if (errno == EINTR) continue;
      return -1;
    }
    good = good && size <= PART_SIZE && count < MOST_PARTS;
    into->size = size <= PART_SIZE ? (size_t)size : 0;
    count++;
    int more = 0;
    size_t more_size = sizeof more;
    if (ms_zeromq.getsockopt(socket, ZMQ_RCVMORE, &more, &more_size) != 0) return -1;
    if (!more) return good ? count : 0;
  }
}

static void answer(void *socket, const part *request, int accepted) {
  ms_zeromq.send(socket, "1.0", 3, ZMQ_SNDMORE);
  ms_zeromq.send(socket, request->bytes, request->size, ZMQ_SNDMORE);
  ms_zeromq.send(socket, accepted ? "200" : "400", 3, ZMQ_SNDMORE);
  ms_zeromq.send(socket, "", 0, ZMQ_SNDMORE);
  ms_zeromq.send(socket, accepted ? "session" : "", accepted ? 7 : 0, ZMQ_SNDMORE);
  ms_zeromq.send(socket, "", 0, 0);
}

static void *keep_gate(void *context) {
  ms_zap *zap = context;
  part parts[MOST_PARTS];
  int count;
  while ((count = read_request(zap->socket, parts)) >= 0) {
    int accepted = count == MOST_PARTS && is(&parts[VERSION_PART], "1.0", 3) &&
                   is(&parts[MECHANISM], "CURVE", 5) &&
                   is(&parts[CREDENTIALS], zap->key, sizeof zap->key);
    if (count <= REQUEST_PART) parts[REQUEST_PART].size = 0;
    answer(zap->socket, &parts[REQUEST_PART], accepted);
  }
  ms_zeromq.close(zap->socket);
  return NULL;
}

ms_zap *ms_zap_start(void *context, const ms_curve_keys *keys, ms_error *err) {
  ms_zap *zap = calloc(1, sizeof *zap);
  if (zap == NULL) {
    ms_error_memory(err, MS_NET, "the keys of sockets");
    return NULL;
  }
  const int no_linger = 0;
  zap->socket = ms_zeromq.socket(context, ZMQ_REP);
  if (zap->socket == NULL || ms_zeromq.z85_decode(zap->key, keys->client_public) == NULL ||
      ms_zeromq.setsockopt(zap->socket, ZMQ_LINGER, &no_linger, sizeof no_linger) != 0 ||
      ms_zeromq.bind(zap->socket, "inproc://zeromq.zap.01") != 0) {
    ms_error_set(err, MS_NET, "no authentication handler: %s", ms_zeromq.strerror(errno));
    if (zap->socket != NULL) ms_zeromq.close(zap->socket);
    free(zap);
    return NULL;
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(&zap->thread, NULL, keep_gate, zap);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed == 0) return zap;
  ms_error_set(err, MS_NET, "no thread for the authentication handler: %s", strerror(failed));
  ms_zeromq.close(zap->socket);
  free(zap);
  return NULL;
}

void ms_zap_join(ms_zap **zap) {
  if (*zap == NULL) return;
  pthread_join((*zap)->thread, NULL);
  free(*zap);
  *zap = NULL;
}
