/* SPDX-License-Identifier: MIT
 *
 * Meaning: what goes into the dependence analyser beside a loop's text: what its captures mean, and
 * the space that it runs over.
 *
 * Plain records. All that they point to is the caller's. */
#ifndef MS_DEPEND_MEANING_H
#define MS_DEPEND_MEANING_H

#include <stdbool.h>
#include <stdint.h>

#include "syntax/loop.h"

/* Most dimensions of an array and of an iteration space. */
#define MS_MAX_DIMS 8

/* What a capture turned out to be at run time. */
typedef enum ms_binding_kind {
  MS_BIND_NIL,
  MS_BIND_NUMBER,
  MS_BIND_BOOLEAN,
  MS_BIND_STRING,
  MS_BIND_ARRAY,    /* a DistArray (or meissa.shape) */
  MS_BIND_TABLE,    /* a plain Lua table, contents unknown (meissa.opaque) */
  MS_BIND_BUILTIN,  /* a function with known effects; `name` says which ("math.floor") */
  MS_BIND_FUNCTION, /* a Lua function; touches the arrays in `reached`, nothing else */
  MS_BIND_UNKNOWN   /* anything else: userdata, C functions, cdata, coroutines */
} ms_binding_kind;

/* What may call a function of a table's metatable. */
typedef enum ms_event {
  MS_EVENT_INDEX = 1,
  MS_EVENT_ASSIGN = 2, /* of an element */
  MS_EVENT_CALL = 4,
  MS_EVENT_OPERATOR = 8 /* arithmetic, comparison, .., tostring */
} ms_event;

/* The events for which that function may change variables or tables outside: event << this. */
#define MS_EVENT_CHANGES 4

/* What a capture of a function that is looked into means: a binding, reached by so many of the
 * capture's fields. */
typedef struct ms_meaning {
  uint32_t binding, depth;
} ms_meaning;

/* A field of a table with a constant name, as its metatable's tables give it, too. */
#define MS_FIELD_CALL    "()"  /* what is called when the table is */
#define MS_FIELD_ELEMENT "#%u" /* of a list of which all elements are known */
#define MS_FIELD_METHOD                                                     \
  "#:" /* of a longer one, and a name: a function that some of its elements \
          have by that name, which all have functions by */

typedef struct ms_field {
  const char *name;
  uint32_t binding;
} ms_field;

/* Where a view of an array lies in its base, a box of the memory that holds all captured views that
 * overlap: base subscript k is first[k] + the sum of factor[d] * (subscript d - 1) over the
 * dimensions d that go along k. */
typedef struct ms_mapping {
  uint32_t dim_count; /* of the base */
  int64_t dims[MS_MAX_DIMS];
  int64_t first[MS_MAX_DIMS];  /* of the view's element [1]...[1] */
  uint32_t along[MS_MAX_DIMS]; /* by dimension of the view; MS_MAX_DIMS: none, its extent is 1 */
  int64_t factor[MS_MAX_DIMS]; /* by dimension of the view */
} ms_mapping;

typedef struct ms_binding {
  ms_binding_kind kind;
  uint32_t depth; /* how many of the capture's fields lead to the value; the rest index into it */
  double number;
  int64_t each;     /* NUMBER: what is added for each step of the space's steady variable */
  const char *name; /* BUILTIN; ARRAY that is no capture: what it is called, or NULL */
  /* ARRAY: */
  uint64_t array;   /* identity: equal for two names of one array */
  uint64_t storage; /* identity of the memory: equal for views that may overlap */
  uint32_t dim_count;
  int64_t dims[MS_MAX_DIMS];
  const ms_mapping *view; /* into the base, the same for all bindings of its storage; NULL: that is
                             one array, or the base is not known */
  bool sparse;
  bool integer;     /* element type int32 or int64 */
  bool frozen;      /* a snapshot: nothing that is not looked into can write it */
  bool scratch;     /* each iteration's own working space: no access to it is a dependence */
  uint64_t buffers; /* `storage` of the array that it is a DistArray buffer of, 0: it is none. Each
                       block has its own, and what is put there is merged between blocks. */
  bool replica; /* the copy of the array in `buffers` that this part of the loop has to itself */
  bool marks;   /* a buffer whose elements only say that something was stored there */
  /* FUNCTION, TABLE: indices (into the bindings) of the arrays that it may touch, that it holds */
  bool draws;          /* BUILTIN, FUNCTION, TABLE: it may draw random numbers for the iteration */
  bool changes;        /* calls of it assign variables or plain tables outside of it */
  bool stores;         /* FUNCTION: it stores into its arguments */
  bool aliased;        /* scalar: the body may have another way to that variable */
  uint32_t receiver;   /* aliased: from 1, the only capture that leads there, its table; or 0 */
  const char *alias;   /* that way, where it is a name ("o.count"), or NULL */
  const char *changer; /* FUNCTION, TABLE: a function in words that does that, or stores into what
                          it is given ("fit (model.lua:12)"), or NULL */
  const char *globals; /* BUILTIN, TABLE: by it variables can be looked up that the body does not
                          name ("_G is used as a table of variables"); or NULL */
  bool sole_name;      /* TABLE: without a metatable, and no other capture leads to it */
  const char *other;   /* TABLE: the name of another capture that leads to it ("self"), or NULL */
  uint32_t objects;    /* TABLE: an array of objects of so many dimensions, or 0 */
  bool plain_data;     /* TABLE: it holds nothing but data */
  uint32_t numbers;    /* TABLE: 1: it is a list of numbers without gaps, and holds nothing else; 2:
                          one of such lists; and so on; 0: none of these */
  bool listed;     /* TABLE: it is a list of objects of which fields are known, and neither holds
                      nor gives anything else */
  bool class;      /* TABLE: objects of it as metatable find its fields, and these are known where
                      they are named */
  uint32_t levels; /* TABLE: levels of tables in one another, itself the outermost, and 1 more;
                      0: not known */
  const char *impure; /* FUNCTION: it may call this, which works on files or in foreign code, or
                         gives numbers in the order of its calls ("it uses math.random") */
  const uint32_t *reached;
  uint32_t reached_count;
  bool stores_nothing; /* FUNCTION, TABLE: neither it nor what it leads to may store into arrays */
  bool owned; /* FUNCTION: what it gives belongs to the part of the loop that calls it, from one
                 iteration to the next, and so does all that its methods change */
  bool kept; /* TABLE: as a class, all that its methods store into is what they are given or make */
  uint32_t metamethods;    /* TABLE: the events for which what it leads to has functions */
  const ms_loop *code;     /* FUNCTION: its text in closure form, where that is had, or NULL */
  const ms_meaning *means; /* FUNCTION with code: of each of the code's captures */
  const ms_field *fields;  /* TABLE: those that are known */
  uint32_t field_count;
} ms_binding;

/* One dimension of the iteration space: lo, lo+step, ... up to hi. For the entries of an array
 * lo = 1, hi = extent, step = 1. */
typedef struct ms_range {
  int64_t lo, hi, step;
} ms_range;

/* A steady variable stands for what a driver loop changes from one execution to the next: it has
 * one value in all iterations, any of least .. most. Captured numbers and ends of ranges are what
 * they are for its value 0, and so much more for each step. */
typedef struct ms_steady {
  bool present;
  int64_t least, most;
  int64_t lo_each[MS_MAX_DIMS], hi_each[MS_MAX_DIMS]; /* of ranges */
} ms_steady;

/* What the caller guarantees of accesses that the analysis cannot tell apart. */
typedef enum ms_assumption {
  MS_ASSUME_NOTHING,
  MS_ASSUME_INDEPENDENT, /* what is not proven to collide does not */
  MS_ASSUME_LEVELS       /* what collides has different first indices, in the order as written */
} ms_assumption;

typedef struct ms_space {
  uint32_t dim_count;
  ms_range range[MS_MAX_DIMS];
  int32_t source; /* index of the binding whose entries it is, -1 for none; -2: entries of an array
                     that is not captured by the body */
  bool sparse;    /* the entries of a sparse array (bounding box = range) */
  bool ordered;
  bool serial_allowed;   /* serial = true */
  bool impure;           /* impure = true: files and foreign code may be used */
  ms_assumption assumes; /* what is taken for known of iterations that may collide */
  bool inspected;        /* what is assumed was found by an inspection */
  bool no_options;       /* the call has nil in the place of options */
  bool methods; /* those of strings, or what operators do with plain values, is the program's */
  const char *barred; /* methods: of these those that a loop cannot call, each a line of its own:
                         name, tab, "impure", "name" (it may be called by one) or nothing, tab,
                         why; or NULL */
  bool replicas;      /* its iterations are shared out to replicas: it cannot run serially */
  bool shared;        /* replicas: these are the iterations of ranges, though it counts as sparse */
  bool in_order;      /* shared: each replica goes through its share as the loop would */
  bool rounds;        /* the first index counts rounds, which run one after the other */
  const uint32_t *versions; /* rounds, by capture: of which array it is a version, from 1, or 0; */
  uint32_t version_count;   /* of so many captures */
  int64_t parts_of, parts_first; /* rounds by range: the second index counts parts of so many
                                    elements, which begin with this one; 0: it does not */
  bool positions;    /* sparse: entries are told apart by their place, for random numbers */
  uint32_t collapse; /* 1: none; n: take in the next n-1 perfectly nested numeric loops */
  ms_steady steady;
} ms_space;

#endif
