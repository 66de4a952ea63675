/* SPDX-License-Identifier: MIT
 *
 * What the files that write a kernel's C text share: the state of one emission, and what appends
 * lines to its text. c_value.h to c_block.h have what each of the others gives.
 *
 * An expression becomes a C expression without side effects; what must happen before it (checks of
 * subscripts, calls, choices) is appended to the statements first, in the order of Lua.
 *
 * Every body is written up to twice. The quick text trusts *guards*: conditions over what does not
 * change in a *scope* (the block, or an inner loop in it), tested once where the scope begins. If
 * they hold, indices are integers and no subscript that the guards cover is checked again. The
 * careful text, for blocks and loops whose guards fail, computes with doubles as Lua does and
 * checks every subscript, so that an error comes in the same iteration after the same stores.
 *
 * Names: v12_w a local, c3_lr a captured number, p2_W an array's memory, x1 an index of the space,
 * t7 a temporary; all other names begin with ms_. Everything is in the emitter's arena. */
#ifndef MS_KERNEL_NATIVE_WRITER_H
#define MS_KERNEL_NATIVE_WRITER_H

#include "kernel/native/native_emit.h"
#include "kernel/native/typed.h"

/* Most scopes inside each other; inner loops beyond check where they are. */
#define MS_SCOPES 4

/* Longest text of a guard's bound, in bytes. */
#define MS_GUARD_TEXT 400

/* How a value is held in C. */
typedef enum ms_representation {
  MS_FORM_DOUBLE,
  MS_FORM_FLOAT,
  MS_FORM_BOOL,  /* int: 0 or 1 */
  MS_FORM_VALUE, /* ms_value: a tag and a number */
  MS_FORM_OBJECT /* nothing: known by its type */
} ms_representation_of;

struct ms_region;

/* A number that a region's values are made of and that is known in front of it, in fast mode. */
typedef struct ms_c_outside {
  const struct ms_c_outside *next;
  const char *condition;            /* C: it has a fair float (c_region.h) */
  bool captured;                    /* it stays what it is during the whole loop */
  const struct ms_region *home;     /* the region that sets it, or NULL */
  const struct ms_c_outside *parts; /* what it is made of there */
} ms_c_outside;

/* The C text of a double in front of the present region. */
typedef struct ms_c_early {
  const char *text; /* NULL: it is not known there */
  bool captured;    /* made of what stays as it is during the whole loop */
} ms_c_early;

typedef struct ms_c_value {
  ms_representation_of form;
  ms_kind_of kind;
  const char *text; /* C expression in the form; of a VIEW a pointer to its first element */
  const struct ms_integer_value *whole; /* in quick texts: the same number as an integer, or NULL */
  const ms_c_outside *outside; /* numbers from outside of the present region that it is made of */
  ms_c_early early;
  const char
      *rounded;    /* C: what math.floor or math.ceil gave, not evaluated yet, if the value is */
  int32_t more;    /* that and a constant */
  const char *cut; /* C: the value as an int64_t; see ms_c_rounded_cut */
} ms_c_value;

typedef struct ms_guard_scope {
  ms_text guards; /* joined with && */
} ms_guard_scope;

/* What an `if` makes of a local that it may assign again: see c_chosen.h. */
typedef struct ms_version {
  const struct ms_version *before; /* NULL: what the local was declared with */
  const ms_node *statement;
} ms_version;

/* What is known of a local while its scope is written. */
typedef struct ms_c_local {
  const char *text; /* its name; NULL: not written yet */
  ms_representation_of form;
  const char *whole;         /* int64_t name or expression, or NULL */
  const ms_node *from;       /* expression that gave it its value, or NULL */
  const char *lo, *hi;       /* double texts of an index of the space */
  const ms_node *loop;       /* numeric loop, whose variable it is, or NULL */
  const char *start, *limit; /* double texts of its ends where those are known in its scope only */
  bool down;                 /* it counts downwards */
  bool signed_zero;          /* as a double it may be -0 */
  bool given;                /* it is another function's: c_upvalue.h */
  bool small;                /* an int32_t, see c_small_sum.h */
  bool rounded;              /* what math.floor or math.ceil gave */
  const char *cut;           /* see ms_c_value */
  bool counter;              /* assigned again, but always with integers: see c_induction.c */
  const ms_version *settled; /* the last version, which it has from here on, or NULL */
  const ms_version *version; /* the version that readers see now */
  int64_t least, most;
  uint32_t scopes;                /* how many there were when it was declared */
  const struct ms_region *region; /* fast mode: where it was declared, or NULL */
  const ms_c_outside *outside;    /* see ms_c_value: of what it was given */
  ms_c_early early;
} ms_c_local;

typedef struct ms_c_label {
  struct ms_c_label *next;
  const char *name, *text;
  bool placed; /* it is written: what jumps there goes back */
} ms_c_label;

/* A function that is being written in place of its call. */
typedef struct ms_inlined {
  struct ms_inlined *next;
  const ms_node *function, *call;
  ms_c_value *results; /* variables that take them */
  uint32_t result_count;
  const struct ms_region *region; /* fast mode: of the call */
  const char *label;
  bool jumped;
  uint32_t call_line; /* of the call in the body, for functions of other files; else 0 */
  /* It, or the function that its `return` ends, is recursive; or NULL. */
  const struct ms_c_recursive *recursive;
  const char *again;            /* label behind which its arguments are looked at again; or NULL */
  const char *const *arguments; /* by parameter: the C variable that has it; NULL: none does */
} ms_inlined;

/* A function that calls itself, which is one in C, too (c_recursive.h). */
typedef struct ms_c_recursive {
  struct ms_c_recursive *next;
  const ms_node *function, *call; /* call: the first that was written */
  uint32_t number, call_line;     /* number: from 1; call_line: as above */
  struct ms_c_upvalue *upvalues;
  ms_text body;
} ms_c_recursive;

/* A captured number that is worth a constant: the bound of a loop over rows of that length. */
typedef struct ms_constant {
  uint32_t capture;
  int64_t value;
} ms_constant;

#define MS_CONSTANTS 4

/* A parameter and the constant that takes its place in the text compiled for these shapes. */
typedef struct ms_special {
  struct ms_special *next;
  const char *name, *value;
} ms_special;

/* Rows of an array that an index of the entries names, or one element of each. */
typedef struct ms_cache_prefetch {
  uint32_t array, dim;
  uint32_t column; /* MS_AHEAD_ROW; MS_AHEAD_VALUE: the entry's value; else an index */
} ms_cache_prefetch;

#define MS_AHEAD_ROW   UINT32_MAX
#define MS_AHEAD_VALUE (UINT32_MAX - 1)

#define MS_AHEAD 8

/* A list of numbers from outside, or one of lists, which is a parameter: how it is reached. */
typedef struct ms_c_outer_list {
  uint32_t levels; /* of lists: 1 if it is one of numbers */
  uint32_t at;
  const char *path; /* as in ms_param */
} ms_c_outer_list;

#define MS_LISTS MS_KERNEL_LISTS

/* Most draws of an iteration that are made with those of others. */
#define MS_C_DRAWS 16

typedef struct ms_writer {
  ms_emitter *emitter;
  ms_typed *typed;
  ms_arena *arena;
  ms_text *out;
  ms_native_refusal *why;             /* line 0: not refused */
  bool fast;                          /* numeric = "fast" */
  uint32_t careful;                   /* > 0: inside a careful text */
  uint32_t wide;                      /* > 0: inside a text that computes in double */
  uint32_t exact;                     /* > 0: inside what regions keep exact */
  struct ms_region *region;           /* fast mode; NULL: outside of all */
  struct ms_c_small_sums *small_sums; /* those that are being written, or NULL */
  ms_text fits; /* conditions on captured numbers for the quick text (c_region.h) */
  uint32_t temps, labels, line, indent;
  uint32_t small_records;           /* of rows that the body looks through (c_small_sum.h) */
  uint32_t loops;                   /* inner loops around */
  uint32_t copy;                    /* which copy of a loop's block is written (c_jam.h) */
  const char *copies_left;          /* C: how many iterations are left for them; NULL: enough */
  const struct ms_c_fours *fours;   /* sums that iterations go on with (c_fours.h), or NULL */
  uint32_t whole_steps;             /* left for the integer that is looked for, */
  const struct ms_assumed *assumed; /* and what holds there, or NULL: c_chosen.c */
  ms_guard_scope scope[MS_SCOPES];
  uint32_t scopes;
  ms_c_local *local; /* by symbol index */
  ms_c_label *label;
  ms_inlined *inlined;
  ms_c_recursive *recursive;       /* those that are called, in the order of their numbers */
  const ms_c_recursive *within;    /* the one that is being written, or NULL */
  ms_c_local beyond;               /* of variables that it does not reach */
  bool *number_used;               /* by capture: parameters */
  uint32_t positions;              /* numbers that say where a tracked scalar got its value */
  bool stops;                      /* the function may stop */
  bool uncounted;                  /* how often it repeats something may not be known before */
  bool *pointer_used;              /* by binding */
  bool *touched_used;              /* by binding */
  bool *counted_used;              /* by capture: sums that are integers, see c_variable.c */
  bool *stride_used, *extent_used; /* by binding * MS_MAX_DIMS + dimension */
  bool limit_used[MS_MAX_DIMS];    /* of the entries that are the space */
  bool *rows_used;                 /* by capture * MS_MAX_DIMS + part: parameters */
  bool entries_used, steps_used;
  bool *shared; /* by capture: its memory may overlap another's */
  ms_constant constant[MS_CONSTANTS];
  uint32_t constants;
  ms_special *special;
  ms_c_outer_list list[MS_LISTS];
  uint32_t lists;
  ms_cache_prefetch ahead[MS_AHEAD]; /* of the quick text that is being written */
  uint32_t ahead_count;
  bool drawing;   /* the text draws, whatever what the body captures could do; */
  bool batches;   /* draws are those of many iterations: c_draws.h; */
  uint32_t draws; /* how many are written, and which are numbers from 0 to 1 */
  bool draws_unit[MS_C_DRAWS];
  bool declines;         /* blocks whose guards fail are left to the Lua engine */
  bool counted;          /* all loops of the quick text are: it does not take for ever */
  bool careful_counted;  /* the same of the careful text */
  bool ends;             /* blocks whose guards hold go through to their end */
  const char **messages; /* of MS_NATIVE_ERROR */
  uint32_t message_count, message_room;
  const ms_tree *tree; /* whose name `file` is, as a C string's inside */
  const char *file;
  ms_kernel_info *info;
  bool failed; /* out of memory */
} ms_writer;

/* A formatted text in the arena; "" when memory is out. */
const char *ms_c_text(ms_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends one statement on a line of its own. */
void ms_c_line(ms_writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes where the following lines come from. */
void ms_c_place(ms_writer *w, const ms_node *node);

/* Remembers why the body cannot be C; the first reason stays. */
void ms_c_refuse(ms_writer *w, const ms_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A new temporary's name. */
const char *ms_c_temp(ms_writer *w);

/* What is known of a local of any text: nothing in a recursive function, if it does not reach it.
 */
ms_c_local *ms_c_local_of(const ms_writer *w, const ms_symbol *symbol);

/* The C name of a local. */
const char *ms_c_local_name(ms_writer *w, const ms_symbol *symbol);

/* The last part of the user's name of a binding. */
const char *ms_c_binding_name(ms_writer *w, uint32_t at);

/* Whether a node stands in another file than the loop. */
bool ms_c_is_elsewhere(const ms_writer *w, const ms_node *node);

/* The line that refusals name: of a function from another file, that of its call in the body. */
uint32_t ms_c_body_line(const ms_writer *w, const ms_node *node);

/* The source of a node, cut to what a message can show. */
const char *ms_c_source(ms_writer *w, const ms_node *node);

/* A part of a C name that is left of a user's name. */
const char *ms_c_name(ms_writer *w, const char *name);

/* Whether a C text is a name or a number. */
bool ms_c_is_simple(const char *text);

/* A double as a C constant with the same bits. */
const char *ms_c_number(ms_writer *w, double number);

/* Appends a jump to the end of a block that has stopped. */
void ms_c_leave(ms_writer *w, const ms_node *node);

/* Appends a stop (native.h) if `condition` holds, which is C as `value` is. */
void ms_c_stop(ms_writer *w, const ms_node *node, const char *condition, const char *stop,
               uint32_t capture, uint32_t dim, const char *value);

/* The same of two numbers. */
void ms_c_stop_both(ms_writer *w, const ms_node *node, const char *condition, const char *stop,
                    uint32_t capture, uint32_t dim, const char *value, const char *other);

/* The same with a message. */
void ms_c_error(ms_writer *w, const ms_node *node, const char *condition, const char *message);

/* The number of a message, from 0. */
uint32_t ms_c_message(ms_writer *w, const char *message);

#endif
