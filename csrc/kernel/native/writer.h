/* SPDX-License-Identifier: MIT
 *
 * What the files that write a kernel's C text share: the state of one emission.
 *
 * An expression becomes a C expression without side effects; what must happen before it (checks of
 * subscripts, calls, choices) is appended to the statements first, in the order of Lua.
 *
 * Every body is written up to twice. The quick text trusts *guards*: conditions over what does not
 * change in a *frame* (the block, or an inner loop in it), tested once where the frame begins. If
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

/* Most frames inside each other; inner loops beyond check where they are. */
#define MS_FRAMES 4

/* Longest text of a guard's bound, in bytes. */
#define MS_GUARD_TEXT 400

/* Up to here gcc unrolls a loop completely before it has made vectors of it, which is slower than
 * to do only the latter. */
#define MS_UNROLLED_TOO_EARLY 32

/* How a value is held in C. */
typedef enum ms_representation {
  MS_FORM_DOUBLE,
  MS_FORM_FLOAT,
  MS_FORM_BOOL,  /* int: 0 or 1 */
  MS_FORM_VALUE, /* ms_value: a tag and a number */
  MS_FORM_OBJECT /* nothing: known by its type */
} ms_representation_of;

typedef struct ms_c_value {
  ms_representation_of form;
  ms_kind_of kind;
  const char *text; /* C expression in the form; of a VIEW a pointer to its first element */
  const struct ms_integer_value *whole; /* in quick texts: the same number as an integer, or NULL */
} ms_c_value;

/* An integer: its C text and the bounds of what it can be while the frame lasts. */
typedef struct ms_integer_value {
  bool known;
  bool unsigned_zero;  /* as a double it is never -0 */
  const char *text;    /* int64_t */
  const char *lo, *hi; /* double, over what does not change in the frame; NULL: not known */
  const char *needs;   /* guards for it to be right, joined with &&; NULL for none */
  int64_t least, most; /* bounds known beforehand */
  int64_t likely;      /* what it was when the text was written; 0: not known */
} ms_integer_value;

typedef struct ms_guard_frame {
  ms_text guards; /* joined with && */
} ms_guard_frame;

/* What is known of a local while its scope is written. */
typedef struct ms_c_local {
  const char *text; /* its name; NULL: not written yet */
  ms_representation_of form;
  const char *whole;         /* int64_t name or expression, or NULL */
  const ms_node *from;       /* expression that gave it its value, or NULL */
  const char *lo, *hi;       /* double texts of an index of the space */
  const ms_node *loop;       /* numeric loop, whose variable it is, or NULL */
  const char *start, *limit; /* double texts of its ends where those are known in its frame only */
  bool down;                 /* it counts downwards */
  bool signed_zero;          /* as a double it may be -0 */
  bool counter;              /* assigned again, but always with integers: see c_induction.c */
  int64_t least, most;
  uint32_t frames; /* how many there were when it was declared */
} ms_c_local;

typedef struct ms_c_label {
  struct ms_c_label *next;
  const char *name, *text;
} ms_c_label;

/* A function that is being written in place of its call. */
typedef struct ms_inlined {
  struct ms_inlined *next;
  const ms_node *function, *call;
  ms_c_value *results; /* variables that take them */
  uint32_t result_count;
  const char *label;
  bool jumped;
  uint32_t call_line; /* of the call in the body, for functions of other files; else 0 */
} ms_inlined;

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

typedef struct ms_writer {
  ms_emitter *emitter;
  ms_typed *typed;
  ms_arena *arena;
  ms_text *out;
  ms_native_refusal *why; /* line 0: not refused */
  bool fast;              /* numeric = "fast" */
  uint32_t careful;       /* > 0: inside a careful text */
  uint32_t temps, labels, line, indent;
  uint32_t loops;       /* inner loops around */
  uint32_t whole_steps; /* left for the integer that is looked for */
  ms_guard_frame frame[MS_FRAMES];
  uint32_t frames;
  ms_c_local *local; /* by symbol index */
  ms_c_label *label;
  ms_inlined *inlined;
  bool *number_used;               /* by capture: parameters */
  uint32_t positions;              /* numbers that say where a tracked scalar got its value */
  bool stops;                      /* the function may stop */
  bool *pointer_used;              /* by binding */
  bool *stride_used, *extent_used; /* by binding * MS_MAX_DIMS + dimension */
  bool limit_used[MS_MAX_DIMS];    /* of the entries that are the space */
  bool *rows_used;                 /* by capture * MS_MAX_DIMS + part: parameters */
  bool entries_used, steps_used;
  bool *shared; /* by capture: its memory may overlap another's */
  ms_constant constant[MS_CONSTANTS];
  uint32_t constants;
  ms_special *special;
  ms_cache_prefetch ahead[MS_AHEAD]; /* of the quick text that is being written */
  uint32_t ahead_count;
  bool declines;         /* blocks whose guards fail are left to the Lua engine */
  const char **messages; /* of MS_NATIVE_ERROR */
  uint32_t message_count, message_room;
  const ms_tree *tree; /* whose name `file` is, as a C string's inside */
  const char *file;
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

/* The value nil. */
ms_c_value ms_c_nil(void);

/* A new temporary's name. */
const char *ms_c_temp(ms_writer *w);

/* What is known of a local of any text, and its name in C. */
ms_c_local *ms_c_local_of(const ms_writer *w, const ms_symbol *symbol);
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

/* The same with a message. */
void ms_c_error(ms_writer *w, const ms_node *node, const char *condition, const char *message);

/* ---- values ---- */

/* The first value of an expression. */
ms_c_value ms_c_expression(ms_writer *w, const ms_node *node);

/* The form in which values of a type are held. */
ms_representation_of ms_c_representation(const ms_writer *w, const ms_kind_of *kind);

/* The C type of a form. */
const char *ms_c_type(ms_representation_of form);

/* The C type of an object that is held: a pointer to a part of an array, a sparse row's number.
 * NULL for other objects. */
const char *ms_c_object_type(ms_writer *w, const ms_kind_of *kind);

/* Conversions. `node` is what a message is about. */
const char *ms_c_as_double(ms_writer *w, ms_c_value value, const ms_node *node);
const char *ms_c_as_float(ms_writer *w, ms_c_value value, const ms_node *node);
const char *ms_c_as_form(ms_writer *w, ms_c_value value, ms_representation_of form,
                         const ms_node *node);
const char *ms_c_as_truth(ms_writer *w, ms_c_value value);

/* What a stop says where a value must be a number: if it is nil, if it is a boolean. */
typedef struct ms_complaint {
  const char *nil, *boolean;
} ms_complaint;

/* A value as a double; what is no number stops with these words. */
const char *ms_c_as_number(ms_writer *w, ms_c_value value, const ms_node *node, ms_complaint says);

/* An expression as a number: double, or float in fast mode if `single`. */
const char *ms_c_operand(ms_writer *w, const ms_node *node, bool single);

/* An expression as a condition. */
const char *ms_c_condition(ms_writer *w, const ms_node *node);

/* Holds a value in a temporary if it is not a name or a constant already. */
ms_c_value ms_c_hold(ms_writer *w, ms_c_value value);

/* Whether LuaJIT reads an operand when it computes, not before: a local variable of the function
 * that runs lies in a register. */
bool ms_c_reads_late(const ms_writer *w, const ms_node *node);

/* ---- integers ---- */

/* For ms_c_value.whole: an int64_t text with its bounds, which are true whatever guards hold and as
 * a double never -0; the sum or difference of two. NULL where integers are not used. */
const ms_integer_value *ms_c_integer(ms_writer *w, const char *text, int64_t least, int64_t most);
const ms_integer_value *ms_c_integer_sum(ms_writer *w, const ms_integer_value *a,
                                         const ms_integer_value *b, bool minus);

/* The same number as a double. */
const char *ms_c_widened(ms_writer *w, const char *text, int64_t least, int64_t most);

/* Integers are used up to here: sums of two, and each as a double, are exact. */
#define MS_C_MOST ((int64_t)1 << 52)

/* A counter (c_induction.c) is away from that by more than its steps. */
#define MS_C_COUNTED (MS_C_MOST - ((int64_t)1 << 20))

/* A node as an integer without guards. */
ms_integer_value ms_c_integer_value_static(ms_writer *w, const ms_node *node);

/* The same, from the outermost frame that allows it; the guards that it needs are added. */
ms_integer_value ms_c_integer_value(ms_writer *w, const ms_node *node);

/* A node as an integer in 1..extent, which guards see to; false if they cannot: then `r` is the
 * integer, if it is one, without bounds. */
bool ms_c_integer_value_within(ms_writer *w, const ms_node *node, const char *extent,
                               ms_integer_value *r);

/* Adds a condition to a frame's guards. */
void ms_c_guard(ms_writer *w, uint32_t frame, const char *condition);

/* Whether a variable that is assigned again only ever holds integers. */
bool ms_c_is_induction(const ms_symbol *symbol);

/* The integer that is assigned to a counter. */
const char *ms_c_counted(ms_writer *w, const ms_node *value);

/* A subscript that is evaluated, but not yet known to lie in its dimension. */
typedef struct ms_c_key {
  const char *text;   /* int64_t, counted from 1, once it is checked */
  const char *wrong;  /* condition under which it is none; NULL: it is one for sure */
  const char *number; /* double */
  const char *tagged; /* ms_value that it is, if it may be no number; else NULL */
  uint32_t can;       /* of what is tagged */
} ms_c_key;

/* Evaluates a subscript of a dimension of `extent`; to a temporary if `hold`. */
ms_c_key ms_c_key_of(ms_writer *w, const ms_node *node, const char *extent, bool hold);

/* Writes the checks of a key that `node` gave, and returns its int64_t text. */
const char *ms_c_key_checked(ms_writer *w, const ms_c_key *key, const ms_node *node, uint32_t array,
                             uint32_t dim);

/* A subscript evaluated and checked at once. */
const char *ms_c_subscript(ms_writer *w, const ms_node *node, uint32_t array, uint32_t dim);

/* ---- arrays ---- */

/* The capture that stands for all names of an array. */
uint32_t ms_c_array(const ms_writer *w, uint32_t capture);

/* The name of the memory of the array that a capture is. */
const char *ms_c_memory(ms_writer *w, uint32_t capture);

/* The stride of a dimension as C text. */
const char *ms_c_stride(ms_writer *w, uint32_t capture, uint32_t dim);

/* The extent of a dimension as C text. */
const char *ms_c_extent(ms_writer *w, uint32_t capture, uint32_t dim);

/* The extent of a dimension of the entries that are the space. */
const char *ms_c_limit(ms_writer *w, uint32_t dim);

/* A place in memory: `p1_A[...]` of an element, or the address of a part's first element.
 * Subscripts are checked. False after a refusal. */
typedef struct ms_c_location {
  ms_kind_of kind; /* of the object that the subscripts complete */
  bool element;
  const char *text; /* lvalue, or pointer */
} ms_c_location;

bool ms_c_locate(ms_writer *w, const ms_node *node, ms_c_location *location);

/* c_cache_prefetch.c: notes that an iteration uses the part of an array that these subscripts name.
 */
void ms_c_note_use(ms_writer *w, uint32_t capture, const ms_node *const *key, uint32_t count);

/* Appends what fetches the noted rows of a coming entry; they are forgotten then. */
void ms_c_cache_prefetch(ms_writer *w);

/* An element that an assignment writes: evaluated as Lua does before it looks at the values, i.e.
 * the array or row and the subscripts; those of the element in its row are checked by the store. */
typedef struct ms_c_site {
  ms_kind_of kind;  /* as of a location */
  const char *base; /* pointer; offset of the checked subscripts, or "" */
  const char *offset;
  const ms_node *node[MS_MAX_DIMS]; /* of the other subscripts */
  ms_c_key key[MS_MAX_DIMS];
  uint32_t keys, dim; /* how many, from which dimension on */
} ms_c_site;

/* Whether what a node gives must be kept from what is evaluated later; of a subscript that is
 * checked at once: node NULL. */
typedef bool ms_c_keeps(const ms_writer *w, const ms_node *node, const void *context);

/* Evaluates a target. False after a refusal. */
bool ms_c_target_eval(ms_writer *w, const ms_node *node, ms_c_keeps *keeps, const void *context,
                      ms_c_site *site);

/* Checks the last subscripts and gives the lvalue. */
const char *ms_c_target_lvalue(ms_writer *w, const ms_c_site *site);

/* Makes a value that is read of an element of an integer type, whose text is of that type, a double
 * with its integer. */
void ms_c_as_integer(ms_writer *w, ms_c_value *value, int32_t type);

/* Reads a located element. */
ms_c_value ms_c_load(ms_writer *w, const ms_c_location *location, const ms_node *node);

/* Text of a value on its way into an element of array `capture`, checked. */
const char *ms_c_stored(ms_writer *w, ms_c_value value, uint32_t capture, const ms_node *node);

/* The same for the value of `node` if it is an integer beforehand that fits; else NULL. */
const char *ms_c_stored_whole(ms_writer *w, uint32_t capture, const ms_node *node);

/* The method call `w:dot(h)` as a number; row statements such as `w:fill(0)`. */
ms_c_value ms_c_measure(ms_writer *w, const ms_node *node);
bool ms_c_row_statement(ms_writer *w, const ms_node *node);

/* A row of a sparse array: its number. */
ms_c_value ms_c_sparse_row(ms_writer *w, const ms_node *node);

/* X[i][j] of a sparse array: 0 where there is no entry. */
ms_c_value ms_c_sparse_element(ms_writer *w, const ms_node *node);

/* `for f, v in X[i]:nonzeros() do`; other generic loops are refused. */
void ms_c_for_entries(ms_writer *w, const ms_node *loop);

/* ---- tables ---- */

/* Most fields of a table of the body. */
#define MS_NATIVE_TABLE_FIELDS 64

/* Where a table takes a value: C texts. */
typedef struct ms_c_slot {
  const char *table;
  const char *key; /* integer in 1..MS_NATIVE_TABLE_ROOM; else NULL and */
  const char *any; /* ms_value */
} ms_c_slot;

/* Declares what a function's tables need, and gives it back. */
void ms_c_tables_begin(ms_writer *w);
void ms_c_tables_end(ms_writer *w);

/* A new table, `{...}`, by its name. */
ms_c_value ms_c_table(ms_writer *w, const ms_node *node);

/* #t; false when the table may have gaps, or it is none. */
bool ms_c_table_length(ms_writer *w, const ms_node *table, ms_c_value *length);

/* Reads t[k]. */
ms_c_value ms_c_table_element(ms_writer *w, const ms_node *node);

/* Evaluates the target t[k] at `place`, then stores the value of `from` into it. */
void ms_c_table_place(ms_writer *w, const ms_node *place, ms_c_slot *slot);
void ms_c_table_store(ms_writer *w, const ms_c_slot *slot, ms_c_value value, const ms_node *from,
                      const ms_node *place);

/* ---- calls ---- */

/* A call's values: fills values[0 .. count-1]. */
void ms_c_call(ms_writer *w, const ms_node *node, ms_c_value *values, uint32_t count);

/* `return` of an inlined function or of the closure form. */
void ms_c_return(ms_writer *w, const ms_node *node);

/* ---- statements ---- */

void ms_c_block(ms_writer *w, const ms_node *block);
void ms_c_for(ms_writer *w, const ms_node *node);

/* Declares a local and gives it a value. */
void ms_c_declare(ms_writer *w, const ms_symbol *symbol, ms_c_value value, const ms_node *from);

void ms_c_assignment(ms_writer *w, const ms_node *node);

/* The variable that a captured scalar is. */
const char *ms_c_variable(ms_writer *w, uint32_t capture);

/* The name of captured number or boolean `capture` as a parameter. */
const char *ms_c_captured(ms_writer *w, uint32_t capture);

/* Evaluates kid[from ...] to `count` values as Lua adjusts lists, each held if `hold`. */
void ms_c_list(ms_writer *w, const ms_node *node, uint32_t from, ms_c_value *values, uint32_t count,
               bool hold);

#endif
