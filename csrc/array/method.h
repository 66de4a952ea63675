/* SPDX-License-Identifier: MIT
 *
 * Methods of arrays: one table, from which the analyser, both engines, the checker, the methods
 * themselves (lua/meissa/array/method.lua) and the tests take what they need of each.
 *
 * A method that is not in it may be called on an array, but in no loop. Constant data. */
#ifndef MS_ARRAY_METHOD_H
#define MS_ARRAY_METHOD_H

#include <stdbool.h>
#include <stdint.h>

/* What a method does with the elements of its array. Arrays among its arguments it reads. */
typedef enum ms_method_effect {
  MS_METHOD_UNKNOWN, /* anything: no loop may call it */
  MS_METHOD_FREE,    /* ends the array */
  MS_METHOD_SHAPE,   /* nothing: looks at its extents, type or labels */
  MS_METHOD_READ,    /* reads them and gives a scalar */
  MS_METHOD_OUTPUT,  /* reads them and puts them where a program can see it */
  MS_METHOD_FRESH,   /* reads them and gives something new */
  MS_METHOD_VIEW,    /* gives a view of them */
  MS_METHOD_WRITE,   /* overwrites them without reading them, and gives the array */
  MS_METHOD_UPDATE   /* reads and writes them, and gives the array */
} ms_method_effect;

/* The method looks at all of its arguments by itself. */
#define MS_METHOD_ANY (-1)

typedef struct ms_method {
  const char *name;
  int32_t most;      /* how many arguments it takes, or MS_METHOD_ANY; others are refused */
  int32_t effect;    /* ms_method_effect */
  int32_t dimension; /* which argument is a dimension; given one, READ is FRESH; 0: none */
  /* On rows of float and double elements: rowwise.h has ms_row_<name>_<type>[_<type of other>],
   * which both engines call in place of the method. Those that change their array are one
   * operation of arith.h on all elements, and lua/meissa/array/arith.lua makes the method itself.
   */
  bool rowwise;
  bool number, other; /* what that takes: a number, which comes first (READ: none); another row */
  bool filled;        /* refuses a row without elements: "<name>: an empty array has none" */
  int32_t adds; /* with so many arguments or fewer it only adds to each element; 0: it does not */
  int32_t operation; /* ms_reduction of a READ, else ms_arith */
} ms_method;

/* The entry of a name, or NULL. */
const ms_method *ms_method_find(const char *name);

/* The k-th entry from 0; NULL after the last. */
const ms_method *ms_method_at(int k);

/* "read" and so on, for MS_METHOD_READ. */
const char *ms_method_effect_name(int effect);

#endif
