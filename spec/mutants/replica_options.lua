-- SPDX-License-Identifier: MIT
-- Mutants of what options of replicas mean together, and of what is said of them.
local options = {spec = "spec/driver/replicate_options_spec.lua"}
local losses = {spec = "spec/driver/replicas_lost_spec.lua"}

return {
  {
    rule = "what is given to replicas, or raised by them, arrives or is refused",
    finders = {losses},
    mutants = {
      {"lists end at their holes", "lua/meissa/base/errors.lua", "if list[k] == nil then",
       "if false then"},
      {"names in lists are looked over", "lua/meissa/base/errors.lua",
       "if count > 0 and other ~= nil then", "if false then"},
      {"false is not raised", "lua/meissa/worker/replica_coroutine.lua",
       "fields.value = thrown.value(err)", "fields.value = thrown.value(err) or nil"},
      {"on_round gives staleness away", "lua/meissa/driver/round_cut.lua",
       "ipairs {\"every\", \"staleness\"}", "ipairs {\"every\"}"},
      {"replicas change the workers", "lua/meissa/driver/pool.lua", "elseif nesting.within() then",
       "elseif false then"},
      {"weights have no bound", "lua/meissa/sync/settings.lua",
       "  if value == math.huge then refuse(\"%s is finite\", what) end\n", ""},
    },
  },
  {
    rule = "whether all hear all is a matter of edges, and reports and notices tell what follows",
    finders = {options},
    mutants = {
      {"completeness is a name", "lua/meissa/sync/topology.lua",
       "self.core.start[rows] == rows * (self.count - 1) or false", "self.core.kind == 0"},
      {"all come to the same by any weights", "lua/meissa/sync/settings.lua",
       "(topologies.is_uniform(topology) or topologies.reduces(topology))", "true"},
      {"rules come to the same, too", "lua/meissa/sync/settings.lua",
       "return kind == \"add\" or\n", "return kind ~= \"mean\" or\n"},
      {"the first group's guarantee is the loop's", "lua/meissa/plan/share.lua",
       "if not guarantee or guarantees.is_less(name, guarantee) then", "if not guarantee then"},
      {"no pair diverges", "lua/meissa/sync/guarantee.lua",
       "merge.sigma < merge.gamma * settings.replicas", "merge.sigma < merge.gamma"},
    },
  },
  {
    rule = "what controllers choose goes with private state, and is told as what it leaves",
    finders = {{spec = "spec/driver/adaptive_spec.lua"}},
    mutants = {
      {"private state takes no time", "lua/meissa/sync/post_rows.lua",
       "    take_times()\n    return at\n", "    return at\n"},
      {"private state's times are counted again", "lua/meissa/sync/post.lua",
       "  if at.times then ffi.fill(row + at.times, 8 * 2) end\n", ""},
      {"a staleness that is chosen leaves nobody out", "lua/meissa/sync/guarantee.lua",
       "  if open.oldest then\n", "  if open.oldest and not settings.auto then\n"},
      {"nobody is later than the staleness that was begun with", "lua/meissa/sync/guarantee.lua",
       "  if settings.auto then old = settings_of.MOST_STALENESS end\n", ""},
    },
  },
  {
    rule = "private state has any type, models any memory, and each name of sync is one for all",
    finders = {options, {spec = "spec/driver/iterate_stale_spec.lua"}},
    mutants = {
      {"large integers are numbers", "lua/meissa/sync/vector.lua",
       "copy(vector, each.pointer, each.count, c_api.element_sizes[each.type] == 8)",
       "copy(vector, each.pointer, each.count, each.type == \"double\")"},
      {"exchanged integers, too", "lua/meissa/sync/replica_group.lua",
       "(private or MERGED[array.describe(value).type])", "true"},
      {"depths differ", "lua/meissa/sync/settings.lua",
       "a.waits.depth == b.waits.depth and a.asked", "a.asked"},
      {"structs have no arrays", "lua/meissa/sync/models.lua", "\" [^*]*%[[%d?]*%]>$\"",
       "\" %[[%d?]*%]>$\""},
      {"iterate has edges of no sort", "lua/meissa/sync/waits.lua",
       "{\"data-centric\", \"notify-ack\", \"bsp\"", "{\"data-centric\", \"bsp\""},
    },
  },
  {
    rule = "merges of changes follow those of values, and go on from what replicas hold",
    finders = {options, {spec = "spec/driver/replicate_answers_spec.lua"}},
    mutants = {
      {"what is added up begins with the first round", "lua/meissa/sync/common_value.lua",
       "    self:value(values, begin)\n", "\n"},
      {"all hold the same", "lua/meissa/sync/common_value.lua",
       "settings.merge.kind == \"mean\" or lib.ms_replica_alike(all, number, self.count)",
       "all ~= number"},
      {"filters of values go on as those of changes", "lua/meissa/sync/post.lua",
       "if alike and self.settings.rule", "if self.settings.rule"},
    },
  },  {
    rule = "a replica's messages of a round share the quota",
    finders = {{spec = "spec/driver/replicate_filters_spec.lua"},
               {spec = "spec/driver/replicate_merge_spec.lua"}},
    mutants = {
      {"each message has the quota", "lua/meissa/sync/post_filters.lua",
       "change, (quota - bytes) / left)", "change, quota)"},
      {"what a message leaves is gone", "lua/meissa/sync/post_filters.lua",
       "change, (quota - bytes) / left)", "change, quota / #receivers)"},
      {"a quota without room for an element is one", "lua/meissa/sync/settings.lua",
       "if s.quota < most * LEAST then", "if s.quota < LEAST then"},
    },
  },
}
