-- SPDX-License-Identifier: MIT
-- Mutants of what workers tell together, and of what they do between jobs.
local idle = {spec = "spec/driver/idle_collection_spec.lua"}

return {
  {
    rule = "what blocks count together is what each has counted, in an order of its own",
    finders = {{spec = "spec/driver/deferred_spec.lua"}, {spec = "spec/kernel/gathered_spec.lua"},
               {spec = "csrc/sync/key_sums_test.c"}},
    mutants = {
      {"keys stay in the order in which they came", "lua/meissa/kernel/gathered.lua",
       "if lib.ms_key_sums_arrange(noted) ~= 0 then", "if false then"},
      {"keys of a row stay in it as they came", "csrc/sync/key_sums.c",
       "      sort_row(sums, all + begin, count - begin);\n", ""},
      {"each part is added to what was there", "lua/meissa/kernel/merge.lua",
       "    out.exact = result.exact\n", ""},
      {"any sums are exact", "csrc/depend/gather.c", "!(node->number <= MOST_WHOLE)", "false"},
      {"any tables are left by several blocks", "lua/meissa/kernel/result.lua",
       "result.role == \"counted\" and result.exact", "result.role == \"counted\""},
      {"what else a block leaves waits, too", "lua/meissa/kernel/init.lua",
       "if defers and self.leaves == 0 then", "if defers then"},
      {"what waits is sent all the same", "lua/meissa/kernel/result.lua",
       "if not (deferred and is_joinable(result)) then", "if true then"},
      {"blocks that write are told of later, too", "csrc/worker/worker_report.c",
       "    if (job->task.operands[i].written) return false;\n", ""},
      {"long blocks wait, too", "lua/meissa/kernel/execution.lua",
       "now - told < MOST_DEFERRED and job", "job"},
      {"nobody waits", "lua/meissa/kernel/execution.lua", "MOST_DEFERRED = 0.005",
       "MOST_DEFERRED = 0"},
      {"what waits is told of", "csrc/worker/worker_report.c", " || job->defers) return 0;",
       ") return 0;"},
      {"what a dead worker had not told of is lost for all", "csrc/driver/replace.c",
       "  return told < finished ? (uint32_t)told : finished;\n", "  return finished;\n"},
    },
  },
  {
    rule = "garbage is collected while nobody asks, and who asks does not wait",
    finders = {idle},
    mutants = {
      {"a collection that was begun waits, too", "lua/meissa/worker/idle_collection.lua",
       "begun and 0 or PATIENCE", "PATIENCE"},
      {"it is never begun", "lua/meissa/worker/idle_collection.lua",
       "  return begun or", "  return begun and"},
      {"it never ends", "lua/meissa/worker/idle_collection.lua",
       "begun = not collectgarbage", "begun = not not collectgarbage"},
      {"a job that came meanwhile is the last one", "csrc/worker/worker.c",
       "if (job->open && job->taken) return", "if (job->open) return"},
    },
  },
}
