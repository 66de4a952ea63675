/* SPDX-License-Identifier: MIT
 *
 * Writing C: texts, lines, names, refusals. See writer.h. */
#include "kernel/native/c_upvalue.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Longest part of a user's name or source that is shown. */
#define SHOWN 40

static const char *format_text(ms_writer *w, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char *text = length < 0 ? NULL : ms_arena_take(w->arena, (size_t)length + 1, 1);
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  w->failed = w->failed || text == NULL;
  return text != NULL ? text : "";
}

const char *ms_c_text(ms_writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = format_text(w, format, arguments);
  va_end(arguments);
  return text;
}

void ms_c_line(ms_writer *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *text = format_text(w, format, arguments);
  va_end(arguments);
  size_t length = strlen(text);
  if (length > 0 && text[0] == '}' && w->indent > 0) w->indent--;
  for (uint32_t i = 0; i < w->indent && i < SHOWN; i++) ms_text_add(w->out, "  ");
  ms_text_append(w->out, text, length);
  ms_text_add(w->out, "\n");
  if (length > 0 && text[length - 1] == '{') w->indent++;
}

static const ms_tree *tree_of(const ms_writer *w, const ms_node *node) {
  const ms_outside *code = ms_typed_outside(w->typed, node);
  return code == NULL ? w->emitter->job->loop->tree : code->loop->tree;
}

/* Whether a variable belongs to what is being written: the block, or a recursive function with
 * those that are written in it. */
static bool is_within(const ms_writer *w, const ms_symbol *symbol) {
  const ms_inlined *open = w->within != NULL ? w->inlined : NULL;
  while (open != NULL && open->function->function != symbol->function) open = open->next;
  return w->within == NULL || open != NULL;
}

ms_c_local *ms_c_local_of(const ms_writer *w, const ms_symbol *symbol) {
  if (!is_within(w, symbol)) {
    for (struct ms_c_upvalue *each = w->within->upvalues; each != NULL; each = each->next) {
      if (each->symbol == symbol) return &each->local;
    }
    ms_c_local *beyond = &((ms_writer *)(uintptr_t)w)->beyond;
    *beyond = (ms_c_local){0};
    return beyond;
  }
  const ms_outside *code = ms_typed_outside_of(w->typed, symbol);
  return code == NULL ? &w->local[symbol->index] : &code->local[symbol->index];
}

const char *ms_c_local_name(ms_writer *w, const ms_symbol *symbol) {
  const ms_outside *code = ms_typed_outside_of(w->typed, symbol);
  const char *name = ms_c_name(w, symbol->name);
  if (w->copy > 0) name = ms_c_text(w, "%s_%u", name, w->copy);
  if (code == NULL) return ms_c_text(w, "v%u_%s", symbol->index, name);
  return ms_c_text(w, "v%ui%u_%s", symbol->index, code->number, name);
}

const char *ms_c_binding_name(ms_writer *w, uint32_t at) {
  const ms_loop *loop = w->emitter->job->loop;
  const char *name = w->emitter->job->bindings[at].name;
  if (at >= w->typed->given) {
    const char *path = w->typed->inner[at - w->typed->given].path;
    const char *last = strrchr(path, '\2');
    name = last != NULL ? last + 1 : strrchr(path, '\1') + 1;
  } else if (at < loop->capture_count) {
    const ms_capture *named = &loop->captures[at];
    name = named->field_count > 0 ? named->fields[named->field_count - 1] : named->root;
  }
  return ms_c_name(w, name != NULL ? name : "");
}

bool ms_c_is_elsewhere(const ms_writer *w, const ms_node *node) {
  return strcmp(tree_of(w, node)->name, w->emitter->job->loop->tree->name) != 0;
}

uint32_t ms_c_body_line(const ms_writer *w, const ms_node *node) {
  uint32_t line = node->line;
  for (const ms_inlined *open = w->inlined; open != NULL; open = open->next) {
    if (open->call_line != 0) line = open->call_line;
  }
  return line;
}

/* Writes the file's name as a C string; its bytes may be anything. */
static const char *file_text(ms_writer *w, const ms_tree *tree) {
  char place[256];
  ms_tree_place(tree, place, sizeof place);
  const char *text = "";
  for (const unsigned char *at = (const unsigned char *)place; *at != '\0'; at++) {
    bool plain = *at >= ' ' && *at < 127 && *at != '"' && *at != '\\' && *at != '?';
    text = plain ? ms_c_text(w, "%s%c", text, *at) : ms_c_text(w, "%s\\%03o", text, *at);
  }
  return text;
}

void ms_c_place(ms_writer *w, const ms_node *node) {
  const ms_tree *tree = tree_of(w, node);
  if (node->line == w->line && tree == w->tree) return;
  if (tree != w->tree) w->file = file_text(w, tree);
  w->tree = tree;
  w->line = node->line;
  ms_text_format(w->out, "#line %u \"%s\"\n", node->line, w->file);
}

void ms_c_refuse(ms_writer *w, const ms_node *node, const char *format, ...) {
  if (w->why->line != 0) return;
  w->why->line = ms_c_body_line(w, node);
  w->why->column = node->column;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(w->why->message, sizeof w->why->message, format, arguments);
  va_end(arguments);
}

const char *ms_c_temp(ms_writer *w) {
  return ms_c_text(w, "t%u", ++w->temps);
}

const char *ms_c_source(ms_writer *w, const ms_node *node) {
  const char *text = tree_of(w, node)->text + node->begin;
  size_t length = node->end - node->begin, end = 0;
  while (end < length && end < SHOWN && text[end] != '\n') end++;
  return ms_c_text(w, "%.*s%s", (int)end, text, end < length ? "..." : "");
}

const char *ms_c_name(ms_writer *w, const char *name) {
  char part[SHOWN + 1];
  size_t length = 0;
  for (; name[length] != '\0' && length < SHOWN; length++) {
    unsigned char byte = (unsigned char)name[length];
    part[length] = byte < 128 && isalnum(byte) ? (char)byte : '_';
  }
  part[length] = '\0';
  return ms_c_text(w, "%s", part);
}

const char *ms_c_number(ms_writer *w, double number) {
  if (isnan(number)) return "(0.0 / 0.0)";
  if (isinf(number)) return number > 0 ? "__builtin_inf()" : "(-__builtin_inf())";
  const char *text;
  if (number == floor(number) && fabs(number) < 1e15) {
    text = ms_c_text(w, "%.1f", number);
  } else {
    text = ms_c_text(w, "%a /* %.17g */", number, number);
  }
  return signbit(number) ? ms_c_text(w, "(%s)", text) : text;
}

uint32_t ms_c_message(ms_writer *w, const char *message) {
  for (uint32_t m = 0; m < w->message_count; m++) {
    if (strcmp(w->messages[m], message) == 0) return m;
  }
  if (w->message_count == w->message_room) {
    uint32_t room = 2 * w->message_room + 8;
    const char **grown = ms_arena_take(w->arena, room, sizeof *grown);
    if (grown == NULL) {
      w->failed = true;
      return 0;
    }
    for (uint32_t m = 0; m < w->message_count; m++) grown[m] = w->messages[m];
    w->messages = grown;
    w->message_room = room;
  }
  w->messages[w->message_count] = message;
  return w->message_count++;
}

void ms_c_leave(ms_writer *w, const ms_node *node) {
  if (node != NULL && ms_c_is_elsewhere(w, node))
    ms_c_line(w, "fault->file = %u;", ms_c_message(w, tree_of(w, node)->name) + 1);
  ms_c_line(w, "goto ms_stopped;");
  w->stops = true;
}

void ms_c_stop(ms_writer *w, const ms_node *node, const char *condition, const char *stop,
               uint32_t capture, uint32_t dim, const char *value) {
  ms_c_stop_both(w, node, condition, stop, capture, dim, value, NULL);
}

void ms_c_stop_both(ms_writer *w, const ms_node *node, const char *condition, const char *stop,
                    uint32_t capture, uint32_t dim, const char *value, const char *other) {
  ms_c_line(w, "if (MS_UNLIKELY(%s)) {", condition);
  if (other != NULL) ms_c_line(w, "fault->other = %s;", other);
  ms_c_line(w, "ms_stop(fault, %s, %u, %u, %u, %s);", stop, node->line, capture, dim, value);
  ms_c_leave(w, node);
  ms_c_line(w, "}");
}

void ms_c_error(ms_writer *w, const ms_node *node, const char *condition, const char *message) {
  const char *number = ms_c_text(w, "%u", ms_c_message(w, message));
  ms_c_stop(w, node, condition, "MS_NATIVE_ERROR", 0, 0, number);
}

bool ms_c_is_simple(const char *text) {
  for (; *text != '\0'; text++) {
    if (!isalnum((unsigned char)*text) && *text != '_' && *text != '.') return false;
  }
  return true;
}
