-- SPDX-License-Identifier: MIT
-- Mutants of small loops, of launches, of verdicts that hold for more numbers, and of loops without
-- a log.
local runs = {spec = "csrc/job/small_run_test.c"}
local known = {spec = "csrc/job/known_plans_test.c"}
local line = {spec = "csrc/job/plan_line_test.c"}
local cutting = {spec = "csrc/plan/cutting_test.c"}
local small = {spec = "spec/driver/small_spec.lua"}
local launch = {spec = "spec/driver/launch_spec.lua"}
local contents = {spec = "spec/driver/launch_contents_spec.lua"}
local replan = {spec = "spec/plan/replan_spec.lua"}
local steady = {spec = "spec/depend/steady_spec.lua"}
local unlogged = {spec = "spec/driver/unlogged_spec.lua"}

return {
  {
    rule = "a small loop runs wholly or not at all, with the bits of workers",
    finders = {runs, small},
    mutants = {
      {"the last block is not asked", "csrc/job/small_run.c",
       "block < plan->blocks && worst < MS_NATIVE_DOUBTFUL",
       "block + 1 < plan->blocks && worst < MS_NATIVE_DOUBTFUL"},
      {"what was written is not put back", "csrc/job/small_run.c",
       "if (!ran) put_back(run);", ""},
      {"only the first array is kept", "csrc/job/small_run.c",
       "s < run->written_count; at += run->written[s++].size) {\n"
         .. "    memcpy(run->kept + at,",
       "s < 1; at += run->written[s++].size) {\n    memcpy(run->kept + at,"},
      {"subnormal numbers are what the driver makes of them", "csrc/job/small_run.c",
       "_mm_setcsr(USUAL_CONTROL);", ""},
      {"the driver's floating point is not restored", "csrc/job/small_run.c",
       "_mm_setcsr(control);", ""},
      {"all is one stage", "csrc/job/small_run.c",
       "return run->merge_count > 0 && plan->stages.count > 0 ? plan->stages.count : 1;",
       "return 1;"},
      {"merging cannot fail", "csrc/job/small_run.c", "|| run->merge_count > 0;", ";"},
      {"what a failing loop has put into buffers stays", "csrc/job/small_run.c",
       "if (run->memory != NULL && !ran) ms_block_local_discard(run->memory);", ""},
      {"a loop with `while` may run here", "csrc/kernel/native/c_statement.c",
       "const ms_node *node = context;\n  w->uncounted = true;\n"
         .. '  ms_c_line(w, "for (;;) {");\n  ms_c_line(w, "if (!%s) break;"',
       'const ms_node *node = context;\n  ms_c_line(w, "for (;;) {");\n'
         .. '  ms_c_line(w, "if (!%s) break;"'},
      {"any number can be counted to", "csrc/kernel/native/c_loop.c",
       "w->uncounted = w->uncounted || !is_near(start) || !is_near(limit);", ""},
      {"texts that may stop go through to their ends", "csrc/kernel/native/native_emit.c",
       'w->ends ? "MS_NATIVE_ENDS" : "MS_NATIVE_MAY_STOP"', '"MS_NATIVE_ENDS"'},
    },
  },
  {
    rule = "a launch sees whatever has changed",
    finders = {known, launch},
    mutants = {
      {"plans are found by their first number", "csrc/job/known_plans.c",
       "memcmp(own, numbers, known->width * sizeof *own)",
       "memcmp(own, numbers, known->width > 0 ? sizeof *own : 0)"},
      {"functions with variables from outside are what they were", "lua/meissa/plan/captured.lua",
       'debug.getinfo(binding.value, "u").nups == 0', "true"},
      {"functions that name globals are what they were", "lua/meissa/plan/captured.lua",
       "next(bytecode.names(binding.value)) == nil", "true"},
      {"what functions are given is no part of a plan", "lua/meissa/plan/situation.lua",
       "capture.argument and bindings.inside", "false"},
      {"captured values are not compared", "csrc/binding/launch.c",
       "return !lua_isnil(L, -1) && lua_rawequal(L, -1, -2) != 0;", "return true;"},
      {"strings are numbers", "csrc/binding/launch.c",
       "return lua_type(L, -1) == LUA_TNUMBER;", "return true;"},
      {"arrays may be gone", "csrc/binding/launch.c",
       "if (!look(L, each, c, seen) || !is_there(each) ||",
       "if (!look(L, each, c, seen) ||"},
      {"entries are as they were, whatever wrote them", "csrc/binding/launch.c",
       "of->space.version == of->space.array->version", "true",
       finders = {contents}},
      {"rows are as they were", "csrc/binding/launch.c", "|| !is_current(each)) return false;",
       ") return false;", finders = {contents}},
      {"other workers change nothing", "lua/meissa/driver/launch.lua",
       "  check_workers()\n  local launch = run_again", "  local launch = run_again",
       finders = {contents}},
      {"the arrays behind buffers may be gone", "lua/meissa/driver/launch.lua",
       "about.array, about.written = array.core(own), used.written",
       "about.array, about.written = nil, used.written", finders = {launch, contents}},
      {"all loops draw the same numbers", "csrc/binding/launch.c", "  begin_draws(of);\n", "",
       finders = {contents}},
      {"options are not compared", "csrc/binding/launch.c",
       "return found == count;", "return true;"},
      {"any function may have been called", "csrc/binding/launch.c",
       "is_called(L, each, &at, environment) &&", ""},
      {"steps are not compared", "csrc/binding/launch.c",
       "|| range.step != of->step[d]) return false;", ") return false;"},
    },
  },
  {
    rule = "what is remembered of an execution is used for the same captures only",
    finders = {launch},
    mutants = {
      {"captured values are not compared", "lua/meissa/plan/captured.lua",
       "if alike and source == recent.source_id and is_captured(recent, given) then",
       "if alike and source == recent.source_id then"},
      {"ranges are not", "lua/meissa/plan/captured.lua", "return recent, same\n",
       "return recent, true\n"},
      {"nor numbers that plans depend on", "lua/meissa/plan/captured.lua",
       "same = same and not (parameter and value ~= binding.number)", "",
       finders = {replan}},
    },
  },
  {
    rule = "a verdict holds for numbers on the line along which it was proved, and no others",
    finders = {line, steady, launch},
    mutants = {
      {"the line has no end", "csrc/job/plan_line.c",
       "if (k != floor(k) || !(k >= line->least && k <= line->most)) return false;",
       "if (k != floor(k)) return false;"},
      {"one number is enough", "csrc/job/plan_line.c",
       "if (numbers[n] != line->from[n] + k * line->each[n]) return false;", ""},
      {"the variable is another one in each iteration", "csrc/depend/system.c",
       "row.at[MS_COLUMN_STEADY] = form->at[MS_VAR_STEADY];", ""},
      {"ranges stay as long as they are", "csrc/depend/space.c",
       "domain->dim[k].high.form[0].at[MS_VAR_STEADY] = each;", ""},
      {"ranges stay where they are", "csrc/depend/space.c",
       "form.at[MS_VAR_STEADY] = domain->steady->lo_each[k];", "form.at[k] = step;"},
      {"captured numbers stay as they are", "csrc/depend/evaluate.c",
       "value->form.at[MS_VAR_STEADY] = binding->each;", "value->form.at[MS_VAR_STEADY] = 0;"},
      {"what variables are does not depend on conditions", "csrc/depend/steady.c",
       "scalars[s].role == MS_ROLE_BROADCAST || !now->walk.guards.turns", "true"},
    },
  },
  {
    rule = "a loop without a log reads nothing of what it writes, and cannot fail",
    finders = {unlogged},
    mutants = {
      {"it may read it", "lua/meissa/driver/small.lua",
       'if about.memory ~= "write" or binding.sparse', "if binding.sparse"},
      {"it may fail", "lua/meissa/driver/small.lua",
       "small_runs.ends(M.instance(run).run, run.grid.core)", "M.instance(run) ~= nil"},
      {"arrays may travel by value", "lua/meissa/driver/small.lua",
       "if run.by_value or not run.space.transaction or", "if not run.space.transaction or"},
    },
  },
  {
    rule = "loops with buffers have fewer blocks by the size of what is merged",
    finders = {cutting},
    mutants = {
      {"however much it is", "csrc/plan/cutting.c",
       "if (cutting->merged > MUCH_MERGED * iterations) return usual;", ""},
      {"a single one is enough", "csrc/plan/cutting.c",
       "LEAST_MERGED, usual)", "1, usual)"},
      {"stages have as many as ever", "csrc/plan/cutting.c",
       "fewer_ranges(cutting, cutting->delay, STAGE_BLOCKS)", "STAGE_BLOCKS"},
    },
  },
}
