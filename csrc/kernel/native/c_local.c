/* SPDX-License-Identifier: MIT
 *
 * Writing C: locals. See c_local.h. */
#include "kernel/native/c_local.h"

#include "kernel/native/c_array.h"
#include "kernel/native/c_induction.h"
#include "kernel/native/c_integer_value.h"
#include "kernel/native/c_region.h"
#include "kernel/native/c_rounded.h"
#include "kernel/native/c_small_sum.h"
#include "kernel/native/c_value.h"

/* A local that is an integer while the guards hold. What a number from outside would have to be
 * whole for is one only where a subscript or a limit asks for it: a step size may be 1. */
static bool declare_whole(ms_writer *w, const ms_symbol *symbol, ms_c_local *local,
                          const ms_node *from, const char *name) {
  if (from == NULL || symbol->assigned || w->scopes == 0 || ms_node_is_multiple(from)) return false;
  ms_integer_value whole = ms_c_integer_value_kept(w, from, symbol);
  if (!whole.known) return false;
  if (whole.unsigned_zero) {
    ms_c_line(w, "const int64_t %s = %s;", name, whole.text);
    local->text = name;
  } else {
    ms_c_line(w, "const int64_t %s_w = %s;", name, whole.text);
  }
  local->whole = whole.unsigned_zero ? name : ms_c_text(w, "%s_w", name);
  local->least = whole.least;
  local->most = whole.most;
  local->signed_zero = !whole.unsigned_zero;
  return whole.unsigned_zero;
}

void ms_c_local_declare(ms_writer *w, const ms_symbol *symbol, ms_c_value value,
                        const ms_node *from) {
  ms_kind_of kind = *ms_typed_symbol(w->typed, symbol);
  ms_c_local *local = ms_c_local_of(w, symbol);
  const char *name = ms_c_local_name(w, symbol), *object = ms_c_array_object_type(w, &kind);
  *local = (ms_c_local){.scopes = w->scopes,
                        .from = from,
                        .form = ms_c_region_local_form(w, symbol, &kind, &value),
                        .region = w->region,
                        .early = symbol->assigned ? (ms_c_early){0} : value.early};
  ms_c_region_joins(w, &local->outside, &value, w->region);
  if (kind.object == MS_OBJECT_TABLE) {
    local->text = value.text;
    return;
  }
  if (object != NULL) {
    local->text = name;
    ms_c_line(w, "%s %s%s = %s;", object, symbol->assigned ? "" : "const ", name, value.text);
    return;
  }
  if (kind.can & MS_CAN_OBJECT) {
    bool known = kind.object != MS_OBJECT_OTHER;
    if (!known && from != NULL)
      ms_c_refuse(w, from, "`%s` stands for more than one table, array or function", symbol->name);
    local->text = "";
    return;
  }
  if (from != NULL && kind.can == MS_CAN_NUMBER && w->scopes > 0 && ms_c_is_induction(symbol) &&
      !(symbol->upvalue && w->typed->cycles)) {
    ms_c_line(w, "int64_t %s = %s;", name, ms_c_induction_counted(w, from));
    local->text = local->whole = name;
    local->counter = true;
    local->least = -MS_C_COUNTED;
    local->most = MS_C_COUNTED;
    return;
  }
  if (!symbol->assigned) value.whole = ms_c_small_sum_local(w, value.whole);
  bool small = value.whole != NULL && value.whole->small && !symbol->assigned;
  if (kind.can == MS_CAN_NUMBER && !small && declare_whole(w, symbol, local, from, name)) return;
  if (kind.can == MS_CAN_NUMBER && value.whole != NULL && local->whole == NULL &&
      !symbol->assigned) {
    ms_c_line(w, "const int%d_t %s = %s;", small ? 32 : 64, name, value.whole->text);
    local->text = local->whole = small ? ms_c_text(w, "(int64_t)%s", name) : name;
    local->least = value.whole->least;
    local->most = value.whole->most;
    local->small = small;
    return;
  }
  if (!symbol->assigned) ms_c_rounded_local(w, &value, local);
  local->text = name;
  const ms_node *about = from != NULL ? from : w->emitter->body;
  ms_c_line(w, "%s%s %s = %s;", symbol->assigned ? "" : "const ", ms_c_value_type(local->form),
            name, ms_c_value_as_form(w, value, local->form, about));
}
