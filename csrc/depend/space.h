/* SPDX-License-Identifier: MIT
 *
 * Space: the iteration domain of a loop, its collapsed inner loops included. */
#ifndef MS_DEPEND_SPACE_H
#define MS_DEPEND_SPACE_H

#include "depend/walk_state.h"

/* Fills `domain` from the walk's space, gives the loop's variables their values, and leads *body
 * into the collapsed loops. -1: MS_OPT (bad ranges; loops that cannot be collapsed). */
int ms_space_domain(ms_walk *walk, ms_domain *domain, ms_node **body, ms_error *err);

#endif
