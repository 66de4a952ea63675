/* SPDX-License-Identifier: MIT
 *
 * Inspectors, what slices do at accesses: mark what is read, store the iteration's number, or look
 * for another one's. See inspector.h. */
#include "depend/inspector_state.h"

/* The number of an iteration. */
static void write_number(ms_inspector *inspector) {
  ms_text_add(inspector->text, "local meissa_number = 1");
  for (uint32_t k = 1; k <= inspector->walk->space->dim_count; k++) {
    ms_text_format(inspector->text,
                   " + (meissa_index_%u - meissa_lo_%u) / meissa_step_%u * meissa_width_%u", k, k,
                   k, k);
  }
  ms_text_add(inspector->text, ";\n");
}

static void write_slice(ms_inspector *inspector,
                        void (*body)(ms_inspector *inspector, ms_node *block)) {
  ms_text_add(inspector->text, "do\n");
  body(inspector, inspector->walk->loop->body);
  ms_text_add(inspector->text, "end;\n");
}

/* The function's head. Its parameters have names of their own: two variables may have the same. */
static void write_head(ms_inspector *inspector) {
  const ms_loop *loop = inspector->walk->loop;
  ms_text *text = inspector->text;
  ms_text_add(text, "function(");
  for (uint32_t k = 0; k < loop->index_count; k++)
    ms_text_format(text, "%smeissa_index_%u", k == 0 ? "" : ", ", k + 1);
  ms_text_add(text, ")\n");
  if (inspector->form != MS_INSPECT_LEVELS) write_number(inspector);
  for (uint32_t k = 0; k < loop->index_count; k++)
    ms_text_format(text, "local %s = meissa_index_%u;\n", loop->indices[k]->name, k + 1);
}

void ms_inspector_function(ms_inspector *inspector,
                           void (*body)(ms_inspector *inspector, ms_node *block)) {
  ms_text *text = inspector->text;
  bool levels = inspector->form == MS_INSPECT_LEVELS;
  write_head(inspector);
  if (inspector->form == MS_INSPECT_LOOKS) ms_text_add(text, "local meissa_met = 0;\n");
  if (levels) ms_text_add(text, "local meissa_level = 0;\n");
  write_slice(inspector, body);
  if (levels) {
    ms_text_add(text, "meissa_level = meissa_level + 1;\n");
    inspector->form = MS_INSPECT_LEAVES;
    write_slice(inspector, body);
    inspector->form = MS_INSPECT_LEVELS;
    ms_text_add(text, "return meissa_level\n");
  }
  if (inspector->form == MS_INSPECT_LOOKS)
    ms_text_add(text,
                "local meissa_own = meissa_none;\n"
                "if meissa_met ~= 0 then meissa_own = meissa_number end;\n"
                "if meissa_own < meissa_first then\n"
                "meissa_first, meissa_other = meissa_own, meissa_met end;\n");
  ms_text_add(text, "end");
}

/* An access's text: "$" stands for the place in the marks. */
static void write_at(ms_inspector *inspector, ms_node *node, uint32_t below, uint32_t dims,
                     const char *text) {
  for (; *text != '\0'; text++) {
    if (*text != '$') {
      ms_text_append(inspector->text, text, 1);
      continue;
    }
    ms_inspector_copy(inspector, node);
    for (uint32_t d = below; d < dims; d++) ms_text_format(inspector->text, "[meissa_at_%u]", d);
  }
}

/* Does something at one element, or at all below a view. */
static void write_each(ms_inspector *inspector, ms_node *node, const ms_array_path *path,
                       const char *text) {
  const ms_binding *binding = &inspector->walk->bindings[path->binding];
  uint32_t dims = binding->dim_count, below = path->subscripts < dims ? path->subscripts : dims;
  for (uint32_t d = below; d < dims; d++)
    ms_text_format(inspector->text, "for meissa_at_%u = 1, %lld do\n", d,
                   (long long)binding->dims[d]);
  write_at(inspector, node, below, dims, text);
  for (uint32_t d = below; d < dims; d++) ms_text_add(inspector->text, "end;\n");
}

static const char look_text[] =
    "do local meissa_found = $;\n"
    "if meissa_met == 0 and meissa_found ~= 0 and meissa_found ~= meissa_number then "
    "meissa_met = meissa_found end end;\n";

/* Levels: what reads comes after the last write, what writes also after all reads. */
static const char after_write[] = "if $[1] > meissa_level then meissa_level = $[1] end;\n";
static const char after_reads[] =
    "if $[1] > meissa_level then meissa_level = $[1] end;\n"
    "if $[2] > meissa_level then meissa_level = $[2] end;\n";
static const char leave_read[] = "if $[2] < meissa_level then $[2] = meissa_level end;\n";
static const char leave_write[] = "$[1] = meissa_level;\n";

void ms_inspector_access(ms_inspector *inspector, ms_node *node, const ms_array_path *path,
                         bool writes) {
  bool element = path->subscripts >= inspector->walk->bindings[path->binding].dim_count;
  bool stored = (inspector->stored >> path->candidate & 1) != 0;
  if (inspector->form == MS_INSPECT_STORES && !writes) return;
  if (inspector->form == MS_INSPECT_WRITES && !(writes && stored)) return;
  inspector->useful++;
  switch (inspector->form) {
    case MS_INSPECT_READS:
    case MS_INSPECT_WRITES:
      write_at(inspector, node, 0, 0, element ? "$ = 1;\n" : "$:fill(1);\n");
      return;
    case MS_INSPECT_STORES:
      write_at(inspector, node, 0, 0,
               element ? "$ = meissa_number;\n" : "$:fill(meissa_number);\n");
      return;
    case MS_INSPECT_LOOKS:
      write_each(inspector, node, path, look_text);
      return;
    case MS_INSPECT_LEVELS:
      write_each(inspector, node, path, writes ? after_reads : after_write);
      return;
    case MS_INSPECT_LEAVES:
      write_each(inspector, node, path, writes ? leave_write : leave_read);
  }
}
