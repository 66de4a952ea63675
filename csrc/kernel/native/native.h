/* SPDX-License-Identifier: MIT
 *
 * The native engine's calling convention: what a compiled body takes and gives back.
 *
 * A kernel runs one block, allocates nothing but what streaks need, and keeps nothing between
 * calls: any thread may call it with slots of its own. It is compiled from C text that cannot
 * include this file (a machine with a compiler need not have our headers), so ms_native_prelude
 * repeats these types; their layout is guarded by MS_NATIVE_ABI, which is part of every kernel's
 * name in the cache. */
#ifndef MS_KERNEL_NATIVE_NATIVE_H
#define MS_KERNEL_NATIVE_NATIVE_H

#include <stdint.h>

/* Raised whenever anything in this file changes. */
#define MS_NATIVE_ABI 10

/* The exported function's name in every kernel. */
#define MS_NATIVE_ENTRY "ms_native_run"

/* The floating-point state (MXCSR) in which blocks run, as processes begin: rounding to nearest,
 * subnormal numbers as they are, no traps. */
#define MS_NATIVE_CONTROL 0x1f80u

/* One argument or result. */
typedef union ms_native_slot {
  void *pointer;
  double number;
  int64_t whole;
} ms_native_slot;

/* Why a block stopped. Each is raised again by the Lua engine's own helper with the same words. */
typedef enum ms_native_stop {
  MS_NATIVE_RAN,       /* the block is complete */
  MS_NATIVE_SUBSCRIPT, /* `value` is no subscript of dimension `dim` of capture `capture` */
  MS_NATIVE_VALUE,     /* `value` cannot be stored into (or read as a number from) `capture` */
  MS_NATIVE_ERROR,     /* any other run-time error: text number `value`, from 0, of the messages */
  MS_NATIVE_RANDOM,    /* `value` (the lower of `dim` = 2) and `other` do not limit meissa.random */
  MS_NATIVE_DECLINED,  /* nothing has been done: the Lua engine is to run the block */
  MS_NATIVE_REPEATED,  /* `value` entries of a sparse array have the subscripts of one */
  MS_NATIVE_NARROW, /* narrow(1, value, other) cannot be taken of `capture[..]`, `dim` subscripts */
  MS_NATIVE_SELECT, /* select(other, value) cannot be taken of it */
  MS_NATIVE_LENGTHS, /* text `value` about rows of `capture` and of `dim` elements */
  MS_NATIVE_PLACE,   /* `value` is no subscript of a part of `capture` that has `other` elements */
  MS_NATIVE_NORM     /* norm(value) cannot be taken of `capture[..]`, `dim` subscripts */
} ms_native_stop;

/* Where and why. */
typedef struct ms_native_fault {
  int32_t stop;         /* ms_native_stop */
  int32_t line;         /* of the user's text */
  int32_t capture, dim; /* from 0 */
  int32_t file; /* 0, or from 1 the message that is the name of another file than the loop's */
  double value, other;
  double index[8]; /* index values of the iteration, collapsed loops included */
} ms_native_fault;

/* Runs one block. `bounds`: first, last entry from 1; or lo1, hi1, lo2, hi2, ... (first and last
 * index value of each dimension in loop direction), then rlo, rhi if the plan has a row. `slots`:
 * one for each parameter of the kernel's info, in its order: pointers; strides and integer-valued
 * numbers of the layout as `whole`; captured numbers as `number`, booleans as `whole`, and so where
 * the stack of the calling thread ends. `results`: two for each result of the info, the value and,
 * as `whole`, an ms_native_tag; then, as `whole`, the positions of private scalars in the order of
 * ms_kernel_info; then two for each streak, where its slots are and how many, which the caller
 * frees; then the same of each table that is sliced, of whose slots an assignment takes four: key
 * and tag, value and tag. Returns fault->stop.
 *
 * Given no `results` it runs nothing, and returns an ms_native_prospect. */
typedef int32_t ms_native_block(const int64_t *bounds, const ms_native_slot *slots,
                                ms_native_slot *results, ms_native_fault *fault);

/* What is known of a block before it runs. */
typedef enum ms_native_prospect {
  MS_NATIVE_ENDS,     /* it goes through to its end, whatever the arrays hold */
  MS_NATIVE_MAY_STOP, /* the block ends or stops soon: all its loops are counted */
  MS_NATIVE_DOUBTFUL, /* neither is known with these bounds and slots, */
  MS_NATIVE_ENDLESS   /* or of any block of this kernel */
} ms_native_prospect;

/* What a result is. */
typedef enum ms_native_tag {
  MS_NATIVE_NONE, /* not assigned in this block */
  MS_NATIVE_NUMBER,
  MS_NATIVE_TRUE,
  MS_NATIVE_FALSE,
  MS_NATIVE_NIL
} ms_native_tag;

#endif
