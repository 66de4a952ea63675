-- SPDX-License-Identifier: MIT
-- Rules whose mutants stand beside the specs that find them, 300 programs each: they change Meissa
-- while it runs.
return {
  {rule = "one variable is one variable under all its names",
   within = {"spec/capture/names_spec.lua"}},
  {rule = "libraries that the program has changed are the program's",
   within = {"spec/capture/worlds_spec.lua"}},
  {rule = "views are parts of their base", within = {"spec/plan/views_spec.lua"}},
  {rule = "what a body requires is judged as what it captures",
   within = {"spec/capture/worlds_spec.lua"}},
  {rule = "blocks of reductions are merged as the loop combines",
   within = {"spec/driver/reductions_random_spec.lua"}},
}
