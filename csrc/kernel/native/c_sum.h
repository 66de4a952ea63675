/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: sums and products over a loop, in parts.
 *
 * `s = s + e` in a counted loop that computes in float, of a local from outside that the loop uses
 * in no other way: pieces of MS_C_PIECE terms are added up in float, the pieces in double. The loop
 * becomes one over pieces around one over the terms of each.
 *
 * A loop over entries of a sparse row that computes in double takes MS_C_PARTS of them at a time,
 * which are added up apart from each other: an addition waits for the last but three. */
#ifndef MS_KERNEL_NATIVE_C_SUM_H
#define MS_KERNEL_NATIVE_C_SUM_H

#include "kernel/native/writer.h"

/* Terms of a piece, which must keep most of a float's 24 bits. */
#define MS_C_PIECE 1024

/* Parts that entries are taken in. */
#define MS_C_PARTS 4

/* Most sums of one loop. */
#define MS_C_SUMS 8

typedef struct ms_c_sums {
  struct {
    const ms_symbol *symbol;
    ms_c_local total; /* the local itself */
    const char *piece;
    const char *part[MS_C_PARTS]; /* of the total, which is the first one */
    ms_op op;                     /* of the pieces: MS_OP_ADD or MS_OP_MUL */
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

/* Finds the sums of a loop with this block that computes in double; empty where there are none, or
 * it does more than to add and multiply a few times. */
void ms_c_sum_parts_find(ms_writer *w, const ms_node *block, ms_c_sums *sums);

/* Declares the parts. */
void ms_c_sum_parts_begin(ms_writer *w, ms_c_sums *sums);

/* From here on the locals stand for such a part, from 0; in the end for part 0. */
void ms_c_sum_parts_take(ms_writer *w, const ms_c_sums *sums, uint32_t part);

/* Adds up the parts. */
void ms_c_sum_parts_end(ms_writer *w, const ms_c_sums *sums);

#endif
