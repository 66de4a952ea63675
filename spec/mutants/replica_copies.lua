-- SPDX-License-Identifier: MIT
-- Mutants of what is copied for replicas and what is undone: models after failures, results.
local undone = {spec = "spec/driver/replicate_undone_spec.lua"}

return {
  {
    rule = "models are there as long as the program has their handle",
    finders = {{spec = "spec/driver/replicate_gone_spec.lua"}},
    mutants = {
      {"functions keep handles for ever", "lua/meissa/sync/models.lua",
       "{__mode = \"kv\"}", "{__mode = \"k\"}"},
      {"workers keep what the program has no more", "lua/meissa/sync/models.lua",
       "  keep(groups)\n", ""},
      {"a new handle drops all models", "lua/meissa/sync/models.lua",
       "  keep(M.groups())\n", "  keep {}\n"},
    },
  },
  {
    rule = "a model is its replica's, and is given what the replica begins with",
    finders = {{spec = "spec/driver/replicate_models_spec.lua"},
               {spec = "spec/driver/replicate_models_deaths_spec.lua"}},
    mutants = {
      {"a model that an undone loop has trained goes on", "lua/meissa/sync/models.lua",
       "if known.blocks and known.blocks ~= at.blocks then", "if known.undone then"},
      {"what a model has been through is not counted", "lua/meissa/sync/models.lua",
       "known.blocks = at.blocks + 1", "known.blocks = at.blocks"},
      {"a reset begins with what was merged", "lua/meissa/sync/models.lua",
       "  parameters.take(vector, array.core(target).data)\n", ""},
      {"the first replica's model serves the driver", "lua/meissa/sync/models.lua",
       "self.params, self.draws, 1, 0)", "self.params, self.draws, 1)"},
      {"all replicas have one model", "lua/meissa/sync/models.lua",
       "group_here(id)[place or k] = known",
       "for j = 1, 99 do group_here(id)[place or j] = known end"},
      {"parameters stay what the model made of them", "lua/meissa/sync/models.lua",
       "elseif known ~= at.given then", "elseif false then"},
      {"models are not asked what they were built with", "lua/meissa/sync/models.lua",
       "if at.blocks == 0 then", "if false then"},
      {"parameters are not taken back", "lua/meissa/sync/models.lua",
       "  parameters.take(at.model.vector, at.vector.pointer)\n", ""},
    },
  },
  {
    rule = "after a loop that failed models of replicas begin anew, and the program's own stays",
    finders = {undone},
    mutants = {
      {"models stay as they came", "lua/meissa/sync/models.lua",
       "self.failures = self.failures + 1", "self.failures = 0"},
      {"this process alone begins anew", "lua/meissa/plan/operands.lua",
       "failures = group.failures, ", ""},
      {"the program's own begins anew, too", "lua/meissa/sync/models.lua",
       "{[0] = here[0], failures = failures}", "{failures = failures}"},
    },
  },
  {
    rule = "what a function of replicas returns is nobody else's, and can be written",
    finders = {{spec = "spec/driver/replicas_results_spec.lua"}},
    mutants = {
      {"captured arrays stay held", "lua/meissa/kernel/array_bytes.lua",
       "if options.free and held ~= 0 then return nil end", ""},
      {"snapshots can be written, too", "lua/meissa/kernel/array_bytes.lua",
       "options.free and held ~= 0", "options.free"},
    },
  },
  {
    rule = "replicas merge arrays of one type",
    finders = {{spec = "spec/driver/replicas_refused_spec.lua"}},
    mutants = {
      {"floats are merged with doubles", "lua/meissa/sync/meeting.lua",
       "if request.types ~= first.types then", "if false then"},
      {"between workers", "lua/meissa/sync/exchanged_array.lua",
       "self.count, types, self.t", "self.count, \"\", self.t"},
    },
  },
}
