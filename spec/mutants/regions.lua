-- SPDX-License-Identifier: MIT
-- Mutants of what fast mode computes in float, and of taking iterations of outer loops together.
local regions = {spec = "spec/kernel/regions_spec.lua"}
local jam = {spec = "spec/kernel/jam_spec.lua"}
local small = {spec = "spec/kernel/small_sums_spec.lua"}

return {
  {
    rule = "a region is float by the elements that it touches itself",
    finders = {regions},
    mutants = {
      {"double elements do not count", "csrc/kernel/native/c_region_survey.c",
       "return survey.single && !survey.full;", "return survey.single;"},
      {"elements that stand still count", "csrc/kernel/native/c_region_survey.c",
       "(written || !is_path_fixed(survey, node, calls))", "true"},
      {"what is written may stand still", "csrc/kernel/native/c_region_survey.c",
       "!ms_c_is_written_in(survey->w, survey->node, array)", "true"},
      {"inner loops belong to the body", "csrc/kernel/native/c_region_survey.c",
       "    case MS_FUNCTION:\n    case MS_WHILE:\n    case MS_REPEAT:\n      return;",
       "    case MS_FUNCTION:\n      return;"},
      {"functions are not looked into", "csrc/kernel/native/c_region_survey.c",
       "if (function == NULL || depth >= DEEPEST) return;", "return;"},
      {"values of entries do not count", "csrc/kernel/native/c_region_survey.c",
       "if (node->kind == MS_FOR_GENERIC) look_at_entries(&survey, node);", ""},
    },
  },
  {
    rule = "in a float region what must be exact is, and what is carried is double",
    finders = {regions},
    mutants = {
      {"subscripts are float", "csrc/kernel/native/c_bounds_check.c",
       "  w->exact++;\n  ms_c_value value", "  ms_c_value value"},
      {"what is carried is float", "csrc/kernel/native/c_region.c",
       "if (a->kind.precision == MS_FULL || b->kind.precision == MS_FULL) return MS_FULL;", ""},
      {"sums are one piece", "csrc/kernel/native/c_loop.c",
       "if (sums.count > 0) open_pieces(w, step, &first, &last);",
       "if (sums.count > 0) ms_c_line(w, \"{\");"},
      {"functions of mixed numbers give floats", "csrc/kernel/native/c_region.c",
       "bool mixed = callee != NULL && callee->mixed;", "bool mixed = false;\n  (void)callee;"},
    },
  },
  {
    rule = "what no float can hold makes a region double",
    finders = {regions},
    mutants = {
      {"constants are not looked at", "csrc/kernel/native/c_region_survey.c",
       "if (!fair && survey->exact == 0) survey->full = true;", "(void)fair;\n  (void)survey;"},
      {"numbers from outside are not looked at", "csrc/kernel/native/c_region.c",
       "if (value->outside == NULL || !ms_c_is_single(w)) return;", "if (value != NULL) return;"},
      {"numbers beside rows are not looked at", "csrc/array/rowwise.h",
       "if (ms_is_fair_float(a)) {", "if (a == a) {"},
      {"infinite floats are like the number", "csrc/kernel/native/value.h",
       "- 0x01000000u < 0xfe000000u", "- 0x01000000u < 0xff000000u"},
      {"subnormal floats are like the number", "csrc/kernel/native/value.h",
       "(bits << 1) - 0x01000000u < 0xfe000000u", "(bits << 1) - 1u < 0xfeffffffu"},
    },
  },
  {
    rule = "inner loops are taken together only where no tail changes what they read, nor may stop",
    finders = {jam},
    mutants = {
      {"tails may write what is read", "csrc/kernel/native/c_jam.c",
       "return !vectors && !ms_c_is_written_in(nest->w, nest->block, base.array);",
       "return !vectors;"},
      {"tails may assign what is read", "csrc/kernel/native/c_jam.c",
       "(is_declared_in(symbol, nest->block) || !ms_c_is_assigned_in(nest->block, symbol, NULL))",
       "true"},
      {"what is taken ahead may stop", "csrc/kernel/native/c_jam.c",
       "bool ahead = !w->stops;", "bool ahead = true;"},
      {"inner loops may differ in length", "csrc/kernel/native/c_jam.c",
       "nest->fits = nest->fits && !own;", "(void)own;"},
      {"tails may end the loop", "csrc/kernel/native/c_jam.c",
       "if (leaves || nest->inner->symbols[0]->assigned) return false;",
       "if (nest->inner->symbols[0]->assigned) return false;"},
    },
  },
  {
    rule = "sums of small integers are computed in 32 bits",
    finders = {small},
    mutants = {
      {"rows end before their last element", "csrc/kernel/native/c_small_sum.c",
       "row->high - row->low + 1", "row->high - row->low"},
      {"integers twice as large are small", "csrc/kernel/native/small_rows.h",
       "any >= 2 * MS_SMALL", "any >= 4 * MS_SMALL"},
      {"any sum is an int", "csrc/kernel/native/c_small_sum.c",
       "if (least < INT32_MIN || most > INT32_MAX) return NULL;", ""},
      {"rows may be written", "csrc/kernel/native/c_small_sum.c",
       "ms_c_is_written_in(w, w->emitter->body, array)", "false"},
      {"longer rows are known by shorter ones", "csrc/kernel/native/small_rows.h",
       " && known->count[k] >= count", ""},
    },
  },
}
