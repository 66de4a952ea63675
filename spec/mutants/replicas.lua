-- SPDX-License-Identifier: MIT
-- Mutants of replicas: who hears whom, what is sent, how it is merged, what each does in which
-- round.
local graphs = {spec = "csrc/sync/topology_test.c"}
local filters = {spec = "csrc/sync/filter_test.c"}
local shares = {spec = "csrc/plan/shares_test.c"}
local loops = {spec = "spec/driver/replicate_spec.lua"}
local merges = {spec = "spec/driver/replicate_merge_spec.lua"}
local stale = {spec = "spec/driver/replicate_stale_spec.lua"}
local functions = {spec = "spec/driver/replicas_spec.lua"}
local refusals = {spec = "spec/driver/replicas_refused_spec.lua"}
local overlaps = {spec = "spec/array/overlap_spec.lua"}

return {
  {
    rule = "averaging over a topology keeps the mean, as fast as its gap says",
    finders = {graphs},
    mutants = {
      {"unequal degrees have in-degree weights", "csrc/sync/topology.c",
       "made->period == 1 && is_symmetric(graph) ? 1 : 3", "made->period == 99 ? 1 : 3"},
      {"the root expander steps too far", "csrc/sync/topology.c",
       "floor(sqrt((double)n) + 0.5)", "floor(sqrt((double)n) + 1.5)"},
      {"one peer goes on doubling", "csrc/sync/topology.c",
       "UINT64_C(1) << t);", "UINT64_C(1) << (t + 1));"},
      {"columns are not looked at", "csrc/sync/spectrum.c",
       "faults |= MS_TOPOLOGY_COLUMNS;", "faults |= 0;"},
      {"the gap is that of half the matrix", "csrc/sync/spectrum.c",
       "multiply(n, w, product, square);\n  tridiagonal", "tridiagonal"},
    },
  },
  {
    rule = "a filter sends what its rule says, and forgets nothing that it does not count",
    finders = {filters, merges},
    mutants = {
      {"the baseline stays", "csrc/sync/filter.c",
       "  f->base[i] = value[i];\n}\n\n/* What is pending", "}\n\n/* What is pending"},
      {"a quota sends the least first", "csrc/sync/filter.c",
       "return one->key > other->key ? -1 : 1;", "return one->key < other->key ? -1 : 1;"},
      {"what rounding takes from a message is gone", "csrc/sync/filter.c",
       "(account){.high = f->pending[i].low}", "(account){0}"},
      {"what is dropped is not counted", "csrc/sync/filter.c",
       "forget(f, i, f->ledger != NULL ? &f->ledger[i].dropped : NULL);", "forget(f, i, NULL);"},
      {"the floor is not looked at", "csrc/sync/filter.c",
       "return scale < f->rule.floor ? f->rule.floor : scale;", "return scale;"},
      {"a bound waits for the quota", "csrc/sync/filter.c",
       "if (most < beyond) most = beyond;", "(void)beyond;"},
    },
  },
  {
    rule = "each replica does its share, pass by pass, in as many rounds as all",
    finders = {shares, loops},
    mutants = {
      {"the last part takes what is left", "csrc/plan/shares.c",
       "return count / rounds * round + count % rounds * round / rounds;",
       "return round == rounds ? count : count / rounds * round;"},
      {"what is done is done again", "csrc/plan/shares.c",
       "      if (at < 0) continue;\n", ""},
      {"all passes are shuffled alike", "csrc/plan/shares.c",
       "SHARE_STREAM + (b->terms->pass + (uint64_t)pass)", "SHARE_STREAM + 0 * (uint64_t)pass"},
      {"a fraction is one of the loop", "csrc/plan/shares.c",
       "every *= (double)made->largest / (double)b->outer;", "every *= (double)made->largest;"},
    },
  },
  {
    rule = "an exchange merges what all have posted, by sender, and bits depend on nothing else",
    finders = {loops, merges},
    mutants = {
      {"all replicas begin with the first one's copy", "csrc/job/block_local.c",
       "space->rows + (size_t)block * (size_t)space->size", "space->rows"},
      {"what others have merged is merged", "lua/meissa/sync/exchange.lua",
       "before[to], self.count, out[to])",
       "before[to], self.count, out[to]) after[to] = out[to]"},
      {"the final merge is the first replica", "lua/meissa/sync/exchange.lua",
       "  elseif self:is_alike() then\n    ffi.copy(out, values[1], 8 * count)",
       "  elseif true then\n    ffi.copy(out, values[1], 8 * count)"},
      {"push-sum forgets its weights", "lua/meissa/sync/exchange.lua",
       "out[k][i] = sums[k][i] / share[k]", "out[k][i] = sums[k][i]"},
      {"dual variables are not damped", "lua/meissa/driver/replicated.lua",
       "\n  damp(damped)\n", "\n"},
      {"sigma counts twice", "lua/meissa/sync/settings.lua",
       "parsed.factor = gamma / parsed.sigma", "parsed.factor = gamma / parsed.sigma ^ 2"},
    },
  },
  {
    rule = "without a barrier each replica hears what it may hear, once, and loses nothing",
    finders = {stale},
    mutants = {
      {"a message counts again", "lua/meissa/sync/post.lua",
       "version > place[0] and version >= rows.oldest", "version > 0"},
      {"the last exchange is as stale as the others", "lua/meissa/driver/posted.lua",
       "seen = function() return count end", "seen = function() return count - 1 end"},
      {"changes are told alone, not in sum", "lua/meissa/sync/post.lua",
       "    add(row + at.total, change, count)\n", "    copy(row + at.total, change, count)\n"},
      {"push-sum keeps what it gives away", "lua/meissa/sync/post.lua",
       "sum[i] = sum[i] / parts end", "sum[i] = sum[i] / 1 end"},
      {"what is seen again is taken again", "lua/meissa/sync/post.lua",
       "        taken[i] = sent[i]\n", ""},
      {"ages have no sign", "lua/meissa/sync/post.lua",
       "given[s], version - rows.last", "given[s], math.abs(version - rows.last)"},
      {"filters begin anew in each block", "lua/meissa/sync/post.lua",
       "  lib.ms_filter_save(self.filter, edge + self.count + 1)\n", ""},
      {"answers govern at once", "lua/meissa/driver/cut.lua",
       "return staleness < math.huge and staleness or 0", "return 0 * staleness"},
      {"who is late is waited for", "csrc/sync/gate_setting.c",
       "  setting->backup = backup;\n", "  setting->backup = 0 * backup;\n"},
      {"who is late is heard", "lua/meissa/sync/waits.lua",
       "setting.timeout > 0) and lag or nil", "setting.timeout > 0) and math.huge or nil"},
      {"a time-out has no end", "csrc/worker/rounds.c",
       "if (now >= limit) break;", ""},
    },
  },
  {
    rule = "a loop over replicas is one transaction, and writes nothing that replicas share",
    finders = {merges, loops},
    mutants = {
      {"earlier rounds stay", "lua/meissa/driver/snapshot.lua",
       "for _, put_back in ipairs(kept or {}) do put_back() end", ""},
      {"private state stays", "lua/meissa/driver/snapshot.lua",
       "ipairs(group.keeps and group.members or {})", "ipairs({})"},
      {"any dimension is shared out", "csrc/depend/placement.c",
       "    if (!ms_strategy_may_cut(patterns, dim)) continue;\n    uint32_t aligned = count",
       "    uint32_t aligned = count"},
      {"the array itself may be written", "csrc/depend/buffered.c",
       "    if (beside->replica) {\n", "    if (beside->replica) continue;\n    if (0) {\n"},
    },
  },
  {
    rule = "functions of replicas meet in one call, see nothing of each other, and are missed",
    finders = {functions},
    mutants = {
      {"those that have finished count", "lua/meissa/driver/replicas.lua",
       "or t[1], self.count - done", "or t[1], self.count"},
      {"captured variables are shared", "lua/meissa/driver/replicas.lua",
       "own, given, replica.originals = isolate.copy(fn, arguments, count)",
       "own, given, replica.originals = fn, arguments, {}"},
      {"one that has returned is waited for", "lua/meissa/driver/replicas.lua",
       "if finished and waiting then", "if false then"},
      {"random numbers follow each other", "lua/meissa/driver/replicas.lua",
       "random.place_of(run.draws, k)", "random.place_of(run.draws, 1)"},
    },
  },
  {
    rule = "what replicas cannot do is refused",
    finders = {refusals, overlaps},
    mutants = {
      {"two objects may write one memory", "lua/meissa/sync/replica.lua",
       "other.group ~= group and array.overlap(other.target, each.target)", "false"},
      {"hulls are elements", "lua/meissa/array/overlap.lua",
       "at >= low and at < high and marks[at - low] == 1", "true"},
      {"the first replica's options are everyone's", "lua/meissa/sync/meeting.lua",
       "if not same_options(request.options, first.options, true) then", "if false then"},
      {"any yield is a request", "lua/meissa/driver/replicas.lua",
       "getmetatable(request) == Request", "true"},
      {"workers change in the midst of a loop", "lua/meissa/driver/pool.lua",
       "if held then", "if false then"},
    },
  },
}
