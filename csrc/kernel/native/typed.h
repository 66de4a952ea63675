/* SPDX-License-Identifier: MIT
 *
 * The typed form: what every variable and expression of a body is, known before it runs.
 *
 * A value is one of nil, false, true and numbers, as a set of what it can be, or one object that is
 * known by itself: a dense array or a part of it, a function. Variables have one
 * type for all their life, found by going through the body until nothing changes. What fits into
 * none of this has the object MS_OBJECT_OTHER, and the body stays on the Lua engine.
 *
 * Everything lives in the emitter's arena. Belongs to one emission. */
#ifndef MS_KERNEL_NATIVE_TYPED_H
#define MS_KERNEL_NATIVE_TYPED_H

#include "kernel/emit/emitter.h"

/* What a value can be: a sum of these. */
enum { MS_CAN_NIL = 1, MS_CAN_FALSE = 2, MS_CAN_TRUE = 4, MS_CAN_NUMBER = 8, MS_CAN_OBJECT = 16 };

#define MS_CAN_BOOLEAN (MS_CAN_FALSE | MS_CAN_TRUE)

/* Precision of a number in fast mode; the greater of two operands' decides. What each is computed
 * in, regions decide (c_region.h). */
typedef enum ms_precision {
  MS_ANY_PRECISION, /* exact, or double: follows the other operand */
  MS_SINGLE,        /* computed from elements of float arrays */
  MS_FULL           /* what blocks or regions carry on: double */
} ms_precision;

typedef enum ms_object_kind {
  MS_OBJECT_NONE,
  MS_OBJECT_VIEW,     /* dense array of numbers, or a part with some subscripts applied */
  MS_OBJECT_PART,     /* what narrow and select make of such: some elements in a line */
  MS_OBJECT_SPARSE,   /* sparse array, or a row of it */
  MS_OBJECT_FUNCTION, /* function whose text is known */
  MS_OBJECT_TABLE,    /* small table of the body, made by one expression */
  MS_OBJECT_OUTER,    /* table from outside of the loop, of which fields are known */
  MS_OBJECT_LIST,     /* list of numbers from outside of the loop */
  MS_OBJECT_LISTS,    /* list of lists of numbers, to any depth, or a list inside of one */
  MS_OBJECT_SLICE,    /* table from outside of which the loop only assigns elements */
  MS_OBJECT_BUILTIN,
  MS_OBJECT_OTHER
} ms_object_kind;

typedef struct ms_kind_of {
  uint32_t can; /* 0: nothing is known yet */
  ms_precision precision;
  ms_object_kind object;
  uint32_t array, given; /* VIEW, SPARSE: capture; subscripts already applied. PART: capture; as
                            of a row. OUTER: binding;
                            capture that it is reached from, by the path `name` (ms_param.path) */
  const ms_node *node;   /* FUNCTION: the FUNCTION; TABLE: the TABLE */
  const char *name;      /* BUILTIN, OUTER, LIST, LISTS (`array`, `given` as of OUTER) */
  uint32_t levels;       /* LISTS: levels of lists, itself the outermost */
} ms_kind_of;

/* Most values that a function of the body returns. */
#define MS_RETURNS 8

/* A function that the body calls. */
typedef struct ms_callee {
  struct ms_callee *next;
  const ms_node *node; /* FUNCTION */
  ms_kind_of result[MS_RETURNS];
  uint32_t results;
  bool outside;   /* of the body */
  bool mixed;     /* some calls give it numbers of another precision than others */
  uint32_t cycle; /* a number that mutually recursive functions share; 0: it is not recursive */
  uint32_t mark;  /* of who goes through functions, each once */
} ms_callee;

/* What a table of the body holds. */
typedef struct ms_holding {
  struct ms_holding *next;
  const ms_node *node; /* TABLE */
  ms_kind_of kind;
  bool gaps; /* nil may stand below a number: only a table without gaps has one length */
} ms_holding;

struct ms_c_local;

/* Arguments of calls of functions from outside that are looked at. */
#define MS_CALL_OBJECTS 8

/* What a call gives a function from outside that may be a table or an array: calls that differ in
 * this call different copies of the function. */
typedef struct ms_call_objects {
  const struct ms_outside *caller;           /* whose parameters are handed on; or NULL */
  uint32_t binding[MS_CALL_OBJECTS];         /* from 1: a table, array or function; or 0 */
  const ms_node *handed_on[MS_CALL_OBJECTS]; /* a path from a parameter; or NULL */
} ms_call_objects;

/* A function from outside of the loop: its text, a tree that no other function has. */
typedef struct ms_outside {
  struct ms_outside *next;
  struct ms_outside *from; /* the one that calls it, of several any; or NULL */
  ms_call_objects objects;
  uint32_t binding;
  const ms_loop *loop;      /* closure form */
  ms_tree *tree;            /* that of `loop`, if it was parsed for this; or NULL */
  const ms_meaning *means;  /* by its captures: bindings of the loop */
  uint32_t number;          /* from 1 */
  uint32_t at;              /* capture of the function that it is reached from, */
  const char *path;         /* and how: see ms_param.path */
  ms_kind_of *symbol;       /* by symbol index */
  struct ms_c_local *local; /* likewise; the writer's */
} ms_outside;

/* Numbers and booleans that only functions name: most of them, and how they are reached. */
#define MS_INNER MS_KERNEL_INNER

typedef struct ms_inner_value {
  uint32_t at;
  const char *path;
} ms_inner_value;

typedef struct ms_typed {
  ms_emitter *emitter;
  ms_binding *bindings; /* those of the job, then of `inner` */
  uint32_t given;       /* those of the job */
  ms_inner_value inner[MS_INNER];
  uint32_t inner_count;
  ms_outside *codes;
  ms_kind_of *symbol;   /* by symbol index of the loop's own text */
  ms_kind_of *variable; /* by capture: scalars of the plan that blocks assign */
  ms_callee *callees;
  uint32_t marks; /* given out: ms_callee.mark */
  bool cycles;    /* some functions call themselves */
  ms_holding *holdings;
  bool changed, failed;
} ms_typed;

/* The text that a node belongs to; NULL for the loop's own. */
ms_outside *ms_typed_outside(const ms_typed *typed, const ms_node *node);

/* The text that a variable is declared in; NULL for the loop's own. */
ms_outside *ms_typed_outside_of(const ms_typed *typed, const ms_symbol *symbol);

/* The type of a variable of any text. */
ms_kind_of *ms_typed_symbol(const ms_typed *typed, const ms_symbol *symbol);

/* The binding that the path written at `node` belongs to, as ms_emitter_capture for any text. */
uint32_t ms_typed_binding(const ms_typed *typed, const ms_node *node, const ms_node **value);

/* A table that a binding is, named at `mention`, as an object: one that is nothing known if it has
 * no known fields, and is no list of numbers. */
ms_kind_of ms_typed_outer(const ms_typed *typed, const ms_node *mention, uint32_t at);

/* The function whose text is known that a CALL or METHOD calls, or NULL. */
const ms_node *ms_typed_called(const ms_typed *typed, const ms_node *call);

/* How many arguments stand before kid[1] of a call: the object of a method that is a function. */
#define MS_TYPED_SELF(call) ((call)->kind == MS_METHOD ? 1U : 0U)

/* The FUNCTION node of a binding that is a function, named at `mention`, or NULL. The nodes of two
 * bindings are different even where they are closures of one text, and those of one, where it is
 * called with different tables or arrays. */
const ms_node *ms_typed_text(const ms_typed *typed, const ms_node *mention, uint32_t at);

/* Finds the types of all variables of the emitter's body. -1 when memory is out. The caller ends it
 * in any case. */
int ms_typed_find(ms_typed *typed, ms_emitter *emitter);

/* Frees what does not live in the arena. */
void ms_typed_end(ms_typed *typed);

/* The type of an expression's first value. */
ms_kind_of ms_typed_expression(const ms_typed *typed, const ms_node *node);

/* The list that `for k, v in ipairs(list) do` goes through, if it is one of numbers from outside,
 * or of such lists; else NULL. */
const ms_node *ms_typed_listed(const ms_typed *typed, const ms_node *loop);

/* What the elements of such a list are. */
ms_kind_of ms_typed_walked(const ms_typed *typed, const ms_node *list);

/* The type of value `at` (from 0) of a call. */
ms_kind_of ms_typed_call(const ms_typed *typed, const ms_node *node, uint32_t at);

/* The type that covers both. */
ms_kind_of ms_kind_of_both(ms_kind_of a, ms_kind_of b);

/* What the table that `node` makes holds; NULL if it makes none. */
ms_holding *ms_typed_holding(const ms_typed *typed, const ms_node *node);

/* What a call calls: the type of kid[0], looked up without further values. */
ms_callee *ms_typed_callee(const ms_typed *typed, const ms_node *function);

/* Numbers the cycles of all callees. */
void ms_typed_find_cycles(ms_typed *typed);

/* The cycle of a function (see ms_callee); 0 if it does not call itself. */
uint32_t ms_typed_cycle(const ms_typed *typed, const ms_node *function);

/* Whether an expression gives one value wherever it stands. */
bool ms_typed_single(const ms_typed *typed, const ms_node *node);

/* Whether evaluating a node may store something: it calls a function of the user. */
bool ms_typed_stores(const ms_typed *typed, const ms_node *node);

/* Whether control can reach the end of a block. */
bool ms_typed_block_ends(const ms_node *block);

/* Frequent types. */
ms_kind_of ms_kind_of_number(ms_precision precision);
ms_kind_of ms_kind_of_other(void);
ms_kind_of ms_kind_of_scalar(uint32_t can);

/* The precision of elements of a type. */
ms_precision ms_type_precision(int32_t type);

/* A function of the standard library or of meissa that gives one number. */
typedef enum ms_library_shape {
  MS_LIBRARY_CALL, /* a C function of doubles */
  MS_LIBRARY_FOLD, /* of one argument or more, taken two at a time */
  MS_LIBRARY_BITS, /* of doubles taken as 32 bits; more than two arguments two at a time */
  MS_LIBRARY_SELF, /* its argument */
  MS_LIBRARY_RANDOM,
  MS_LIBRARY_NORMAL
} ms_library_shape;

typedef struct ms_library {
  const char *name; /* "math.floor" */
  ms_library_shape shape;
  uint32_t least, most; /* arguments */
  const char *text;     /* the C function */
  const char *single;   /* the one of floats, for fast mode; NULL: none */
} ms_library;

/* The entry of a builtin for so many arguments, else one for others; NULL if bodies with it stay on
 * the Lua engine. */
const ms_library *ms_library_find(const char *name, uint32_t arguments);

/* Methods of arrays and rows that give a number. */
typedef enum ms_measure {
  MS_MEASURE_NONE,
  MS_MEASURE_DOT,
  MS_MEASURE_SUM,
  MS_MEASURE_NORM,
  MS_MEASURE_MEAN,
  MS_MEASURE_MAX,
  MS_MEASURE_MIN,
  MS_MEASURE_ARGMAX,
  MS_MEASURE_ARGMIN,
  MS_MEASURE_ROWWISE, /* any other of array/method.h that rowwise.h has */
  MS_MEASURE_SIZE,
  MS_MEASURE_DIM
} ms_measure;

/* What a method measures of an array, by its name. */
ms_measure ms_measure_find(const char *method);

#endif
