/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: sums and products over a loop that computes in float.
 *
 * `s = s + e` in a counted loop, of a local from outside that the loop uses in no other way: pieces
 * of MS_C_PIECE terms are added up in float, the pieces in double. The loop becomes one over pieces
 * around one over the terms of each. */
#ifndef MS_KERNEL_NATIVE_C_SUM_H
#define MS_KERNEL_NATIVE_C_SUM_H

#include "kernel/native/writer.h"

/* Terms of a piece, which must keep most of a float's 24 bits. */
#define MS_C_PIECE 1024

/* Most sums of one loop. */
#define MS_C_SUMS 8

typedef struct ms_c_sums {
  struct {
    const ms_symbol *symbol;
    ms_c_local total; /* the local itself */
    const char *piece;
    ms_op op; /* of the pieces: MS_OP_ADD or MS_OP_MUL */
  } list[MS_C_SUMS];
  uint32_t count;
} ms_c_sums;

/* Finds the sums of a loop with this block, which is written next. Empty where the present region
 * does not compute in float. */
void ms_c_sums_find(ms_writer *w, const ms_node *block, ms_c_sums *sums);

/* Begins a piece: the locals stand for its parts of the sums. */
void ms_c_sums_begin(ms_writer *w, ms_c_sums *sums);

/* Ends it: they are themselves again, with the piece's part. */
void ms_c_sums_end(ms_writer *w, ms_c_sums *sums);

#endif
