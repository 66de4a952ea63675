-- SPDX-License-Identifier: MIT
-- Mutants of what the analyser takes for a reduction.
local reductions = {spec = "spec/driver/reductions_random_spec.lua", draws = "MEISSA_REDUCTIONS",
                    most = 20000}
local scalars = {spec = "spec/driver/reductions_spec.lua"}

return {
  {
    rule = "what is combined in one way everywhere is a reduction",
    finders = {scalars, reductions},
    mutants = {
      {"the greater is the lesser", "csrc/depend/extreme.c",
       "is->op = greater == right ? MS_REDUCE_MAX : MS_REDUCE_MIN;",
       "is->op = greater != right ? MS_REDUCE_MAX : MS_REDUCE_MIN;"},
      {"of equal ones the first stays", "csrc/depend/extreme.c",
       "test->op == MS_OP_LE ? MS_WINS_EQUAL : MS_WINS_BEYOND;",
       "test->op == MS_OP_LE ? MS_WINS_BEYOND : MS_WINS_BEYOND;"},
      {"what follows in a tuple is a last value", "csrc/depend/extreme.c",
       "  if (all->capture == &all->loop->captures[from->leader]) return true;\n",
       "  return true;\n"},
      {"the second of two branches goes by itself", "csrc/depend/extreme.c",
       "  is->gated = true;\n", ""},
    },
  },
}
