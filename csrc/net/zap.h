/* SPDX-License-Identifier: MIT
 *
 * Gatekeeper: ZeroMQ's authentication handler (ZAP, RFC 27) for the CURVE sockets of one context.
 *
 * Without one, a CURVE server accepts any key. It listens on inproc://zeromq.zap.01 before the
 * first bind and lets in exactly the session's client key. It is a thread of its own that blocks
 * all signals and ends when the context shuts down. */
#ifndef MS_NET_ZAP_H
#define MS_NET_ZAP_H

#include "base/error.h"
#include "net/socket.h"

typedef struct ms_zap ms_zap;

/* Starts the handler of `context`. MS_NET on failure. */
ms_zap *ms_zap_start(void *context, const ms_curve_keys *keys, ms_error *err);

/* Waits for the handler after zmq_ctx_shutdown, frees it, and nulls the caller's pointer. */
void ms_zap_join(ms_zap **zap);

#endif
