/* SPDX-License-Identifier: MIT
 *
 * Element types: one table with the size, the name and the conversions of each.
 *
 * Arithmetic on elements is done in double, as Lua does it: `widen` reads elements as doubles,
 * `narrow` writes doubles as elements. Pure functions of their arguments. */
#ifndef MS_ARRAY_TYPE_H
#define MS_ARRAY_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api.h"

typedef enum ms_type { MS_FLOAT, MS_DOUBLE, MS_INT32, MS_INT64, MS_OBJECT } ms_type;

/* Largest magnitude up to which every integer is a double. */
#define MS_EXACT 9007199254740992.0

typedef struct ms_type_ops {
  const char *name;
  size_t size;
  bool integer;
  /* Both convert `count` elements and return how many they did: fewer when one does not fit (an
   * int64 beyond 2^53; a double that is no integer of the type), which then stands at that index.
   */
  size_t (*widen)(const void *elements, double *out, size_t count);
  size_t (*narrow)(const double *numbers, void *out, size_t count);
} ms_type_ops;

/* The operations of a numeric type; NULL for anything else. */
const ms_type_ops *ms_type_of(int type);

/* Whether a finite number is what an element can hold, rounded or not: a whole one where the type
 * is, and none that would become infinite. */
bool ms_type_holds(const ms_type_ops *ops, double number);

/* Gives every NaN among elements from outside the bits of C's NAN. LuaJIT keeps its values in the
 * bits of NaNs that no arithmetic makes: read as an element, these would be any value, or a pointer
 * to one. */
MS_API void ms_type_settle_nan(int type, void *elements, size_t count);

/* "float" and so on; "?" for anything else. */
const char *ms_type_name(int type);

#endif
