-- SPDX-License-Identifier: MIT
-- Mutants of how a loop's space is cut into blocks, and of what these weigh.
local plans = {spec = "csrc/plan/plan_test.c"}
local layouts = {spec = "csrc/plan/layout_test.c"}
local edges = {spec = "csrc/plan/schedule_edges_test.c"}
local reach = {spec = "spec/plan/reach_spec.lua"}
local driver_loops = {spec = "spec/driver/driver_loop_spec.lua"}
local last = {spec = "spec/driver/last_spec.lua"}

return {
  {
    rule = "a report stays as it was given",
    finders = {last},
    mutants = {
      {"of a loop that runs again", "lua/meissa/plan/init.lua",
       "local copy = setmetatable(tables.copy(plan), Plan)", "local copy = plan"},
      {"while the loop is planned", "lua/meissa/driver/loop.lua",
       "M.last() -- what is planned may have run last", ""},
      {"with what an earlier run took", "lua/meissa/plan/init.lua", ', "listing"}', "}"},
    },
  },
  {
    rule = "a plan is found again by all that it was made of",
    finders = {plans},
    mutants = {
      {"but for the ranges that are asked for", "csrc/plan/plan_cache.c",
       "made_of.ask[a] = terms->ask[a];", "made_of.ask[a] = 0;"},
      {"but for the verdict", "csrc/plan/plan_cache.c", ".verdict = verdict->id,",
       ".verdict = 0,"},
    },
  },
  {
    rule = "ranges weigh what they hold",
    finders = {plans},
    mutants = {
      {"dimensions that are not cut weigh nothing", "csrc/plan/loads.c",
       "(double)length * others", "(double)length"},
      {"what no iteration reaches weighs as much", "csrc/plan/loads.c",
       "if (is_inside(samples, d)) visit(samples, d + 1);", "visit(samples, d + 1);"},
    },
  },
  {
    rule = "blocks of a sweep wait for what distances lead to",
    finders = {reach},
    mutants = {
      {"a range less", "csrc/plan/reach.c", " + (furthest[side] % shortest != 0)", ""},
      {"on the other side", "csrc/plan/reach.c",
       "{verdict->furthest.down[axis->dim], verdict->furthest.up[axis->dim]}",
       "{verdict->furthest.up[axis->dim], verdict->furthest.down[axis->dim]}"},
      {"as far as the first distance found", "csrc/depend/distance.c",
       "if (fresh || length > meeting->most[k])", "if (fresh)"},
      {"the last of an owner is not looked for", "csrc/plan/schedule_edge.c",
       "if (in.hi < hi) hi = in.hi;", "", finders = {edges}},
      {"only owners' last blocks are told of", "csrc/plan/schedule_edge.c",
       "if (next < 0) return all;", "if (next >= 0) return (span){0, 0};\n  return all;",
       finders = {edges}},
    },
  },
  {
    rule = "arrays that are written go where their ranges go",
    finders = {plans},
    mutants = {
      {"all stay", "csrc/plan/travel.c", "stays = !along || axis == ms_grid_space(grid);",
       "stays = true;"},
      {"entries stay with who has written them", "csrc/plan/travel.c",
       "if (ms_strategy_waits(grid->strategy))", "if (grid->strategy == MS_STRATEGIES)"},
      {"what is read comes from nowhere", "csrc/plan/travel.c", ".blind = array->read ? 0 : 1",
       ".blind = 1"},
    },
  },
  {
    rule = "what a loop has captured is described once, how it moves by each plan",
    finders = {driver_loops},
    mutants = {
      {"all move as the first array does", "csrc/plan/plan.c",
       "return array > 0 && plan->travels[array - 1].written ? &plan->travels[array - 1] : NULL;",
       "return array > 0 ? &plan->travels[0] : NULL;"},
      {"descriptions are good for other bindings", "lua/meissa/plan/operands.lua",
       "local situation, partition = run.situation,", "local situation, partition = run.record,"},
      {"what is read goes where the first array does", "csrc/plan/plan.c",
       "return array > 0 && plan->travels[array - 1].written ?", "return array > 0 ?"},
    },
  },
  {
    rule = "what a job works on is there once, and has another version when what travels changes",
    finders = {{spec = "csrc/job/operands_test.c"}},
    mutants = {
      {"views are taken for what lies in one piece", "csrc/job/operands.c",
       "if (whole && ms_array_is_row_major(dims, operand->dims, operand->strides)) {",
       "if (whole) {"},
      {"only the first part of a base is looked at", "csrc/job/operands.c",
       "n < ms_operand_sections(operand)", "n < 1"},
      {"a piece is added again", "csrc/job/operands.c",
       "if (operands->ids[i] == id) return i + 1;", "if (operands->ids[i] == id) return 0;"},
    },
  },
  {
    rule = "the ranges of an axis differ by one value at most, longer ones first",
    finders = {layouts},
    mutants = {
      {"the first one has all that is left over", "csrc/plan/layout.h",
       "int64_t more = range < axis->longer ? range : axis->longer;",
       "int64_t more = range > 0 ? axis->longer : 0;"},
      {"longer ones come last", "csrc/plan/layout.h",
       "int64_t more = range < axis->longer ? range : axis->longer;",
       "int64_t even = axis->ranges - axis->longer, more = range < even ? 0 : range - even;"},
    },
  },
  {
    rule = "where no row sweeps two iterations at once, the loop is proved serial",
    finders = {{spec = "spec/depend/oracle_spec.lua"}, {spec = "spec/depend/serial_spec.lua"}},
    mutants = {
      {"one row is looked at", "csrc/depend/hyperplane_row.c",
       "found = any_shared_sweep(conflicts, patterns, bound, row);",
       "(void)any_shared_sweep;\n  found = -1;"},
      {"no step is asked for", "csrc/depend/hyperplane_row.c",
       "return found == 1;\n}\n\n/* The same", "return found == 2;\n}\n\n/* The same"},
      {"an integer admits its neighbours", "csrc/depend/hyperplane_row.c",
       "step[k] == component->value", "step[k] >= component->value"},
    },
  },
  {
    rule = "a variable of an unordered loop may be read once it has another value",
    finders = {{spec = "spec/depend/scalars_spec.lua"}},
    mutants = {
      {"jumps behind the loop are not seen", "csrc/depend/read_after.c",
       "return here.found || jumps;", "return here.found;"},
      {"reads before that are not seen", "csrc/depend/read_after.c",
       "return here.found || jumps;", "return jumps;"},
      {"functions read nothing", "csrc/depend/read_after.c",
       "if (!look.again && is_given_anew(&look)) return false;",
       "if (is_given_anew(&look)) return false;"},
    },
  },
  {
    rule = "an analysis ends after a bounded number of steps",
    finders = {{spec = "spec/depend/quota_spec.lua"}},
    mutants = {
      {"questions cost nothing", "csrc/depend/solver.c", "solver->work -= work;", "(void)work;"},
      {"the sizes of systems do not count", "csrc/depend/solver.c",
       "unsigned long work = rows * columns * columns;",
       "unsigned long work = rows + columns > 0 ? 20 : 0;"},
    },
  },
}
