/* SPDX-License-Identifier: MIT
 *
 * Difference constraints: systems in which every row compares one unknown with a number, or two
 * unknowns with each other (x - y <= c). Most subscripts of most loops lead to nothing else.
 *
 * Such a system has an integer point exactly if its graph has no negative cycle, and shortest paths
 * are a point (Cormen et al., Introduction to Algorithms, 24.4): some hundred additions where isl
 * takes 10,000 steps. The answer is as exact as isl's, and a function of the system alone. Pure. */
#ifndef MS_DEPEND_DIFFERENCE_H
#define MS_DEPEND_DIFFERENCE_H

#include "depend/system.h"

/* Finds a point: 1 and its values by column (of all MS_MAX_COLUMNS); 0: there is none; -1: the
 * system is of another form. A distance d may stand beside its iteration t: what is compared then
 * is t + d. */
int ms_difference_sample(const ms_system *system, int64_t *values);

#endif
