/* SPDX-License-Identifier: MIT
 *
 * Writing C: tables of the body, `local t = {0, 0, 0}`. See c_table.h.
 *
 * Such a table never leaves the iteration, and what it holds are numbers and booleans: it becomes
 * an ms_native_table (value.h) on the stack, which has room for the keys of a short list. Where
 * guards of the block show that a store's key is one of these, it needs no look; under any other
 * key values stand in a map, whose memory the function gives back at its end. */
#include "kernel/native/c_table.h"

#include "kernel/native/c_expression.h"
#include "kernel/native/c_integer.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_value.h"

#define ROOM        "MS_NATIVE_TABLE_ROOM"
#define MOST_LENGTH ((int64_t)1 << 26) /* MS_MORE_MOST */

/* The number of a table's map. A helper's tables have one each, however often it is called: a table
 * is gone when its expression makes the next one. */
static uint32_t map_of(const ms_writer *w, const ms_node *node) {
  uint32_t number = 1;
  for (const ms_holding *each = w->typed->holdings; each != NULL && each->node != node;
       each = each->next)
    number++;
  return number;
}

void ms_c_tables_begin(ms_writer *w) {
  for (const ms_holding *each = w->typed->holdings; each != NULL; each = each->next)
    ms_c_line(w, "ms_more more%u = {0};", map_of(w, each->node));
}

void ms_c_tables_end(ms_writer *w) {
  for (const ms_holding *each = w->typed->holdings; each != NULL; each = each->next)
    ms_c_line(w, "ms_more_end(&more%u);", map_of(w, each->node));
}

ms_c_value ms_c_table(ms_writer *w, const ms_node *node) {
  const char *name = ms_c_temp(w);
  ms_c_value made = {
      .form = MS_FORM_OBJECT, .kind = ms_typed_expression(w->typed, node), .text = name};
  if (made.kind.object != MS_OBJECT_TABLE || node->kids > MS_NATIVE_TABLE_FIELDS) {
    ms_c_refuse(w, node, "`%s` is no small list of numbers", ms_c_source(w, node));
    return made;
  }
  if (w->within != NULL)
    ms_c_refuse(w, node, "`%s` is made by a function that calls itself", ms_c_source(w, node));
  ms_c_value values[MS_NATIVE_TABLE_FIELDS];
  for (uint32_t f = 0; f < node->kids; f++)
    values[f] = ms_c_value_hold(w, ms_c_expression(w, node->kid[f]->kid[1]));
  w->declines = true;
  ms_c_line(w, "ms_native_table %s;", name);
  ms_c_line(w, "ms_native_table_clear(&%s, &more%u, %u);", name, map_of(w, node), node->kids);
  for (uint32_t f = 0; f < node->kids && w->why->line == 0; f++) {
    ms_c_slot slot = {.table = name, .key = ms_c_text(w, "%u", f + 1)};
    ms_c_table_store(w, &slot, values[f], node->kid[f]->kid[1], node);
  }
  return made;
}

/* The C name of the table that an expression is. */
static const char *name_of(ms_writer *w, const ms_node *node) {
  return ms_c_expression(w, node).text;
}

/* Whether an expression is a table whose length is kept. */
static bool is_measured(const ms_writer *w, const ms_node *table) {
  ms_kind_of kind = ms_typed_expression(w->typed, table);
  if (kind.object != MS_OBJECT_TABLE) return false;
  const ms_holding *holding = ms_typed_holding(w->typed, kind.node);
  return holding != NULL && !holding->gaps;
}

/* The C text of a key of any type, held in a variable of its own; NULL after a refusal. */
static const char *any_key(ms_writer *w, const ms_node *node) {
  ms_c_value value = ms_c_value_hold(w, ms_c_expression(w, node));
  if (value.form == MS_FORM_OBJECT) {
    ms_c_refuse(w, node, "`%s` is no number, but a key", ms_c_source(w, node));
    return NULL;
  }
  return ms_c_value_as_form(w, value, MS_FORM_VALUE, node);
}

ms_c_value ms_c_table_element(ms_writer *w, const ms_node *node) {
  const char *table = name_of(w, node->kid[0]);
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  ms_c_value read = {.form = MS_FORM_VALUE, .kind = kind, .text = "ms_nil"};
  ms_integer_value key;
  if (ms_c_integer_value_within(w, node->kid[1], ROOM, &key)) {
    read.text = ms_c_text(w, "ms_native_table_at(&%s, %s)", table, key.text);
    return ms_c_value_hold(w, read);
  }
  const char *any = any_key(w, node->kid[1]);
  if (any == NULL) return read;
  read.text = ms_c_text(w, "ms_native_table_get(&%s, %s)", table, any);
  return ms_c_value_hold(w, read);
}

void ms_c_table_place(ms_writer *w, const ms_node *node, ms_c_slot *slot) {
  slot->table = name_of(w, node->kid[0]);
  ms_integer_value key;
  if (is_measured(w, node->kid[0]) || !ms_c_integer_value_within(w, node->kid[1], ROOM, &key)) {
    slot->any = any_key(w, node->kid[1]);
    return;
  }
  const char *held = ms_c_temp(w);
  ms_c_line(w, "const int64_t %s = %s;", held, key.text);
  slot->key = held;
}

bool ms_c_table_length(ms_writer *w, const ms_node *table, ms_c_value *length) {
  if (!is_measured(w, table)) return false;
  const char *name = ms_c_temp(w);
  ms_c_line(w, "const int64_t %s = %s.length;", name, name_of(w, table));
  *length = (ms_c_value){.form = MS_FORM_DOUBLE,
                         .kind = ms_kind_of_number(MS_ANY_PRECISION),
                         .text = ms_c_text(w, "(double)%s", name),
                         .whole = ms_c_integer(w, name, 0, MOST_LENGTH)};
  return true;
}

void ms_c_table_store(ms_writer *w, const ms_c_slot *slot, ms_c_value value, const ms_node *from,
                      const ms_node *place) {
  bool made = place->kind == MS_TABLE, measured = !made && is_measured(w, place->kid[0]);
  if (measured) value = ms_c_value_hold(w, value);
  const char *text = ms_c_value_as_form(w, value, MS_FORM_VALUE, from);
  if (slot->key != NULL) {
    ms_c_line(w, "ms_native_table_put(&%s, %s, %s);", slot->table, slot->key, text);
    return;
  }
  static const char *const wrong[][2] = {{"MS_NATIVE_TABLE_NIL", "table index is nil"},
                                         {"MS_NATIVE_TABLE_NAN", "table index is NaN"},
                                         {"MS_NATIVE_TABLE_MEMORY", "not enough memory"}};
  const char *got = ms_c_temp(w);
  ms_c_line(w, "const int %s = ms_native_table_set(&%s, %s, %s);", got, slot->table, slot->any,
            text);
  ms_c_line(w, "if (MS_UNLIKELY(%s != MS_NATIVE_TABLE_FINE)) {", got);
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
    ms_c_error(w, place, ms_c_text(w, "%s == %s", got, wrong[k][0]), wrong[k][1]);
  ms_c_line(w, "}");
  if (measured) ms_c_line(w, "ms_native_table_measure(&%s, %s, %s);", slot->table, slot->any, text);
}
