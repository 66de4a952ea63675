/* SPDX-License-Identifier: MIT
 *
 * The gatekeeper: only the session's client key gets through a CURVE socket; messages over the cap
 * do not arrive. */
#include "net/zap.h"
#include "net/context.h"

#include <string.h>
#include <zmq.h>

#include "base/test.h"

static void *context, *router;
static char address[MS_ADDRESS_SIZE];

/* Sends a word through `dealer` and waits for it: 1 arrived, 0 not. */
static int gets_through(void *dealer, int wait) {
  int timeout = wait;
  char word[64];
  if (dealer == NULL) return 0;
  zmq_setsockopt(router, ZMQ_RCVTIMEO, &timeout, sizeof timeout);
  zmq_send(dealer, "hello", 5, ZMQ_DONTWAIT);
  int arrived = zmq_recv(router, word, sizeof word, 0) > 0 && /* routing id */
                zmq_recv(router, word, sizeof word, 0) == 5;
  ms_socket_close(&dealer);
  return arrived;
}

static void *connect_with(const ms_curve_keys *keys) {
  ms_error err = {0};
  ms_socket_options options = {.keys = keys, .receive_limit = 8};
  return ms_socket_connect(context, &options, address, &err);
}

static void check_cap(const ms_curve_keys *keys) {
  static char large[MS_FRAME_PAYLOAD + 1000];
  void *dealer = connect_with(keys);
  int timeout = 300;
  zmq_setsockopt(router, ZMQ_RCVTIMEO, &timeout, sizeof timeout);
  CHECK(zmq_send(dealer, large, sizeof large, 0) == (int)sizeof large);
  CHECK(zmq_recv(router, large, sizeof large, 0) < 0);
  ms_socket_close(&dealer);
}

int main(void) {
  ms_error err = {0};
  ms_curve_keys keys, others;
  CHECK(ms_curve_keys_make(&keys, &err) == 0 && ms_curve_keys_make(&others, &err) == 0);
  context = ms_context_new(0, true, &err);
  ms_zap *zap = ms_zap_start(context, &keys, &err);
  CHECK(zap != NULL);
  CHECK(ms_zap_start(context, &keys, &err) == NULL); /* the place is taken */
  ms_socket_options options = {.keys = &keys, .receive_limit = 8, .mandatory = true};
  ms_error_clear(&err);
  router = ms_socket_bind(context, &options, "tcp://127.0.0.1:*", address, &err);
  CHECK(router != NULL);
  if (router == NULL || zap == NULL) return ms_test_end();

  CHECK(gets_through(connect_with(&keys), 5000) == 1);
  ms_curve_keys stolen = others; /* knows the server's public key, has a client key of its own */
  memcpy(stolen.server_public, keys.server_public, MS_KEY_SIZE);
  CHECK(gets_through(connect_with(&stolen), 300) == 0);
  CHECK(gets_through(connect_with(&others), 300) == 0);
  CHECK(gets_through(connect_with(NULL), 300) == 0); /* no CURVE at all */
  check_cap(&keys);
  CHECK(gets_through(connect_with(&keys), 5000) == 1);

  zmq_ctx_shutdown(context);
  ms_zap_join(&zap);
  CHECK(zap == NULL);
  zmq_close(router);
  ms_context_end(&context);
  CHECK(context == NULL);
  return ms_test_end();
}
