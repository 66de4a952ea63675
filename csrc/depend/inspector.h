/* SPDX-License-Identifier: MIT
 *
 * Inspectors: which arrays a block can be sent exactly those elements of that it will read, and the
 * text that finds out which these are.
 *
 * An array that a loop only reads, at subscripts that depend on data (w[idx[i]]), is served when
 * the subscripts can be computed without its own elements: then the body is sliced backwards from
 * them (Weiser, 1981), and each read of the array becomes a mark in an array of the same extents.
 * The slice may mark too much (both branches of an `if` that depends on what is served), never too
 * little. Executed instead of the body it is the bulk prefetch of Orion (Wei et al., EuroSys 2019).
 * An array that a loop also writes, and of which an inspection has found that no two iterations
 * meet there, is marked alike: what a block has to see of it, which is what it reads, and what it
 * may leave as it is although its stores are counted as written. Where iterations meet in the order
 * of their levels, what is written is marked, too: from both follows what goes from block to block
 * (plan/block_flow.h).
 *
 * Whether iterations collide at arrays that a loop writes at such subscripts is found out in the
 * same way (the inspector of Saltz et al., 1991, with the shadow arrays of Rauchwerger & Padua,
 * 1995): one slice stores each iteration's number where the iteration may write, a second one
 * looks, wherever an iteration may read or write, whether another one's number stands there. Then
 * no two iterations that touch an element of which one writes it go unnoticed, whichever of several
 * numbers was kept.
 *
 * Subscripts must not depend on what the loop writes, on random numbers, or on calls of which not
 * everything is known. Where they depend on elements of another such array, that one is not served
 * but sent whole. All memory comes from the walk's arena; one thread. */
#ifndef MS_DEPEND_INSPECTOR_H
#define MS_DEPEND_INSPECTOR_H

#include "depend/verdict.h"
#include "depend/walk_state.h"

/* Most arrays of a loop that are served. */
#define MS_INSPECTOR_MOST 60u

/* Finds the served arrays among the plan's `arrays`, sets their placement, and says of others that
 * are read at unknown subscripts why they are sent whole (`whole`). `*text` is a loop over the same
 * variables, without a space, whose body stores into MS_INSPECTOR_MARKS followed by the number of
 * the `marked` array, in the order of `arrays` from 1, and, for writes, into those of the `stored`
 * ones, which come behind; NULL when there is none. To be called when the walk is over. -1: out of
 * memory. */
int ms_inspector_find(ms_walk *walk, ms_array_plan *arrays, uint32_t count, const char **text);

#define MS_INSPECTOR_MARKS "meissa_marks_"

/* Two functions of the loop's variables, which find out whether iterations collide. Both are given
 * MS_INSPECTOR_MARKS with a number from 1 for each array of `binding`, as large as it and 0 at
 * first, and `meissa_lo_d`, `meissa_step_d` and `meissa_width_d` of each index d, which make the
 * number of an iteration. `looks`, after all of `stores`, makes `meissa_first` the least number of
 * an iteration that meets another one, and `meissa_other` the other's. */
struct ms_collisions {
  const char *stores, *looks; /* NULL: it cannot be found out */
  const char *levels;         /* NULL: iterations get none */
  uint32_t count, level_count;
  uint32_t binding[MS_INSPECTOR_MOST], level_binding[MS_INSPECTOR_MOST];
};

/* Writes `stores` and `looks` for the arrays of groups whose accesses possibly collide. -1: out of
 * memory. */
int ms_inspector_collisions(ms_walk *walk, const bool *groups, ms_collisions *collisions);

/* Writes `levels` for the arrays of all groups whose accesses collide: a function of the loop's
 * variables that, called for all iterations in their order, gives each its level, from 1, such that
 * of two that collide the later one has the greater level. Its marks are integers, with a last
 * dimension more, of extent 2: the level of the last write, and the greatest level of a read. -1:
 * out of memory. */
int ms_inspector_levels(ms_walk *walk, const bool *groups, ms_collisions *collisions);

#endif
