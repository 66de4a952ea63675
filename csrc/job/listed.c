/* SPDX-License-Identifier: MIT
 *
 * Listed: see listed.h. */
#include "job/listed.h"

ms_listed ms_listed_begin(const ms_element_lists *lists, int64_t block) {
  return (ms_listed){.walk = ms_element_lists_walk(lists, block)};
}

#define AHEAD 32 /* runs whose memory is fetched at a time: it may lie anywhere */

/* Takes the next runs, of at most `count` elements together, off a list. */
static uint32_t take(ms_listed *place, int64_t count, ms_span *runs) {
  uint32_t taken = 0;
  while (taken < AHEAD && count > 0) {
    ms_span *run = &place->rest;
    if (run->count == 0 && !ms_element_walk_next(&place->walk, run)) break;
    uint32_t part = run->count < count ? run->count : (uint32_t)count;
    runs[taken++] = (ms_span){run->first, part};
    run->first += part;
    run->count -= part;
    count -= part;
  }
  return taken;
}

int64_t ms_listed_gather(ms_listed *place, const ms_elements *all, int64_t count, void *out) {
  const unsigned char *row = ms_elements_in_a_row(all);
  size_t element = all->operand->element;
  unsigned char *to = out;
  int64_t left = count;
  ms_span runs[AHEAD];
  for (uint32_t taken; (taken = take(place, left, runs)) > 0;) {
    for (uint32_t r = 0; row != NULL && r < taken; r++)
      __builtin_prefetch(row + runs[r].first * element);
    for (uint32_t r = 0; r < taken; r++) {
      if (row != NULL) {
        ms_elements_copy(to, row + runs[r].first * element, element, runs[r].count);
      } else {
        ms_elements_gather(all, runs[r].first, runs[r].count, to);
      }
      to += runs[r].count * element;
      left -= runs[r].count;
    }
  }
  return count - left;
}

int64_t ms_listed_scatter(ms_listed *place, const ms_elements *all, int64_t count, const void *in) {
  unsigned char *row = ms_elements_in_a_row(all);
  size_t element = all->operand->element;
  const unsigned char *from = in;
  int64_t left = count;
  ms_span runs[AHEAD];
  for (uint32_t taken; (taken = take(place, left, runs)) > 0;) {
    for (uint32_t r = 0; row != NULL && r < taken; r++)
      __builtin_prefetch(row + runs[r].first * element, 1);
    for (uint32_t r = 0; r < taken; r++) {
      if (row != NULL) {
        ms_elements_copy(row + runs[r].first * element, from, element, runs[r].count);
      } else {
        ms_elements_scatter(all, runs[r].first, runs[r].count, from);
      }
      from += runs[r].count * element;
      left -= runs[r].count;
    }
  }
  return count - left;
}

/* ---- a worker's share ---- */

ms_listed_share ms_listed_share_begin(const ms_element_lists *lists, const ms_schedule *schedule,
                                      uint32_t worker) {
  ms_listed_share share = {.lists = lists, .schedule = schedule, .worker = worker};
  uint32_t block = MS_NO_BLOCK;
  while ((block = ms_schedule_next(schedule, worker, block)) != MS_NO_BLOCK)
    share.count += ms_element_lists_of(lists, block);
  share.block = ms_schedule_next(schedule, worker, MS_NO_BLOCK);
  if (share.block != MS_NO_BLOCK) share.place = ms_listed_begin(lists, share.block);
  return share;
}

/* Moves on to the worker's next block; false when there is none. */
static bool next_block(ms_listed_share *share) {
  share->block = ms_schedule_next(share->schedule, share->worker, share->block);
  if (share->block == MS_NO_BLOCK) return false;
  share->place = ms_listed_begin(share->lists, share->block);
  return true;
}

bool ms_listed_share_gather(ms_listed_share *share, const ms_elements *all, int64_t count,
                            void *out) {
  unsigned char *to = out;
  while (count > 0 && share->block != MS_NO_BLOCK) {
    int64_t got = ms_listed_gather(&share->place, all, count, to);
    to += (size_t)got * all->operand->element;
    share->done += got;
    count -= got;
    if (count > 0 && !next_block(share)) break;
  }
  return count == 0;
}

bool ms_listed_share_scatter(ms_listed_share *share, const ms_elements *all, int64_t count,
                             const void *in) {
  const unsigned char *from = in;
  while (count > 0 && share->block != MS_NO_BLOCK) {
    int64_t got = ms_listed_scatter(&share->place, all, count, from);
    from += (size_t)got * all->operand->element;
    share->done += got;
    count -= got;
    if (count > 0 && !next_block(share)) break;
  }
  return count == 0;
}
