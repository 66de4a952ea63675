/* SPDX-License-Identifier: MIT
 *
 * Overlap: whether two views of one store share an element. */
#ifndef MS_ARRAY_OVERLAP_H
#define MS_ARRAY_OVERLAP_H

#include "array/array.h"

/* Whether two arrays of one store may share an element: exact up to some millions of elements;
 * beyond, and without memory, true unless one lies wholly behind the other. */
bool ms_array_overlap(const ms_array *a, const ms_array *b);

#endif
