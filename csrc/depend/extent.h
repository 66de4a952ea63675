/* SPDX-License-Identifier: MIT
 *
 * Extents: how long the dimensions of an iteration space are, and what their indices run over.
 *
 * Where a collapsed loop's bounds depend on outer indices, the answers are those of the smallest
 * box that interval arithmetic finds around them. Pure. */
#ifndef MS_DEPEND_EXTENT_H
#define MS_DEPEND_EXTENT_H

#include "depend/access.h"

/* Most index values that dimension `k` has in any iteration of the outer ones. */
int64_t ms_extent_of(const ms_domain *domain, uint32_t k);

/* Whether one of the dimensions from `first` to before `last` has several index values: then ranges
 * of dimension `last` are in several pieces in the loop's order. */
bool ms_extent_is_long(const ms_domain *domain, uint32_t first, uint32_t last);

/* The least and greatest ordinal of dimension `k` in any iteration; of an empty one both are 0, or
 * the least that it would have. */
void ms_extent_ordinals(const ms_domain *domain, uint32_t k, int64_t *first, int64_t *last);

/* Dimension `k` in index values. */
void ms_extent_describe(const ms_domain *domain, uint32_t k, ms_extent *extent);

#endif
