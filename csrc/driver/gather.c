/* SPDX-License-Identifier: MIT
 *
 * Gathering: the results and printed text of a job's blocks, put in the plan's order. */
#include <stdlib.h>
#include <string.h>

#include "driver/session_state.h"

#define JOINED_KEPT ((size_t)1 << 22) /* bytes that a session keeps for its next job */

int ms_gather_begin(ms_session *session, ms_outcome *outcome, ms_error *err) {
  const ms_schedule *schedule = session->schedule;
  if (session->joined.capacity > JOINED_KEPT) ms_text_free(&session->joined);
  outcome->block_count = schedule->block_count;
  outcome->order_count = schedule->count;
  outcome->worker_count = session->config.workers;
  outcome->buffer_count = session->run->job->buffers;
  outcome->order = calloc(schedule->count, sizeof *outcome->order);
  outcome->results = calloc(schedule->block_count, sizeof *outcome->results);
  outcome->pending =
      calloc((size_t)outcome->buffer_count * schedule->block_count + 1, sizeof *outcome->pending);
  outcome->shares = calloc(outcome->worker_count, sizeof *outcome->shares);
  outcome->reports = calloc(outcome->worker_count, sizeof *outcome->reports);
  if (outcome->order == NULL || outcome->results == NULL || outcome->pending == NULL ||
      outcome->shares == NULL || outcome->reports == NULL) {
    return ms_error_set(err, MS_WRK, "out of memory for a loop's results");
  }
  memcpy(outcome->order, schedule->order, schedule->count * sizeof *outcome->order);
  return 0;
}

/* A piece of printed text with what it is sorted by. */
typedef struct piece {
  uint32_t position;
  uint32_t turn; /* in its worker's report */
  ms_record record;
} piece;

static int by_plan(const void *one, const void *other) {
  const piece *a = one, *b = other;
  if (a->position != b->position) return a->position < b->position ? -1 : 1;
  return a->turn < b->turn ? -1 : a->turn > b->turn;
}

typedef struct pieces {
  piece *list;
  uint32_t count, room;
} pieces;

static int keep(pieces *printed, uint32_t position, const ms_record *record) {
  if (printed->count == printed->room) {
    uint32_t room = printed->room == 0 ? 64 : printed->room * 2;
    piece *grown = realloc(printed->list, room * sizeof *grown);
    if (grown == NULL) return -1;
    printed->list = grown;
    printed->room = room;
  }
  printed->list[printed->count] =
      (piece){.position = position, .turn = printed->count, .record = *record};
  printed->count++;
  return 0;
}

/* Adds what a worker spent on its blocks. */
static int add_spent(const ms_session *session, ms_outcome *outcome, const ms_record *record,
                     ms_error *err) {
  const ms_grid *grid = &session->schedule->grid;
  uint32_t ranges = grid->ranges[ms_grid_space(grid)];
  if (record->size != ranges * sizeof *outcome->spent) {
    return ms_error_set(err, MS_NET, "a worker reports on ranges that the loop does not have");
  }
  if (outcome->spent == NULL) outcome->spent = calloc(ranges, sizeof *outcome->spent);
  if (outcome->spent == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  outcome->range_count = ranges;
  for (uint32_t range = 0; range < ranges; range++) {
    uint64_t took;
    memcpy(&took, record->bytes + range * sizeof took, sizeof took);
    outcome->spent[range] += took;
  }
  return 0;
}

/* Adds what the workers spent that were busy too briefly to say on what. */
static void add_unsaid(const ms_session *session, ms_outcome *outcome) {
  const ms_schedule *schedule = session->schedule;
  for (uint32_t i = 0; i < outcome->order_count; i++) {
    uint32_t block = outcome->order[i];
    const ms_share *share = &outcome->shares[schedule->owner[block]];
    if (share->busy >= MS_SPENT_WORTH || share->blocks == 0) continue;
    uint32_t range = ms_grid_range(&schedule->grid, block, ms_grid_space(&schedule->grid));
    outcome->spent[range] += share->busy / share->blocks;
  }
}

static int read_report(const ms_session *session, ms_outcome *outcome, uint32_t worker,
                       const uint32_t *position, pieces *printed, ms_error *err) {
  const ms_text *report = &outcome->reports[worker];
  size_t at = 0;
  ms_record record;
  int got;
  while ((got = ms_report_next(report->bytes, report->length, &at, &record)) > 0) {
    if (record.kind == MS_REPORT_SPENT && outcome->deaths > 0) continue; /* some is missing */
    if (record.kind == MS_REPORT_SPENT) {
      if (add_spent(session, outcome, &record, err) != 0) return -1;
      continue;
    }
    if (record.block >= outcome->block_count || session->schedule->owner[record.block] != worker) {
      return ms_error_set(err, MS_NET, "worker %u reports on a block that is not its own",
                          worker + 1);
    }
    if (record.kind == MS_REPORT_RESULT) {
      outcome->results[record.block] = record;
    } else if (record.kind >= MS_REPORT_PENDING) {
      size_t buffer = record.kind - MS_REPORT_PENDING;
      if (buffer >= outcome->buffer_count) {
        return ms_error_set(err, MS_NET, "worker %u reports on a buffer that no loop has",
                            worker + 1);
      }
      outcome->pending[buffer * outcome->block_count + record.block] = record;
    } else if (keep(printed, position[record.block], &record) != 0) {
      return ms_error_set(err, MS_WRK, "out of memory for what a loop printed");
    }
  }
  if (got < 0) return ms_error_set(err, MS_NET, "worker %u sent a broken report", worker + 1);
  return 0;
}

/* Appends printed text in the plan's order. */
static void join(pieces *printed, ms_text *out) {
  if (printed->count == 0) return;
  qsort(printed->list, printed->count, sizeof *printed->list, by_plan);
  for (uint32_t i = 0; i < printed->count; i++) {
    const ms_record *record = &printed->list[i].record;
    ms_text_append(out, record->bytes, (size_t)record->size);
  }
}

int ms_gather_finish(ms_session *session, ms_outcome *outcome, ms_error *err) {
  uint32_t *position = calloc(outcome->block_count, sizeof *position);
  if (position == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  for (uint32_t i = 0; i < outcome->order_count; i++) position[outcome->order[i]] = i;
  pieces printed = {0};
  int failed = 0;
  for (uint32_t w = 0; w < outcome->worker_count; w++) {
    if (outcome->reports[w].length == 0) continue;
    if (read_report(session, outcome, w, position, &printed, err) != 0) failed = -1;
  }
  if (failed == 0 && outcome->spent != NULL) add_unsaid(session, outcome);
  join(&printed, &outcome->printed);
  if (outcome->printed.failed) {
    failed = ms_error_set(err, MS_WRK, "out of memory for what a loop printed");
  }
  free(printed.list);
  free(position);
  return failed;
}

/* Appends what all blocks have put into one buffer. */
static void join_buffer(const ms_outcome *outcome, const ms_record *records, ms_text *joined) {
  for (uint32_t k = 0; k < outcome->order_count; k++) {
    const ms_record *record = &records[outcome->order[k]];
    if (record->bytes != NULL) ms_text_append(joined, record->bytes, (size_t)record->size);
  }
}

const char *ms_session_join(ms_session *session, const ms_outcome *outcome, size_t *sizes) {
  ms_text *joined = &session->joined;
  if (joined->failed) ms_text_free(joined);
  joined->length = 0;
  for (uint32_t b = 0; b < outcome->buffer_count; b++) {
    size_t before = joined->length;
    join_buffer(outcome, outcome->pending + (size_t)b * outcome->block_count, joined);
    sizes[b] = joined->length - before;
  }
  if (joined->failed) return NULL;
  return joined->bytes == NULL ? "" : joined->bytes;
}

void ms_outcome_free(ms_outcome *outcome) {
  for (uint32_t w = 0; outcome->reports != NULL && w < outcome->worker_count; w++) {
    ms_text_free(&outcome->reports[w]);
  }
  free(outcome->order);
  free(outcome->results);
  free(outcome->pending);
  free(outcome->shares);
  free(outcome->reports);
  free(outcome->spent);
  ms_text_free(&outcome->printed);
  ms_text_free(&outcome->notices);
  ms_text_free(&outcome->error);
  *outcome = (ms_outcome){0};
}
