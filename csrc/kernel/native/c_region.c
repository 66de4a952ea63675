/* SPDX-License-Identifier: MIT
 *
 * Writing C in fast mode: regions. See c_region.h. */
#include "kernel/native/c_region.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/native/c_survey.h"
#include "kernel/native/c_value.h"

bool ms_c_region_is_single(const ms_writer *w) {
  return w->region != NULL && w->region->single && w->exact == 0;
}

static bool is_float(const ms_c_value *value) {
  return value->form == MS_FORM_FLOAT;
}

ms_precision ms_c_region_joined(const ms_writer *w, const ms_c_value *a, const ms_c_value *b) {
  if (a->kind.precision == MS_FULL || b->kind.precision == MS_FULL) return MS_FULL;
  return ms_c_region_is_single(w) && (is_float(a) || is_float(b)) ? MS_SINGLE : MS_ANY_PRECISION;
}

/* ---- variables ---- */

/* Whether all assignments of a variable stand in the loop that declares it, not in one inside it or
 * in a function. */
static bool is_local_to_region(const ms_symbol *symbol) {
  if (!symbol->assigned) return true;
  const ms_node *from = symbol->declaration, *home = symbol->function->node;
  if (from != NULL) home = from->kind == MS_LOCAL ? ms_c_survey_around(from) : from;
  return !ms_c_survey_assigns(symbol->function->body, symbol, home);
}

ms_representation_of ms_c_region_local_form(const ms_writer *w, const ms_symbol *symbol,
                                            const ms_kind_of *kind, const ms_c_value *value) {
  ms_representation_of form = ms_c_value_representation(w, kind);
  if (kind->can != MS_CAN_NUMBER || !w->fast) return form;
  bool single = ms_c_region_is_single(w) || w->region == NULL; /* an entry's value has its type */
  if (!symbol->assigned)
    return value->form == MS_FORM_FLOAT && single ? MS_FORM_FLOAT : MS_FORM_DOUBLE;
  const ms_node *function = symbol->function->node;
  const ms_callee *callee = function == NULL ? NULL : ms_typed_callee(w->typed, function);
  bool mixed = callee != NULL && callee->mixed;
  return is_local_to_region(symbol) && !mixed ? form : MS_FORM_DOUBLE;
}

/* Whether the present region carries a variable from one iteration to the next. */
static bool is_carried(const ms_writer *w, const ms_symbol *symbol) {
  if (!symbol->assigned || w->region == NULL || ms_c_local_of(w, symbol)->region == w->region)
    return false;
  return symbol->upvalue || ms_c_survey_assigns(w->region->node, symbol, NULL);
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

static const char *is_fair(ms_writer *w, const char *text) {
  return ms_c_text(w, "ms_is_fair_float(%s)", text);
}

static void add(ms_writer *w, const ms_c_outside **all, ms_c_outside number) {
  for (const ms_c_outside *each = *all; each != NULL; each = each->next) {
    if (strcmp(each->condition, number.condition) == 0) return;
  }
  ms_c_outside *added = ms_arena_take(w->arena, 1, sizeof *added);
  if (added == NULL) {
    w->failed = true;
    return;
  }
  *added = number;
  added->next = *all;
  *all = added;
}

static void add_captured(ms_writer *w, ms_c_value *value, const char *condition) {
  if (w->fast) add(w, &value->outside, (ms_c_outside){.condition = condition, .captured = true});
}

void ms_c_region_captured(ms_writer *w, ms_c_value *value) {
  add_captured(w, value, is_fair(w, value->text));
  value->early = (ms_c_early){value->text, true};
}

void ms_c_region_listed(ms_writer *w, const char *list, const char *element, ms_c_value *value) {
  if (element == NULL) {
    add_captured(w, value, ms_c_text(w, "ms_are_fair_floats(%s, %s_n)", list, list));
    return;
  }
  value->early.captured = true;
  value->early.text =
      ms_c_text(w, "ms_list_get(%s, %s_n, ms_number(%s)).number", list, list, element);
  add_captured(w, value, is_fair(w, value->early.text));
}

void ms_c_region_in_lists(ms_writer *w, const char *lists, uint32_t levels, ms_c_value *value) {
  add_captured(w, value,
               ms_c_text(w, "ms_are_fair_lists(%s, %s_s, %" PRIu32 ")", lists, lists, levels));
}

void ms_c_region_local(ms_writer *w, const ms_symbol *symbol, ms_c_value *value) {
  const ms_c_local *known = ms_c_local_of(w, symbol);
  bool own = known->region == w->region;
  if (value->whole != NULL) {
    if (!own && !symbol->assigned) value->early = (ms_c_early){value->text, false};
    return;
  }
  value->kind.precision = known->form == MS_FORM_FLOAT ? MS_SINGLE : MS_ANY_PRECISION;
  bool number = known->form == MS_FORM_DOUBLE;
  if ((!number && known->form != MS_FORM_VALUE) || !ms_c_region_is_single(w)) return;
  const char *text = number ? known->text : ms_c_text(w, "%s.number", known->text);
  if (is_carried(w, symbol)) {
    if (number) value->kind.precision = MS_FULL;
  } else if (own) {
    value->outside = known->outside;
    value->early = known->early;
  } else {
    add(w, &value->outside,
        (ms_c_outside){
            .condition = is_fair(w, text), .home = known->region, .parts = known->outside});
    value->early = (ms_c_early){text, false};
  }
}

/* Whether what `home` sets is known in front of a region. */
static bool is_before(const ms_region *home, const ms_region *region) {
  if (home == NULL) return true;
  do region = region->around;
  while (region != NULL && region != home);
  return region != NULL;
}

static void join(ms_writer *w, const ms_c_outside **all, const ms_c_outside *more,
                 const ms_region *region) {
  for (; more != NULL; more = more->next) {
    if (is_before(more->home, region)) {
      add(w, all, *more);
    } else {
      join(w, all, more->parts, region);
    }
  }
}

void ms_c_region_joins(ms_writer *w, const ms_c_outside **all, const ms_c_value *value,
                       const ms_region *region) {
  if (region != NULL && value->whole == NULL) join(w, all, value->outside, region);
}

ms_c_early ms_c_region_early(const char *text, bool captured) {
  return (ms_c_early){strlen(text) > MS_GUARD_TEXT ? NULL : text, captured};
}

/* Careful texts ask of captured numbers where they are. */
static void require(ms_writer *w, const char *condition, bool captured) {
  ask(captured && w->careful == 0 ? &w->fits : &w->region->fits, condition);
}

void ms_c_region_takes(ms_writer *w, const ms_c_value *value) {
  if (value->outside == NULL || !ms_c_region_is_single(w)) return;
  for (const ms_c_outside *each = value->outside; each != NULL; each = each->next)
    require(w, each->condition, each->captured);
  if (value->early.text != NULL) require(w, is_fair(w, value->early.text), value->early.captured);
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
