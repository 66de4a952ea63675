-- SPDX-License-Identifier: MIT
--
-- What is known of a captured table or function: its flags say what they mean.

local DEPEND = {"csrc/depend", "csrc/binding/input"}
local SOLE = {
  "csrc/depend/meaning", "csrc/depend/slice", "csrc/binding/input", "lua/meissa/capture/init",
  "lua/meissa/plan/situation", "spec/capture/names_mutants",
}

return {
  words = {
    {"alone", "sole_name", within = SOLE},
    {"is_alone", "has_sole_name", within = {"lua/meissa/capture/init"}},
    {"quiet", "stores_nothing", within = {
      "csrc/depend", "csrc/binding/input", "lua/meissa/capture", "lua/meissa/plan/situation",
    }},
    {"acts", "metamethods", within = DEPEND},
    {"stored_acts", "stored_metamethods", within = DEPEND},
    {"acts", "metamethods", within = {
      "lua/meissa/capture/init", "lua/meissa/capture/search", "lua/meissa/plan/situation",
    }},
  },
}
