-- SPDX-License-Identifier: MIT
-- Mutants of functions that call themselves, as machine code.
local recursion = {spec = "spec/kernel/recursion_spec.lua"}
local variables = {spec = "spec/kernel/recursion_variables_spec.lua"}

return {
  {
    rule = "functions that call themselves do in C what they do in Lua",
    finders = {recursion},
    mutants = {
      {"a call at the end leaves a frame", "csrc/kernel/native/c_recursive.c",
       "  if (leave_by_call(w, node)) return;\n", ""},
      {"only functions that call themselves directly are recursive",
       "csrc/kernel/native/type_cycle.c", "if (reach[a * count + b] && reach[b * count + a])",
       "if (a == b && reach[a * count + b])"},
      {"further results are those of the first", "csrc/kernel/native/c_recursive.c",
       "ms_c_value_as_form(w, values[r], MS_FORM_VALUE, node));",
       "ms_c_value_as_form(w, values[0], MS_FORM_VALUE, node));"},
      {"results are float in fast mode", "csrc/kernel/native/c_recursive.c",
       "  kind.precision = MS_FULL;\n", "  kind.precision = MS_ANY_PRECISION;\n"},
      {"functions have the variables of later calls", "csrc/kernel/native/c_upvalue.c",
       "return maker == NULL;", "return true;"},
      {"variables of others may be assigned", "csrc/kernel/native/c_upvalue.c",
       "    upvalue->local.given = !upvalue->assigned;\n", ""},
      {"variables that calls change are counted as integers", "csrc/kernel/native/c_local.c",
       " &&\n      !(symbol->upvalue && w->typed->cycles)", "", finders = {variables}},
      {"what is assigned is the function's own", "csrc/kernel/native/c_upvalue.c",
       "    entry->assigned = true;\n", "    entry->assigned = false;\n",
       finders = {variables}},
      {"what a called function names is not looked for", "csrc/kernel/native/c_upvalue.c",
       "if (called != NULL) go_through(", "if (called == names->recursive->function) go_through("},
      {"closures of one text are one function", "csrc/kernel/native/type_code.c",
       "|| means.depth != other->means[c].depth ||\n        " ..
       "is_passed(&typed->bindings[means.binding]))",
       "|| means.depth != other->means[c].depth)"},
    },
  },
  {
    rule = "functions that call themselves stop where Lua's do, and fall off no stack",
    finders = {recursion},
    mutants = {
      {"the stack has no end", "csrc/kernel/native/c_recursive.c",
       '"(int64_t)&ms_here < calls->end"', '"(int64_t)&ms_here < 1"'},
      {"the stack ends early", "csrc/base/stack.h",
       "((uintptr_t)4 << 20)", "((uintptr_t)1 << 16)"},
      {"the stack ends where there is none", "csrc/base/stack.c",
       "(end > least ? end : least)", "end"},
      {"a caller goes on after an error", "csrc/kernel/native/c_recursive.c",
       "if (MS_UNLIKELY(%s.tag == MS_NATIVE_NONE)) goto ms_stopped;",
       "if (MS_UNLIKELY(%s.tag == -1)) goto ms_stopped;"},
      {"they run in the driver's process", "csrc/kernel/native/c_recursive.c",
       "w->stops = w->uncounted = true;", "w->stops = true;"},
      {"errors of builtins at the end are where the first call stood",
       "csrc/kernel/native/c_call.c", "    if (open->recursive != NULL) return NULL;\n", ""},
    },
  },
}
