-- SPDX-License-Identifier: MIT
-- Mutants of the tables of methods and of strategies.
local method = {spec = "spec/array/method_spec.lua"}
local classes = {spec = "spec/driver/classes_spec.lua"}
local picture = {spec = "spec/plan/picture_spec.lua"}
local report = {spec = "spec/depend/report_spec.lua"}

return {
  {
    rule = "the table of methods says what they do",
    finders = {method},
    mutants = {
      {"what is scaled is not read", "csrc/array/method.c",
       [[{.name = "scal", .most = 1, .effect = MS_METHOD_UPDATE,]],
       [[{.name = "scal", .most = 1, .effect = MS_METHOD_WRITE,]]},
      {"views are new arrays", "csrc/array/method.c",
       [[{.name = "select", .most = 2, .effect = MS_METHOD_VIEW}]],
       [[{.name = "select", .most = 2, .effect = MS_METHOD_FRESH}]]},
      {"clones are views", "csrc/array/method.c",
       [[{.name = "clone", .most = 0, .effect = MS_METHOD_FRESH}]],
       [[{.name = "clone", .most = 0, .effect = MS_METHOD_VIEW}]]},
      {"sums along a dimension are numbers", "csrc/array/method.c",
       [[{.name = "sum", .most = 1, .effect = MS_METHOD_READ, .dimension = 1,]],
       [[{.name = "sum", .most = 1, .effect = MS_METHOD_READ, .dimension = 2,]]},
      {"labels are elements", "csrc/array/method.c",
       [[{.name = "label", .most = 2, .effect = MS_METHOD_SHAPE}]],
       [[{.name = "label", .most = 2, .effect = MS_METHOD_READ}]]},
    },
  },
  {
    rule = "the table of strategies says what they are like",
    finders = {classes},
    mutants = {
      {"in a wavefront only the first axis is handed on", "csrc/depend/strategy_traits.c",
       [[                      .turned = true,
                      .chains = MS_CHAINS_ALL,]],
       [[                      .turned = true,
                      .chains = 1,]]},
      {"a rotation goes row by row", "csrc/depend/strategy_traits.c",
       [[                   .rotated = true,
]], "", finders = {picture}},
      {"an ordered loop may not be told of its rotation", "csrc/depend/strategy_traits.c",
       [[                   .unordered = true},]], "                   },", finders = {report}},
    },
  },
}
