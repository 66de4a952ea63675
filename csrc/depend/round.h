/* SPDX-License-Identifier: MIT
 *
 * Rounds: what the analyser finds out about a loop whose names are split into the last version of
 * an array and the next (syntax/version_split.h), beside what it finds out about any loop.
 *
 * Which elements of other ranges an iteration reads decides which blocks of the round before it has
 * to wait for. It is told as a hull over the cut dimension, for each place that reads: whatever the
 * ranges will be, those that the hull meets may be read, and no others are. */
#ifndef MS_DEPEND_ROUND_H
#define MS_DEPEND_ROUND_H

#include "depend/conflict.h"
#include "depend/strategy.h"
#include "depend/walk_state.h"

/* Adds findings for elements that are read after the same iteration has written them: the body
 * would see the round before, where it reads as if it saw its own; and for writes beside the
 * elements of a part, where the space has parts. -1: out of memory. */
int ms_rounds_check(ms_walk *walk, ms_solver *solver, const ms_domain *domain);

/* For each place that reads a last version what it may read; the list is in the walk's arena. */
int ms_rounds_find(const ms_walk *walk, ms_solver *solver, const ms_domain *domain, uint32_t cut,
                   ms_round_read **reads, uint32_t *count);

#endif
