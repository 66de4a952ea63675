/* SPDX-License-Identifier: MIT
 *
 * Where the driver waits: for what comes of workers, for workers to come up, and for their end. */
#ifndef MS_DRIVER_SESSION_WAIT_H
#define MS_DRIVER_SESSION_WAIT_H

#include <stdbool.h>

#include "driver/session.h"
#include "net/road.h"

/* Waits until something has come, `what` most of all, and handles it. An error is the session's:
 * MS_NET, or a worker that cannot be one. */
int ms_session_wait(ms_session *session, const ms_awaited *what, ms_error *err);

/* Makes a letter of bytes of member letter->from: 1; 0: they are not to be handled; -1: it is of
 * another build. For roads. */
int ms_session_wait_accept(ms_session *session, ms_letter *letter, const char *bytes, size_t size,
                           ms_error *err);

/* Starts workers that are missing and waits until all have said hello. MS_WRK, MS_NET, MS_INT. */
int ms_session_wait_complete(ms_session *session, ms_error *err);

/* Asks all workers to end, or with `now` kills them, and gives them a moment for it. Their channels
 * stay open meanwhile: one that closes says that the driver is dying. */
void ms_session_wait_dismiss(ms_session *session, bool now);

#endif
