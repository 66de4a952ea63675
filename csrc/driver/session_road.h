/* SPDX-License-Identifier: MIT
 *
 * The driver's road (net/road.h) to the workers of this host: sockets, lanes and channels; their
 * status in shared memory. */
#ifndef MS_DRIVER_SESSION_ROAD_H
#define MS_DRIVER_SESSION_ROAD_H

#include <stdint.h>

#include "driver/session.h"
#include "net/road.h"
#include "net/socket.h"

/* What the last wait has looked at, and where it is being taken from. */
typedef struct ms_polled {
  ms_poll_item *items; /* router, a channel and a lane for each member, interrupt */
  uint32_t *member;    /* that an item is of */
  int count, at;
  uint32_t turn;   /* frames taken of the present item */
  uint32_t ending; /* incarnation of the member whose last frames are being taken; 0: none */
  int interrupt;   /* that wakes, too; -1: none */
} ms_polled;

extern const ms_road ms_session_road;

/* Opens what leads to the session's workers: router, status page, lanes. MS_WRK, MS_NET; to be
 * closed in any case. */
int ms_session_road_open(ms_session *session, ms_error *err);

/* Closes it, once no worker is left, and removes the session's files. */
void ms_session_road_close(ms_session *session);

#endif
