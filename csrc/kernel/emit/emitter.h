/* SPDX-License-Identifier: MIT
 *
 * What the files that write a kernel's text share: the state of one emission.
 *
 * All memory is in the emitter's arena. An emitter belongs to one call of ms_kernel_emit. */
#ifndef MS_KERNEL_EMIT_EMITTER_H
#define MS_KERNEL_EMIT_EMITTER_H

#include "kernel/emit/emit.h"

/* Run-time helpers that a chunk may use: the name in the helpers' table. */
#define MS_KERNEL_HELPERS(X) \
  X(POW, "pow")              \
  X(CHECK, "check")          \
  X(PAIR, "pair")            \
  X(TRIPLE, "triple")        \
  X(NUMBER, "number")        \
  X(INT32, "int32")          \
  X(INT64, "int64")          \
  X(WIDE, "wide")            \
  X(NONE, "none")            \
  X(FLOOR, "floor")          \
  X(CEIL, "ceil")            \
  X(GREATER, "greater")      \
  X(LESS, "less")            \
  X(SLICE, "slice")          \
  X(KEYED, "keyed")          \
  X(AT, "at")                \
  X(TOUCH, "touch")          \
  X(TOUCH_ROW, "touch_row")

/* Most row helpers ("dot_float", ...) that one chunk can use. */
#define MS_ROW_HELPERS 32

typedef enum ms_helper {
#define MS_HELPER_NAME(name, key) MS_HELPER_##name,
  MS_KERNEL_HELPERS(MS_HELPER_NAME)
#undef MS_HELPER_NAME
      MS_HELPER_COUNT
} ms_helper;

/* A local that stands for a view of a dense array: in the text it holds an offset, a number. */
typedef struct ms_local_view {
  uint32_t array; /* capture of the array */
  uint32_t given; /* subscripts that are already applied */
  uint32_t uses, allowed;
  bool live; /* still believed to be used in rewritable ways only */
} ms_local_view;

/* What a local of the body may hold. */
typedef enum ms_what {
  MS_HOLDS_NOTHING, /* yet */
  MS_HOLDS_NUMBER,
  MS_HOLDS_OTHER, /* anything but a table */
  MS_HOLDS_VIEW,  /* of an array of numbers, `levels`: dimensions that are left */
  MS_HOLDS_TABLE, /* from outside, `levels` of tables in one another, itself the outermost, and 1 */
  MS_HOLDS_ANY
} ms_what;

typedef struct ms_holds {
  ms_what what;
  uint32_t levels;
} ms_holds;

typedef struct ms_emitter {
  const ms_kernel_job *job;
  ms_arena *arena;
  ms_text *out;
  ms_error *err;
  ms_node *body;                   /* the innermost body: below collapsed loops */
  uint32_t dims;                   /* of the iteration space, collapsed loops included */
  ms_symbol *indices[MS_MAX_DIMS]; /* of each dimension; NULL where the loop names none */
  ms_symbol *value;                /* the entry's value, or NULL */
  char prefix[16];
  bool *value_used, *pointer_used, *touched_used; /* by capture */
  bool *stride_used, *extent_used;                /* by capture * MS_MAX_DIMS + dimension */
  bool *spilled;                                  /* by capture */
  bool *parameter;               /* by capture: a number that other executions of this text share */
  const ms_scalar_plan **scalar; /* by capture; NULL if it is no scalar of the plan */
  ms_local_view **views;         /* by symbol index; NULL for other symbols */
  ms_holds *holds;               /* by symbol index: see key_type.h */
  bool rereads;                  /* the body calls what reads a part of it again */
  const ms_node **blocked;       /* assignment targets that keep the object's semantics */
  uint32_t blocked_count;
  bool helper_used[MS_HELPER_COUNT];
  const char *rows[MS_ROW_HELPERS]; /* names of the row helpers used */
  uint32_t row_count;
  const ms_node *pinned; /* node to be replaced by the value of `pinned_capture` */
  uint32_t pinned_capture;
  uint32_t depth; /* nested functions entered */
  uint32_t loops; /* numeric loops whose bounds have names of their own */
  bool leaves;    /* a return of the closure form was seen */
} ms_emitter;

/* No capture. */
#define MS_NO_CAPTURE UINT32_MAX

/* Whether the loop runs over the entries of a sparse array. */
bool ms_emitter_entries(const ms_kernel_job *job);

/* Whether the body may draw random numbers, so that they must know the iteration. */
bool ms_emitter_draws(const ms_kernel_job *job);

/* Fills an emitter that has its job, arena and err. -1: memory, or a body that the plan has no
 * roles for. */
int ms_emitter_prepare(ms_emitter *emitter);

/* Takes an info's vectors and fills what the emitter knows of it. -1 when memory is out. */
int ms_emitter_info(ms_emitter *emitter, ms_kernel_info *info);

/* Most fields of a path that is looked up; longer ones are matched by their beginning. */
#define MS_PATH_FIELDS 32

/* The capture of a text that the path written at `node` (NAME or constant INDEX) begins with, or
 * MS_NO_CAPTURE. step[0 .. *count] are the path's nodes, the whole first, the root last. */
uint32_t ms_emitter_find_capture(const ms_loop *loop, const ms_node *node,
                                 const ms_node *step[MS_PATH_FIELDS + 1], uint32_t *count);

/* The capture that the path written at `node` (NAME or constant INDEX) belongs to, or
 * MS_NO_CAPTURE. `value` receives the part of it that the capture's value stands for. */
uint32_t ms_emitter_capture(const ms_emitter *emitter, const ms_node *node, const ms_node **value);

/* Adds a helper's name to the text and remembers that the chunk needs it. */
void ms_emitter_helper(ms_emitter *emitter, ms_helper helper);

/* Adds the name (or table read) of capture `at` to the text. */
void ms_emitter_value(ms_emitter *emitter, uint32_t at);

/* Adds the name of the pointer to the array that capture `at` is. */
void ms_emitter_pointer(ms_emitter *emitter, uint32_t at);

/* Adds the name of the marks of the array that capture `at` is. */
void ms_emitter_touched(ms_emitter *emitter, uint32_t at);

/* Whether a dense array's strides are those of row-major order. */
bool ms_emitter_row_major(const ms_emitter *emitter, uint32_t at);

/* Adds the stride of dimension `dim` of the array that capture `at` is: a number or a name. */
void ms_emitter_stride(ms_emitter *emitter, uint32_t at, uint32_t dim);

/* Adds the extent of dimension `dim` of the array that capture `at` is: a number or a name. */
void ms_emitter_extent(ms_emitter *emitter, uint32_t at, uint32_t dim);

/* Whether a node may be part of what the body gives to meissa.iterate or meissa.replicas: a
 * function, or the block of a loop over what a call gives. These find the arrays there by what
 * their names hold, so elements stay elements of arrays. */
bool ms_emitter_is_reread(const ms_emitter *emitter, const ms_node *node);

/* Finds the locals of the body that can be offsets, and the assignments that cannot be rewritten.
 * Fills emitter->views and emitter->blocked. -1 when memory is out. */
int ms_emitter_view_offsets(ms_emitter *emitter);

/* Whether a node is in emitter->blocked. */
bool ms_emitter_blocked(const ms_emitter *emitter, const ms_node *node);

/* Appends what `write` writes in place of a node, with as many newlines as the node has. */
typedef void ms_emitter_writer(ms_emitter *emitter, const void *what);
void ms_emitter_padded(ms_emitter *emitter, const ms_node *node, ms_emitter_writer *write,
                       const void *what);

/* Appends an assignment. */
void ms_emitter_assign(ms_emitter *emitter, const ms_node *node);

/* Appends the user's text from one place to another as it is. */
void ms_emitter_copy(ms_emitter *emitter, size_t from, size_t to);

/* Appends a node's text with what `write` writes in place of each kid. */
typedef void ms_emitter_kid_writer(ms_emitter *emitter, const ms_node *node, uint32_t kid);
void ms_emitter_kids(ms_emitter *emitter, const ms_node *node, ms_emitter_kid_writer *write);

/* Appends the rewritten text of [node->begin, node->end). */
void ms_emitter_node(ms_emitter *emitter, const ms_node *node);

#endif
