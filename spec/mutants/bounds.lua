-- SPDX-License-Identifier: MIT
-- Mutants of the bounds of loops.
local oracle = {spec = "spec/depend/oracle_spec.lua", draws = "MEISSA_LOOPS", most = 20000}
local guards = {spec = "spec/depend/guards_random_spec.lua", draws = "MEISSA_GUARDS", most = 20000}
local inner = {{spec = "spec/depend/guards_spec.lua"}, guards}

return {
  {
    rule = "loops may go from math.max to math.min",
    finders = {oracle},
    mutants = {
      {"collapsed ones from math.min", "csrc/depend/space.c",
       [[up ? "math.max" : "math.min", &start)]], [[up ? "math.min" : "math.max", &start)]]},
      {"collapsed ones have one end", "csrc/depend/space.c",
       "domain->dim[k].high.count = high->count;", "domain->dim[k].high.count = 1;"},
      {"inner ones are within all ends where they are within any", "csrc/depend/inner.c",
       "bool each = at->all->extremity == (at->sign > 0 ? MS_GREATEST : MS_LEAST);",
       "bool each = true;", finders = inner},
      {"inner ones go as far as the nearest end", "csrc/depend/inner.c",
       "if (p == 0 || far > farthest) farthest = far;",
       "if (p == 0 || far < farthest) farthest = far;", finders = inner},
      {"only the first end of inner ones bounds them", "csrc/depend/inner.c",
       "    if (one == NULL) return NULL;\n", "    if (one == NULL || p > 0) continue;\n",
       finders = inner},
    },
  },
  {
    rule = "booleans are bits where what is evaluated for nothing stops nowhere",
    finders = {{spec = "spec/kernel/native_emit_spec.lua"}},
    mutants = {
      {"and is or", "csrc/kernel/native/c_expression.c", 'both ? "&" : "|"', 'both ? "|" : "|"'},
      {"or is and", "csrc/kernel/native/c_expression.c", 'both ? "&" : "|"', 'both ? "&" : "&"'},
      {"what may stop is evaluated", "csrc/kernel/native/c_expression.c",
       "of_right->length == 0 &&", "of_right->length < UINT32_MAX &&"},
    },
  },
  {
    rule = "elements are written in any case where the same ones are compared",
    finders = {{spec = "spec/kernel/native_update_spec.lua"}},
    mutants = {
      {"fields are elements", "csrc/kernel/native/c_assign.c",
       "return indexed ? assign : NULL;", "return target->kind == MS_INDEX ? assign : NULL;"},
      {"any condition compares", "csrc/kernel/native/c_assign.c",
       "condition->kind == MS_BINARY && condition->op >= MS_OP_EQ &&", "true ||"},
      {"any element is compared", "csrc/kernel/native/c_assign.c",
       "return strstr(condition, element) != NULL &&", "return"},
      {"what may stop is evaluated", "csrc/kernel/native/c_assign.c",
       "if (w->out->length == 0 && looks_at", "if (looks_at"},
      {"they get the value if it does not hold", "csrc/kernel/native/c_assign.c",
       "element, condition, value, element);", "element, condition, element, value);"},
    },
  },
  {
    rule = "a choice between two small whole numbers is computed",
    finders = {{spec = "spec/kernel/native_update_spec.lua"}},
    mutants = {
      {"it is the other one", "csrc/kernel/native/c_value.c",
       "b, a - b, condition);", "a, b - a, condition);"},
      {"large ones are small", "csrc/kernel/native/c_value.c",
       "ends && fabs(*number) <= INT32_MAX", "ends"},
      {"minus zero is zero", "csrc/kernel/native/c_value.c",
       " && !(*number == 0 && signbit(*number))", ""},
    },
  },
  {
    rule = "elements that take one of two values are chosen without a branch",
    finders = {{spec = "spec/kernel/native_update_spec.lua"}},
    mutants = {
      {"they get the other value", "csrc/kernel/native/c_assign.c",
       "condition, text[0], text[1]);", "condition, text[1], text[0]);"},
      {"any two elements are one", "csrc/kernel/native/c_assign.c",
       "!ms_node_is_same(assign[0]->kid[0], assign[1]->kid[0])", "false"},
      {"what may stop is computed", "csrc/kernel/native/c_assign.c",
       "return w->out->length == 0 ? element : NULL;", "return element;"},
      {"what takes time is computed", "csrc/kernel/native/c_assign.c",
       "if (assign == NULL || !ms_c_is_plain(w, assign->kid[1])) return NULL;",
       "if (assign == NULL) return NULL;"},
    },
  },
  {
    rule = "rounded numbers are subscripts by their integers alone",
    finders = {{spec = "spec/kernel/prelude_spec.lua"},
               {spec = "spec/kernel/native_emit_spec.lua"}},
    mutants = {
      {"quotients are rounded", "csrc/kernel/native/c_bounds_check.c",
       "if (node->op > MS_OP_MUL) return false;", "if (node->op > MS_OP_DIV) return false;"},
      {"any number is rounded", "csrc/kernel/native/c_bounds_check.c",
       "return !node->boxed && floor(node->number) == node->number;", "return true;"},
      {"0 is a subscript", "csrc/kernel/emit/lua_bit.h",
       "return (uint64_t)ms_whole_of(key) - 1 < (uint64_t)extent;",
       "return (uint64_t)ms_whole_of(key) <= (uint64_t)extent;"},
    },
  },
  {
    rule = "negative ends of ranges count from the end",
    finders = {oracle, {spec = "spec/kernel/body_views_spec.lua"}},
    mutants = {
      {"ends are what they are, whatever their sign", "csrc/depend/subscript.c",
       "ms_pieces_add(&made, yes, &from_end, below);", "ms_pieces_add(&made, yes, each, below);"},
      {"-1 is the last but one", "csrc/depend/subscript.c",
       "above = ms_form_constant(extent + 1);", "above = ms_form_constant(extent);"},
      {"an end is negative everywhere or nowhere", "csrc/depend/subscript.c",
       "ms_pieces_add(&made, no, each, other);",
       "if (ms_guard_is_never(yes)) ms_pieces_add(&made, no, each, other);"},
    },
  },
}
