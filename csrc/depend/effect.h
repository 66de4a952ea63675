/* SPDX-License-Identifier: MIT
 *
 * Effects: what known functions and methods do to the arrays that they are given.
 *
 * Tables, of which array/method.h has that of methods; no state. Anything that is not in them
 * counts as unknown. */
#ifndef MS_DEPEND_EFFECT_H
#define MS_DEPEND_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ms_effect {
  MS_EFFECT_UNKNOWN, /* reads and writes whatever it gets */
  MS_EFFECT_PURE,    /* reads its arguments, gives a scalar */
  MS_EFFECT_PASS,    /* gives (parts of) its arguments; reads nothing by itself */
  MS_EFFECT_FRESH,   /* reads its arguments, gives something new */
  MS_EFFECT_STORE,   /* writes into its first argument, a table */
  MS_EFFECT_RANDOM,  /* depends on the order of calls */
  MS_EFFECT_YIELD,
  /* methods only: */
  MS_EFFECT_VIEW,  /* gives a view of the receiver */
  MS_EFFECT_WRITE, /* overwrites the receiver, reads its arguments */
  MS_EFFECT_UPDATE /* reads and writes the receiver, reads its arguments */
} ms_effect;

/* By a builtin's full name ("math.floor"). */
ms_effect ms_effect_of_builtin(const char *name);

/* Whether a builtin works on files, on other processes, by the clock, or loads foreign code. */
bool ms_effect_is_impure(const char *name);

/* Whether a builtin's result is that of its arguments, and nothing else. */
bool ms_effect_is_function(const char *name);

/* By a DistArray method's name ("dot"), and how many arguments it is given: with a dimension
 * reductions make arrays. */
ms_effect ms_effect_of_method(const char *name, uint32_t arguments);

/* A DistArray method that changes the receiver's elements, or frees them. */
bool ms_effect_changes(const char *name);

/* A DistArray method that, given so many arguments, only adds to the receiver's elements. */
bool ms_effect_adds(const char *name, uint32_t arguments);

/* A DistArray method that only looks at the array's description, never at its elements. */
bool ms_effect_is_shape(const char *name);

/* A DistArray method that writes a file. */
bool ms_effect_is_output(const char *name);

/* A method of strings ("upper"). */
int ms_effect_is_string_method(const char *name);

#endif
