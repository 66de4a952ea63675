/* SPDX-License-Identifier: MIT
 *
 * Outcome: what a job's blocks left, in the plan's order. Each worker's report has that order, so
 * reading them all in it is merging them: a heap of workers tells whose next record is the first.
 */
#include "driver/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "driver/session_state.h"

/* The most memory of a worker's report that is kept from job to job: fresh pages are dearer than
 * what is written there. */
#define KEPT_ROOM ((size_t)16 << 20)

int ms_outcome_begin(ms_session *session, ms_outcome *outcome, ms_error *err) {
  outcome->schedule = session->schedule;
  outcome->worker_count = session->config.workers;
  outcome->buffer_count = session->run->job->buffers;
  outcome->shares = calloc(outcome->worker_count, sizeof *outcome->shares);
  outcome->reports = calloc(outcome->worker_count, sizeof *outcome->reports);
  outcome->places = calloc(outcome->worker_count, sizeof *outcome->places);
  outcome->heap = calloc(outcome->worker_count, sizeof *outcome->heap);
  if (outcome->shares == NULL || outcome->reports == NULL || outcome->places == NULL ||
      outcome->heap == NULL) {
    return ms_error_memory(err, MS_WRK, "a loop's results");
  }
  for (uint32_t w = 0; w < outcome->worker_count; w++) {
    outcome->reports[w] = session->members[w].room;
    session->members[w].room = (ms_text){0};
  }
  return 0;
}

void ms_outcome_recycle(ms_session *session, ms_outcome *outcome) {
  for (uint32_t w = 0; outcome->reports != NULL && w < outcome->worker_count; w++) {
    ms_text *report = &outcome->reports[w], *room = &session->members[w].room;
    if (room->bytes != NULL || report->capacity > KEPT_ROOM) continue;
    *room = (ms_text){.bytes = report->bytes, .capacity = report->capacity};
    *report = (ms_text){0};
  }
}

/* ------------------------------------------------------------------------------- in plan order */

/* Reads a worker's next record of the kinds that are looked for; false at the end. */
static bool read_on(ms_outcome *outcome, uint32_t worker) {
  const ms_text *report = &outcome->reports[worker];
  ms_outcome_place *place = &outcome->places[worker];
  ms_record *record = &place->record;
  while (ms_report_next(report->bytes, report->length, &place->at, record) > 0) {
    if (record->kind < outcome->least || record->kind > outcome->most) continue;
    bool alone = outcome->schedule == NULL || outcome->schedule->alone; /* nothing to merge */
    place->position = alone ? 0 : ms_schedule_position(outcome->schedule, record->block);
    return true;
  }
  return false;
}

static bool is_before(const ms_outcome *outcome, uint32_t one, uint32_t other) {
  return outcome->places[outcome->heap[one]].position <
         outcome->places[outcome->heap[other]].position;
}

/* Lets the worker at place `at` of the heap sink to where it belongs. */
static void sink(ms_outcome *outcome, uint32_t at) {
  for (;;) {
    uint32_t least = at, child = 2 * at + 1;
    for (uint32_t c = child; c < child + 2 && c < outcome->left; c++) {
      if (is_before(outcome, c, least)) least = c;
    }
    if (least == at) return;
    uint32_t worker = outcome->heap[at];
    outcome->heap[at] = outcome->heap[least];
    outcome->heap[least] = worker;
    at = least;
  }
}

void ms_outcome_rewind(ms_outcome *outcome, uint32_t least, uint32_t most) {
  outcome->least = least;
  outcome->most = most;
  outcome->left = 0;
  for (uint32_t w = 0; w < outcome->worker_count; w++) {
    outcome->places[w].at = 0;
    if (read_on(outcome, w)) outcome->heap[outcome->left++] = w;
  }
  for (uint32_t at = outcome->left / 2; at-- > 0;) sink(outcome, at);
}

bool ms_outcome_next(ms_outcome *outcome, ms_record *record) {
  if (outcome->left == 0) return false;
  uint32_t first = outcome->heap[0];
  *record = outcome->places[first].record;
  if (!read_on(outcome, first)) outcome->heap[0] = outcome->heap[--outcome->left];
  sink(outcome, 0);
  return true;
}

/* ------------------------------------------------------------------------------- reading */

/* Adds what a worker spent on its blocks. */
static int add_spent(const ms_session *session, ms_outcome *outcome, const ms_record *record,
                     ms_error *err) {
  const ms_grid *grid = &session->schedule->grid;
  uint32_t ranges = grid->ranges[ms_grid_space(grid)];
  if (record->size != ranges * sizeof *outcome->spent) {
    return ms_error_set(err, MS_NET, "a worker reports on ranges that the loop does not have");
  }
  if (outcome->spent == NULL) outcome->spent = calloc(ranges, sizeof *outcome->spent);
  if (outcome->spent == NULL) return ms_error_memory(err, MS_WRK, "a loop's times");
  outcome->range_count = ranges;
  for (uint32_t range = 0; range < ranges; range++) {
    uint64_t took;
    memcpy(&took, record->bytes + range * sizeof took, sizeof took);
    outcome->spent[range] += took;
  }
  return 0;
}

/* Adds what the workers spent that were busy too briefly to say on what: of each of their ranges as
 * much as it has blocks. */
static void add_unsaid(ms_outcome *outcome) {
  const ms_schedule *schedule = outcome->schedule;
  uint32_t space = ms_grid_space(&schedule->grid);
  for (uint32_t w = 0; w < schedule->workers; w++) {
    const ms_share *share = &outcome->shares[w];
    if (share->busy >= MS_SPENT_WORTH || share->blocks == 0) continue;
    uint64_t each = share->busy / share->blocks;
    uint32_t block = MS_NO_BLOCK;
    while ((block = ms_schedule_next(schedule, w, block)) != MS_NO_BLOCK) {
      outcome->spent[ms_grid_range(&schedule->grid, block, space)] += each;
    }
  }
}

/* Looks at one record of a worker's block. */
static int take_record(ms_outcome *outcome, uint32_t worker, const ms_record *record,
                       ms_error *err) {
  if (!ms_schedule_owns(outcome->schedule, worker, record->block)) {
    return ms_error_set(err, MS_NET, "worker %u reports on a block that is not its own",
                        worker + 1);
  }
  if (record->kind == MS_REPORT_RESULT) {
    if (outcome->results++ == 0) outcome->each = record->size;
    if (outcome->each != record->size) outcome->each = UINT64_MAX;
  } else if (record->kind >= MS_REPORT_PENDING) {
    uint32_t buffer = record->kind - MS_REPORT_PENDING;
    if (buffer >= outcome->buffer_count) {
      return ms_error_set(err, MS_NET, "worker %u reports on a buffer that no loop has",
                          worker + 1);
    }
  }
  return 0;
}

/* Looks at a report up to its end, or to a record that is not good: *good bytes. */
static int read_report(const ms_session *session, ms_outcome *outcome, uint32_t worker,
                       size_t *good, bool *printed, ms_error *err) {
  const ms_text *report = &outcome->reports[worker];
  size_t at = 0;
  ms_record record;
  int got;
  while (*good = at, (got = ms_report_next(report->bytes, report->length, &at, &record)) > 0) {
    *printed = *printed || record.kind == MS_REPORT_PRINTED;
    if (record.kind != MS_REPORT_SPENT) {
      if (take_record(outcome, worker, &record, err) != 0) return -1;
    } else if (outcome->deaths == 0) { /* else some is missing */
      if (add_spent(session, outcome, &record, err) != 0) return -1;
    }
  }
  if (got < 0) return ms_error_set(err, MS_NET, "worker %u sent a broken report", worker + 1);
  return 0;
}

/* Puts printed text in the plan's order. */
static int join_printed(ms_outcome *outcome, ms_error *err) {
  ms_record record;
  ms_outcome_rewind(outcome, MS_REPORT_PRINTED, MS_REPORT_PRINTED);
  while (ms_outcome_next(outcome, &record)) {
    ms_text_append(&outcome->printed, record.bytes, (size_t)record.size);
  }
  if (!outcome->printed.failed) return 0;
  return ms_error_memory(err, MS_WRK, "what a loop printed");
}

int ms_outcome_finish(ms_session *session, ms_outcome *outcome, ms_error *err) {
  int failed = 0;
  bool printed = false;
  for (uint32_t w = 0; w < outcome->worker_count; w++) {
    size_t good;
    if (outcome->reports[w].length == 0) continue;
    if (read_report(session, outcome, w, &good, &printed, err) != 0) failed = -1;
    outcome->reports[w].length = good;
  }
  outcome->complete = outcome->results == session->schedule->count;
  if (failed == 0 && outcome->spent != NULL) add_unsaid(outcome);
  if (printed && join_printed(outcome, err) != 0) failed = -1;
  return failed;
}

void ms_outcome_free(ms_outcome *outcome) {
  for (uint32_t w = 0; outcome->reports != NULL && w < outcome->worker_count; w++) {
    ms_text_free(&outcome->reports[w]);
  }
  free(outcome->shares);
  free(outcome->reports);
  free(outcome->places);
  free(outcome->heap);
  free(outcome->spent);
  ms_text_free(&outcome->printed);
  ms_text_free(&outcome->notices);
  ms_text_free(&outcome->error);
  *outcome = (ms_outcome){0};
}
