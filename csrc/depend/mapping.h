/* SPDX-License-Identifier: MIT
 *
 * Mappings: from the subscripts of views to those of the base that they overlap in.
 *
 * Views of one memory that share no element are arrays of their own. Those that overlap have a
 * common base, a box of the memory, and each subscript of the base is an affine form of the view's:
 * so accesses through different views are compared exactly. */
#ifndef MS_DEPEND_MAPPING_H
#define MS_DEPEND_MAPPING_H

#include "depend/walk_state.h"

/* Gives an access that has the subscripts of a view those of its base; a subscript that is missing
 * or not known becomes a variable over the view's extent, added to the walk's scope, which the
 * caller takes back. Where the base is not known it touches any element. Does nothing to accesses
 * of arrays that overlap no other. */
void ms_mapping_apply(ms_walk *walk, ms_access *access);

/* The subscripts that a view's element at `base`, subscripts of the base, has in the view. False
 * where they cannot be told. */
bool ms_mapping_invert(const ms_binding *view, const int64_t *base, int64_t *subscripts);

/* The extents of what subscripts of accesses to an array count: the array's, or its base's. */
uint32_t ms_mapping_dims(const ms_binding *binding, const int64_t **dims);

#endif
