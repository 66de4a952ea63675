/* SPDX-License-Identifier: MIT
 *
 * The Lua engine's text: the body of a planned loop becomes a Lua chunk that returns a block
 * function.
 *
 * The body's source is copied verbatim between the places that must change, so that line N of the
 * chunk is line N of the user's text and run-time errors name the user's line by themselves (load
 * the chunk with the tree's own name). What changes: captured paths become parameters, elements of
 * dense arrays become reads and writes through typed pointers, `^` becomes the core's power.
 *
 * The chunk is called once with the table of run-time helpers (lua/meissa/kernel/init.lua) and
 * returns function(first, last, <parameters>)             entries of a sparse array function(lo1,
 * hi1, lo2, hi2, ..., <parameters>) integer ranges and entries of a dense array (with rlo, rhi
 * before the parameters if the plan has a row: only iterations whose row form lies between them)
 * which runs one block and returns the scalars listed in `results`. If `positions` is not 0, so
 * many numbers follow for each private scalar: the iteration that assigned it last, as its entry's
 * number or its index values, one for each dimension, collapsed loops included. Entries are counted
 * from 1 and `last` is included; the coordinate vectors hold 1-based subscripts and element [0] of
 * a vector belongs to entry 1. lo and hi are a dimension's first and last index value in loop
 * direction. Pure: no I/O, no Lua. Used by one thread. */
#ifndef MS_KERNEL_EMIT_EMIT_H
#define MS_KERNEL_EMIT_EMIT_H

#include "array/array.h"
#include "base/text.h"
#include "depend/verdict.h"

/* Captured values beyond this many are read from one table: LuaJIT allows 200 locals a function
 * and 60 upvalues, and the body needs its own. */
#define MS_KERNEL_LOCALS 40

/* How an array lies in memory: element type (ms_type) and strides in elements. Row-major strides
 * become part of a Lua text that is not general; others are parameters, since a worker's copy may
 * have its own. */
typedef struct ms_element {
  int32_t type;
  int64_t strides[MS_MAX_DIMS];
  bool rows; /* sparse: its compressed rows come with it (array/csr.h) if the loop only reads it */
  bool touched; /* what the text stores is marked before (MS_PARAM_TOUCHED) */
} ms_element;

typedef struct ms_kernel_job {
  const ms_loop *loop;
  const ms_verdict *verdict;
  const ms_binding *bindings; /* one per capture of the loop, then what functions reach */
  uint32_t binding_count;     /* native kernels */
  const ms_space *space;
  const ms_element *elements; /* one per binding; read for arrays only */
  int32_t entry_type;         /* ms_type of the array whose entries are the space */
  uint32_t locals;            /* captured values passed as locals, normally MS_KERNEL_LOCALS */
  bool general; /* the text does not depend on captured numbers, on where ranges end, nor on
                   extents, as long as those that are equal stay so (native texts never depend on
                   more than extents, and these only make them quicker) */
} ms_kernel_job;

#define MS_RESULT_HEAD 0x80000000u

/* Most values that only functions name (MS_PARAM_INNER). */
#define MS_KERNEL_INNER 64

/* Most lists of numbers that are parameters (MS_PARAM_LIST). */
#define MS_KERNEL_LISTS 16

/* What a parameter of the block function is. */
typedef enum ms_param_kind {
  MS_PARAM_COORD,   /* int32 vector: 1-based subscripts in dimension `at` of the entries */
  MS_PARAM_ENTRIES, /* pointer to the values of the entries (dense: to element [1]...[1]) */
  MS_PARAM_VALUE,   /* value of capture `at` (for an array: the array object) */
  MS_PARAM_POINTER, /* pointer to element [1]...[1] of the array that capture `at` is */
  MS_PARAM_STRIDE,  /* stride in dimension `dim` of the array that capture `at` is, in elements */
  MS_PARAM_STEP,    /* stride in dimension `dim` of the dense array whose entries are the space */
  MS_PARAM_TABLE,   /* table with the remaining captured values under their capture index */
  MS_PARAM_ROWS,    /* vector of the compressed rows of the sparse array that capture `at` is: `dim`
                       0 start, 1 values, d columns of dimension d (native kernels) */
  MS_PARAM_INNER,   /* number or boolean in the function that capture `at` is, at `path` (native
                       kernels) */
  MS_PARAM_DRAWS,   /* pointer to an ms_draws that knows the loop (native kernels) */
  MS_PARAM_EXTENT,  /* extent in dimension `dim` of the array that capture `at` is */
  MS_PARAM_LIMIT,   /* extent in dimension `dim` of the sparse array whose entries are the space
                       (native kernels) */
  MS_PARAM_LIST,    /* numbers of the list that capture `at` leads to by `path`, as for INNER; of
                       lists in one another those of the innermost, from where STARTS says on */
  MS_PARAM_LENGTH,  /* how many there are (native kernels) */
  MS_PARAM_TOUCHED, /* marks of the array that capture `at` is, in bits (sync/pending.h) */
  MS_PARAM_STACK,   /* address where the stack ends (base/stack.h; native kernels) */
  MS_PARAM_STARTS   /* of lists in one another, numbered level by level, the outermost 0: the number
                       of each one's first element, which goes on behind those of all lists where
                       it is a number; and one more (native kernels) */
} ms_param_kind;

typedef struct ms_param {
  ms_param_kind kind;
  uint32_t at, dim;
  const char *path; /* INNER: "\1" and a variable's name leads from a function into it, "\2" and a
                       field's name from a table */
} ms_param;

typedef struct ms_kernel_info {
  ms_arena *arena; /* owns the vectors; ms_kernel_info_clear frees it */
  bool entries;    /* the block function takes first, last */
  char prefix[16]; /* of every name made here; capture c is called <prefix>c<c> */
  ms_param *params;
  uint32_t param_count;
  uint32_t *spilled; /* captures that are read from the table */
  uint32_t spilled_count;
  uint32_t *results; /* index into verdict->scalars of each returned value, in order; its head comes
                        with MS_RESULT_HEAD added */
  uint32_t result_count;
  uint32_t dims;      /* of the iteration space, collapsed loops included */
  uint32_t positions; /* numbers that say where a private scalar got its value */
  bool row;           /* the block function takes rlo, rhi */
  bool declines;      /* native: some blocks are left to the Lua engine (MS_NATIVE_DECLINED) */
  bool shaped;        /* native: quick for the extents of now alone; slower for all others */
  /* Native: what would be faster. The line of a region, or of a builtin on rows, that fast mode
   * computes in float; of one that would be float but for the elements of array `wide` (a capture),
   * which are double. 0: none. */
  uint32_t fast_line, wide_line, wide;
} ms_kernel_info;

/* Appends the chunk's text to `out` and fills `info`, which the caller clears in any case. Fails
 * with MS_DEP for a body that the plan does not allow, MS_ARR when memory is out, and MS_BUG. */
int ms_kernel_emit(const ms_kernel_job *job, ms_text *out, ms_kernel_info *info, ms_error *err);

/* Frees what `info` owns and empties it. */
void ms_kernel_info_clear(ms_kernel_info *info);

#endif
