-- SPDX-License-Identifier: MIT
-- Mutants of locals that inner loops count.
local counters = {spec = "spec/depend/counters_random_spec.lua", draws = "MEISSA_COUNTERS",
                  most = 20000}
local induction = {spec = "spec/depend/induction_spec.lua"}

return {
  {
    rule = "locals that inner loops count are induction variables",
    finders = {induction, counters},
    mutants = {
      {"down is up", "csrc/depend/induction.c",
       "*sum += value->op == MS_OP_ADD ? form.constant : -form.constant;",
       "*sum += form.constant;"},
      {"any step is one", "csrc/depend/local_value.c",
       "const ms_form added = ms_form_constant(each);",
       "const ms_form added = ms_form_constant(each != 0);"},
      {"loops go round once less", "csrc/depend/induction.c",
       "if (!ms_form_add(&last, &last, &length, 1)) return false;", "last = length;"},
      {"loops of constants go round once less", "csrc/depend/induction.c",
       "length.constant / step->constant + 1);", "length.constant / step->constant);"},
      {"loops go round less than not at all", "csrc/depend/induction.c",
       "return ms_pieces_extreme(walk, true, counts, 2, trips);",
       "*trips = counts[1];\n  return true;"},
      {"loops with a step go round as often as others", "csrc/depend/induction.c",
       "if (size > 1 && !ms_subscript_floor(walk, &length, size, &length)) return false;", ""},
      {"counts under conditions are counted", "csrc/depend/induction.c",
       "    if (!known) return false;\n  }\n  return true;",
       "    if (!known && node->kind != MS_IF) return false;\n  }\n  return true;"},
      {"the number of rounds is not known after a loop", "csrc/depend/local_value.c",
       "after->known = trips->closed &&", "after->known = false && trips->closed &&"},
      {"the step of a loop is its variable's alone", "csrc/depend/numeric_loop.c",
       "return ms_form_add(variable, &start->piece[0].value.form, &q, stride);",
       "return ms_form_add(variable, &start->piece[0].value.form, &q, stride > 0 ? 1 : -1);"},
    },
  },
}
