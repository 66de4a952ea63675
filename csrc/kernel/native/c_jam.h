/* SPDX-License-Identifier: MIT
 *
 * Writing C in strict mode: unroll-and-jam.
 *
 * In `for c = 1, C do local d = 0 for k = 1, K do d = d + ... end ... end` each addition waits for
 * the one before it. Several iterations of the outer loop at once have as many sums that do not
 * wait for each other, each in its own order: the same bits, in a third of the time.
 *
 * The outer loop's block must begin with locals and one inner loop over numbers that only computes
 * with locals; what follows, its tail, must not change what these read. The text of all copies is:
 * the locals of each, one inner loop with the statements of each, the tail of each in turn. Where
 * the inner loop reads elements that lie next to each other for the outer one, compilers make
 * vectors of that, which is better. */
#ifndef MS_KERNEL_NATIVE_C_JAM_H
#define MS_KERNEL_NATIVE_C_JAM_H

#include "kernel/native/writer.h"

/* Iterations at once: additions take about four cycles. */
#define MS_C_COPIES 4

/* A loop of which copies are made. */
typedef struct ms_c_outer {
  const ms_node *block;
  const ms_symbol *index; /* its variable, or that of its innermost dimension; NULL: none */
  const void *context;
  void (*declare)(ms_writer *w, const void *context);   /* its variables, for copy w->copy */
  void (*begin)(ms_writer *w, const void *context);     /* before a tail; NULL: nothing */
  void (*end)(ms_writer *w, const void *context);       /* after it; NULL: nothing */
  void (*iteration)(ms_writer *w, const void *context); /* appends one */
  const char *name, *first, *last; /* C: its counter, where that begins, NULL: it has; its end */
  int64_t step;
} ms_c_outer;

/* Appends loops that run iterations, several at once, until less than MS_C_COPIES of them are left.
 * The counter is declared if it has a beginning. False, and nothing is appended, where that is not
 * possible or of no use. */
bool ms_c_jam(ms_writer *w, const ms_c_outer *outer);

/* How far on the iteration of copy w->copy is in a loop by such steps, as C. */
const char *ms_c_jam_distance(ms_writer *w, int64_t step);

#endif
