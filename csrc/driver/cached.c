/* SPDX-License-Identifier: MIT
 *
 * Cached items: what workers keep of arrays that jobs only read, where memory is not shared. What a
 * worker has in the right version is not sent again. */
#include <stdlib.h>

#include "driver/session_state.h"

#define PATIENCE   256 /* jobs for which an unused cached item is kept */
#define HASTE      8   /* the same when there are many bytes of them */
#define IDLE_BYTES ((uint64_t)16 << 20)

/* The record of a cached item for a worker, made when there is none; NULL when memory is out. */
static ms_cached *cached_entry(ms_member *member, uint64_t id) {
  for (uint32_t i = 0; i < member->cached_count; i++) {
    if (member->cached[i].id == id) return &member->cached[i];
  }
  size_t count = (size_t)member->cached_count + 1;
  ms_cached *grown = realloc(member->cached, count * sizeof *grown);
  if (grown == NULL) return NULL;
  member->cached = grown;
  grown[member->cached_count] = (ms_cached){.id = id};
  return &grown[member->cached_count++];
}

/* Rows of a cached item that this worker's blocks need. */
static void needed_rows(const ms_session *session, const ms_member *member, const ms_job_item *from,
                        int64_t *lo, int64_t *hi) {
  const ms_schedule *schedule = session->schedule;
  *lo = 0;
  *hi = from->item.dims[0];
  if (from->offsets == NULL) return;
  *lo = from->item.dims[0];
  *hi = 0;
  uint32_t block = MS_NO_BLOCK;
  while ((block = ms_schedule_next(schedule, member->number, block)) != MS_NO_BLOCK) {
    if (from->offsets[block] < *lo) *lo = from->offsets[block];
    if (from->offsets[block + 1] > *hi) *hi = from->offsets[block + 1];
  }
}

static bool is_current(const ms_cached *entry, const ms_item *item) {
  return entry->version == item->version && entry->size == ms_item_bytes(item);
}

int ms_cached_load(ms_session *session, ms_member *member, ms_run *run, uint32_t number,
                   ms_error *err) {
  const ms_item *item = &run->items[number];
  int64_t lo, hi;
  const ms_job_item *from = &run->job->items[number];
  needed_rows(session, member, from, &lo, &hi);
  if (lo >= hi) return 0;
  ms_cached *entry = cached_entry(member, item->id);
  if (entry == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  entry->used = session->jobs;
  if (is_current(entry, item) && entry->list == 0 && entry->lo <= lo && hi <= entry->hi) return 0;
  *entry = (ms_cached){.id = item->id,
                       .version = item->version,
                       .size = ms_item_bytes(item),
                       .segment = from->segment == NULL ? 0 : from->segment->id,
                       .used = session->jobs,
                       .lo = lo,
                       .hi = hi};
  return ms_member_post(member, ms_parcel_make(item, number, 0, lo, hi), err);
}

/* The list of what the member's blocks need, made when there is none; NULL when memory is out. */
static ms_wanted *wanted_of(const ms_session *session, ms_member *member, const ms_needs *needs) {
  for (uint32_t i = 0; i < member->wanted_count; i++) {
    if (ms_wanted_is(member->wanted[i], needs->id, session->schedule)) return member->wanted[i];
  }
  size_t count = (size_t)member->wanted_count + 1;
  ms_wanted **grown = realloc(member->wanted, count * sizeof *grown);
  if (grown == NULL) return NULL;
  member->wanted = grown;
  ms_wanted *wanted = ms_wanted_new(needs, session->schedule, member->number);
  if (wanted != NULL) grown[member->wanted_count++] = wanted;
  return wanted;
}

int ms_cached_serve(ms_session *session, ms_member *member, ms_run *run, uint32_t number,
                    ms_error *err) {
  const ms_item *item = &run->items[number];
  const ms_job_item *from = &run->job->items[number];
  ms_wanted *wanted = from->needs == NULL ? NULL : wanted_of(session, member, from->needs);
  if (from->needs == NULL) return ms_cached_load(session, member, run, number, err);
  ms_cached *entry = cached_entry(member, item->id);
  if (wanted == NULL || entry == NULL) return ms_error_set(err, MS_WRK, "out of memory");
  entry->used = wanted->used = session->jobs;
  bool current = is_current(entry, item);
  if (wanted->elements == 0 || (current && entry->list == wanted->copy)) return 0;
  uint64_t values = (uint64_t)wanted->elements * item->element, whole = ms_item_bytes(item);
  /* The list itself counts the first time; if there is a second, there will be more. */
  uint64_t runs = wanted->uses++ > 0 ? 0 : (uint64_t)wanted->run_count * sizeof *wanted->runs;
  if ((current && entry->list == 0 && entry->hi > entry->lo) || values + runs >= whole) {
    return ms_cached_load(session, member, run, number, err);
  }
  *entry = (ms_cached){.id = item->id,
                       .version = item->version,
                       .size = whole,
                       .used = session->jobs,
                       .list = wanted->copy};
  if (!wanted->sent && ms_member_post(member, ms_parcel_list(number, wanted), err) != 0) return -1;
  wanted->sent = true;
  return ms_member_post(member, ms_parcel_values(item, number, wanted, 0), err);
}

/* The least position beyond `after` from which on a further part of the first `posted` parcels is
 * needed; UINT32_MAX when there is none. */
static uint32_t next_position(const ms_member *member, uint32_t posted, uint32_t after) {
  uint32_t next = UINT32_MAX;
  for (uint32_t p = 0; p < posted; p++) {
    const ms_parcel *first = &member->parcels[p];
    if (first->kind != MS_PARCEL_VALUES) continue;
    for (uint32_t k = 1; k < first->wanted->part_count; k++) {
      uint32_t position = first->wanted->part[k].position;
      if (position > after && position < next) next = position;
    }
  }
  return next;
}

int ms_cached_serve_rest(ms_member *member, const ms_run *run, ms_error *err) {
  uint32_t posted = member->parcel_count, at = next_position(member, posted, 0);
  for (; at != UINT32_MAX; at = next_position(member, posted, at)) {
    for (uint32_t p = 0; p < posted; p++) {
      ms_parcel first = member->parcels[p]; /* the list may move */
      if (first.kind != MS_PARCEL_VALUES) continue;
      for (uint32_t k = 1; k < first.wanted->part_count; k++) {
        if (first.wanted->part[k].position != at) continue;
        ms_parcel rest = ms_parcel_values(&run->items[first.item], first.item, first.wanted, k);
        if (ms_member_post(member, rest, err) != 0) return -1;
      }
    }
  }
  return 0;
}

void ms_cached_trim(ms_member *member, uint64_t now) {
  uint64_t idle = 0;
  for (uint32_t i = 0; i < member->cached_count; i++) {
    if (member->cached[i].used + 1 < now) idle += member->cached[i].size;
  }
  for (uint32_t i = 0; i < member->wanted_count; i++) {
    const ms_wanted *wanted = member->wanted[i];
    if (wanted->used + 1 < now) idle += (uint64_t)wanted->run_count * sizeof *wanted->runs;
  }
  uint64_t patience = idle > IDLE_BYTES ? HASTE : PATIENCE;
  for (uint32_t i = member->cached_count; i-- > 0;) {
    if (now - member->cached[i].used > patience) ms_member_forget(member, i);
  }
  for (uint32_t i = member->wanted_count; i-- > 0;) {
    if (now - member->wanted[i]->used > patience) ms_member_unlist(member, i);
  }
}

void ms_cached_disown(ms_member *member, uint64_t id) {
  for (uint32_t i = 0; i < member->cached_count; i++) {
    if (member->cached[i].id != id) continue;
    member->cached[i] = member->cached[--member->cached_count];
    return;
  }
}
