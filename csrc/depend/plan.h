/* SPDX-License-Identifier: MIT
 *
 * The dependence analyser's face: a loop and what its captures mean go in, a verdict with
 * distances, strategy, placements and reasons comes out.
 *
 * Pure: no I/O, no clock, no Lua. Same input, same answer, on every machine. */
#ifndef MS_DEPEND_PLAN_H
#define MS_DEPEND_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "syntax/loop.h"

/* Most dimensions of an array and of an iteration space. */
#define MS_MAX_DIMS 8

/* What a capture turned out to be at run time. */
typedef enum ms_binding_kind {
  MS_BIND_NIL,
  MS_BIND_NUMBER,
  MS_BIND_BOOLEAN,
  MS_BIND_STRING,
  MS_BIND_ARRAY,    /* a DistArray (or meissa.shape) */
  MS_BIND_TABLE,    /* a plain Lua table, contents unknown (meissa.opaque) */
  MS_BIND_BUILTIN,  /* a function with known effects; `name` says which ("math.floor") */
  MS_BIND_FUNCTION, /* a Lua function; touches the arrays in `reached`, nothing else */
  MS_BIND_UNKNOWN   /* anything else: userdata, C functions, cdata, coroutines */
} ms_binding_kind;

/* What may call a function of a table's metatable. */
typedef enum ms_event {
  MS_EVENT_INDEX = 1,
  MS_EVENT_ASSIGN = 2, /* of an element */
  MS_EVENT_CALL = 4,
  MS_EVENT_OPERATOR = 8 /* arithmetic, comparison, .., tostring */
} ms_event;

/* The events for which that function may change variables or tables outside: event << this. */
#define MS_EVENT_CHANGES 4

/* What a capture of a function that is looked into means: a binding, reached by so many of the
 * capture's fields. */
typedef struct ms_meaning {
  uint32_t binding, depth;
} ms_meaning;

/* A field of a table with a constant name, as its metatable's tables give it, too. */
#define MS_FIELD_CALL    "()"  /* what is called when the table is */
#define MS_FIELD_ELEMENT "#%u" /* of a list of which all elements are known */

typedef struct ms_field {
  const char *name;
  uint32_t binding;
} ms_field;

/* Where a view of an array lies in its base, a box of the memory that holds all captured views that
 * overlap: base subscript k is first[k] + the sum of factor[d] * (subscript d - 1) over the
 * dimensions d that go along k. */
typedef struct ms_mapping {
  uint32_t dim_count; /* of the base */
  int64_t dims[MS_MAX_DIMS];
  int64_t first[MS_MAX_DIMS];  /* of the view's element [1]...[1] */
  uint32_t along[MS_MAX_DIMS]; /* by dimension of the view; MS_MAX_DIMS: none, its extent is 1 */
  int64_t factor[MS_MAX_DIMS]; /* by dimension of the view */
} ms_mapping;

typedef struct ms_binding {
  ms_binding_kind kind;
  uint32_t depth; /* how many of the capture's fields lead to the value; the rest index into it */
  double number;
  const char *name; /* BUILTIN; ARRAY that is no capture: what it is called, or NULL */
  /* ARRAY: */
  uint64_t array;   /* identity: equal for two names of one array */
  uint64_t storage; /* identity of the memory: equal for views that may overlap */
  uint32_t dim_count;
  int64_t dims[MS_MAX_DIMS];
  const ms_mapping *view; /* into the base, the same for all bindings of its storage; NULL: that is
                             one array, or the base is not known */
  bool sparse;
  bool integer;     /* element type int32 or int64 */
  bool frozen;      /* a snapshot: nothing that is not looked into can write it */
  bool scratch;     /* each iteration's own working space: no access to it is a dependence */
  uint64_t buffers; /* `storage` of the array that it is a DistArray buffer of, 0: it is none. Each
                       block has its own, and what is put there is merged between blocks. */
  bool marks;       /* a buffer whose elements only say that something was stored there */
  /* FUNCTION, TABLE: indices (into the bindings) of the arrays that it may touch, that it holds */
  bool draws;          /* BUILTIN, FUNCTION, TABLE: it may draw random numbers for the iteration */
  bool changes;        /* calls of it assign variables or plain tables outside of it */
  bool stores;         /* FUNCTION: it stores into what it is given */
  bool aliased;        /* scalar: the body may have another way to that variable */
  uint32_t receiver;   /* aliased: from 1, the only capture that leads there, its table; or 0 */
  const char *alias;   /* that way, where it is a name ("o.count"), or NULL */
  const char *globals; /* BUILTIN, TABLE: by it variables can be looked up that the body does not
                          name ("_G is used as a table of variables"); or NULL */
  bool alone;          /* TABLE: without a metatable, and no other capture leads to it */
  uint32_t objects;    /* TABLE: an array of objects of so many dimensions, or 0 */
  bool reads;         /* FUNCTION: proved not to store into arrays; TABLE: holds nothing but data */
  const char *impure; /* FUNCTION: it may call this, which works on files or in foreign code, or
                         gives numbers in the order of its calls ("it uses math.random") */
  const uint32_t *reached;
  uint32_t reached_count;
  bool quiet;              /* TABLE: no function that it leads to may store into arrays */
  uint32_t acts;           /* TABLE: the events for which what it leads to has functions */
  const ms_loop *code;     /* FUNCTION: its text in closure form, where that is had, or NULL */
  const ms_meaning *means; /* FUNCTION with code: of each of the code's captures */
  const ms_field *fields;  /* TABLE: those that are known */
  uint32_t field_count;
} ms_binding;

/* One dimension of the iteration space: lo, lo+step, ... up to hi. For the entries of an array
 * lo = 1, hi = extent, step = 1. */
typedef struct ms_range {
  int64_t lo, hi, step;
} ms_range;

typedef struct ms_space {
  uint32_t dim_count;
  ms_range range[MS_MAX_DIMS];
  int32_t source; /* index of the binding whose entries it is, -1 for none; -2: entries of an array
                     that is not captured by the body */
  bool sparse;    /* the entries of a sparse array (bounding box = range) */
  bool ordered;
  bool serial_allowed; /* serial = true */
  bool impure;         /* impure = true: files and foreign code may be used */
  bool methods; /* those of strings, or what operators do with plain values, is the program's */
  const char *barred; /* methods: of these those that a loop cannot call, each a line of its own:
                         name, tab, "impure", "name" (it may be called by one) or nothing, tab,
                         why; or NULL */
  bool positions;     /* sparse: entries are told apart by their place, for random numbers */
  uint32_t collapse;  /* 1: none; n: take in the next n-1 perfectly nested numeric loops */
} ms_space;

/* Most forms that bound a collapsed loop from one side. */
#define MS_MAX_BOUNDS 4

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

typedef enum ms_verdict { MS_PARALLEL, MS_SERIAL, MS_UNKNOWN } ms_verdict;

typedef enum ms_strategy {
  MS_INDEPENDENT,
  MS_PARTITION,
  MS_SKEW,
  MS_ROTATE,
  MS_WAVEFRONT,
  MS_HYPERPLANE,
  MS_SERIALLY
} ms_strategy;

/* A component of a canonical distance pattern. */
typedef struct ms_component {
  char sign; /* 'n': the integer in `value`; '+', '-', '*' */
  int64_t value;
} ms_component;

typedef struct ms_distance {
  ms_component at[MS_MAX_DIMS];
} ms_distance;

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
} ms_written;

typedef struct ms_array_plan {
  uint32_t binding;         /* index of one binding of this array */
  bool read, written;       /* its memory, through any view */
  bool own_read, own_write; /* through itself */
  ms_placement placement;
  int32_t array_dim; /* dimension of the array that follows loop dimension `loop_dim`; -1 none */
  int32_t loop_dim;
  int64_t scale, offset; /* subscript = scale * index + offset */
  ms_written writes;     /* of a written array */
  const char *whole;     /* broadcast, read at unknown subscripts: why it is not served; or NULL */
} ms_array_plan;

typedef enum ms_scalar_role {
  MS_ROLE_BROADCAST, /* read only */
  MS_ROLE_REDUCTION, /* combined block by block with `op` */
  MS_ROLE_PRIVATE,   /* assigned before any read on every path */
  MS_ROLE_CARRIED,   /* carries a value from one iteration to the next: refused */
  MS_ROLE_SLICED,    /* a plain table that is only written, by index; blocks give their parts */
  MS_ROLE_LISTED,    /* a plain table that is only appended to */
  MS_ROLE_COUNTED    /* a plain table of sums by key */
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
  bool unset;          /* there is no value before the first, which is taken whatever it is; of a
                          sum, 0 stands for it */
  uint32_t leader;     /* WITH: the capture that decides; others: their own */
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

typedef struct ms_plan {
  ms_arena *arena;
  ms_verdict verdict;
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
  ms_array_plan *arrays;
  uint32_t array_count;
  const char
      *prefetch; /* a loop that marks what is read of the served arrays (inspector.h), or NULL */
  const char *stranger; /* a method of an array whose effects are not known, or NULL; its line */
  uint32_t stranger_line;
  ms_scalar_plan *scalars;
  uint32_t scalar_count;
  ms_reason *reasons;
  uint32_t reason_count;
} ms_plan;

/* Analyses a loop. `bindings[c]` says what capture c is; bindings beyond the captures are arrays
 * that only functions reach, and what the functions and tables that are looked into lead to. Fails
 * (NULL) only for malformed input (MS_OPT: ranges, collapse; MS_ARR: too many dimensions; MS_DEP:
 * out of memory for a huge body; MS_BUG); a loop that may not run in parallel, `break` out of it
 * included, is a plan with strategy MS_SERIALLY and reasons. The plan keeps nothing of its
 * arguments. */
ms_plan *ms_plan_new(const ms_loop *loop, const ms_binding *bindings, uint32_t binding_count,
                     const ms_space *space, ms_error *err);

/* Lets a loop without distances run in the blocks of another one over the same space: takes on its
 * strategy, extents and row. False if the spaces have not as many dimensions. */
bool ms_plan_follow(ms_plan *plan, const ms_plan *main);

/* Frees a plan and nulls the caller's pointer. */
void ms_plan_destroy(ms_plan **plan);

/* Names as users see them: "rotate", "parallel", "local", "+". */
const char *ms_strategy_name(ms_strategy strategy);
const char *ms_verdict_name(ms_verdict verdict);
const char *ms_placement_name(ms_placement placement);
const char *ms_reduce_name(ms_reduce_op op);
const char *ms_wins_name(ms_reduce_wins wins);

#endif
