/* SPDX-License-Identifier: MIT
 *
 * Recovery: a job that fails leaves the arrays as they were; one whose worker died and could not be
 * replaced alone runs again. */
#ifndef MS_DRIVER_RECOVER_H
#define MS_DRIVER_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "array/segment.h"
#include "driver/worker_handle.h"

/* Most times that one job is run again. */
#define MS_MOST_REDOS 100

/* A worker's end while it was running a block. */
typedef struct ms_death {
  uint32_t worker, block;
  long pid;
  int signal;
  char how[100]; /* "was killed by signal 9 (Killed)" */
} ms_death;

/* What a job remembers of the deaths that it has caused or survived. */
typedef struct ms_deaths {
  uint32_t redos;
  uint32_t stillborn;               /* replacements that ended before they were told of the job */
  uint32_t suspects[MS_MOST_REDOS]; /* blocks that ended a worker and were not finished since */
  uint32_t suspect_count;
  uint32_t fresh_count;
  ms_death fresh[MS_MOST_REDOS]; /* of the present attempt; not cleared */
} ms_deaths;

/* Makes a log that is kept from job to job at least `size` bytes large; gives back one that is much
 * larger than what was needed for a while: so often, in a row, says `idle`. MS_ARR, MS_WRK. */
int ms_recover_room(ms_segment_block *log, uint32_t *idle, size_t size, ms_error *err);

/* Takes care that the job can be undone; before any of it is sent. MS_ARR, MS_WRK. */
int ms_recover_prepare(ms_session *session, ms_run *run);

/* A working member has ended while it was running `block` (MS_NO_BLOCK: none); to be called before
 * it is buried. */
void ms_recover_note(ms_session *session, const ms_worker_handle *member, uint32_t block);

/* Whether `block` has ended a worker before. */
bool ms_recover_suspects(ms_session *session, uint32_t block);

/* Notes that it has. */
void ms_recover_suspect(ms_session *session, uint32_t block);

/* How many blocks of the present job a worker has finished. */
uint32_t ms_recover_finished(const ms_session *session, uint32_t worker);

/* The attempt has failed and nobody works any more: puts the arrays back. */
void ms_recover_undo(ms_run *run);

/* Whether to try again; then the run is as before the first attempt, but for what it remembers of
 * deaths. */
bool ms_recover_again(ms_session *session, ms_run *run);

#endif
