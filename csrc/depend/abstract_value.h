/* SPDX-License-Identifier: MIT
 *
 * Abstract values: what the walk knows of what an expression may be: an affine number, another
 * scalar, a view of an array, or something else, which carries the set of arrays that it may be or
 * hold. */
#ifndef MS_DEPEND_ABSTRACT_VALUE_H
#define MS_DEPEND_ABSTRACT_VALUE_H

#include "depend/access.h"

typedef enum ms_abstract_value_kind {
  MS_ABSTRACT_VALUE_NUMBER, /* an affine form */
  MS_ABSTRACT_VALUE_SCALAR, /* a number, string, boolean, nil: holds no array */
  MS_ABSTRACT_VALUE_VIEW,   /* an array, or a row or range of one */
  MS_ABSTRACT_VALUE_OTHER   /* a table, function, or anything */
} ms_abstract_value_kind;

/* A dimension of an array that a view leaves: the view's 1 .. length are first + 1 and on. */
typedef struct ms_open {
  uint32_t dim;
  ms_form first, length;
} ms_open;

typedef struct ms_abstract_view {
  uint32_t binding;
  bool range;     /* a subscript is a range: its own subscripts are relative */
  bool may_range; /* the last subscript, of which nothing is known, may be a range */
  uint32_t subscript_count;
  uint32_t open_count;
  const ms_open *open; /* where `select` or such formed the view: the dimensions that are left, in
                          the view's order; there is an unknown subscript for each. Else NULL: those
                          behind the subscripts are left */
  ms_subscript subscript[]; /* room for one a dimension of the array */
} ms_abstract_view;

/* `objects` of what is an element, or inside of one. */
#define MS_OBJECTS_ELEMENT UINT32_MAX

typedef struct ms_pieces ms_pieces;

typedef struct ms_abstract_value {
  ms_abstract_value_kind kind;
  ms_form form;                  /* NUMBER */
  const ms_quadratic *quadratic; /* SCALAR: the number that it is; NULL: not known */
  const ms_truth *truth;         /* SCALAR, OTHER: when it is true; NULL: not known */
  const ms_pieces *pieces;       /* SCALAR, OTHER: what it is where (piece.h); NULL: not known */
  const ms_abstract_view *view;  /* VIEW */
  uint64_t groups;      /* OTHER: may be or hold these arrays; bit 63: all groups from 63 on */
  bool captured;        /* OTHER: may be, or be part of, something captured */
  bool plain;           /* OTHER: itself certainly no array */
  bool callable;        /* OTHER: `binding` says what calling it does */
  uint32_t objects;     /* OTHER: an array of objects of so many dimensions, or its row; or 0 */
  bool plain_data;      /* OTHER: tables of numbers, strings and booleans, without functions */
  uint32_t levels;      /* OTHER: so many levels of tables in one another, itself the outermost, and
                           1 more; 1: it is no table; 0: not known */
  bool changes;         /* OTHER: calling it, or a method of it, changes things outside */
  const char *changer;  /* OTHER: words for a function in it that may change things; or NULL */
  bool stores_nothing;  /* OTHER: no function in it stores into arrays */
  uint32_t metamethods; /* OTHER: events for which it, or something in it, may have functions */
  const char *impure;   /* OTHER: what calling it, or a method of it, may use; or NULL */
  bool formed;          /* OTHER: an element or part of one of these arrays, and nothing else */
  bool exact;           /* OTHER: it is the table of `binding` itself */
  uint32_t class; /* OTHER: 1 + the binding of the class that the body has made it of; 0: none */
  uint32_t list;  /* OTHER: 1 + the binding of a list of which it is some element; 0: none */
  uint32_t binding;
  ms_function *literal; /* OTHER: a function of the body that is only called; or NULL */
} ms_abstract_value;

/* Some number, string, boolean or nil. */
ms_abstract_value ms_abstract_value_scalar(void);

/* An affine number. */
ms_abstract_value ms_abstract_value_number(const ms_form *form);

/* A table, a function or anything, that may be or hold these arrays. */
ms_abstract_value ms_abstract_value_other(uint64_t groups, bool captured);

/* An affine number, or a quadratic. */
bool ms_abstract_value_is_number(const ms_abstract_value *value);

/* A value as a subscript: unknown, unless it is an affine number. */
ms_subscript ms_abstract_value_subscript(const ms_abstract_value *value);

/* A table of numbers, strings and booleans, in which nothing but these is found. */
bool ms_abstract_value_is_flat(const ms_abstract_value *value);

/* Whether two values are certainly one. */
bool ms_abstract_value_is_same(const ms_abstract_value *a, const ms_abstract_value *b);

/* When a value is true, as far as that is known. */
const ms_truth *ms_abstract_value_truth(const ms_abstract_value *value);

#endif
