/* SPDX-License-Identifier: MIT
 *
 * Launches: small loops (job/small_run.h) that are run again from the same call, by one call of C.
 *
 * A launch is what the last executions of a loop found out, good as long as arrays are captured
 * that are the same, or the same but for where they are (launch_move.h). launch_make.c makes one of
 * what Lua knows; launch_space.c, launch_captures.c and launch.c look whether it fits what is
 * captured now, run the loop and assign its variables. It is a userdata, whose environment holds: 1
 * weak, the values that are to be captured, by capture; 2 the options; 3 what must live as long; 4
 * the function that is called; 5 what captured functions and tables lead to (reached.h), if there
 * are any; 6 names of places; 7 weak, by capture, the values that were captured last in the place
 * of those of 1. */
#ifndef MS_BINDING_LAUNCH_H
#define MS_BINDING_LAUNCH_H

#include <lua.h>

#include "array/array.h"
#include "array/csr.h"
#include "binding/place.h"
#include "job/pace.h"
#include "job/plan_line.h"
#include "job/small_run.h"
#include "kernel/emit/random.h"

#define MS_LAUNCH "meissa.launch"

enum {
  MS_LAUNCH_SEEN = 1,
  MS_LAUNCH_OPTIONS,
  MS_LAUNCH_KEPT,
  MS_LAUNCH_CALLEE,
  MS_LAUNCH_REACHED,
  MS_LAUNCH_NAMES,
  MS_LAUNCH_MOVED
};

typedef enum ms_captured_kind {
  MS_CAPTURED_SAME,
  MS_CAPTURED_NIL,
  MS_CAPTURED_NUMBER,
  MS_CAPTURED_REACHED /* an array that functions and tables lead to */
} ms_captured_kind;

/* Where a captured dense array was when the launch was made, and what arrays in its place must be
 * like. */
typedef struct ms_array_home {
  bool movable;
  bool frozen;
  int32_t type, dim_count;
  int64_t dims[MS_ARRAY_DIMS], strides[MS_ARRAY_DIMS];
  void *data;              /* of element [1]...[1] */
  ms_store *store;         /* compared only: it may be gone */
  ms_native_slot *pointer; /* the kernel's slot with `data`; NULL: it needs none */
  ms_small_span *span;     /* all of it, as memory that the loop may write; or NULL */
  void *span_data;
} ms_array_home;

/* What has to be captured, or looped over. */
typedef struct ms_captured_value {
  ms_captured_kind kind;
  ms_variable_place place;
  bool parameter;  /* a number that plans depend on */
  uint32_t object; /* its object's number in ms_reached; 0: it has none */
  double number;   /* now */
  ms_array *array; /* or NULL */
  uint64_t id;
  uint64_t version; /* of the values, where entries of a sparse array are looped over */
  int32_t generation;
  bool written;
  const ms_csr *rows; /* in which a sparse array is read; or NULL */
  ms_array_home home;
  bool moved;            /* now: another array is in its place, */
  char *data;            /* whose elements begin here, */
  const ms_store *store; /* in this store */
} ms_captured_value;

/* A number that the kernel takes. */
typedef struct ms_launch_argument {
  ms_native_slot *slot;
  uint32_t capture;
} ms_launch_argument;

/* One that it finds in captured functions and tables. */
typedef struct ms_launch_datum {
  ms_native_slot *slot;
  uint32_t place; /* of ms_reached */
  bool single;    /* it is in no list */
} ms_launch_datum;

typedef struct ms_launch_result {
  uint32_t capture;
  bool reduction;        /* begins from a number */
  ms_native_slot *truth; /* the kernel's slot for whether what `and` or `or` reduces is true before
                            the loop; NULL: it is no such */
  bool begins_true;      /* the value before the loop, which is the same in all launches */
} ms_launch_result;

typedef struct ms_launch {
  ms_small_run *run;
  ms_pace *pace; /* of the loop, */
  double *most;  /* and the seconds of the longest that is small in any case */
  uint32_t capture_count, argument_count, datum_count, result_count, option_count;
  ms_captured_value *captures;
  ms_launch_argument *arguments;
  ms_launch_datum *data;
  ms_launch_result *results;
  const ms_native_slot *draws; /* the slot with the place of random numbers; NULL: none are drawn */
  const ms_draws_loops *loops;
  ms_variable_place callee;  /* of meissa.parallel; nowhere: the call is no name */
  ms_captured_value space;   /* whose `array` the space is; NULL: it is ranges, */
  uint32_t range_count;      /* so many, */
  int64_t step[MS_MAX_DIMS]; /* with these steps */
  double *numbers;           /* now: those of parameters, then first and last value of each range;
                                behind them there is room for `data` */
  ms_known_plans plans;      /* number 0: made of the line */
  ms_plan_line line;
  uint32_t moved;                /* now: so many captures */
  uint64_t called, began, ended; /* of the last execution */
} ms_launch;

/* core.launch{run, pace, most, slots, draws, loops, captures, arguments, data, results, callee,
 * steps, space, options, option_count, seen, moved, kept, parallel, reached} -> a launch; `seen`
 * has the space's array as 0 */
int ms_launch_make(lua_State *L);

/* launch_space.c: whether the arguments 1 .. count have the shape that they had; the ends of their
 * ranges are put into `numbers`. */
bool ms_launch_read_space(lua_State *L, const ms_launch *of, int count, int environment,
                          double *numbers);

/* launch_captures.c: whether what is captured is what it was, but for numbers, where arrays are,
 * and functions and tables that were made anew; numbers of parameters are put into `numbers`.
 * `kinds`: see ms_launch_move. */
bool ms_launch_read_captures(lua_State *L, ms_launch *of, const ms_running *at, int environment,
                             int kinds, double *numbers);

/* The launch that is the first argument; raises if it is something else. */
ms_launch *ms_launch_check(lua_State *L);

#endif
