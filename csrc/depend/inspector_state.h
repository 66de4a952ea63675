/* SPDX-License-Identifier: MIT
 *
 * The inside of serving, shared by inspector.c (the candidates), inspector_taint.c (what a value
 * depends on), inspector_scan.c (what the slice would need) and inspector_text.c (the slice).
 * Belongs to one call of ms_inspector_find. */
#ifndef MS_DEPEND_INSPECTOR_STATE_H
#define MS_DEPEND_INSPECTOR_STATE_H

#include "base/text.h"
#include "depend/inspector.h"

/* What a value depends on: elements of candidate k (bit k), or something that is not known before
 * the loop is run. */
typedef uint64_t ms_taint;

#define MS_TAINT_UNKNOWN ((ms_taint)1 << 63)

/* What the slice does where the body accesses an element of a candidate. */
typedef enum ms_inspector_form {
  MS_INSPECT_READS,  /* marks elements that are read, */
  MS_INSPECT_WRITES, /* or, behind that, if it may be written: two slices in one loop */
  MS_INSPECT_STORES, /* stores the iteration's number, if it may be written */
  MS_INSPECT_LOOKS,  /* looks for another iteration's number */
  MS_INSPECT_LEVELS, /* first finds the iteration's level, */
  MS_INSPECT_LEAVES  /* then leaves it there: two slices in one function */
} ms_inspector_form;

typedef struct ms_inspector {
  ms_walk *walk;
  ms_inspector_form form;
  uint32_t count; /* candidates */
  uint32_t binding[MS_INSPECTOR_MOST];
  const char *why[MS_INSPECTOR_MOST]; /* a candidate is sent whole */
  ms_taint served;                    /* candidates that are left */
  ms_taint written;                   /* candidates that the loop writes, too, */
  ms_taint stored;                    /* and those of which the written elements are marked */
  bool uncertain;   /* a jump may happen or not: what comes after it may be left out */
  ms_taint *taint;  /* by symbol index */
  ms_taint control; /* what decides whether the present place is reached */
  ms_taint exits;   /* what decides about jumps out of the present loop */
  ms_taint jumps;   /* what decides about gotos */
  bool *needed;     /* by symbol index: the slice computes it */
  bool changed;     /* a taint, or what is needed, has grown */
  bool checking;    /* taints are complete */
  ms_text *text;    /* that is written */
  uint32_t useful;  /* marks and assignments written */
} ms_inspector;

/* An array, or a part of one, that an expression names. */
typedef struct ms_array_path {
  int32_t candidate; /* -1: another array */
  uint32_t binding, subscripts;
  bool range; /* some subscript is a range */
} ms_array_path;

/* Takes candidates away: they are sent whole, for the reason `why` (static storage). */
void ms_inspector_drop(ms_inspector *inspector, ms_taint which, const char *why);

/* Takes candidates away until the others can be served. */
void ms_inspector_settle(ms_inspector *inspector);

/* Whether an expression is an array's name, a local view, or either with subscripts. */
bool ms_inspector_path(const ms_inspector *inspector, const ms_node *node, ms_array_path *path);

/* What an expression's value depends on. */
ms_taint ms_inspector_taint(const ms_inspector *inspector, const ms_node *node);

/* What the place that a path names depends on. */
ms_taint ms_inspector_place(const ms_inspector *inspector, const ms_node *node);

/* What the number of a loop's iterations depends on: FOR_NUMERIC, FOR_GENERIC, WHILE, REPEAT. */
ms_taint ms_inspector_bounds(const ms_inspector *inspector, const ms_node *loop);

/* Whether a local variable holds a view of a candidate, by its name or declaration. */
bool ms_inspector_is_view(const ms_inspector *inspector, const ms_symbol *symbol);

/* Writes the function of a slice that is about collisions, around what `body` writes. */
void ms_inspector_function(ms_inspector *inspector,
                           void (*body)(ms_inspector *inspector, ms_node *block));

/* Writes what the slice does at an access to a candidate, an element or all below; `writes`: it may
 * write there. */
void ms_inspector_access(ms_inspector *inspector, ms_node *node, const ms_array_path *path,
                         bool writes);

/* Writes marks for what an expression reads. */
void ms_inspector_mark(ms_inspector *inspector, ms_node *node);

/* The same for the parts of a node from number `first` on. */
void ms_inspector_mark_kids(ms_inspector *inspector, ms_node *node, uint32_t first);

/* The same for a path's subscripts: those of an array that is not served may read some that are. */
void ms_inspector_mark_subscripts(ms_inspector *inspector, ms_node *node);

/* Copies an expression, candidates by the names of their marks. */
void ms_inspector_copy(ms_inspector *inspector, ms_node *node);

/* The slice, terminated; it belongs to inspector->text. NULL: out of memory. */
const char *ms_inspector_write(ms_inspector *inspector);

#endif
