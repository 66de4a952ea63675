-- SPDX-License-Identifier: MIT
-- Mutants of conditions and of what depends on them: those that lose accesses, which random loops
-- show to give other results than as written, and those that add some, by which loops that are
-- parallel become none, which enumeration shows.
local guards = {spec = "spec/depend/guards_random_spec.lua", draws = "MEISSA_GUARDS", most = 20000}
local oracle = {spec = "spec/depend/oracle_spec.lua", draws = "MEISSA_LOOPS", most = 20000}
local dead = {spec = "spec/depend/guards_dead_spec.lua"}
local planned = {spec = "spec/depend/guards_spec.lua"}
local joined = {planned, guards}

local function rule(name, mutants) return {rule = name, finders = {guards}, mutants = mutants} end

return {
  rule("affine conditions narrow what is below them", {
    {"the least of what is greater is not", "csrc/depend/condition.c",
     "{at_least(walk, difference, -1, equal ? 0 : -1),",
     "{at_least(walk, difference, -1, equal ? 0 : -2),"},
    {"of equal ones one is less, too", "csrc/depend/condition.c",
     "{at_least(walk, difference, -1, equal ? 0 : -1),", "{at_least(walk, difference, -1, 0),",
     finders = {oracle}},
    {"what differs is below", "csrc/depend/condition.c",
     "truth.no = ms_guard_or(&walk->guards, below, above, &truth.exact);", "truth.no = below;"},
    {"a == b is not both of a <= b and a >= b", "csrc/depend/condition.c",
     "truth.yes = ms_guard_and(&walk->guards, to, from, &truth.exact);", "truth.yes = to;",
     finders = {oracle}},
    {"one condition of two on a sum is forgotten", "csrc/depend/guard.c",
     "if (form->constant < other->constant) clause->form[f] = form;", "", finders = {oracle}},
  }),
  rule("remainders and quotients are variables with their bounds", {
    {"remainders go up to the divisor", "csrc/depend/subscript.c",
     "ms_form most = ms_form_constant(divisor - 1);", "ms_form most = ms_form_constant(divisor);",
     finders = {oracle}},
    {"remainders end one too early", "csrc/depend/subscript.c",
     "ms_form most = ms_form_constant(divisor - 1);",
       "ms_form most = ms_form_constant(divisor - 2);"},
    {"two quotients are one", "csrc/depend/subscript.c",
     "memcmp(&walk->scope[k].high, &inner.high, sizeof inner.high) != 0) {\n      continue;",
     "memcmp(&walk->scope[k].high, &inner.high, sizeof inner.high) != 0) {\n" ..
     "      if (walk->scope[k].loop) continue;"},
  }),
  rule("a and b", {
    {"is b", "csrc/depend/condition.c", "truth.yes = ms_guard_and(make, a->yes, b->yes,",
     "truth.yes = ms_guard_and(make, b->yes, b->yes,", finders = {oracle}},
    {"fails only where both do", "csrc/depend/condition.c",
     "truth.no = ms_guard_or(make, a->no, b->no,", "truth.no = ms_guard_and(make, a->no, b->no,"},
  }),
  rule("a or b", {
    {"is a and b", "csrc/depend/condition.c", "truth.yes = ms_guard_or(make, a->yes, b->yes,",
     "truth.yes = ms_guard_and(make, a->yes, b->yes,"},
    {"fails where one does", "csrc/depend/condition.c",
     "truth.no = ms_guard_and(make, a->no, b->no,", "truth.no = ms_guard_or(make, a->no, b->no,",
     finders = {oracle}},
  }),
  rule("not a", {
    {"is a", "csrc/depend/condition.c", "{truth->no, truth->yes, truth->exact}",
     "{truth->yes, truth->no, truth->exact}"},
    {"is anything", "csrc/depend/condition.c", "{truth->no, truth->yes, truth->exact}",
     "{&ms_guard_always, &ms_guard_always, false}", finders = {oracle}},
  }),
  rule("else", {
    {"is met in any case", "csrc/depend/flow.c",
     "walk->guard = all.rest;\n      all.rest = &ms_guard_never;",
     "walk->guard = all.entry;\n      all.rest = &ms_guard_never;", finders = {oracle}},
    {"is where the condition holds", "csrc/depend/flow.c",
     "all->rest = ms_guard_and(&walk->guards, all->rest, truth->no, &exact);",
     "all->rest = ms_guard_and(&walk->guards, all->rest, truth->yes, &exact);"},
  }),
  rule("elseif", {
    {"is met where earlier conditions hold", "csrc/depend/flow.c",
     "walk->guard = ms_guard_and(&walk->guards, all->rest, truth->yes, &exact);",
     "walk->guard = ms_guard_and(&walk->guards, all->entry, truth->yes, &exact);",
     finders = {oracle}},
    {"leaves an else to the last condition alone", "csrc/depend/flow.c",
     "all->rest = ms_guard_and(&walk->guards, all->rest, truth->no, &exact);",
     "all->rest = ms_guard_and(&walk->guards, all->entry, truth->no, &exact);",
     finders = {oracle}},
  }),
  rule("goto", {
    {"leads nowhere", "csrc/depend/flow.c",
     "    walk->guard = walk->block.guard;\n    return;\n", "    return;\n", finders = joined},
    {"is not among the ways to a label", "csrc/depend/flow.c",
     "guard = ms_guard_or(&walk->guards, guard, jump->guard, &exact);",
     "guard = ms_guard_and(&walk->guards, guard, guard, &exact);", finders = joined},
    {"keeps nothing away", "csrc/depend/flow.c",
     "  walk->guard = &ms_guard_never;\n  ++*(node->kind",
     "  walk->guard = leaves ? &ms_guard_never : walk->guard;\n  ++*(node->kind",
     finders = {planned, oracle}},
    {"is forgotten where branches meet", "csrc/depend/flow.c",
     "if (all->exact) walk->guard = out;", "", finders = {planned, oracle}},
  }),
  rule("return of a function", {
    {"of a function of the body ends what comes after the call", "csrc/depend/literal.c",
     "  walk->guard = guard;\n  walk->block = block;\n", "  walk->block = block;\n"},
    {"is one of the values in any case", "csrc/depend/piece.c",
     "ms_pieces_add(&returns->made, walk->guard, value,",
     "ms_pieces_add(&returns->made, &ms_guard_always, value,",
     finders = {planned, oracle}},
  }),
  rule("locals hold what each path gave them", {
    {"flags are not known", "csrc/depend/local_value.c",
     " ||\n               (value->kind == MS_ABSTRACT_VALUE_SCALAR && value->truth != NULL);", ";",
     finders = {planned, oracle}},
    {"a branch assigns nothing", "csrc/depend/local_value.c",
     "  ms_walk_forget(walk, node);\n  for (const ms_met *met = all;",
     "  for (const ms_met *met = NULL;"},
    {"the last path's value holds on all", "csrc/depend/local_value.c",
     "if (ms_guard_is_never(path->guard)) continue;",
     "if (ms_guard_is_never(path->guard) || path != paths) continue;", finders = joined},
    {"paths are anywhere", "csrc/depend/local_value.c",
     "ms_pieces_add(&made, path->guard, &held->value, exact);",
     "ms_pieces_add(&made, &ms_guard_always, &held->value, exact);", finders = {planned, oracle}},
  }),
  rule("piecewise subscripts", {
    {"pieces are told the wrong way round", "csrc/depend/condition.c",
     "ms_pieces_add(&made, both ? truth->yes : truth->no, right, truth->exact);",
     "ms_pieces_add(&made, both ? truth->no : truth->yes, right, truth->exact);"},
    {"extremes are where they are not", "csrc/depend/piece.c",
     "ms_pieces_add(&made, truth->no, &most, truth->exact);",
     "ms_pieces_add(&made, truth->yes, &most, truth->exact);"},
  }),
  rule("captured booleans decide when the loop is planned", {
    {"true is false", "csrc/depend/evaluate.c",
     "binding->number == 1   ? &ms_truth_true", "binding->number == 1   ? &ms_truth_false"},
    {"they are not known", "csrc/depend/evaluate.c",
     "binding->number == 1   ? &ms_truth_true", "binding->number == 1   ? NULL",
     finders = {oracle}},
    {"places that nothing comes to are mentions", "csrc/depend/flow.c",
     "return at != NULL;\n}\n\n/* ---- jumps", "return at == NULL && false;\n}\n\n/* ---- jumps",
     finders = {dead}},
    {"places that nothing comes to are parts of forms", "csrc/depend/reduction.c",
     "return ms_extreme_statement(all, node, is) && ms_tally_mentions(all, node) == is->mentions;",
     "return ms_extreme_statement(all, node, is);", finders = {dead}},
    {"only of numbers they do not count", "csrc/depend/scalar.c",
     "if (binding->depth != capture->field_count) return false;\n  if (walk->dead",
     "if (binding->kind > MS_BIND_STRING || binding->depth != capture->field_count) " ..
     "return false;\n  if (walk->dead", finders = {dead}},
  }),
  {rule = "a user's word lifts what is possible, and nothing else",
   finders = {{spec = "spec/depend/assume_spec.lua"}}, mutants = {
    {"proven pairs are lifted, too", "csrc/depend/conflict.c",
     "bool lifted = conflicts->assumes && !pair->proven;", "bool lifted = conflicts->assumes;"},
    {"the word is not asked", "csrc/depend/conflict.c",
     "bool lifted = conflicts->assumes && !pair->proven;", "bool lifted = false;"},
    {"only some iterations are recorded", "lua/meissa/check/init.lua",
     'if space.check ~= "all" then run.most', "if true then run.most"},
  }},
}
