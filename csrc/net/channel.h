/* SPDX-License-Identifier: MIT
 *
 * Channel: a socketpair between the driver and one worker.
 *
 * The first one is inherited at spawn. It carries what must not be seen elsewhere (the
 * configuration with its keys) and what ZeroMQ cannot carry (file descriptors), in messages of at
 * most MS_CHANNEL_LIMIT bytes; a second one, the lane, carries the frames of both on one host,
 * where ZeroMQ's threads would take longer. Its end is the notice of death, in both directions: the
 * kernel closes it whatever kills a process. Descriptors are close-on-exec. One thread at each end.
 */
#ifndef MS_NET_CHANNEL_H
#define MS_NET_CHANNEL_H

#include <stddef.h>

#include "base/error.h"

#define MS_CHANNEL_LIMIT ((size_t)1 << 17)

/* Makes a pair of connected ends. MS_WRK on failure. */
int ms_channel_pair(int ends[2], ms_error *err);

/* Sends one message and, when `passed` >= 0, a duplicate of that descriptor. Waits at most
 * `timeout` milliseconds for room. MS_WRK when the other end is gone or does not read. */
int ms_channel_send(int end, const void *bytes, size_t size, int passed, int timeout,
                    ms_error *err);

/* Receives one message into `bytes`: its length, 0 when the other end is gone, -1 with *err filled
 * when nothing came within `timeout` milliseconds. `*passed` is the descriptor that came along
 * (the caller's to close) or -1. */
long ms_channel_receive(int end, void *bytes, size_t size, int *passed, int timeout, ms_error *err);

/* True when the other end is gone and nothing is left to receive. Does not wait. */
int ms_channel_ended(int end);

#endif
