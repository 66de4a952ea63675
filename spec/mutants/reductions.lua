-- SPDX-License-Identifier: MIT
-- Mutants of what the analyser takes for a reduction.
local reductions = {spec = "spec/driver/reductions_random_spec.lua", draws = "MEISSA_REDUCTIONS",
                    most = 20000}
local scalars = {spec = "spec/driver/reductions_spec.lua"}
local roles = {spec = "spec/depend/scalars_spec.lua"}

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
      {"two operators are one", "csrc/depend/reduction.c",
       "if (all->any && (all->found.op != is->op || all->found.set != is->set)) all->mixed = true;",
       ""},
      {"or lasts as and does", "csrc/depend/reduction.c",
       "is->op = value->op == MS_OP_AND ? MS_REDUCE_AND : MS_REDUCE_OR;",
       "is->op = value->op == MS_OP_AND ? MS_REDUCE_OR : MS_REDUCE_AND;"},
      {"differences are sums from either side", "csrc/depend/reduction.c",
       "return node->op == MS_OP_ADD && in_sum(all, node->kid[1], is);",
       "return in_sum(all, node->kid[1], is);", finders = {roles}},
    },
  },  {
    rule = "ties are broken by an index",
    finders = {scalars, reductions},
    mutants = {
      {"ties are broken by data", "csrc/depend/tie.c",
       "return is_index(all, value) && ms_node_same_value(all, other, value);",
       "return ms_node_same_value(all, other, value);"},
      {"what breaks ties begins anywhere", "csrc/kernel/emit/variable.c",
       [[emitter->scalar[at]->tie_op == MS_REDUCE_MIN ? "1/0" : "-1/0"]], [["0"]],
       finders = {reductions}},
      {"blocks break ties by one index", "lua/meissa/kernel/merge.lua",
       "  for _, tie in ipairs(tuple.ties) do\n", "  for _, tie in ipairs({ tuple.ties[1] }) do\n",
       finders = {reductions}},
      {"the first of several indices is the last", "csrc/depend/tie.c",
       "  return tie->wins == MS_WINS_BEYOND && find_ties", "  return find_ties",
       finders = {scalars}},
    },
  },
  {
    rule = "a set is of one constant",
    finders = {{spec = "spec/driver/gather_spec.lua"}},
    mutants = {
      {"constants may differ", "csrc/depend/gather.c",
       " || look.differ) return MS_GATHERS_NOTHING;", ") return MS_GATHERS_NOTHING;"},
      {"any value is one", "csrc/depend/gather.c",
       "bool marks = free && value != NULL && is_constant(value);",
       "bool marks = free && value != NULL;"},
      {"keys that may meet are a slice's", "csrc/depend/slice.c",
       "if (!follows_index(&subscript) || may_meet(walk, capture, &subscript)) return false;",
       "if (!follows_index(&subscript)) return false;"},
    },
  },
}
