-- SPDX-License-Identifier: MIT
-- Mutants of where small loops run.
local pace = {spec = "csrc/job/pace_test.c"}
local small = {spec = "spec/driver/small_spec.lua"}

return {
  {
    rule = "a loop that is not so short runs where it was faster",
    finders = {pace, small},
    mutants = {
      {"it runs in the driver's process", "csrc/job/pace.c",
       "return best_of(pace->here) <= best_of(pace->away);", "return true;"},
      {"workers are asked once", "csrc/job/pace.c",
       "if (--pace->turns > 0) return true;", "return true;"},
      {"one execution is enough", "csrc/job/pace.h",
       "#define MS_PACE_SOME 5", "#define MS_PACE_SOME 1", finders = {pace}},
      {"the best of all executions counts", "csrc/job/pace.c",
       "pace->here[place] = took;",
       "pace->here[place] = fmin(took, best_of(pace->here));",
       finders = {pace}},
      {"trials in vain go on", "csrc/job/pace.c",
       "took > HOPELESS * best_of(pace->away) ||", "", finders = {pace}},
      {"trials on workers in vain go on", "csrc/job/pace.c", "if (hopeless || pace->trial == 0)",
       "if (pace->trial == 0)", finders = {pace}},
      {"what many workers share well is tried here", "csrc/job/pace.c",
       "  if (busy > TOLERANCE * best_of(pace->away)) return false; " ..
       "/* many workers share it well */\n", ""},
      {"nobody learns what workers took", "lua/meissa/driver/loop.lua",
       "    small.learn(run, measured)\n", ""},
    },
  },
  {
    rule = "a small loop whose numbers grow may have become a long one",
    finders = {pace, small},
    mutants = {
      {"it takes as long as ever", "csrc/job/pace.c",
       "pace->here[s] * growth_of(pace, work, pace->with[s]));", "pace->here[s]);"},
      {"it is tried nevertheless", "csrc/job/pace.c",
       "return is_tried_here(pace, work->volume * growth_of(pace, work, NULL), most, busy);",
       "return is_tried_here(pace, work->volume, most, busy);", finders = {pace}},
      {"once it was long, it may be so here", "csrc/job/pace.c",
       "  if (seconds > MS_PACE_LONGER * most) return;\n", ""},
      {"it was always as long as for the greatest numbers", "csrc/job/pace.c",
       "fmin(fabs(with[k]), pace->most[k] - pace->least[k]);", "pace->most[k] - pace->least[k];",
       finders = {pace}},
      {"numbers of functions do not count", "csrc/binding/launch.c",
       "if (of->data[d].single) ", "if (of->datum_count == 0) ", finders = {small}},
      {"nor where it is planned anew", "lua/meissa/driver/small.lua",
       "for _, number in ipairs(natives.single_numbers(run.native.info, run.values)) do",
       "for _, number in ipairs {} do", finders = {small}},
    },
  },
}
