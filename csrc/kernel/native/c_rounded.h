/* SPDX-License-Identifier: MIT
 *
 * Writing C: what math.floor and math.ceil give, as subscripts. */
#ifndef MS_KERNEL_NATIVE_C_ROUNDED_H
#define MS_KERNEL_NATIVE_C_ROUNDED_H

#include "kernel/native/writer.h"

/* Whether a number is whole, infinite or nan: what math.floor and math.ceil give, and sums,
 * differences and products of such. */
bool ms_c_is_rounded(const ms_writer *w, const ms_node *node);

/* Notes that a value is what a function gave, if that one rounds. */
void ms_c_rounded_note(ms_c_value *value, const char *function);

/* Notes that the sum at `node`, if it is one, is something rounded and a small number. */
void ms_c_rounded_sum(ms_c_value *sum, const ms_c_value *left, const ms_c_value *right,
                      const ms_node *node);

/* If a value is such a sum: holds what was rounded, and adds the number to it as an integer, too:
 * `cut`, an expression, which no array has as a subscript if the value is beyond int64_t or nan.
 * To add doubles and cut the sum takes a quarter longer where all else is short, as in histograms;
 * and so do names for what C takes 1 from again. */
void ms_c_rounded_cut(ms_writer *w, ms_c_value *value);

/* Notes what is known of a value, which is cut, about the local that it declares; and what is known
 * of such a local about its value. */
void ms_c_rounded_local(ms_writer *w, ms_c_value *value, ms_c_local *local);
void ms_c_rounded_again(ms_c_value *value, const ms_c_local *local);

#endif
