/* SPDX-License-Identifier: MIT
 *
 * Gates of branches: the second of two branches, which gets the values that the first, its gate,
 * does not take.
 *
 *   if x < lo then lo, p = x, i elseif x > hi then hi, q = x, i end
 *
 * Let x1, x2, ... be what is compared, in the loop's order, but for nan, which neither branch
 * takes. The gate begins with a *streak*: it takes x1 > x2 > ... > xk, the first of them less than
 * what lo starts from, and not x(k+1). Then hi is what `if x > hi` alone makes of x(k+1), x(k+2),
 * ...: whatever the gate takes of these is less than lo is by then, so less than x(k+1), which hi
 * has met before. So all that one branch must know of the other is which values are the loop's
 * streak. The same holds where the gate takes equal ones (`x <= lo`: x1 >= x2 >= ..., and x(k+1) is
 * greater than lo), where hi does, and for `x > hi` first.
 *
 * A block finds a streak of its own, as if it were the first. What else the gate takes in the block
 * counts for hi or not as it happens to: it is less than a value that the block has for hi.
 *
 * Where blocks are parts of the loop one after the other, the loop's streak takes all of a block's
 * streak or nothing: it has ended before, or it ends at the block's first value, or it goes through
 * as the block's does. So a block leaves the *head* of its streak, the value of it that hi would
 * take, with what goes with that; if lo was not beyond it before the block, it counts for hi.
 *
 * Where blocks are scattered in the loop's order, the loop's streak takes any first part of each
 * block's. Then a block leaves its streak as it is, with the iterations. The driver puts streaks
 * into the loop's order and goes on for as long as the gate takes what comes: that is the loop's
 * streak, but for values that came after x(k+1), are less than xk, and could not count for hi. The
 * others count. What is in one piece in the loop's order, such as a row of a block, is one entry,
 * as above: its head, and its end, the least. A streak is short, unless values descend from the
 * loop's beginning on; and nothing shorter would do, since any of its heads may turn out to be the
 * greatest of what is left. */
#ifndef MS_DEPEND_BRANCH_GATE_H
#define MS_DEPEND_BRANCH_GATE_H

#include "depend/extreme.h"

/* Whether blocks can leave what two such branches need. */
bool ms_branch_gate_allows(const ms_tally *all, const ms_reduce_form *first,
                           const ms_reduce_form *second);

#endif
