/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: regions. See c_region.h. */
#include "kernel/native/c_region.h"

#include <string.h>

#include "kernel/native/c_region_survey.h"
#include "kernel/native/c_value.h"

bool ms_c_is_single(const ms_writer *w) {
  return w->region != NULL && w->region->single && w->exact == 0;
}

static bool is_float(const ms_c_value *value) {
  return value->form == MS_FORM_FLOAT;
}

ms_precision ms_c_joined(const ms_writer *w, const ms_c_value *a, const ms_c_value *b) {
  if (a->kind.precision == MS_FULL || b->kind.precision == MS_FULL) return MS_FULL;
  return ms_c_is_single(w) && (is_float(a) || is_float(b)) ? MS_SINGLE : MS_ANY_PRECISION;
}

/* ---- variables ---- */

/* Whether all assignments of a variable stand in the loop that declares it, not in one inside it or
 * in a function. */
static bool is_local_to_region(const ms_symbol *symbol) {
  if (!symbol->assigned) return true;
  const ms_node *from = symbol->declaration, *home = symbol->function->node;
  if (from != NULL) home = from->kind == MS_LOCAL ? ms_c_loop_around(from) : from;
  return !ms_c_is_assigned_in(symbol->function->body, symbol, home);
}

ms_representation_of ms_c_local_form(const ms_writer *w, const ms_symbol *symbol,
                                     const ms_kind_of *kind, const ms_c_value *value) {
  ms_representation_of form = ms_c_representation(w, kind);
  if (kind->can != MS_CAN_NUMBER || !w->fast) return form;
  bool single = ms_c_is_single(w) || w->region == NULL; /* an entry's value has its type */
  if (!symbol->assigned)
    return value->form == MS_FORM_FLOAT && single ? MS_FORM_FLOAT : MS_FORM_DOUBLE;
  const ms_node *function = symbol->function->node;
  const ms_callee *callee = function == NULL ? NULL : ms_typed_callee(w->typed, function);
  bool mixed = callee != NULL && callee->mixed;
  return is_local_to_region(symbol) && !mixed ? form : MS_FORM_DOUBLE;
}

bool ms_c_is_carried(const ms_writer *w, const ms_symbol *symbol) {
  if (!symbol->assigned || w->region == NULL || ms_c_local_of(w, symbol)->region == w->region)
    return false;
  return symbol->upvalue || ms_c_is_assigned_in(w->region->node, symbol, NULL);
}

/* ---- numbers from outside ---- */

#define AND " && "

/* Adds a condition that is not there yet. */
static void ask(ms_text *conditions, const char *condition) {
  const char *at = conditions->length > 0 ? conditions->bytes : "";
  size_t length = strlen(condition);
  while ((at = strstr(at, condition)) != NULL) {
    if (at[length] == '\0' || at[length] == ' ') return;
    at += length;
  }
  ms_text_format(conditions, "%s%s", conditions->length > 0 ? AND : "", condition);
}

void ms_c_region_takes(ms_writer *w, const ms_c_value *value) {
  if (value->outside == NULL || !ms_c_is_single(w)) return;
  const char *condition = ms_c_text(w, "ms_is_fair_float(%s)", value->outside);
  bool captured = value->outside[0] == 'c'; /* careful texts look where they are */
  ask(captured && w->careful == 0 ? &w->fits : &w->region->fits, condition);
}

/* ---- regions ---- */

static void write_apart(ms_writer *w, ms_region *region, ms_c_write *write, const void *context,
                        ms_text *text) {
  ms_text *out = w->out;
  w->out = text;
  w->region = region;
  write(w, context);
  w->region = region->around;
  w->out = out;
  w->line = 0;
}

static void append(ms_writer *w, const ms_text *text) {
  ms_text_append(w->out, text->bytes, text->length);
  w->failed = w->failed || text->failed;
}

void ms_c_region(ms_writer *w, const ms_node *node, ms_c_write *write, const void *context) {
  if (!w->fast || w->within != NULL) {
    if (w->info->fast_line == 0 && w->within == NULL) ms_c_survey_is_single(w, node);
    write(w, context);
    return;
  }
  ms_region *region = ms_arena_take(w->arena, 1, sizeof *region);
  if (region == NULL) {
    w->failed = true;
    return;
  }
  *region = (ms_region){.around = w->region, .node = node};
  region->single = w->wide == 0 && ms_c_survey_is_single(w, node);
  ms_text narrow = {0}, wide = {0};
  uint32_t exact = w->exact, draws = w->draws;
  w->exact = 0;
  write_apart(w, region, write, context, &narrow);
  if (region->fits.length > 0 && w->why->line == 0) {
    region->single = false;
    w->wide++;
    w->draws = draws; /* the same numbers */
    write_apart(w, region, write, context, &wide);
    w->wide--;
    ms_c_line(w, "if (MS_SURELY(%s)) {", region->fits.bytes);
    append(w, &narrow);
    ms_c_line(w, "} else {");
    append(w, &wide);
    ms_c_line(w, "}");
  } else {
    append(w, &narrow);
  }
  w->exact = exact;
  ms_text_free(&narrow);
  ms_text_free(&wide);
  ms_text_free(&region->fits);
}
