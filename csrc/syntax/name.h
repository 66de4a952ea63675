/* SPDX-License-Identifier: MIT
 *
 * Names: each identifier of a text once, so that equal names are equal pointers, and what the name
 * means at the point that the parser has reached. Belongs to one parser; lives in its arena. */
#ifndef MS_SYNTAX_NAME_H
#define MS_SYNTAX_NAME_H

#include "syntax/tree.h"

typedef struct ms_jump ms_jump;
typedef struct ms_label ms_label;

typedef struct ms_name {
  struct ms_name *next; /* in the same bucket */
  const char *text;     /* terminated */
  size_t length;
  uint32_t hash;
  int token;         /* of a reserved word, else 0 */
  ms_symbol *symbol; /* the innermost declaration in scope, of any enclosing function */
  ms_label *label;   /* the newest label in scope */
  ms_jump *jump;     /* the newest goto that has not met its label */
} ms_name;

typedef struct ms_name_table {
  ms_arena *arena;
  ms_name **bucket;
  size_t buckets, count; /* buckets: a power of two, or 0 */
} ms_name_table;

/* The one record of this name, new or known; NULL when memory is out. */
ms_name *ms_name_intern(ms_name_table *names, const char *text, size_t length);

#endif
