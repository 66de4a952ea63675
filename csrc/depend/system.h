/* SPDX-License-Identifier: MIT
 *
 * Systems: the integer constraints under which two accesses touch one element.
 *
 * A column is one integer unknown. For a pair of accesses (a in iteration t, b in iteration t + d)
 * the columns are d, then t, then the inner variables of a and of b, then the steady one. Rows are
 * equalities (= 0) and inequalities (>= 0) with the constant first. A system is cut into its
 * connected components, which are solved apart: most of them have one unknown and need no solver at
 * all. */
#ifndef MS_DEPEND_SYSTEM_H
#define MS_DEPEND_SYSTEM_H

#include "depend/access.h"

#define MS_MAX_COLUMNS (2 * MS_MAX_DIMS + 2 * MS_MAX_INNER + 1)
#define MS_MAX_EQUAL   (MS_MAX_DIMS + 1)
#define MS_MAX_INEQUALITY                                                                          \
  (4 * MS_MAX_BOUNDS * MS_MAX_DIMS + 4 * MS_MAX_INNER + 2 * MS_MAX_GUARD_FORMS + 2 * MS_MAX_DIMS + \
   2)

/* Column numbers of a pair's system. */
#define MS_COLUMN_D(k)   (k)
#define MS_COLUMN_T(k)   (MS_MAX_DIMS + (k))
#define MS_COLUMN_A(k)   (2 * MS_MAX_DIMS + (k))
#define MS_COLUMN_B(k)   (2 * MS_MAX_DIMS + MS_MAX_INNER + (k))
#define MS_COLUMN_STEADY (MS_MAX_COLUMNS - 1)

typedef struct ms_constraint {
  int64_t constant;
  int64_t at[MS_MAX_COLUMNS];
} ms_constraint;

typedef struct ms_system {
  bool used[MS_MAX_COLUMNS]; /* columns that are unknowns of this system */
  uint32_t equal_count, inequality_count;
  ms_constraint equal[MS_MAX_EQUAL];
  ms_constraint inequality[MS_MAX_INEQUALITY];
} ms_system;

/* Fills the system of a pair of accesses to one group. With `reduce`, iterations t that no row
 * needs are projected out (the set of d stays exactly the same). False when it cannot hold, as far
 * as constants alone tell. */
bool ms_system_of_pair(ms_system *system, const ms_domain *domain, const ms_access *a,
                       const ms_access *b, bool reduce);

/* Adds a form of a's variables + one of b's >= 0, as ms_system_bound. */
void ms_system_bound_pair(ms_system *system, const ms_form *a, const ms_form *b);

/* Adds `row` >= 0; silently keeps the room for rows within bounds (callers add at most
 * 2 * MS_MAX_DIMS more). */
void ms_system_bound(ms_system *system, const ms_constraint *row);

/* Numbers the connected components of the used columns: part[c] is 0, 1, ... for used columns.
 * Returns how many there are. */
uint32_t ms_system_parts(const ms_system *system, uint32_t *part);

/* Copies the component `wanted` with its columns kept in place. */
void ms_system_extract(const ms_system *system, const uint32_t *part, uint32_t wanted,
                       ms_system *component);

#endif
