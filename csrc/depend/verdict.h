/* SPDX-License-Identifier: MIT
 *
 * The dependence analyser's face: a loop and what its captures mean go in, a verdict with
 * distances, strategy, placements and reasons comes out.
 *
 * Pure: no I/O, no clock, no Lua. Same input, same answer, on every machine. */
#ifndef MS_DEPEND_VERDICT_H
#define MS_DEPEND_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "depend/meaning.h"
#include "depend/strategy_traits.h"

/* Most forms that bound a collapsed loop from one side. */
#define MS_MAX_BOUNDS 4

typedef struct ms_collisions ms_collisions; /* inspector.h */

/* A sum over the index values of outer dimensions. */
typedef struct ms_index_sum {
  int64_t constant;
  int64_t at[MS_MAX_DIMS];
} ms_index_sum;

/* What the index of one dimension runs over. */
typedef struct ms_extent {
  ms_range range; /* all its values lie in here; hi is the last one in loop direction */
  bool bounded; /* step 1 or -1, and: all low <= index <= all high, which depend on outer indices */
  uint32_t low_count, high_count;
  ms_index_sum low[MS_MAX_BOUNDS], high[MS_MAX_BOUNDS];
} ms_extent;

typedef enum ms_decision { MS_PARALLEL, MS_SERIAL, MS_UNKNOWN } ms_decision;

/* A component of a canonical distance pattern. */
typedef struct ms_component {
  char sign; /* 'n': the integer in `value`; '+', '-', '*' */
  int64_t value;
} ms_component;

typedef struct ms_distance {
  ms_component at[MS_MAX_DIMS];
} ms_distance;

/* How far distances lead at most, along each dimension: from the later iteration down to the
 * earlier one, and up; INT64_MAX: not known. */
typedef struct ms_furthest {
  int64_t down[MS_MAX_DIMS], up[MS_MAX_DIMS];
} ms_furthest;

/* What happens to a captured array. */
typedef enum ms_placement {
  MS_PLACE_LOCAL,     /* stays with the worker that owns the space range */
  MS_PLACE_ROTATED,   /* moves with the time range */
  MS_PLACE_BROADCAST, /* read only, everywhere */
  MS_PLACE_HALO,      /* neighbours' elements of a written array are read */
  MS_PLACE_SERVED,    /* data-dependent reads */
  MS_PLACE_REDUCED    /* a buffer: each block's own, merged between blocks */
} ms_placement;

/* The subscript of an array dimension is scale * index + offset, of the index of a loop dimension.
 */
typedef struct ms_followed {
  uint32_t array_dim, loop_dim;
  int64_t scale, offset;
} ms_followed;

/* What a loop may write of an array. */
typedef struct ms_written {
  int64_t low[MS_MAX_DIMS], high[MS_MAX_DIMS]; /* subscripts; low > high: nothing */
  ms_followed follow[MS_MAX_DIMS];             /* cut dimensions that all writes follow, the one */
  uint32_t follow_count;                       /* whose ranges belong to workers first */
  bool whole;                                  /* every element is surely written */
  bool steady; /* of rounds: all write the same elements, and read none of them before */
} ms_written;

typedef struct ms_array_plan {
  uint32_t binding;         /* index of one binding of this array */
  bool read, written;       /* its memory, through any view */
  bool own_read, own_write; /* through itself */
  bool sparse;
  ms_placement placement;
  int32_t array_dim; /* dimension of the array that follows loop dimension `loop_dim`; -1 none */
  int32_t loop_dim;
  int64_t scale, offset; /* subscript = scale * index + offset */
  ms_written writes;     /* of a written array */
  bool marked;           /* `prefetch` marks the elements that are read, */
  bool stored;           /* and, in other marks, those that are written */
  const char *whole;     /* broadcast, read at unknown subscripts: why it is not served; or NULL */
} ms_array_plan;

typedef enum ms_scalar_role {
  MS_ROLE_BROADCAST, /* read only */
  MS_ROLE_REDUCTION, /* combined block by block with `op` */
  MS_ROLE_PRIVATE,   /* assigned before any read on every path */
  MS_ROLE_CARRIED,   /* carries a value from one iteration to the next: refused */
  MS_ROLE_SLICED,    /* a plain table that is only written, by index; blocks give their parts */
  MS_ROLE_LISTED,    /* a plain table that is only appended to */
  MS_ROLE_COUNTED,   /* a plain table of sums by key */
  MS_ROLE_MARKED     /* a plain table in which keys are given one constant */
} ms_scalar_role;

typedef enum ms_reduce_op {
  MS_REDUCE_SUM,
  MS_REDUCE_PRODUCT,
  MS_REDUCE_MIN,
  MS_REDUCE_MAX,
  MS_REDUCE_AND,
  MS_REDUCE_OR,
  MS_REDUCE_BOR,
  MS_REDUCE_BAND,
  MS_REDUCE_BXOR,
  MS_REDUCE_WITH /* it is assigned together with another reduction, its leader */
} ms_reduce_op;

/* When a later value takes the place of an earlier one in `min max or`; read "less" for min. */
typedef enum ms_reduce_wins {
  MS_WINS_BEYOND, /* it is greater; s or e: s is not true */
  MS_WINS_EQUAL,  /* it is greater or equal; e or s: e is true */
  MS_WINS_UNLESS  /* unless the earlier one is greater: nan wins, too */
} ms_reduce_wins;

typedef struct ms_scalar_plan {
  uint32_t capture; /* index into the loop's captures */
  ms_scalar_role role;
  ms_reduce_op op; /* REDUCTION */
  ms_reduce_wins wins;
  bool unset;      /* there is no value before the first, which is taken whatever it is; of a
                      sum, 0 stands for it */
  uint32_t leader; /* WITH: the capture that decides; others: their own */
  uint32_t tie;    /* WITH: from 1, which of the variables it is that decide, one after the other,
                      where the leader's values are equal; 0: none of these */
  ms_reduce_op tie_op; /* MIN or MAX: which one stays there; `wins`: where all are equal */
  bool ranked;         /* an extreme by itself, of iterations in another order than the loop's */
  bool gated;          /* tries only what the reduction `gate` has not taken: `elseif` */
  uint32_t gate;       /* a capture */
  bool exact;          /* COUNTED: by whole numbers */
  const char *indices; /* SLICED: the indices that its keys follow, "i" or "i, j" */
} ms_scalar_plan;

typedef struct ms_place {
  uint32_t line, column, end_column; /* end_column: one past the last byte on that line */
  const char *text;                  /* the source of the access: "A[i-1]" */
  const char *does; /* "writes A[2]": what the witness iteration does here; may be NULL */
} ms_place;

#define MS_MAX_FIXES 3

typedef struct ms_reason {
  const char *code;       /* stable: "DEP101" */
  const char *title;      /* "carried dependence" */
  const char *message;    /* one sentence in the user's own names */
  const char *distance;   /* "distance 1, every iteration"; NULL without a dependence */
  ms_place first, second; /* line 0: absent */
  bool has_witness;
  int64_t from[MS_MAX_DIMS], to[MS_MAX_DIMS]; /* one colliding pair of iterations */
  const char *fix[MS_MAX_FIXES];              /* code to paste, "what: code"; NULL where fewer */
} ms_reason;

/* What a place that reads a version may read of other iterations of the cut dimension: by ordinals,
 * iteration i what the iterations k make with least <= k - i <= most and sum_least <= k + i <=
 * sum_most; none where an end comes before its beginning. */
typedef struct ms_round_read {
  uint32_t version; /* as in the space's `versions` */
  uint32_t line;
  int64_t least, most, sum_least, sum_most;
} ms_round_read;

typedef struct ms_verdict {
  uint64_t id; /* not 0, of this verdict alone in this process */
  ms_arena *arena;
  ms_decision decision;
  ms_strategy strategy;
  uint32_t dim_count; /* of the iteration space, collapsed loops included */
  const char *index_name[MS_MAX_DIMS];
  ms_extent extent[MS_MAX_DIMS];
  uint32_t strategy_dims; /* partition 1; rotate 2..; wavefront 2; hyperplane: the sequential ones,
                             then the one that runs in parallel (with a row only that one) */
  uint32_t strategy_dim[MS_MAX_DIMS];
  uint32_t sequential; /* hyperplane: sequential axes before the parallel one; the row is one */
  /* skew, hyperplane: over (index - first index) / step; 0 for the first index of a dimension whose
   * bounds depend on outer indices. */
  int64_t row[MS_MAX_DIMS];
  bool has_row;
  ms_distance *distances;
  uint32_t distance_count;
  ms_furthest furthest;
  ms_array_plan *arrays;
  uint32_t array_count;
  uint32_t *array_of; /* by binding, so many: 1 + the number of its array; 0: of none */
  uint32_t binding_count;
  const char *prefetch; /* a loop that marks what is read of served arrays (inspector.h), or NULL */
  const ms_collisions *collisions; /* what finds out whether iterations meet, where nothing but that
                                      keeps the loop from running (decision MS_UNKNOWN); or NULL */
  const char *stranger; /* a method of an array whose effects are not known, or NULL; its line */
  uint32_t stranger_line;
  ms_round_read *round_reads; /* of rounds */
  uint32_t round_read_count;
  ms_scalar_plan *scalars;
  uint32_t scalar_count;
  ms_reason *reasons;
  uint32_t reason_count;
} ms_verdict;

/* Analyses a loop. `bindings[c]` says what capture c is; bindings beyond the captures are arrays
 * that only functions reach, and what the functions and tables that are looked into lead to. Fails
 * (NULL) only for malformed input (MS_OPT: ranges, collapse; MS_ARR: too many dimensions; MS_DEP:
 * out of memory for a huge body; MS_BUG); a loop that may not run in parallel, `break` out of it
 * included, has a verdict with strategy MS_SERIALLY and reasons. The verdict keeps nothing of its
 * arguments. */
ms_verdict *ms_verdict_new(const ms_loop *loop, const ms_binding *bindings, uint32_t binding_count,
                           const ms_space *space, ms_error *err);

/* Whether the loop has this verdict, but for the ends of its ranges, for every value of the space's
 * steady variable: only verdicts without distances are asked about. A sure answer if it is true. */
bool ms_verdict_is_steady(const ms_loop *loop, const ms_binding *bindings, uint32_t binding_count,
                          const ms_space *space, const ms_verdict *verdict);

/* Lets a loop without distances run in the blocks of another one over the same space: takes on its
 * strategy, extents and row. False if the spaces have not as many dimensions. */
bool ms_verdict_follow(ms_verdict *verdict, const ms_verdict *main);

/* Frees a verdict and nulls the caller's pointer. */
void ms_verdict_destroy(ms_verdict **verdict);

/* Names as users see them: "parallel", "local", "+". */
const char *ms_decision_name(ms_decision decision);
const char *ms_placement_name(ms_placement placement);
const char *ms_reduce_op_name(ms_reduce_op op);
const char *ms_reduce_wins_name(ms_reduce_wins wins);

#endif
