/* SPDX-License-Identifier: MIT
 *
 * Writing C: random numbers.
 *
 * A body that draws as often in each iteration, wherever it goes, gets the numbers of many
 * iterations at once (kernel/emit/batch.h): the loop over them then waits for nothing, and may be
 * vectorised. Any other draws ahead by what it has drawn before (kernel/emit/ahead.h). */
#ifndef MS_KERNEL_NATIVE_C_DRAWS_H
#define MS_KERNEL_NATIVE_C_DRAWS_H

#include "kernel/native/writer.h"

/* The innermost loop over a block, whose variable has its first value. */
typedef struct ms_c_innermost {
  const char *name, *end; /* its variable, and the last value */
  int64_t step;
  const char *index; /* numbers that tell an iteration from others, as C */
} ms_c_innermost;

/* Whether the body, or a function that it calls, draws. */
bool ms_c_draws_any(const ms_writer *w);

/* Declares what the body's draws need, `dims` numbers telling iterations from each other: where a
 * function begins. `again`: iterations that follow each other may have the same ones. */
void ms_c_draws_declare(ms_writer *w, uint32_t dims, bool again);

/* Says which iteration begins. */
void ms_c_draws_begin(ms_writer *w, const char *index);

/* Begins the innermost loop, whose inside has been written, and comes next; it ends with as many
 * braces as this gives. */
uint32_t ms_c_draws_open(ms_writer *w, const ms_c_innermost *loop);

/* The next random number from 0 to 1, or 64 random bits. */
const char *ms_c_draw(ms_writer *w, bool unit);

#endif
