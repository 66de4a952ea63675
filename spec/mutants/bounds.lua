-- SPDX-License-Identifier: MIT
-- Mutants of the bounds of loops.
local oracle = {spec = "spec/depend/oracle_spec.lua", draws = "MEISSA_LOOPS", most = 20000}

return {
  {
    rule = "loops may go from math.max to math.min",
    finders = {oracle},
    mutants = {
      {"collapsed ones from math.min", "csrc/depend/space.c",
       [[up ? "math.max" : "math.min", &start)]], [[up ? "math.min" : "math.max", &start)]]},
      {"collapsed ones have one end", "csrc/depend/space.c",
       "domain->dim[k].high.count = high->count;", "domain->dim[k].high.count = 1;"},
    },
  },
}
