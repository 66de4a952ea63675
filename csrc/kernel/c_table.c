/* SPDX-License-Identifier: MIT
 *
 * Writing C: small tables of the body, `local t = {0, 0, 0}`. See writer.h.
 *
 * Such a table never leaves the iteration, and what it holds are numbers and booleans under small
 * integers: it becomes an ms_table (value.h) on the stack. That a store's key is small enough is a
 * guard of the block; a block whose guards fail is declined, and the Lua engine runs it. What is
 * read under any other key is nil, as nothing can be there. */
#include "kernel/writer.h"

#define ROOM "MS_TABLE_ROOM"

static void put(ms_writer *w, const char *table, const char *key, ms_c_value value,
                const ms_node *node) {
  const char *text = ms_c_as_form(w, value, MS_FORM_VALUE, node);
  ms_c_line(w, "ms_table_put(&%s, %s, %s);", table, key, text);
}

ms_c_value ms_c_table(ms_writer *w, const ms_node *node) {
  const char *name = ms_c_temp(w);
  ms_c_value made = {
      .form = MS_FORM_OBJECT, .kind = ms_typed_expression(w->typed, node), .text = name};
  if (made.kind.object != MS_OBJECT_TABLE || node->kids > MS_TABLE_FIELDS) {
    ms_c_refuse(w, node, "`%s` is no small list of numbers", ms_c_source(w, node));
    return made;
  }
  ms_c_value values[MS_TABLE_FIELDS];
  for (uint32_t f = 0; f < node->kids; f++)
    values[f] = ms_c_hold(w, ms_c_expression(w, node->kid[f]->kid[1]));
  w->declines = true;
  ms_c_line(w, "ms_table %s;", name);
  ms_c_line(w, "ms_table_clear(&%s);", name);
  for (uint32_t f = 0; f < node->kids && w->why->line == 0; f++)
    put(w, name, ms_c_text(w, "%u", f + 1), values[f], node->kid[f]->kid[1]);
  return made;
}

/* The C name of the table that an expression is. */
static const char *name_of(ms_writer *w, const ms_node *node) {
  return ms_c_expression(w, node).text;
}

ms_c_value ms_c_table_element(ms_writer *w, const ms_node *node) {
  const char *table = name_of(w, node->kid[0]);
  ms_kind_of kind = ms_typed_expression(w->typed, node);
  ms_c_value read = {.form = MS_FORM_VALUE, .kind = kind, .text = "ms_nil"};
  ms_whole key;
  if (ms_c_whole_within(w, node->kid[1], ROOM, &key)) {
    read.text = ms_c_text(w, "ms_table_at(&%s, %s)", table, key.text);
    return ms_c_hold(w, read);
  }
  ms_c_value value = ms_c_hold(w, ms_c_expression(w, node->kid[1]));
  if (value.form == MS_FORM_OBJECT) {
    ms_c_refuse(w, node, "`%s` is no number, but a key", ms_c_source(w, node->kid[1]));
    return read;
  }
  const char *any = ms_c_as_form(w, value, MS_FORM_VALUE, node);
  read.text = ms_c_text(w, "ms_table_get(&%s, %s)", table, any);
  return ms_c_hold(w, read);
}

void ms_c_table_place(ms_writer *w, const ms_node *node, ms_c_slot *slot) {
  slot->table = name_of(w, node->kid[0]);
  ms_whole key;
  if (!ms_c_whole_within(w, node->kid[1], ROOM, &key)) {
    ms_c_refuse(w, node, "`%s` may be any key of a table", ms_c_source(w, node->kid[1]));
    return;
  }
  const char *held = ms_c_temp(w);
  ms_c_line(w, "const int64_t %s = %s;", held, key.text);
  slot->key = held;
}

void ms_c_table_store(ms_writer *w, const ms_c_slot *slot, ms_c_value value, const ms_node *node) {
  put(w, slot->table, slot->key, value, node);
}
