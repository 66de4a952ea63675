/* SPDX-License-Identifier: MIT
 *
 * Accesses: what a loop body does to arrays, and the domain of iterations that do it.
 *
 * This is the form in which the body's text reaches the dependence test; nothing here knows Lua.
 * A subscript is an affine form, or unknown: then the access may touch any element of that
 * dimension. An access with fewer subscripts than the array has dimensions touches everything
 * below them. Subscripts of views that overlap are those of their common base (see mapping.h).
 * Subscript and witness values are the user's (1-based). Owned by the plan's arena. */
#ifndef MS_DEPEND_ACCESS_H
#define MS_DEPEND_ACCESS_H

#include "base/arena.h"
#include "depend/guard.h"
#include "depend/quadratic.h"
#include "depend/verdict.h"

typedef struct ms_subscript {
  bool known;
  ms_form form;
  const ms_quadratic *quadratic; /* what one is that is not known as a form; or NULL */
} ms_subscript;

/* What a subscript is, a form or not; false where that is not known. */
bool ms_subscript_number(const ms_subscript *subscript, ms_quadratic *number);

/* A quantified variable: takes every integer with low >= 0 and high >= 0. */
typedef struct ms_inner {
  ms_form low, high;
  bool total; /* has a value for every iteration: may be left out where it is not used */
  bool loop;  /* an inner loop's: without a value nothing inside the loop happens */
} ms_inner;

typedef struct ms_access ms_access;

struct ms_access {
  uint32_t group;   /* the storage it touches, see ms_groups in walk.h */
  uint32_t binding; /* the name that it goes through */
  bool write;
  bool pending;  /* of a buffer: what other iterations put there is not seen */
  bool placed;   /* of a version: each place that reads or writes it is an access */
  bool possible; /* may not happen, or may touch less than it says */
  uint32_t inner_count;
  ms_inner *inner; /* variable MS_MAX_DIMS + k */
  uint32_t guard_count;
  ms_form *guard;      /* the access happens in iterations where all these forms are >= 0 */
  const ms_node *node; /* its source; NULL for the loop's own reads */
  const ms_access
      *origin;    /* what it stands for in a branch of a pair (quadratic_branch.h); or NULL */
  uint32_t given; /* subscripts that the source has: of a view fewer or more than of its base */
  uint32_t subscript_count;
  ms_subscript subscript[MS_MAX_DIMS]; /* of the array, of a view's base; in a list only so many */
};

typedef struct ms_accesses {
  ms_access **item;
  uint32_t count, capacity;
} ms_accesses;

/* Forms >= 0 over the dimensions up to the one that they bound: index - low or high - index. */
typedef struct ms_bounds {
  uint32_t count;
  ms_form form[MS_MAX_BOUNDS];
} ms_bounds;

/* The iterations. Index value = origin + step * ordinal in each dimension. A dimension is a box
 * (ordinals 0 .. extent-1), or bounded by forms over the dimensions before it: where the loop goes
 * from math.max(...) to math.min(...) by several on each side. */
typedef struct ms_domain {
  uint32_t dim_count;
  const ms_steady *steady; /* whose variable forms may have; NULL: there is none */
  struct {
    int64_t origin, step;
    bool box;
    int64_t extent;
    ms_bounds low, high;
    const char *name;
  } dim[MS_MAX_DIMS];
} ms_domain;

/* Whether two accesses have the same subscripts, with the same inner variables: of one array, the
 * same elements in every iteration. */
bool ms_access_same_elements(const ms_access *a, const ms_access *b);

/* Appends a copy of an access under a clause, its inner variables that matter renumbered, unless an
 * equal one is there already (a proven one replaces an equal possible one). Returns -1 when memory
 * is out. */
int ms_accesses_add(ms_accesses *list, ms_arena *arena, const ms_access *access,
                    const ms_clause *clause, const ms_inner *scope, uint32_t scope_count);

#endif
