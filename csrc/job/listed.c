/* SPDX-License-Identifier: MIT
 *
 * Listed: see listed.h. */
#include "job/listed.h"

ms_listed ms_listed_begin(const ms_element_lists *lists, int64_t block) {
  return (ms_listed){.walk = ms_element_lists_walk(lists, block)};
}

#define AHEAD 32 /* runs whose memory is fetched at a time: it may lie anywhere */

/* Takes the next runs, `most` of them and `count` elements together at most, off a list. */
static uint32_t take(ms_listed *place, int64_t count, ms_span *runs, uint32_t most) {
  uint32_t taken = 0;
  while (taken < most && count > 0) {
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

/* Copies the next elements, `count` at most, between their places and `bytes`: `back` to their
 * places. How many they were. */
static int64_t move(ms_listed *place, const ms_elements *all, int64_t count, unsigned char *bytes,
                    bool back) {
  unsigned char *row = ms_elements_in_a_row(all);
  size_t element = all->operand->element;
  int64_t left = count;
  ms_span runs[AHEAD];
  for (uint32_t taken; (taken = take(place, left, runs, AHEAD)) > 0;) {
    for (uint32_t r = 0; row != NULL && r < taken; r++)
      __builtin_prefetch(row + runs[r].first * element, 1);
    for (uint32_t r = 0; r < taken; r++) {
      ms_span run = runs[r];
      if (row != NULL) {
        unsigned char *at = row + run.first * element;
        ms_elements_copy(back ? at : bytes, back ? bytes : at, element, run.count);
      } else if (back) {
        ms_elements_scatter(all, run.first, run.count, bytes);
      } else {
        ms_elements_gather(all, run.first, run.count, bytes);
      }
      bytes += run.count * element;
      left -= run.count;
    }
  }
  return count - left;
}

int64_t ms_listed_gather(ms_listed *place, const ms_elements *all, int64_t count, void *out) {
  return move(place, all, count, out, false);
}

int64_t ms_listed_scatter(ms_listed *place, const ms_elements *all, int64_t count, const void *in) {
  /* Only read from: `move` copies the other way. */
  return move(place, all, count, (unsigned char *)(uintptr_t)in, true);
}

/* ---- a worker's share ---- */

ms_listed_share ms_listed_share_between(const ms_element_lists *lists, const ms_schedule *schedule,
                                        uint32_t worker, uint32_t first, uint32_t final) {
  ms_listed_share share = {
      .lists = lists, .schedule = schedule, .worker = worker, .block = first, .final = final};
  for (uint32_t block = first; block != MS_NO_BLOCK;) {
    share.count += ms_element_lists_of(lists, block);
    block = block == final ? MS_NO_BLOCK : ms_schedule_next(schedule, worker, block);
  }
  if (share.block != MS_NO_BLOCK) share.place = ms_listed_begin(lists, share.block);
  return share;
}

ms_listed_share ms_listed_share_begin(const ms_element_lists *lists, const ms_schedule *schedule,
                                      uint32_t worker) {
  return ms_listed_share_between(lists, schedule, worker,
                                 ms_schedule_next(schedule, worker, MS_NO_BLOCK), MS_NO_BLOCK);
}

/* Moves on to the worker's next block; false when there is none. */
static bool next_block(ms_listed_share *share) {
  share->block = share->block == share->final
                     ? MS_NO_BLOCK
                     : ms_schedule_next(share->schedule, share->worker, share->block);
  if (share->block == MS_NO_BLOCK) return false;
  share->place = ms_listed_begin(share->lists, share->block);
  return true;
}

static bool move_share(ms_listed_share *share, const ms_elements *all, int64_t count,
                       unsigned char *bytes, bool back) {
  while (count > 0 && share->block != MS_NO_BLOCK) {
    int64_t moved = move(&share->place, all, count, bytes, back);
    bytes += (size_t)moved * all->operand->element;
    share->done += moved;
    count -= moved;
    if (count > 0 && !next_block(share)) break;
  }
  return count == 0;
}

bool ms_listed_share_gather(ms_listed_share *share, const ms_elements *all, int64_t count,
                            void *out) {
  return move_share(share, all, count, out, false);
}

bool ms_listed_share_scatter(ms_listed_share *share, const ms_elements *all, int64_t count,
                             const void *in) {
  return move_share(share, all, count, (unsigned char *)(uintptr_t)in, true);
}
