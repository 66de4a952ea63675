/* SPDX-License-Identifier: MIT
 *
 * Writing C: a kernel's parameters. See c_parameter.h. */
#include "kernel/native/c_parameter.h"

#include <inttypes.h>
#include <string.h>

#include "kernel/native/c_array.h"
#include "kernel/native/c_variable.h"

static const char *element_type(int32_t type) {
  static const char *const names[] = {
      [MS_FLOAT] = "float", [MS_DOUBLE] = "double", [MS_INT32] = "int32_t", [MS_INT64] = "int64_t"};
  return type == MS_OBJECT ? "void" : names[type];
}

static void add(ms_writer *w, ms_kernel_info *info, ms_c_parameters *all, ms_param param,
                const char *type, const char *name) {
  const char *field = "pointer";
  if (strncmp(type, "const int", 9) == 0 && strchr(type, '*') == NULL) field = "whole";
  if (strcmp(type, "const double ") == 0) field = "number";
  const char *cast = strcmp(type, "const int ") == 0 ? "(int)" : "";
  all->list[all->count++] =
      (ms_c_parameter){type, name, ms_c_text(w, "%sslots[%u].%s", cast, info->param_count, field)};
  info->params[info->param_count++] = param;
}

void ms_c_parameter_special(ms_writer *w, const char *name, const char *value) {
  ms_special *special = ms_arena_take(w->arena, 1, sizeof *special);
  if (special == NULL) {
    w->failed = true;
    return;
  }
  *special = (ms_special){w->special, name, value};
  w->special = special;
}

/* A stride or an extent. Those of rows are worth constants; how many rows there are only matters to
 * guards. */
static void add_whole(ms_writer *w, ms_kernel_info *info, ms_c_parameters *all, ms_param param,
                      const char *name) {
  const ms_kernel_job *job = w->emitter->job;
  add(w, info, all, param, "const int64_t ", name);
  if (param.kind == MS_PARAM_LIMIT || job->bindings[param.at].sparse) return;
  if (param.kind == MS_PARAM_EXTENT && param.dim > 0)
    ms_c_parameter_special(w, name,
                           ms_c_text(w, "%" PRId64, job->bindings[param.at].dims[param.dim]));
  if (param.kind == MS_PARAM_STRIDE && ms_emitter_row_major(w->emitter, param.at))
    ms_c_parameter_special(w, name,
                           ms_c_text(w, "%" PRId64, job->elements[param.at].strides[param.dim]));
}

static void add_array(ms_writer *w, ms_kernel_info *info, ms_c_parameters *all, uint32_t at) {
  if (w->pointer_used[at]) {
    const char *type = ms_c_text(w, "%s *%s", element_type(w->emitter->job->elements[at].type),
                                 w->shared[at] ? "const " : "restrict const ");
    add(w, info, all, (ms_param){.kind = MS_PARAM_POINTER, .at = at}, type,
        ms_c_array_memory(w, at));
  }
  if (w->touched_used[at]) {
    add(w, info, all, (ms_param){.kind = MS_PARAM_TOUCHED, .at = at}, "uint8_t *restrict const ",
        ms_c_array_touched(w, at));
  }
  for (uint32_t d = 0; d < MS_MAX_DIMS; d++) {
    if (w->stride_used[at * MS_MAX_DIMS + d])
      add_whole(w, info, all, (ms_param){MS_PARAM_STRIDE, at, d, NULL},
                ms_c_array_stride(w, at, d));
    if (w->extent_used[at * MS_MAX_DIMS + d])
      add_whole(w, info, all, (ms_param){MS_PARAM_EXTENT, at, d, NULL},
                ms_c_array_extent(w, at, d));
  }
}

static void add_rows(ms_writer *w, ms_kernel_info *info, ms_c_parameters *all, uint32_t at) {
  const char *value_type = element_type(w->emitter->job->elements[at].type);
  for (uint32_t part = 0; part < MS_MAX_DIMS; part++) {
    if (!w->rows_used[at * MS_MAX_DIMS + part]) continue;
    const char *type = part == 0 ? "int64_t" : part == 1 ? value_type : "int32_t";
    add(w, info, all, (ms_param){.kind = MS_PARAM_ROWS, .at = at, .dim = part},
        ms_c_text(w, "const %s *const ", type), ms_c_text(w, "n%u_%u", at + 1, part));
  }
}

static void add_number(ms_writer *w, ms_kernel_info *info, ms_c_parameters *all, ms_param param,
                       uint32_t at) {
  bool number = w->emitter->job->bindings[at].kind == MS_BIND_NUMBER;
  add(w, info, all, param, number ? "const double " : "const int ", ms_c_variable_captured(w, at));
}

int ms_c_parameters_find(ms_writer *w, ms_kernel_info *info, ms_c_parameters *all) {
  const ms_kernel_job *job = w->emitter->job;
  size_t room = ((size_t)job->binding_count + MS_INNER + 1) * (3 * MS_MAX_DIMS + 3) +
                3 * MS_MAX_DIMS + 2 * MS_LISTS + 1;
  all->list = ms_arena_take(w->arena, room, sizeof *all->list);
  if (all->list == NULL) return -1;
  for (uint32_t d = 0; info->entries && d < job->space->dim_count; d++)
    add(w, info, all, (ms_param){.kind = MS_PARAM_COORD, .at = d}, "const int32_t *const ",
        ms_c_text(w, "ms_coord%u", d + 1));
  if (w->entries_used)
    add(w, info, all, (ms_param){.kind = MS_PARAM_ENTRIES},
        ms_c_text(w, "const %s *const ", element_type(job->entry_type)), "ms_entries");
  for (uint32_t d = 0; w->steps_used && d < job->space->dim_count; d++)
    add(w, info, all, (ms_param){.kind = MS_PARAM_STEP, .at = d, .dim = d}, "const int64_t ",
        ms_c_text(w, "ms_step%u", d + 1));
  for (uint32_t d = 0; d < MS_MAX_DIMS; d++) {
    ms_param param = {.kind = MS_PARAM_LIMIT, .at = d, .dim = d};
    if (w->limit_used[d]) add_whole(w, info, all, param, ms_c_array_limit(w, d));
  }
  if (w->drawing)
    add(w, info, all, (ms_param){.kind = MS_PARAM_DRAWS}, "const ms_draws *const ", "ms_place");
  if (w->recursive != NULL)
    add(w, info, all, (ms_param){.kind = MS_PARAM_STACK}, "const int64_t ", "ms_stack");
  for (uint32_t c = 0; c < job->binding_count; c++) {
    add_array(w, info, all, c);
    add_rows(w, info, all, c);
    if (w->number_used[c]) add_number(w, info, all, (ms_param){.kind = MS_PARAM_VALUE, .at = c}, c);
  }
  for (uint32_t l = 0; l < w->lists; l++) {
    const ms_c_outer_list *list = &w->list[l];
    add(w, info, all, (ms_param){.kind = MS_PARAM_LIST, .at = list->at, .path = list->path},
        "const double *const ", ms_c_text(w, "g%u", l + 1));
    ms_param more = {.kind = list->levels == 1 ? MS_PARAM_LENGTH : MS_PARAM_STARTS,
                     .at = list->at,
                     .path = list->path};
    if (list->levels == 1) {
      add(w, info, all, more, "const int64_t ", ms_c_text(w, "g%u_n", l + 1));
    } else {
      add(w, info, all, more, "const int64_t *const ", ms_c_text(w, "g%u_s", l + 1));
    }
  }
  for (uint32_t i = 0; i < w->typed->inner_count; i++) {
    const ms_inner_value *inner = &w->typed->inner[i];
    ms_param param = {.kind = MS_PARAM_INNER, .at = inner->at, .path = inner->path};
    uint32_t at = job->binding_count + i;
    if (w->number_used[at]) add_number(w, info, all, param, at);
  }
  return 0;
}

void ms_c_parameters_unpack(ms_writer *w, const ms_c_parameters *all) {
  for (uint32_t p = 0; p < all->count; p++) {
    const char *type = all->list[p].type;
    const char *mark = strstr(type, "restrict ");
    if (mark != NULL) type = ms_c_text(w, "%.*s%s", (int)(mark - type), type, mark + 9);
    ms_c_line(w, "%s%s = %s;", type, all->list[p].name, all->list[p].from);
  }
}
