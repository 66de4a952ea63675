/* SPDX-License-Identifier: MIT
 *
 * Inspectors, statements: which of the candidates can be served. See inspector.h.
 *
 * A pass over the body says what each variable depends on, by data and by control; passes repeat
 * until nothing changes. Then one more checks what the slice would have to compute. Whenever that
 * takes a candidate away, all begins anew: fewer candidates make more values known. */
#include <string.h>

#include "depend/capture_path.h"
#include "depend/effect.h"
#include "depend/inspector_state.h"

static const char unknown_words[] = "what decides about its subscripts is not known before";
static const char value_words[] = "its elements decide about other subscripts";
static const char shape_words[] = "ranges and views of it are read";
static const char function_words[] = "a function in the body reads it";
static const char return_words[] = "the body returns";

/* The slice needs something that depends on `taint`, to mark elements of `inside`. */
static void demand(ms_inspector *inspector, ms_taint taint, ms_taint inside) {
  if (!inspector->checking || inside == 0 || taint == 0) return;
  if ((taint & MS_TAINT_UNKNOWN) != 0) {
    ms_inspector_drop(inspector, inside, unknown_words);
  } else {
    ms_inspector_drop(inspector, taint, value_words);
  }
}

/* ---- what variables depend on ---- */

static void give(ms_inspector *inspector, const ms_symbol *symbol, ms_taint taint) {
  ms_taint *own = &inspector->taint[symbol->index];
  if ((*own | taint) != *own) inspector->changed = true;
  *own |= taint;
}

/* What each of `count` expressions gives to `targets` variables. */
static ms_taint value_taint(const ms_inspector *inspector, ms_node **values, uint32_t count,
                            uint32_t at) {
  if (count == 0) return 0;
  if (at < count) return ms_inspector_taint(inspector, values[at]);
  const ms_node *last = values[count - 1];
  bool open = last->kind == MS_CALL || last->kind == MS_METHOD || last->kind == MS_VARARG;
  return open ? ms_inspector_taint(inspector, last) : 0;
}

typedef struct spoiling {
  ms_inspector *inspector;
  ms_taint taint;
} spoiling;

static bool spoil_assigned(ms_node *node, void *context) {
  spoiling *spoil = context;
  for (uint32_t k = 0; node->kind == MS_ASSIGN && k < node->targets; k++) {
    const ms_symbol *symbol = node->kid[k]->symbol;
    if (node->kid[k]->kind == MS_NAME && symbol != NULL)
      give(spoil->inspector, symbol, spoil->taint);
  }
  return true;
}

/* Whether a jump happens depends on something: so does every assignment in what it may leave. */
static void spoil(ms_inspector *inspector, ms_node *region, ms_taint taint) {
  spoiling what = {inspector, taint};
  if (taint != 0) ms_node_walk(region, spoil_assigned, &what);
}

/* ---- what expressions read ---- */

static ms_taint check_values(ms_inspector *inspector, ms_node *node);

static ms_taint check_kids(ms_inspector *inspector, ms_node *node, uint32_t first) {
  ms_taint read = 0;
  for (uint32_t k = first; k < node->kids; k++) {
    if (node->kid[k] != NULL) read |= check_values(inspector, node->kid[k]);
  }
  return read;
}

/* The candidates that a function's text names. */
typedef struct naming {
  const ms_inspector *inspector;
  ms_taint named;
} naming;

static bool look_for_names(ms_node *node, void *context) {
  naming *found = context;
  ms_array_path path;
  bool is = (node->kind == MS_NAME || node->kind == MS_INDEX) &&
            ms_inspector_path(found->inspector, node, &path) && path.candidate >= 0;
  if (is) found->named |= (ms_taint)1 << path.candidate;
  return true;
}

static void check_function(ms_inspector *inspector, ms_node *node) {
  naming found = {inspector, 0};
  ms_node_walk(node, look_for_names, &found);
  ms_inspector_drop(inspector, found.named, function_words);
}

/* A place in an array that is read, or handed to something that may read it. */
static ms_taint check_path(ms_inspector *inspector, ms_node *node, const ms_array_path *path) {
  ms_taint read = 0;
  for (ms_node *at = node; at->kind == MS_INDEX || at->kind == MS_PAREN; at = at->kid[0]) {
    if (at->kind == MS_INDEX && ms_capture_path_of(inspector->walk->loop, at) < 0)
      read |= check_values(inspector, at->kid[1]);
  }
  if (path->candidate < 0) return read;
  ms_taint bit = (ms_taint)1 << path->candidate;
  if (path->range) ms_inspector_drop(inspector, bit, shape_words);
  demand(inspector, ms_inspector_place(inspector, node), bit);
  return read | bit;
}

/* Checks all reads of candidates in an expression; which they are. */
static ms_taint check_values(ms_inspector *inspector, ms_node *node) {
  ms_array_path path;
  switch (node->kind) {
    case MS_NAME:
    case MS_INDEX:
      if (ms_inspector_path(inspector, node, &path)) return check_path(inspector, node, &path);
      return check_kids(inspector, node, 0);
    case MS_METHOD:
      if (ms_inspector_path(inspector, node->kid[0], &path) && path.candidate >= 0 &&
          ms_effect_of_method(node->text, node->kids - 1) == MS_EFFECT_VIEW)
        ms_inspector_drop(inspector, (ms_taint)1 << path.candidate, shape_words);
      return check_kids(inspector, node, 0);
    case MS_FUNCTION:
      check_function(inspector, node);
      return 0;
    case MS_BINARY:
      if (node->op == MS_OP_AND || node->op == MS_OP_OR) {
        ms_taint read = check_values(inspector, node->kid[0]), outer = inspector->control;
        inspector->control |= ms_inspector_taint(inspector, node->kid[0]);
        read |= check_values(inspector, node->kid[1]);
        inspector->control = outer;
        return read;
      }
      return check_kids(inspector, node, 0);
    case MS_FIELD:
      return (node->kid[0] != NULL ? check_values(inspector, node->kid[0]) : 0) |
             check_values(inspector, node->kid[1]);
    default:
      return check_kids(inspector, node, 0);
  }
}

static ms_taint check(ms_inspector *inspector, ms_node *node) {
  return inspector->checking ? check_values(inspector, node) : 0;
}

/* ---- statements: which candidates they read ---- */

static ms_taint scan(ms_inspector *inspector, ms_node *node);

static ms_taint scan_local(ms_inspector *inspector, ms_node *node) {
  ms_taint read = 0;
  for (uint32_t k = 0; k < node->symbol_count; k++) {
    ms_array_path path;
    const ms_symbol *symbol = node->symbols[k];
    bool view = k < node->kids && ms_inspector_is_view(inspector, symbol) &&
                ms_inspector_path(inspector, node->kid[k], &path);
    give(inspector, symbol,
         view ? ms_inspector_place(inspector, node->kid[k])
              : value_taint(inspector, node->kid, node->kids, k));
  }
  for (uint32_t k = 0; k < node->kids; k++) read |= check(inspector, node->kid[k]);
  return read;
}

static ms_taint scan_assign(ms_inspector *inspector, ms_node *node) {
  ms_taint read = 0;
  uint32_t values = node->kids - node->targets;
  for (uint32_t k = 0; k < node->targets; k++) {
    ms_node *target = node->kid[k];
    if (target->kind == MS_NAME && target->symbol != NULL) {
      ms_taint taint = value_taint(inspector, node->kid + node->targets, values, k);
      if (k >= values) taint = MS_TAINT_UNKNOWN; /* the slice may leave other targets out */
      give(inspector, target->symbol, taint | inspector->control);
    } else if (target->kind == MS_INDEX) {
      read |= check(inspector, target);
    }
  }
  for (uint32_t k = node->targets; k < node->kids; k++) read |= check(inspector, node->kid[k]);
  return read;
}

static ms_taint scan_if(ms_inspector *inspector, ms_node *node) {
  ms_taint read = 0, outer = inspector->control;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k]->kind == MS_BLOCK) {
      read |= scan(inspector, node->kid[k]);
    } else {
      read |= check(inspector, node->kid[k]);
      inspector->control |= ms_inspector_taint(inspector, node->kid[k]);
    }
  }
  inspector->control = outer;
  return read;
}

static ms_node *block_of(ms_node *loop) {
  return loop->kid[loop->kind == MS_REPEAT ? 0 : loop->kids - 1];
}

/* The loop ends when its own condition or a jump says so. */
static bool is_open_ended(const ms_node *loop) {
  return loop->kind == MS_WHILE || loop->kind == MS_REPEAT;
}

static ms_taint scan_loop(ms_inspector *inspector, ms_node *node) {
  ms_taint outer = inspector->control, outer_exits = inspector->exits, read = 0;
  ms_taint bounds = ms_inspector_bounds(inspector, node);
  for (uint32_t k = 0; k < node->symbol_count; k++) give(inspector, node->symbols[k], bounds);
  inspector->exits = 0;
  inspector->control |= bounds;
  read = scan(inspector, block_of(node));
  ms_taint exits = inspector->exits | inspector->jumps;
  spoil(inspector, node, inspector->exits);
  inspector->control = outer;
  inspector->exits = outer_exits;
  for (uint32_t k = 0; k < node->kids; k++) {
    if (node->kid[k] != NULL && node->kid[k]->kind != MS_BLOCK) {
      ms_taint own = check(inspector, node->kid[k]);
      if (is_open_ended(node)) read |= own;
    }
  }
  /* Without a jump, or where the body does not come, it might never end. */
  if (node->kind != MS_FOR_GENERIC) bounds |= exits;
  if (is_open_ended(node)) bounds |= outer;
  demand(inspector, bounds, read);
  return read;
}

static ms_taint scan_jump(ms_inspector *inspector, const ms_node *node) {
  inspector->exits |= inspector->control;
  inspector->uncertain = inspector->uncertain || inspector->control != 0;
  if (node->kind == MS_GOTO) {
    inspector->jumps |= inspector->control;
    spoil(inspector, inspector->walk->loop->body, inspector->control);
  }
  return 0;
}

static ms_taint scan_kids(ms_inspector *inspector, ms_node *node) {
  ms_taint read = 0;
  for (uint32_t k = 0; k < node->kids; k++) read |= scan(inspector, node->kid[k]);
  return read;
}

static ms_taint scan(ms_inspector *inspector, ms_node *node) {
  switch (node->kind) {
    case MS_LOCAL:
      return scan_local(inspector, node);
    case MS_ASSIGN:
      return scan_assign(inspector, node);
    case MS_IF:
      return scan_if(inspector, node);
    case MS_WHILE:
    case MS_REPEAT:
    case MS_FOR_NUMERIC:
    case MS_FOR_GENERIC:
      return scan_loop(inspector, node);
    case MS_BLOCK:
    case MS_DO:
      return scan_kids(inspector, node);
    case MS_BREAK:
    case MS_GOTO:
      return scan_jump(inspector, node);
    case MS_LOCAL_FUNCTION:
      give(inspector, node->symbols[0], MS_TAINT_UNKNOWN);
      check_function(inspector, node->kid[0]);
      return 0;
    case MS_SET_FUNCTION:
      if (node->kid[0]->symbol != NULL) give(inspector, node->kid[0]->symbol, MS_TAINT_UNKNOWN);
      check_function(inspector, node->kid[1]);
      return 0;
    case MS_EXPRESSION:
      return check(inspector, node->kid[0]);
    case MS_RETURN:
      ms_inspector_drop(inspector, inspector->served, return_words);
      return 0;
    default:
      return 0;
  }
}

/* A goto back to a label makes a loop that is not looked at. */
typedef struct label_place {
  const char *name;
  size_t place;
  bool back;
} label_place;

static bool look_for_goto(ms_node *node, void *context) {
  label_place *label = context;
  if (node->kind == MS_GOTO && node->begin > label->place && strcmp(node->text, label->name) == 0)
    label->back = true;
  return node->kind != MS_FUNCTION;
}

static bool look_for_label(ms_node *node, void *context) {
  ms_inspector *inspector = context;
  if (node->kind != MS_LABEL) return node->kind != MS_FUNCTION;
  label_place label = {node->text, node->begin, false};
  ms_node_walk(inspector->walk->loop->body, look_for_goto, &label);
  if (label.back) ms_inspector_drop(inspector, inspector->served, unknown_words);
  return true;
}

static bool spoil_inside(ms_node *node, void *context) {
  spoiling *spoil = context;
  const ms_node *name = node->kind == MS_SET_FUNCTION ? node->kid[0] : NULL;
  if (name != NULL && name->symbol != NULL) give(spoil->inspector, name->symbol, spoil->taint);
  return spoil_assigned(node, context);
}

/* The places where functions of the body are called are not looked at, so nothing is known of the
 * variables that they assign. */
static bool spoil_functions(ms_node *node, void *context) {
  spoiling what = {context, MS_TAINT_UNKNOWN};
  if (node->kind != MS_FUNCTION) return true;
  ms_node_walk(node, spoil_inside, &what);
  return false;
}

void ms_inspector_settle(ms_inspector *inspector) {
  ms_node *body = inspector->walk->loop->body;
  ms_node_walk(body, look_for_label, inspector);
  for (ms_taint before = 0; before != inspector->served && inspector->served != 0;) {
    before = inspector->served;
    memset(inspector->taint, 0,
           (inspector->walk->loop->tree->symbols + 1) * sizeof *inspector->taint);
    ms_node_walk(body, spoil_functions, inspector);
    inspector->jumps = 0;
    inspector->uncertain = false;
    inspector->checking = false;
    for (inspector->changed = true; inspector->changed;) {
      ms_taint jumps = inspector->jumps;
      inspector->changed = false;
      inspector->control = inspector->exits = 0;
      scan(inspector, body);
      inspector->changed = inspector->changed || jumps != inspector->jumps;
    }
    if (before != inspector->served) continue; /* a function names one of them */
    inspector->checking = true;
    inspector->control = inspector->exits = 0;
    scan(inspector, body);
  }
}
