/* SPDX-License-Identifier: MIT
 *
 * Gates, how they are made: see gate.h. What is asked of them is in gate.c.
 *
 * A condition on a block q of round a - k is a count of q's worker that grows by the worker's
 * blocks with each round: offset + a * stride. All conditions on one worker have the same stride,
 * so the greatest offset is the greatest count in every round, and lists are made once. Blocks of a
 * worker that wait for the same share a list. */
#include "sync/gate.h"

#include <stdlib.h>
#include <string.h>

#define NOTHING INT64_MIN

/* "In some round, that worker waits for this block." */
typedef struct ear {
  uint32_t block, worker;
} ear;

/* What is needed while a gate is made. */
typedef struct maker {
  ms_gate *gate;
  const ms_gate_sets *sets;
  ms_gate_lists writes;                 /* of each block: the ranges that it writes */
  ms_gate_lists readers;                /* of each range: the blocks that read it */
  uint32_t *by_place, *place_first;     /* of each worker, its blocks in plan order */
  int64_t *last_writer, *last_reader;   /* of each worker: the rank of its last such block; -1 */
  int64_t *best;                        /* of each worker: the greatest offset so far */
  ms_gate_slice *latest[MS_GATE_STEPS]; /* of each worker: the list that was made last */
  size_t term_room, ear_count[MS_GATE_STEPS], ear_room[MS_GATE_STEPS];
  ear *ears[MS_GATE_STEPS];
} maker;

/* Room for one more element of a list; NULL, and the list as it was, without memory. */
static void *grow(void *list, size_t count, size_t *room, size_t size) {
  if (count < *room) return list;
  size_t more = *room < 64 ? 64 : *room * 2;
  void *grown = more > SIZE_MAX / size ? NULL : realloc(list, more * size);
  if (grown != NULL) *room = more;
  return grown;
}

static bool is_observer(const maker *make, uint32_t block) {
  return make->gate->observer[block];
}

static bool writes_any(const maker *make, uint32_t block) {
  return make->writes.first[block] < make->writes.first[block + 1];
}

/* How many blocks write a range. */
static uint64_t writer_count(const maker *make, uint32_t range) {
  const uint64_t *first = make->gate->writers.first;
  return first[range + 1] - first[range];
}

/* A range of several writers counts as read by each of them: none may be ahead of another by more
 * than there are versions. */
static bool reads_any(const maker *make, uint32_t block) {
  const ms_gate_sets *sets = make->sets;
  bool reads = sets->reads == NULL || sets->read_first[block] < sets->read_first[block + 1];
  for (uint64_t k = make->writes.first[block]; k < make->writes.first[block + 1]; k++) {
    reads = reads || writer_count(make, make->writes.members[k]) > 1;
  }
  return reads;
}

/* ---- places ---- */

/* Gives each block its place among its worker's. MS_BUG: the order is none. */
static int take_places(maker *make) {
  ms_gate *gate = make->gate;
  const ms_gate_sets *sets = make->sets;
  memset(gate->place, 255, gate->blocks * sizeof *gate->place);
  memcpy(gate->owner, sets->owner, gate->blocks * sizeof *gate->owner);
  for (uint32_t i = 0; i < gate->blocks; i++) {
    uint32_t block = sets->order == NULL ? i : sets->order[i];
    if (gate->place[block] != UINT32_MAX) return -1; /* twice in the order */
    gate->place[block] = gate->share[gate->owner[block]]++;
    gate->observer[block] = sets->observer != NULL && sets->observer[block];
  }
  for (uint32_t w = 0; w < gate->workers; w++) {
    make->place_first[w + 1] = make->place_first[w] + gate->share[w];
  }
  for (uint32_t b = 0; b < gate->blocks; b++) {
    make->by_place[make->place_first[gate->owner[b]] + gate->place[b]] = b;
  }
  return 0;
}

/* Finds who reads and who writes each range. */
static int turn_sets(maker *make) {
  const ms_gate_sets *sets = make->sets;
  const ms_gate_lists *writes = &make->writes;
  if (ms_gate_sets_writes(sets, &make->writes) != 0) return -1;
  if (ms_gate_sets_turn(sets, writes->first, writes->members, &make->gate->writers) != 0) return -1;
  return ms_gate_sets_turn(sets, sets->read_first, sets->reads, &make->readers);
}

/* Finds each worker's last writer, and its last reader, of anything. */
static void find_last(maker *make) {
  const ms_gate *gate = make->gate;
  for (uint32_t w = 0; w < gate->workers; w++) make->last_writer[w] = make->last_reader[w] = -1;
  for (uint32_t b = 0; b < gate->blocks; b++) {
    bool everyone = gate->setting.clocks;
    bool reads = everyone || reads_any(make, b), writes = everyone || writes_any(make, b);
    int64_t *reader = &make->last_reader[gate->owner[b]];
    int64_t *writer = &make->last_writer[gate->owner[b]];
    if (is_observer(make, b)) continue; /* waited for in another way */
    if (reads && *reader < gate->place[b]) *reader = gate->place[b];
    if (writes && *writer < gate->place[b]) *writer = gate->place[b];
  }
}

/* ---- conditions ---- */

/* Asks a worker for its block at `place` of the round that is `back` before this one. */
static void ask(maker *make, uint32_t worker, int64_t place, int64_t back) {
  int64_t offset = place + 1 - (back + 1) * (int64_t)make->gate->share[worker];
  if (offset > make->best[worker]) make->best[worker] = offset;
}

/* What a block must wait for to read: done(q, y) >= a - 1 - lag. */
static void ask_writers(maker *make, uint32_t block) {
  const ms_gate *gate = make->gate;
  const ms_gate_sets *sets = make->sets;
  int64_t lag = is_observer(make, block) ? 0 : gate->setting.read_lag;
  if (lag == MS_GATE_UNBOUNDED) return;
  bool reads = sets->reads == NULL || sets->read_first[block] < sets->read_first[block + 1];
  if (gate->setting.scope == MS_GATE_GLOBAL || (sets->reads == NULL && reads)) {
    bool waits = reads || gate->setting.clocks;
    for (uint32_t w = 0; w < gate->workers && waits; w++) {
      if (make->last_writer[w] >= 0) ask(make, w, make->last_writer[w], lag + 1);
    }
    return;
  }
  for (uint64_t i = sets->read_first[block]; i < sets->read_first[block + 1]; i++) {
    uint32_t range = sets->reads[i];
    for (uint64_t k = make->gate->writers.first[range]; k < make->gate->writers.first[range + 1];
         k++) {
      uint32_t q = make->gate->writers.members[k];
      if (q != block) ask(make, gate->owner[q], gate->place[q], lag + 1);
    }
  }
}

/* Asks block p to have finished reading what is overwritten: seen(p, y) >= a - lag. An observer
 * pins no version but that of the round before: the slots of all others are free. */
static void ask_reader(maker *make, uint32_t p) {
  const ms_gate_setting *setting = &make->gate->setting;
  int64_t lag = is_observer(make, p) ? setting->depth - 1 : setting->write_lag;
  if (lag == MS_GATE_UNBOUNDED || lag < 0) return;
  ask(make, make->gate->owner[p], make->gate->place[p], lag);
}

static void ask_readers_of(maker *make, uint32_t block, uint32_t range) {
  const ms_gate_lists *readers = &make->readers, *writers = &make->gate->writers;
  for (uint64_t k = readers->first[range]; k < readers->first[range + 1]; k++) {
    if (readers->members[k] != block) ask_reader(make, readers->members[k]);
  }
  if (writer_count(make, range) == 1) return;
  for (uint64_t k = writers->first[range]; k < writers->first[range + 1]; k++) {
    if (writers->members[k] != block) ask_reader(make, writers->members[k]);
  }
}

/* What a block must wait for to write. */
static void ask_readers(maker *make, uint32_t block) {
  const ms_gate *gate = make->gate;
  const ms_gate_sets *sets = make->sets;
  if (!writes_any(make, block)) return;
  if (gate->setting.scope != MS_GATE_GLOBAL && sets->reads != NULL) {
    for (uint64_t k = make->writes.first[block]; k < make->writes.first[block + 1]; k++) {
      ask_readers_of(make, block, make->writes.members[k]);
    }
    return;
  }
  for (uint32_t w = 0; w < gate->workers && gate->setting.write_lag != MS_GATE_UNBOUNDED; w++) {
    if (make->last_reader[w] >= 0) ask(make, w, make->last_reader[w], gate->setting.write_lag);
  }
  for (uint32_t p = 0; p < gate->blocks && sets->observer != NULL; p++) {
    if (is_observer(make, p)) ask_reader(make, p);
  }
}

/* ---- lists ---- */

/* Remembers that a worker waits for the block that a term names. */
static int hear(maker *make, ms_gate_step step, uint32_t worker, const ms_gate_term *term) {
  int64_t stride = term->stride, place = (term->offset - 1) % stride;
  if (place < 0) place += stride;
  ear *grown = grow(make->ears[step], make->ear_count[step], &make->ear_room[step], sizeof *grown);
  if (grown == NULL) return -1;
  make->ears[step] = grown;
  uint32_t at = make->place_first[term->worker] + (uint32_t)place;
  grown[make->ear_count[step]++] = (ear){.block = make->by_place[at], .worker = worker};
  return 0;
}

/* Makes a list of the best offsets, but for the worker's own. */
static int append(maker *make, uint32_t own, ms_gate_slice *list) {
  ms_gate *gate = make->gate;
  for (uint32_t w = 0; w < gate->workers; w++) {
    if (make->best[w] == NOTHING || w == own) continue;
    size_t count = list->first + list->count;
    ms_gate_term *grown = grow(gate->terms, count, &make->term_room, sizeof *grown);
    if (grown == NULL) return -1;
    gate->terms = grown;
    grown[count] = (ms_gate_term){make->best[w], w, gate->share[w]};
    list->count++;
  }
  return 0;
}

static bool same_terms(const ms_gate *gate, ms_gate_slice a, ms_gate_slice b) {
  bool same = a.count == b.count;
  for (size_t i = 0; same && i < a.count; i++) {
    const ms_gate_term *s = &gate->terms[a.first + i], *t = &gate->terms[b.first + i];
    same = s->worker == t->worker && s->offset == t->offset;
  }
  return same;
}

/* Makes a block's list of what was asked for; `end`: of all terms. */
static int list_asked(maker *make, ms_gate_step step, uint32_t block, size_t *end) {
  ms_gate *gate = make->gate;
  uint32_t own = gate->owner[block];
  ms_gate_slice list = {.first = *end}, *latest = &make->latest[step][own];
  if (append(make, own, &list) != 0) return -1;
  for (uint32_t w = 0; w < gate->workers; w++) make->best[w] = NOTHING;
  if (list.count > 0 && same_terms(gate, list, *latest)) {
    gate->lists[step][block] = *latest;
    return 0;
  }
  for (size_t i = 0; i < list.count; i++) {
    if (hear(make, step, own, &gate->terms[list.first + i]) != 0) return -1;
  }
  gate->lists[step][block] = list;
  *end += list.count;
  if (list.count > 0) *latest = list;
  return 0;
}

static int make_lists(maker *make) {
  const ms_gate *gate = make->gate;
  bool joined = !gate->setting.two_phase;
  size_t end = 0;
  for (uint32_t w = 0; w < gate->workers; w++) make->best[w] = NOTHING;
  for (uint32_t block = 0; block < gate->blocks; block++) {
    ask_writers(make, block);
    if (joined) ask_readers(make, block);
    if (list_asked(make, MS_GATE_READ, block, &end) != 0) return -1;
    if (!joined) ask_readers(make, block);
    if (list_asked(make, MS_GATE_WRITE, block, &end) != 0) return -1;
  }
  return 0;
}

static int by_block(const void *one, const void *other) {
  const ear *a = one, *b = other;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  return (a->worker > b->worker) - (a->worker < b->worker);
}

/* Makes each block's list of those who wait for it, each worker once. */
static int make_listeners(maker *make) {
  ms_gate *gate = make->gate;
  size_t count = 0, most = make->ear_count[MS_GATE_READ] + make->ear_count[MS_GATE_WRITE];
  gate->listeners = calloc(most + 1, sizeof *gate->listeners);
  if (gate->listeners == NULL) return -1;
  for (int step = 0; step < MS_GATE_STEPS; step++) {
    const ear *ears = make->ears[step];
    if (ears != NULL) qsort(make->ears[step], make->ear_count[step], sizeof *ears, by_block);
    for (size_t i = 0; i < make->ear_count[step]; i++) {
      ms_gate_slice *heard = &gate->heard[step][ears[i].block];
      if (i > 0 && by_block(&ears[i - 1], &ears[i]) == 0) continue;
      if (heard->count++ == 0) heard->first = count;
      gate->listeners[count++] = ears[i].worker;
    }
  }
  return 0;
}

/* ---- making and freeing ---- */

static int allocate(maker *make) {
  ms_gate *gate = make->gate;
  size_t blocks = gate->blocks, workers = gate->workers;
  bool have = (gate->owner = calloc(blocks, sizeof *gate->owner)) != NULL &&
              (gate->place = calloc(blocks, sizeof *gate->place)) != NULL &&
              (gate->share = calloc(workers, sizeof *gate->share)) != NULL &&
              (gate->observer = calloc(blocks, sizeof *gate->observer)) != NULL &&
              (make->by_place = calloc(blocks, sizeof *make->by_place)) != NULL &&
              (make->place_first = calloc(workers + 1, sizeof *make->place_first)) != NULL &&
              (make->last_writer = calloc(workers, sizeof *make->last_writer)) != NULL &&
              (make->last_reader = calloc(workers, sizeof *make->last_reader)) != NULL &&
              (make->best = calloc(workers, sizeof *make->best)) != NULL;
  for (int step = 0; have && step < MS_GATE_STEPS; step++) {
    have = (gate->lists[step] = calloc(blocks, sizeof **gate->lists)) != NULL &&
           (gate->heard[step] = calloc(blocks, sizeof **gate->heard)) != NULL &&
           (make->latest[step] = calloc(workers, sizeof **make->latest)) != NULL;
  }
  return have ? 0 : -1;
}

static void clean_up(maker *make) {
  void *all[] = {make->by_place,    make->place_first, make->last_writer,
                 make->last_reader, make->best,        make->latest[0],
                 make->latest[1],   make->ears[0],     make->ears[1]};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  ms_gate_lists_free(&make->readers);
  ms_gate_lists_free(&make->writes);
}

/* Fills an allocated gate; 1: memory is out, -1: *err says what is wrong. */
static int fill(maker *make, ms_error *err) {
  if (take_places(make) != 0) {
    return ms_error_set(err, MS_BUG, "a gate of an order that has a block twice");
  }
  if (turn_sets(make) != 0) return 1;
  find_last(make);
  return make_lists(make) != 0 || make_listeners(make) != 0;
}

ms_gate *ms_gate_new(const ms_gate_setting *setting, const ms_gate_sets *sets, ms_error *err) {
  if (!ms_gate_sets_valid(sets)) {
    ms_error_set(err, MS_BUG, "a gate of sets that name no worker, block or range");
    return NULL;
  }
  ms_gate *gate = calloc(1, sizeof *gate);
  maker make = {.gate = gate, .sets = sets};
  int failed = 1;
  if (gate != NULL) {
    *gate = (ms_gate){.setting = *setting,
                      .workers = sets->workers,
                      .blocks = sets->blocks,
                      .ranges = sets->ranges};
    failed = allocate(&make) != 0 ? 1 : fill(&make, err);
  }
  if (failed > 0) ms_error_memory(err, MS_WRK, "a gate of %u blocks", sets->blocks);
  clean_up(&make);
  if (failed != 0) ms_gate_destroy(&gate);
  return gate;
}
