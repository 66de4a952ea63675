/* SPDX-License-Identifier: MIT
 *
 * Cached operands: what workers keep of arrays that jobs only read, where memory is not shared.
 * What a worker has in the right version is not sent again. Of arrays that are written by lists
 * what blocks read is lent for a job. */
#include "driver/residency.h"

#include <stdlib.h>

#include "driver/session_state.h"

#define PATIENCE   256 /* jobs for which an unused cached operand is kept */
#define HASTE      8   /* the same when there are many bytes of them */
#define IDLE_BYTES ((uint64_t)16 << 20)

/* The record of a cached operand for a worker, made when there is none; NULL when memory is out. */
static ms_residency *cached_entry(ms_worker_handle *member, uint64_t id) {
  for (uint32_t i = 0; i < member->cached_count; i++) {
    if (member->cached[i].id == id) return &member->cached[i];
  }
  size_t count = (size_t)member->cached_count + 1;
  ms_residency *grown = realloc(member->cached, count * sizeof *grown);
  if (grown == NULL) return NULL;
  member->cached = grown;
  grown[member->cached_count] = (ms_residency){.id = id};
  return &grown[member->cached_count++];
}

/* Rows of a cached operand that this worker's blocks need. */
static void needed_rows(const ms_session *session, const ms_worker_handle *member,
                        const ms_job_operand *from, int64_t *lo, int64_t *hi) {
  const ms_schedule *schedule = session->schedule;
  *lo = 0;
  *hi = from->operand.dims[0];
  if (from->offsets == NULL) return;
  *lo = from->operand.dims[0];
  *hi = 0;
  uint32_t block = MS_NO_BLOCK;
  while ((block = ms_schedule_next(schedule, member->number, block)) != MS_NO_BLOCK) {
    if (from->offsets[block] < *lo) *lo = from->offsets[block];
    if (from->offsets[block + 1] > *hi) *hi = from->offsets[block + 1];
  }
}

static bool is_current(const ms_residency *entry, const ms_operand *operand) {
  return entry->version == operand->version && entry->size == ms_operand_bytes(operand);
}

/* Posts rows lo .. hi, next to those that a worker has already, without these. */
static int extend(ms_worker_handle *member, ms_residency *entry, const ms_elements *all,
                  uint32_t number, int64_t lo, int64_t hi, ms_error *err) {
  int64_t first = entry->lo, end = entry->hi;
  if (lo < first) {
    entry->lo = lo;
    if (ms_worker_handle_post(member, ms_transfer_make(all, number, 0, lo, first), err) != 0)
      return -1;
  }
  if (hi <= end) return 0;
  entry->hi = hi;
  return ms_worker_handle_post(member, ms_transfer_make(all, number, 0, end, hi), err);
}

int ms_residency_load(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                      ms_error *err) {
  const ms_operand *operand = &run->operands[number];
  int64_t lo, hi;
  const ms_job_operand *from = &run->job->operands[number];
  needed_rows(session, member, from, &lo, &hi);
  if (lo >= hi) return 0;
  ms_residency *entry = cached_entry(member, operand->id);
  if (entry == NULL) return ms_error_memory(err, MS_WRK, "what workers hold of an array");
  entry->used = session->jobs;
  if (is_current(entry, operand) && entry->list == 0 && lo <= entry->hi && entry->lo <= hi)
    return extend(member, entry, &run->elements[number], number, lo, hi, err);
  *entry = (ms_residency){.id = operand->id,
                          .version = operand->version,
                          .size = ms_operand_bytes(operand),
                          .segment = from->segment == NULL ? 0 : from->segment->id,
                          .used = session->jobs,
                          .lo = lo,
                          .hi = hi};
  return ms_worker_handle_post(member, ms_transfer_make(&run->elements[number], number, 0, lo, hi),
                               err);
}

/* The list of what the member's blocks need, made when there is none; NULL when memory is out. */
static ms_index_list *indices_of(const ms_session *session, ms_worker_handle *member,
                                 const ms_needs *needs) {
  for (uint32_t i = 0; i < member->index_list_count; i++) {
    if (ms_index_list_is(member->index_lists[i], needs->id, session->schedule))
      return member->index_lists[i];
  }
  size_t count = (size_t)member->index_list_count + 1;
  ms_index_list **grown = realloc(member->index_lists, count * sizeof *grown);
  if (grown == NULL) return NULL;
  member->index_lists = grown;
  ms_index_list *indices = ms_index_list_new(needs, session->schedule, member->number);
  if (indices != NULL) grown[member->index_list_count++] = indices;
  return indices;
}

/* Whether values on a list, and the list if it has to go, too, are no less than all elements. */
static bool is_as_much(const ms_index_list *indices, const ms_operand *operand) {
  uint64_t values = (uint64_t)indices->elements * operand->element,
           whole = (uint64_t)ms_operand_elements(operand) * operand->element;
  /* The list itself counts the first time; if there is a second, there will be more. */
  uint64_t runs = indices->uses > 0 ? 0 : (uint64_t)indices->run_count * sizeof *indices->runs;
  return values + runs >= whole;
}

/* Posts a list, unless the worker has it, and the first part of its values. */
static int post_values(ms_worker_handle *member, const ms_operand *operand, uint32_t number,
                       ms_index_list *indices, ms_error *err) {
  if (!indices->sent && ms_worker_handle_post(member, ms_transfer_list(number, indices), err) != 0)
    return -1;
  indices->sent = true;
  return ms_worker_handle_post(member, ms_transfer_values(operand, number, indices, 0), err);
}

int ms_residency_lend(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                      ms_error *err) {
  const ms_operand *operand = &run->operands[number];
  ms_index_list *indices = indices_of(session, member, run->job->operands[number].needs);
  if (indices == NULL) return ms_error_memory(err, MS_WRK, "what workers hold of an array");
  indices->used = session->jobs;
  if (indices->elements == 0) return 0;
  bool whole_too = is_as_much(indices, operand);
  indices->uses++;
  if (!whole_too) return post_values(member, operand, number, indices, err);
  ms_transfer whole = ms_transfer_make(&run->elements[number], number, 0, 0, operand->dims[0]);
  return ms_worker_handle_post(member, whole, err);
}

int ms_residency_serve(ms_session *session, ms_worker_handle *member, ms_run *run, uint32_t number,
                       ms_error *err) {
  const ms_operand *operand = &run->operands[number];
  const ms_job_operand *from = &run->job->operands[number];
  ms_index_list *indices = from->needs == NULL ? NULL : indices_of(session, member, from->needs);
  if (from->needs == NULL) return ms_residency_load(session, member, run, number, err);
  ms_residency *entry = cached_entry(member, operand->id);
  if (indices == NULL || entry == NULL)
    return ms_error_memory(err, MS_WRK, "what workers hold of an array");
  entry->used = indices->used = session->jobs;
  bool current = is_current(entry, operand);
  if (indices->elements == 0 || (current && entry->list == indices->copy)) return 0;
  bool whole_too = is_as_much(indices, operand);
  indices->uses++;
  if (whole_too || (current && entry->list == 0 && entry->hi > entry->lo)) {
    return ms_residency_load(session, member, run, number, err);
  }
  *entry = (ms_residency){.id = operand->id,
                          .version = operand->version,
                          .size = ms_operand_bytes(operand),
                          .used = session->jobs,
                          .list = indices->copy};
  return post_values(member, operand, number, indices, err);
}

/* The least position beyond `after` from which on a further part of the first `posted` transfers is
 * needed; UINT32_MAX when there is none. */
static uint32_t next_position(const ms_worker_handle *member, uint32_t posted, uint32_t after) {
  uint32_t next = UINT32_MAX;
  for (uint32_t p = 0; p < posted; p++) {
    const ms_transfer *first = &member->transfers[p];
    if (first->kind != MS_TRANSFER_VALUES) continue;
    for (uint32_t k = 1; k < first->indices->part_count; k++) {
      uint32_t position = first->indices->part[k].position;
      if (position > after && position < next) next = position;
    }
  }
  return next;
}

int ms_residency_serve_rest(ms_worker_handle *member, const ms_run *run, ms_error *err) {
  uint32_t posted = member->transfer_count, at = next_position(member, posted, 0);
  for (; at != UINT32_MAX; at = next_position(member, posted, at)) {
    for (uint32_t p = 0; p < posted; p++) {
      ms_transfer first = member->transfers[p]; /* the list may move */
      if (first.kind != MS_TRANSFER_VALUES) continue;
      for (uint32_t k = 1; k < first.indices->part_count; k++) {
        if (first.indices->part[k].position != at) continue;
        ms_transfer rest =
            ms_transfer_values(&run->operands[first.operand], first.operand, first.indices, k);
        if (ms_worker_handle_post(member, rest, err) != 0) return -1;
      }
    }
  }
  return 0;
}

void ms_residency_trim(ms_worker_handle *member, uint64_t now) {
  uint64_t idle = 0;
  for (uint32_t i = 0; i < member->cached_count; i++) {
    if (member->cached[i].used + 1 < now) idle += member->cached[i].size;
  }
  for (uint32_t i = 0; i < member->index_list_count; i++) {
    const ms_index_list *indices = member->index_lists[i];
    if (indices->used + 1 < now) idle += (uint64_t)indices->run_count * sizeof *indices->runs;
  }
  uint64_t patience = idle > IDLE_BYTES ? HASTE : PATIENCE;
  for (uint32_t i = member->cached_count; i-- > 0;) {
    if (now - member->cached[i].used > patience) ms_worker_handle_forget(member, i);
  }
  for (uint32_t i = member->index_list_count; i-- > 0;) {
    if (now - member->index_lists[i]->used > patience) ms_worker_handle_unlist(member, i);
  }
}

void ms_residency_disown(ms_worker_handle *member, uint64_t id) {
  for (uint32_t i = 0; i < member->cached_count; i++) {
    if (member->cached[i].id != id) continue;
    member->cached[i] = member->cached[--member->cached_count];
    return;
  }
}
