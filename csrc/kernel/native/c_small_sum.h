/* SPDX-License-Identifier: MIT
 *
 * Writing C: sums of small integers.
 *
 * Elements of int32 arrays are added up in 64 bits, since sums of int32 may be none; vectors then
 * hold half as many, and each takes a conversion. A loop that adds up elements of rows that the
 * body does not write is written twice: with sums in 32 bits, for rows of small integers
 * (small_rows.h), which are looked through beforehand, and as always. Its elements stand at its
 * variable plus a constant, so that those of a row are the same for both texts. */
#ifndef MS_KERNEL_NATIVE_C_SMALL_SUM_H
#define MS_KERNEL_NATIVE_C_SMALL_SUM_H

#include "kernel/native/c_integer.h"
#include "kernel/native/c_region.h"

/* Most rows that a loop may ask for. */
#define MS_C_SMALL_ROWS 8

/* A row whose elements are added up: base[variable + low .. variable + high]. */
typedef struct ms_c_small_row {
  const ms_node *base;
  int64_t low, high;
  const char *first; /* the element at variable + low */
} ms_c_small_row;

/* A loop that is being written with sums in 32 bits. */
typedef struct ms_c_small_sums {
  const ms_node *loop;
  ms_c_small_row row[MS_C_SMALL_ROWS];
  uint32_t rows;
  bool found; /* a sum */
} ms_c_small_sums;

/* Appends a loop that goes by ones from range[0] to range[1], C texts, its variable called
 * range[2], and that `write` appends: once, or twice as above. */
void ms_c_small_sums_write(ms_writer *w, const ms_node *loop, const char *const range[3],
                           ms_c_write *write, const void *context);

/* The sum, or the difference if `minus`, of two as an int32 if it is one of small integers and
 * stays one; else NULL. */
const ms_integer_value *ms_c_small_sum(ms_writer *w, const ms_integer_value *a,
                                       const ms_integer_value *b, bool minus);

/* The same of the product of two, either of them NULL where it is no integer. */
const ms_integer_value *ms_c_small_sum_product(ms_writer *w, const ms_integer_value *a,
                                               const ms_integer_value *b);

/* What is known of an integer, or NULL, that a local is given: that it is small, if it is an
 * element of a row that may be looked through. */
const ms_integer_value *ms_c_small_sum_local(ms_writer *w, const ms_integer_value *value);

/* The C text of an integer for a comparison. */
const char *ms_c_small_sum_text(ms_writer *w, const ms_integer_value *value);

#endif
