/* SPDX-License-Identifier: MIT
 *
 * For tests of gates: workers that run their blocks through a gate, one event after the other in
 * any order, and what is true at each moment, told from the definitions of gate.h alone.
 *
 * A worker's blocks of a round are two events each (begins, ends); in the two-phase form four: all
 * read (begin, end), then all write (begin, end). All that a moment is like follows from how many
 * events each worker is through, and from which versions are pinned. */
#ifndef MS_SYNC_GATE_SCENE_H
#define MS_SYNC_GATE_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test.h"
#include "sync/gate_open.h"

#define MOST_WORKERS 4
#define MOST_BLOCKS  6
#define MOST_RANGES  6

/* Who reads and writes what, as tables. */
typedef struct cast {
  const char *name;
  uint32_t workers, blocks, ranges;
  uint32_t owner[MOST_BLOCKS];
  uint8_t reads[MOST_BLOCKS][MOST_RANGES], writes[MOST_BLOCKS][MOST_RANGES];
  uint8_t observes[MOST_BLOCKS];
  bool full;    /* everyone reads everything, and no list says so */
  bool ordered; /* blocks come in this order, not by number */
  uint32_t order[MOST_BLOCKS];
} cast;

typedef struct scene {
  const cast *who;
  ms_gate_setting setting;
  ms_gate *gate;
  int64_t rounds;
  uint32_t mine[MOST_WORKERS][MOST_BLOCKS], share[MOST_WORKERS];
} scene;

typedef enum event_kind { READ_BEGINS, READ_ENDS, WRITE_BEGINS, WRITE_ENDS } event_kind;

/* A moment: events behind each worker, and by block and range 1 + the version that is pinned. */
typedef struct moment {
  uint8_t at[MOST_WORKERS];
  uint8_t pinned[MOST_BLOCKS][MOST_RANGES];
} moment;

typedef struct event {
  uint32_t worker, block;
  int64_t round;
  event_kind kind; /* in one phase READ_BEGINS is the block's begin, WRITE_ENDS its end */
} event;

static inline scene make_scene(const cast *who, const ms_gate_setting *setting, int64_t rounds) {
  scene made = {.who = who, .setting = *setting, .rounds = rounds};
  uint64_t read_first[MOST_BLOCKS + 1] = {0}, write_first[MOST_BLOCKS + 1] = {0};
  uint32_t reads[MOST_BLOCKS * MOST_RANGES], writes[MOST_BLOCKS * MOST_RANGES];
  bool observer[MOST_BLOCKS];
  for (uint32_t b = 0; b < who->blocks; b++) {
    read_first[b + 1] = read_first[b];
    write_first[b + 1] = write_first[b];
    observer[b] = who->observes[b] != 0;
    for (uint32_t x = 0; x < who->ranges; x++) {
      if (who->reads[b][x] != 0) reads[read_first[b + 1]++] = x;
      if (who->writes[b][x] != 0) writes[write_first[b + 1]++] = x;
    }
    uint32_t next = who->ordered ? who->order[b] : b;
    made.mine[who->owner[next]][made.share[who->owner[next]]++] = next;
  }
  ms_gate_sets sets = {.workers = who->workers,
                       .blocks = who->blocks,
                       .ranges = who->ranges,
                       .owner = who->owner,
                       .order = who->ordered ? who->order : NULL,
                       .read_first = read_first,
                       .reads = who->full ? NULL : reads,
                       .write_first = write_first,
                       .writes = writes,
                       .observer = observer};
  ms_error err = {0};
  made.gate = ms_gate_new(setting, &sets, &err);
  if (made.gate == NULL) fprintf(stderr, "%s\n", err.message);
  if (made.gate == NULL) abort();
  return made;
}

/* ---- what a moment is like ---- */

static inline uint32_t events_a_round(const scene *s, uint32_t worker) {
  return s->share[worker] * (s->setting.two_phase ? 4 : 2);
}

static inline bool is_through(const scene *s, const moment *now, uint32_t worker) {
  return now->at[worker] >= events_a_round(s, worker) * (uint32_t)s->rounds;
}

/* What a worker does next. */
static inline event next_event(const scene *s, const moment *now, uint32_t worker) {
  uint32_t a_round = events_a_round(s, worker), k = now->at[worker] % a_round;
  uint32_t half = 2 * s->share[worker], block = s->mine[worker][k % half / 2];
  event next = {.worker = worker, .block = block, .round = now->at[worker] / a_round + 1};
  if (!s->setting.two_phase) {
    next.kind = k % 2 == 0 ? READ_BEGINS : WRITE_ENDS;
  } else if (k < half) {
    next.kind = k % 2 == 0 ? READ_BEGINS : READ_ENDS;
  } else {
    next.kind = k % 2 == 0 ? WRITE_BEGINS : WRITE_ENDS;
  }
  return next;
}

static inline uint32_t place_of(const scene *s, uint32_t block) {
  uint32_t place = 0, worker = s->who->owner[block];
  while (s->mine[worker][place] != block) place++;
  return place;
}

/* The last round for which an event of a block is behind it. */
static inline int64_t last_round(const scene *s, const moment *now, uint32_t block,
                                 event_kind kind) {
  uint32_t worker = s->who->owner[block], a_round = events_a_round(s, worker);
  uint32_t place = 2 * place_of(s, block), behind = now->at[worker];
  if (s->setting.two_phase && kind >= WRITE_BEGINS) place += 2 * s->share[worker];
  place += kind == READ_ENDS || kind == WRITE_ENDS;
  if (!s->setting.two_phase) place = 2 * place_of(s, block) + (kind % 2 != 0);
  return (behind + a_round - 1 - place) / a_round;
}

/* In one phase a block has read, and written, when it has ended. */
static inline int64_t seen_by(const scene *s, const moment *now, uint32_t block) {
  return last_round(s, now, block, READ_ENDS);
}

static inline int64_t done_by(const scene *s, const moment *now, uint32_t block) {
  return last_round(s, now, block, WRITE_ENDS);
}

/* How many blocks a worker has finished; for a step, what its waits count. */
static inline void count_finished(const scene *s, const moment *now, ms_gate_step step,
                                  uint64_t *finished) {
  for (uint32_t w = 0; w < s->who->workers; w++) {
    finished[w] = 0;
    for (uint32_t k = 0; k < s->share[w]; k++) {
      uint32_t block = s->mine[w][k];
      bool reads = step == MS_GATE_WRITE && s->setting.two_phase;
      finished[w] += (uint64_t)(reads ? seen_by(s, now, block) : done_by(s, now, block));
    }
  }
}

#endif
