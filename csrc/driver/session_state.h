/* SPDX-License-Identifier: MIT
 *
 * The inside of a session: what its files share. Each of them says in a header of its own what it
 * does: session.c (life), session_road.c (where the driver sleeps), session_wait.c (what comes
 * meanwhile), worker_handle.c (one worker), worker_process.c (its process), run.c (one job). */
#ifndef MS_DRIVER_SESSION_STATE_H
#define MS_DRIVER_SESSION_STATE_H

#include <sys/types.h>

#include "base/directory.h"
#include "driver/run.h"
#include "driver/session.h"
#include "driver/session_road.h"
#include "driver/worker_process.h"
#include "job/spin.h"
#include "job/status_page.h"
#include "net/zap.h"

struct ms_session {
  ms_session *next; /* in the list of all */
  pid_t process;    /* whose it is */
  pid_t thread;
  ms_session_config config;
  char **command; /* own copy */
  ms_directory directory;
  ms_curve_keys keys;
  void *context, *router;
  ms_zap *zap;
  char address[MS_ADDRESS_SIZE];
  ms_status_page *page; /* of this host: a slot for each member */
  int page_fd;
  ms_worker_handle *members;
  const ms_road *road;
  const ms_processes *processes;
  ms_polled polled;
  char *lane_room; /* for a frame from a lane; NULL: there are no lanes */
  uint64_t jobs;
  uint32_t stillborn;    /* workers that were killed before they were ready, since all were up */
  ms_schedule *schedule; /* of the present or last job */
  uint64_t scheduled; /* id of the plan that it follows from; 0: from weights that were learned */
  ms_run *run;        /* NULL between jobs */
  ms_segment_block undo;      /* memory of undo logs, kept between jobs */
  uint32_t undo_idle;         /* jobs in a row that needed much less */
  ms_segment_block loop_undo; /* memory of the logs of loops with buffers, kept between loops */
  uint32_t loop_undo_idle;
  ms_spin spin;    /* for the ends of jobs */
  ms_text notices; /* until the next outcome takes them */
};

#endif
