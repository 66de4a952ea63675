/* SPDX-License-Identifier: MIT
 *
 * Inspectors, what slices do at accesses: mark what is read, store the iteration's number, or look
 * for another one's. See inspector.h. */
#include "depend/inspector_state.h"

/* The function's head. Two variables of a loop may have one name. */
void ms_inspector_open(ms_inspector *inspector) {
  const ms_loop *loop = inspector->walk->loop;
  ms_text *text = inspector->text;
  ms_text_add(text, "function(");
  for (uint32_t k = 0; k < loop->index_count; k++)
    ms_text_format(text, "%smeissa_index_%u", k == 0 ? "" : ", ", k + 1);
  ms_text_add(text, ")\nlocal meissa_number = 1");
  for (uint32_t k = 1; k <= inspector->walk->space->dim_count; k++) {
    ms_text_format(text, " + (meissa_index_%u - meissa_lo_%u) / meissa_step_%u * meissa_width_%u",
                   k, k, k, k);
  }
  ms_text_add(text, ";\n");
  for (uint32_t k = 0; k < loop->index_count; k++)
    ms_text_format(text, "local %s = meissa_index_%u;\n", loop->indices[k]->name, k + 1);
  if (inspector->form == MS_INSPECT_LOOKS) ms_text_add(text, "local meissa_met = 0;\n");
  ms_text_add(text, "do\n");
}

void ms_inspector_close(ms_inspector *inspector) {
  ms_text_add(inspector->text, "end;\n");
  if (inspector->form != MS_INSPECT_LOOKS) return;
  ms_text_add(inspector->text,
              "local meissa_own = meissa_none;\n"
              "if meissa_met ~= 0 then meissa_own = meissa_number end;\n"
              "if meissa_own < meissa_first then\n"
              "meissa_first, meissa_other = meissa_own, meissa_met end;\n");
}

/* Looks at one element, or at all below a view. */
static void look(ms_inspector *inspector, ms_node *node, const ms_array_path *path) {
  const ms_binding *binding = &inspector->walk->bindings[path->binding];
  ms_text *text = inspector->text;
  uint32_t below = path->subscripts < binding->dim_count ? path->subscripts : binding->dim_count;
  for (uint32_t d = below; d < binding->dim_count; d++)
    ms_text_format(text, "for meissa_at_%u = 1, %lld do\n", d, (long long)binding->dims[d]);
  ms_text_add(text, "do local meissa_found = ");
  ms_inspector_copy(inspector, node);
  for (uint32_t d = below; d < binding->dim_count; d++) ms_text_format(text, "[meissa_at_%u]", d);
  ms_text_add(text,
              ";\nif meissa_met == 0 and meissa_found ~= 0 and "
              "meissa_found ~= meissa_number then meissa_met = meissa_found end end;\n");
  for (uint32_t d = below; d < binding->dim_count; d++) ms_text_add(text, "end;\n");
}

void ms_inspector_access(ms_inspector *inspector, ms_node *node, const ms_array_path *path,
                         bool writes) {
  static const char *const marks[] = {"1", "meissa_number"};
  bool element = path->subscripts >= inspector->walk->bindings[path->binding].dim_count;
  if (inspector->form == MS_INSPECT_STORES && !writes) return;
  inspector->useful++;
  if (inspector->form == MS_INSPECT_LOOKS) {
    look(inspector, node, path);
    return;
  }
  ms_inspector_copy(inspector, node);
  ms_text_format(inspector->text, element ? " = %s;\n" : ":fill(%s);\n", marks[inspector->form]);
}
