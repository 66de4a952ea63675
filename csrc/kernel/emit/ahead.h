/* SPDX-License-Identifier: MIT
 *
 * Drawing ahead: random bits of a kernel's iterations, several at a time.
 *
 * The bits are those of draws.h, whatever is drawn ahead: what is drawn for an iteration, or a
 * draw, that does not come is left unused. Once indices have gone on by the same step twice, the
 * first draws of the next iterations are made together, as many as the last iteration has made; of
 * an iteration that draws more, further draws are made together. Conditions and loops in a body
 * need not be known.
 *
 * This text stands in front of every native kernel (kernel/native/prelude.h). Both records belong
 * to one run of a block. What each draw needs is in ms_drawing, whose address no call gets: the
 * compiler keeps it in registers. */
#ifndef MS_KERNEL_EMIT_AHEAD_H
#define MS_KERNEL_EMIT_AHEAD_H

#include "kernel/emit/draws.h"
#include "kernel/emit/philox_lanes.h"

#define MS_AHEAD       MS_LANES_COUNTERS /* draws that are made together */
#define MS_AHEAD_DRAWS 8 /* of an iteration that are made with those of the next ones */
#define MS_AHEAD_ALONE 4 /* of an iteration before others of it are made together */

typedef struct ms_drawing {
  double index;         /* the last one of the present iteration */
  uint32_t draw;        /* how many numbers it has drawn */
  uint32_t at, count;   /* its place among the iterations that are drawn for */
  uint32_t draws;       /* random numbers drawn for each iteration; 0: none */
  uint32_t first, held; /* draws of the present iteration in `more` */
} ms_drawing;

typedef struct ms_ahead {
  ms_draws place; /* of the present iteration, but for its last index and `draw` */
  double step;    /* of the last index */
  uint64_t key, low,
      low_step; /* of the present iteration in one number, if `mixed`, and of a step */
  bool mixed;
  uint64_t next[MS_AHEAD_DRAWS][MS_AHEAD], more[MS_AHEAD];
} ms_ahead;

/* Begins a block's draws at a place. */
static inline ms_drawing ms_ahead_new(ms_ahead *ahead, const ms_draws *place, int dims) {
  ahead->place = *place;
  ahead->key = ms_draws_key(place);
  ahead->step = 0;
  ahead->low = ahead->low_step = 0;
  ahead->mixed = false;
  return (ms_drawing){.index = place->index[dims - 1], .draw = place->draw};
}

/* The counter's high half for a draw. */
static inline uint64_t ms_ahead_high(const ms_ahead *ahead, uint32_t draw) {
  return (uint64_t)ahead->place.ordinal << 32 | draw;
}

/* Draws for the present iteration, after those that were drawn for, and as many that follow it. */
static inline void ms_ahead_iterations(ms_ahead *ahead, ms_drawing *now, int dims,
                                       uint32_t expected) {
  if (now->count > 0) {
    ahead->low += now->count * ahead->low_step;
  } else {
    ahead->low = ms_draws_mix(&ahead->place);
    ahead->place.index[dims - 1] += ahead->step;
    ahead->low_step = ms_draws_mix(&ahead->place) - ahead->low; /* mixing is linear */
    ahead->place.index[dims - 1] = now->index;
  }
  now->at = 0;
  now->count = MS_AHEAD;
  now->draws = expected < MS_AHEAD_DRAWS ? expected : MS_AHEAD_DRAWS;
  for (uint32_t d = 0; d < now->draws; d++)
    ms_lanes_philox(ahead->key, ahead->low, ahead->low_step, ms_ahead_high(ahead, d), 0,
                    ahead->next[d]);
}

/* An iteration that was not drawn for begins. */
static __attribute__((noinline, unused)) void ms_ahead_turn(ms_ahead *ahead, ms_drawing *now,
                                                            int dims, const double *index) {
  double step = index[dims - 1] - now->index;
  uint32_t expected = now->draw;
  bool along = true;
  for (int d = 0; d < dims - 1; d++) along = along && ahead->place.index[d] == index[d];
  if (along && step == 0) return;
  for (int d = 0; d < dims; d++) ahead->place.index[d] = index[d];
  now->index = index[dims - 1];
  now->draw = now->held = now->draws = 0;
  ahead->mixed = false;
  bool again = along && step == ahead->step && step < 0x1p31 && step > -0x1p31;
  if (again && expected > 0) {
    ms_ahead_iterations(ahead, now, dims, expected);
  } else {
    now->count = now->at = 0;
  }
  ahead->step = along ? step : 0;
}

/* Says which iteration begins: as ms_draws_begin. */
static inline void ms_ahead_begin(ms_ahead *ahead, ms_drawing *now, int dims, const double *index) {
  bool next = index[dims - 1] == now->index + ahead->step && now->at + 1 < now->count;
  for (int d = 0; d < dims - 1; d++) next = next && ahead->place.index[d] == index[d];
  if (next) {
    now->index = index[dims - 1];
    now->at++;
    now->draw = now->held = 0;
    return;
  }
  ms_drawing turned = *now;
  ms_ahead_turn(ahead, &turned, dims, index);
  *now = turned;
}

/* The next bits where they are not drawn yet. */
static __attribute__((noinline, unused)) uint64_t ms_ahead_more(ms_ahead *ahead, ms_drawing *now,
                                                                int dims) {
  if (now->draws > 0) { /* the iteration is one of those that were drawn for */
    ahead->place.iteration = ahead->low + now->at * ahead->low_step;
  } else if (!ahead->mixed) {
    ahead->place.index[dims - 1] = now->index;
    ahead->place.iteration = ms_draws_mix(&ahead->place);
    ahead->mixed = true;
  }
  uint32_t draw = now->draw++;
  if (now->draw == 0) { /* as ms_draws_next */
    double *last = dims == MS_DRAWS_DIMS ? &now->index : &ahead->place.index[MS_DRAWS_DIMS - 1];
    *last += 1;
    now->draws = now->count = now->at = 0;
    ahead->mixed = false;
  }
  if (draw < MS_AHEAD_ALONE || draw > UINT32_MAX - 2 * MS_AHEAD) {
    ms_philox words = ms_philox_at(ahead->key, ahead->place.iteration, ms_ahead_high(ahead, draw));
    return ms_philox_half(&words, 0);
  }
  ms_lanes_philox(ahead->key, ahead->place.iteration, 0, ms_ahead_high(ahead, draw), 1,
                  ahead->more);
  now->first = draw;
  now->held = MS_AHEAD;
  return ahead->more[0];
}

/* The next 64 random bits: those of ms_draws_next. */
static inline uint64_t ms_ahead_next(ms_ahead *ahead, ms_drawing *now, int dims) {
  uint32_t draw = now->draw, place = draw - now->first;
  if (draw < now->draws) {
    now->draw = draw + 1;
    return ahead->next[draw][now->at];
  }
  if (place < now->held) {
    now->draw = draw + 1;
    return ahead->more[place];
  }
  ms_drawing drawn = *now;
  uint64_t bits = ms_ahead_more(ahead, &drawn, dims);
  *now = drawn;
  return bits;
}

#endif
