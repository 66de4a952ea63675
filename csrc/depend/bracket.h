/* SPDX-License-Identifier: MIT
 *
 * Brackets: between which values the variables of an access, and forms of them, are where it
 * happens.
 *
 * By interval arithmetic over the iterations, inner loops and guards: a range may be too large,
 * never too small. Pure. */
#ifndef MS_DEPEND_BRACKET_H
#define MS_DEPEND_BRACKET_H

#include "depend/access.h"

typedef struct ms_bracket {
  bool below, above;   /* it has a least, a greatest value */
  int64_t least, most; /* these */
} ms_bracket;

/* The brackets of all variables of one access. */
typedef struct ms_brackets {
  ms_bracket at[MS_MAX_VARS];
} ms_brackets;

/* The values that the variables of an access have; false when one has none: nothing happens. */
bool ms_brackets_find(const ms_domain *domain, const ms_access *access, ms_brackets *known);

/* The form's values; `leave_out` is a variable that does not count, MS_MAX_VARS: none. */
ms_bracket ms_bracket_of(const ms_brackets *known, const ms_form *form, uint32_t leave_out);

#endif
