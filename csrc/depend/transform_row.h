/* SPDX-License-Identifier: MIT
 *
 * Rows of transforms: integer vectors r that make r . iteration a good thing to cut or to sweep by.
 */
#ifndef MS_DEPEND_TRANSFORM_ROW_H
#define MS_DEPEND_TRANSFORM_ROW_H

#include "depend/conflict.h"

/* A row with r . d = 0 for every exact distance: primitive, first non-zero positive, the smallest
 * sum of absolutes. 1 found, 0 there is none, -1 not known. */
int ms_transform_row_skew(const ms_conflicts *conflicts, bool proven, int64_t *row);

/* A row with r . d >= 1 for all that the patterns admit, and more than one iteration on some plane
 * r . i = constant. 1 found, 0 there is none, -1 not known. */
int ms_transform_row_hyperplane(const ms_conflicts *conflicts, const ms_patterns *patterns,
                                int64_t *row);

#endif
