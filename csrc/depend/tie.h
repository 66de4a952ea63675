/* SPDX-License-Identifier: MIT
 *
 * Ties: of equal extremes the one stays whose index is less, or greater.
 *
 *   if v < s or (v == s and i < p) then s, p = v, i end
 *   if v < s or v == s and (i < p or i == p and j > q) then s, p, q = v, i, j end
 *
 * What is compared where values are equal are sums of indices: these are never nan, so the order of
 * pairs is total, and a block's least pair replaces that of the blocks before it by the condition
 * of the text. (Of data a nan that came with a block's first least value would hide the block's
 * others.) */
#ifndef MS_DEPEND_TIE_H
#define MS_DEPEND_TIE_H

#include "depend/extreme.h"

/* Takes `C or v == s and T` apart, s the capture, where a branch gives s `value`: fills the ties of
 * `is` and returns C; a test of another form is returned as it is, and `is` stays. `block`: what
 * the branch assigns. */
const ms_node *ms_ties_find(const ms_tally *all, const ms_capture *capture, const ms_node *test,
                            const ms_node *block, ms_reduce_form *is);

/* From 1, which of a form's ties a capture is; 0: none. */
uint32_t ms_tie_of(const ms_reduce_form *is, uint32_t capture);

/* Whether two forms have the same ties. */
bool ms_ties_same(const ms_reduce_form *a, const ms_reduce_form *b);

#endif
