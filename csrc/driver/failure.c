/* SPDX-License-Identifier: MIT
 *
 * Failure: see failure.h. */
#include "driver/failure.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "driver/collect.h"
#include "driver/session_state.h"

#define GRACE 1000 /* ms for a cancelled worker to reach a block end */

/* Makes an error of the failure that counts, and ends the job. */
static void raise(ms_session *session) {
  ms_run *run = session->run;
  const ms_failure *first = &run->first;
  const char *text = first->text.length > 0 ? first->text.bytes : "";
  if (first->code == MS_OK) {
    ms_text_append(&run->outcome->error, text, first->text.length);
    ms_error_set(run->err, MS_BDY, "a loop body failed on worker %u", first->worker + 1);
  } else {
    ms_code code = first->code <= MS_BUG ? (ms_code)first->code : MS_BUG;
    int length = first->text.length > INT_MAX ? INT_MAX : (int)first->text.length;
    ms_error_set(run->err, code, "worker %u: %.*s", first->worker + 1, length, text);
  }
  ms_collect_fail(session, first->worker, first->block, GRACE);
}

/* Whether a failure counts more than the first one so far. */
static bool is_earlier(const ms_failure *first, const ms_failure *next, const char *order) {
  if (!first->any || first->turn != next->turn) return !first->any || next->turn < first->turn;
  size_t mine = first->order.length, others = next->order_size;
  int difference = 0;
  if (mine > 0 && others > 0) {
    difference = memcmp(order, first->order.bytes, mine < others ? mine : others);
  }
  if (difference != 0) return difference < 0;
  if (mine != others) return others < mine;
  return next->block < first->block;
}

/* Tells the workers which blocks need not be run. */
static void publish_limit(ms_session *session) {
  uint64_t limit = ms_status_of(session->jobs, session->run->first.turn);
  for (uint32_t i = 0; i < session->config.workers; i++)
    session->road->publish(session, i, MS_STATUS_LIMIT, limit);
}

void ms_failure_take(ms_session *session, ms_worker_handle *member, const ms_frame *frame,
                     const char *payload) {
  ms_run *run = session->run;
  if (run->failed) return;
  member->failures++;
  const ms_schedule *schedule = session->schedule;
  bool in_block = ms_schedule_owns(schedule, member->number, frame->a[0]);
  size_t order = frame->a[2] <= frame->size ? (size_t)frame->a[2] : 0;
  ms_failure next = {.any = true,
                     .worker = member->number,
                     .block = in_block ? (uint32_t)frame->a[0] : UINT32_MAX,
                     .turn = in_block ? ms_schedule_turn(schedule, (uint32_t)frame->a[0]) : 0,
                     .code = frame->a[1],
                     .order_size = order};
  if (in_block && !is_earlier(&run->first, &next, payload)) return; /* the wait settles */
  ms_text_free(&run->first.order);
  ms_text_free(&run->first.text);
  ms_text_append(&next.order, payload, order);
  ms_text_append(&next.text, payload + order, (size_t)frame->size - order);
  run->first = next;
  if (in_block) {
    publish_limit(session);
    ms_failure_settle(session);
  } else {
    raise(session);
  }
}

/* Whether a worker has blocks before it that count, or has told of a failure that has not arrived.
 */
static bool has_due(const ms_session *session, const ms_worker_handle *member) {
  const ms_schedule *schedule = session->schedule;
  const ms_run *run = session->run;
  uint32_t finished = ms_recover_finished(session, member->number);
  uint32_t block = ms_schedule_own(schedule, member->number, finished);
  for (; block != MS_NO_BLOCK; block = ms_schedule_next(schedule, member->number, block)) {
    bool counts = ms_schedule_turn(schedule, block) <= run->first.turn;
    if (counts && block != run->first.block) return true;
    if (!counts && schedule->grid.together == 0) break; /* later ones have later turns */
  }
  uint64_t told = session->road->status(session, member->number, MS_STATUS_FAILURES);
  return ms_status_value(told, session->jobs, 0) != member->failures;
}

void ms_failure_settle(ms_session *session) {
  const ms_run *run = session->run;
  if (run->failed || !run->first.any) return;
  for (uint32_t i = 0; i < session->config.workers; i++) {
    const ms_worker_handle *member = &session->members[i];
    if (member->part != MS_PART_NONE && has_due(session, member)) return;
  }
  raise(session);
}

void ms_failure_forget(ms_run *run) {
  ms_text_free(&run->first.order);
  ms_text_free(&run->first.text);
  run->first = (ms_failure){0};
}
