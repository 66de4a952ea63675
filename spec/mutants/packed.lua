-- SPDX-License-Identifier: MIT
-- Mutants of subscripts that are quadratic in indices.
local packed = {spec = "spec/depend/packed_random_spec.lua", draws = "MEISSA_PACKED", most = 20000}

return {
  {
    rule = "packed triangles are arrays of two dimensions",
    finders = {packed},
    mutants = {
      {"roots that differ do not meet", "csrc/depend/quadratic_branch.c",
       "for (int apart = -reach; apart <= reach; apart++) {",
       "for (int apart = 0; apart <= 0; apart++) {"},
      {"the lesser root is not the first", "csrc/depend/quadratic_branch.c",
       "for (int apart = -reach; apart <= reach; apart++) {",
       "for (int apart = 0; apart <= reach; apart++) {"},
      {"a root reaches one less far", "csrc/depend/quadratic_branch.c",
       "while (!is_empty(solver, domain, both, sign, reach + 1)) {",
       "while (!is_empty(solver, domain, both, sign, reach + 2)) {"},
      {"apart, roots have the same rest", "csrc/depend/quadratic_branch.c",
       "int64_t share = both->square[0] * apart;", "int64_t share = both->square[0];"},
      {"products have one half of what is mixed", "csrc/depend/quadratic.c",
       "if (__builtin_add_overflow(along, across, &along)) return false;", ""},
      {"curves are below the lines beside their ends", "csrc/depend/quadratic_branch.c",
       "if ((square > 0) != below || square == 0)", "if ((square > 0) == below || square == 0)"},
    },
  },
}
