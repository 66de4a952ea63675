/* SPDX-License-Identifier: MIT
 *
 * Writing C: rows and elements of sparse arrays that the loop only reads, by their compressed rows
 * (array/csr.h). See c_sparse.h. A row is held as its number. */
#include "kernel/native/c_sparse.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/native/c_array.h"
#include "kernel/native/c_bounds_check.h"
#include "kernel/native/c_list.h"
#include "kernel/native/c_lists.h"
#include "kernel/native/c_local.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_statement.h"
#include "kernel/native/c_sum.h"
#include "kernel/native/c_trip.h"
#include "kernel/native/c_value.h"

/* Parts of an array's rows, as parameters (ms_param.dim): then the columns of dimensions 2, ... */
enum { PART_START, PART_VALUES, PART_COLUMNS };

static const char *rows_part(ms_writer *w, uint32_t capture, uint32_t part) {
  capture = ms_c_array(w, capture);
  w->rows_used[capture * MS_MAX_DIMS + part] = true;
  return ms_c_text(w, "n%u_%u", capture + 1, part);
}

/* Whether the loop writes the array that a capture is. */
static bool written(const ms_writer *w, uint32_t capture) {
  const ms_verdict *verdict = w->emitter->job->verdict;
  const ms_binding *bindings = w->emitter->job->bindings;
  for (uint32_t a = 0; a < verdict->array_count; a++) {
    if (bindings[verdict->arrays[a].binding].array == bindings[capture].array)
      return verdict->arrays[a].written;
  }
  return true;
}

static bool has_rows(ms_writer *w, const ms_node *node, uint32_t capture) {
  const ms_binding *binding = &w->emitter->job->bindings[capture];
  bool listed = w->emitter->job->elements[capture].rows && binding->dim_count == 2;
  if (listed && !written(w, capture)) return true;
  ms_c_refuse(w, node, "`%s` is a sparse array that has no list of its rows here",
              ms_c_source(w, node));
  return false;
}

ms_c_value ms_c_sparse_row(ms_writer *w, const ms_node *node) {
  ms_c_value value = {
      .form = MS_FORM_OBJECT, .kind = ms_typed_expression(w->typed, node), .text = "1"};
  while (node->kind == MS_PAREN) node = node->kid[0];
  if (node->kind == MS_NAME && node->symbol != NULL &&
      ms_c_local_of(w, node->symbol)->text != NULL) {
    value.text = ms_c_local_of(w, node->symbol)->text;
    return value;
  }
  ms_kind_of base = ms_typed_expression(w->typed, node->kid[0]);
  if (node->kind != MS_INDEX || base.object != MS_OBJECT_SPARSE || base.given != 0 ||
      node->kid[1]->kind == MS_TABLE) {
    ms_c_refuse(w, node, "`%s` is no row of a sparse array", ms_c_source(w, node));
    return value;
  }
  if (!has_rows(w, node->kid[0], base.array)) return value;
  const char *held = ms_c_temp(w);
  const char *at = ms_c_bounds_check_subscript(w, node->kid[1], base.array, 0);
  ms_c_line(w, "const int64_t %s = %s;", held, at);
  value.text = held;
  return value;
}

/* The value at a place of the rows' vectors. */
static ms_c_value value_at(ms_writer *w, uint32_t array, const char *place, const ms_node *node) {
  ms_kind_of kind = ms_kind_of_number(ms_type_precision(w->emitter->job->elements[array].type));
  ms_c_location location = {
      .kind = {.can = MS_CAN_OBJECT, .object = MS_OBJECT_VIEW, .array = array}, .element = true};
  location.text = ms_c_text(w, "%s[%s]", rows_part(w, array, PART_VALUES), place);
  ms_c_value value = ms_c_location_load(w, &location, node);
  value.kind = kind;
  return value;
}

ms_c_value ms_c_sparse_element(ms_writer *w, const ms_node *node) {
  ms_c_value none = {
      .form = MS_FORM_DOUBLE, .kind = ms_kind_of_number(MS_ANY_PRECISION), .text = "0.0"};
  const ms_node *row_node = node->kid[0], *key = node->kid[1];
  ms_kind_of row_kind = ms_typed_expression(w->typed, row_node);
  if (key->kind == MS_TABLE || row_kind.given != 1) {
    ms_c_refuse(w, node, "`%s` is no element of a sparse matrix", ms_c_source(w, node));
    return none;
  }
  ms_c_value row = ms_c_sparse_row(w, row_node);
  if (w->why->line != 0) return none;
  const char *column = ms_c_bounds_check_subscript(w, key, row_kind.array, 1);
  const char *start = rows_part(w, row_kind.array, PART_START);
  const char *columns = rows_part(w, row_kind.array, PART_COLUMNS);
  const char *found = ms_c_temp(w), *place = ms_c_temp(w);
  ms_c_line(w, "int %s;", found);
  ms_c_line(w, "const int64_t %s = ms_row_place(%s, %s[%s - 1], %s[%s], %s, &%s);", place, columns,
            start, row.text, start, row.text, column, found);
  ms_c_stop(w, node, ms_c_text(w, "%s > 1", found), "MS_NATIVE_REPEATED", 0, 0,
            ms_c_text(w, "ms_row_repeats(%s, %s, %s[%s])", columns, place, start, row.text));
  ms_c_value value = value_at(w, row_kind.array, ms_c_text(w, "%s ? %s : 0", found, place), node);
  value.text = ms_c_text(w, "(%s ? %s : 0)", found, value.text);
  value.whole = NULL;
  return ms_c_value_hold(w, value);
}

/* The variables of `for f, v in X[i]:nonzeros()`; `alone`: no vectors are to be made of elements
 * that the column is a subscript of. */
static void declare_entry(ms_writer *w, const ms_node *loop, uint32_t array, const char *place,
                          bool alone) {
  const ms_symbol *column = loop->symbols[0];
  const char *name = ms_c_local_name(w, column);
  const char *from = ms_c_text(w, "%s[%s]", rows_part(w, array, PART_COLUMNS), place);
  ms_c_local *local = ms_c_local_of(w, column);
  *local =
      (ms_c_local){.text = name, .form = MS_FORM_DOUBLE, .scopes = w->scopes, .region = w->region};
  if (column->assigned) {
    ms_c_line(w, "double %s = (double)%s;", name, from);
  } else {
    ms_c_line(w, "%sint64_t %s = %s;", alone ? "" : "const ", name, from);
    if (alone) ms_c_line(w, "__asm__(\"\" : \"+r\"(%s));", name);
    local->whole = name;
    local->least = 1;
    local->most = INT32_MAX;
    local->lo = "1.0";
    local->hi = ms_c_text(w, "(double)%s", ms_c_array_extent(w, array, 1));
  }
  for (uint32_t s = 1; s < loop->symbol_count; s++) {
    ms_c_value value = ms_c_value_nil();
    if (s == 1) value = value_at(w, array, place, loop);
    ms_c_local_declare(w, loop->symbols[s], value, NULL);
  }
}

/* A loop over the entries at places first .. end - 1. */
typedef struct sparse_entries {
  const ms_node *loop;
  uint32_t array;
  const char *first, *end;
} sparse_entries;

/* Terms are read one by one, which takes a fifth to a third less than gathering them into vectors,
 * and those of long rows are added up in parts. */
#define LEAST_PARTED 16

static void write_parted(ms_writer *w, const sparse_entries *entries, ms_c_sums *sums) {
  const ms_node *loop = entries->loop;
  const char *place = ms_c_temp(w), *end = ms_c_temp(w), *at = ms_c_temp(w);
  ms_c_line(w, "int64_t %s = %s;", place, entries->first);
  ms_c_line(w, "const int64_t %s = %s;", end, entries->end);
  ms_c_line(w, "if (%s - %s >= %d) {", end, place, LEAST_PARTED);
  ms_c_sum_parts_begin(w, sums);
  ms_c_line(w, "for (; %s + %d <= %s; %s += %d) {", place, MS_C_PARTS, end, place, MS_C_PARTS);
  for (uint32_t part = 0; part < MS_C_PARTS; part++) {
    ms_c_line(w, "{");
    ms_c_line(w, "const int64_t %s = %s + %u;", at, place, part);
    ms_c_sum_parts_take(w, sums, part);
    declare_entry(w, loop, entries->array, at, true);
    ms_c_statements(w, loop->kid[1]);
    ms_c_line(w, "}");
  }
  ms_c_line(w, "}");
  ms_c_sum_parts_take(w, sums, 0);
  ms_c_sum_parts_end(w, sums);
  ms_c_line(w, "}");
  ms_c_line(w, "for (; %s < %s; %s++) {", place, end, place);
  declare_entry(w, loop, entries->array, place, true);
  ms_c_statements(w, loop->kid[1]);
  ms_c_line(w, "}");
}

static void write_entries(ms_writer *w, const void *context) {
  const sparse_entries *entries = context;
  const ms_node *block = entries->loop->kid[1];
  const ms_symbol *column = entries->loop->symbols[0];
  ms_c_sums sums;
  ms_c_sum_parts_find(w, block, &sums);
  if (sums.count > 0 && !column->assigned && ms_c_trip_uses(block, column) > 0) {
    write_parted(w, entries, &sums);
    return;
  }
  const char *place = ms_c_temp(w), *first = entries->first, *end = entries->end;
  ms_c_sums_find(w, block, &sums);
  if (sums.count > 0) {
    const char *piece = ms_c_temp(w), *last = ms_c_temp(w);
    ms_c_line(w, "for (int64_t %s = %s; %s < %s; %s += %d) {", piece, first, piece, end, piece,
              MS_C_PIECE);
    ms_c_line(w, "const int64_t %s = ms_whole_least(%s + %d, %s);", last, piece, MS_C_PIECE, end);
    first = piece;
    end = last;
  }
  ms_c_sums_begin(w, &sums);
  ms_c_line(w, "for (int64_t %s = %s; %s < %s; %s++) {", place, first, place, end, place);
  declare_entry(w, entries->loop, entries->array, place, false);
  ms_c_statements(w, block);
  ms_c_line(w, "}");
  ms_c_sums_end(w, &sums);
  if (sums.count > 0) ms_c_line(w, "}");
}

void ms_c_sparse_for(ms_writer *w, const ms_node *loop) {
  const ms_node *list = ms_typed_listed(w->typed, loop);
  if (list != NULL) {
    bool lists = ms_typed_expression(w->typed, list).object == MS_OBJECT_LISTS;
    (lists ? ms_c_for_lists : ms_c_for_list)(w, loop, list);
    return;
  }
  const ms_node *call = loop->kid[0];
  bool walks = loop->kids == 2 && call->kind == MS_METHOD && call->kids == 1 &&
               strcmp(call->text, "nonzeros") == 0;
  ms_kind_of row = {0};
  if (walks) row = ms_typed_expression(w->typed, call->kid[0]);
  if (row.object != MS_OBJECT_SPARSE || row.given != 1) {
    ms_c_refuse(w, loop, "`%s` goes through a table", ms_c_source(w, loop));
    return;
  }
  ms_c_line(w, "{");
  sparse_entries entries = {.loop = loop, .array = row.array};
  const char *at = ms_c_sparse_row(w, call->kid[0]).text;
  const char *start = rows_part(w, row.array, PART_START);
  entries.first = ms_c_text(w, "%s[%s - 1]", start, at);
  entries.end = ms_c_text(w, "%s[%s]", start, at);
  ms_c_region(w, loop, write_entries, &entries);
  ms_c_line(w, "}");
}
