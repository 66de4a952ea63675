-- SPDX-License-Identifier: MIT
-- Mutants of what functions of replicas capture, are given, exchange and return: views, rows,
-- sparse arrays, options.
local operations = {spec = "spec/driver/replicas_operations_spec.lua"}
local exchanged = {spec = "spec/driver/replicas_exchange_spec.lua"}
local results = {spec = "spec/driver/replicas_results_spec.lua"}
local hosts = {spec = "spec/driver/replicas_workers_spec.lua"}
local views = {spec = "spec/driver/replicas_views_spec.lua"}
local models = {spec = "spec/driver/replicate_models_spec.lua"}
local merges = {spec = "spec/driver/replicate_merge_spec.lua"}

return {
  {
    rule = "what arrays of replicas have in common they have wherever replicas are",
    finders = {views},
    mutants = {
      {"views travel each by itself", "lua/meissa/kernel/array_bytes.lua",
       "options.apart and {} or pack_sharing", "true and {} or pack_sharing"},
      {"arguments are copied each by itself", "lua/meissa/sync/isolate.lua",
       "self.clones[value] or value:clone()", "value:clone()"},
      {"a row is where its array begins", "lua/meissa/worker/collective.lua",
       "array.core_of_part(apart", "array.core(apart"},
      {"rows of an array are exchanged as one", "lua/meissa/worker/replica_coroutine.lua",
       "tostring(array.core_of_part(w).data)", "tostring(array.core(w).data)"},
      {"a shard may be one of another's memory", "lua/meissa/worker/replica_coroutine.lua",
       "if array.overlap(each.target, target) then", "if false then"},
    },
  },
  {
    rule = "results of replicas are the same wherever these run, and so is what cannot be one",
    finders = {results},
    mutants = {
      {"results that cannot travel are nothing", "lua/meissa/worker/replica_coroutine.lua",
       "  if ok then return bytes end\n", "  if ok then return bytes end\n  if true then " ..
       "return (message.pack({}, 1, options)) end\n"},
      {"results that cannot travel have no place", "lua/meissa/worker/replica_coroutine.lua",
       "bytes.file, bytes.line = string.gsub", "local _, _ = string.gsub"},
      {"results are another replica's", "lua/meissa/driver/replica_functions.lua",
       "run.results[k] = message.open(replica.result)[1]",
       "run.results[k] = message.open(run.replicas[1].result)[1]"},
    },
  },
  {
    rule = "an exchange in a function of replicas is one of loops, with all that these may say",
    finders = {exchanged},
    mutants = {
      {"lags are not looked at", "lua/meissa/sync/meeting.lua",
       "slot.lags and run.lags_of(slot.lags, first.t)", "false"},
      {"all merge what the first one has", "lua/meissa/worker/array_exchange.lua",
       "own = rows[replica.index]", "own = rows[1]"},
      {"each hears itself alone between workers", "lua/meissa/worker/array_exchange.lua",
       "of = function(j) return rows[j] end", "of = function() return rows[replica.index] end"},
      {"bytes between workers are nobody's", "lua/meissa/worker/collective.lua",
       "self.sent = self.sent + (sent or 0)", "self.sent = 0"},
      {"the first exchange changes nothing", "lua/meissa/sync/exchanged_array.lua",
       "self.posts:hold(self.before)", "self.posts:hold(row)"},
      {"floats are doubles", "lua/meissa/sync/exchanged_array.lua",
       "vectors.load(copies, self.before)",
       "ffi.copy(self.before, pointer(row), 8 * self.count)"},
      {"other options begin anew", "lua/meissa/sync/exchanged_array.lua",
       "made:carry(earlier, self.index, pointer(self.row), pointer(row))", ""},
      {"what cannot wait is posted", "lua/meissa/worker/replica_coroutine.lua",
       '  check_call(self, "exchange")\n', ""},
      {"loops' options are not taken", "lua/meissa/worker/replica_coroutine.lua",
       "options, settings_of.OF_LOOPS)", "options, settings_of.OPTIONS)"},
    },
  },
  {
    rule = "replicas have sparse arrays as dense ones, and write none that they share",
    finders = {views},
    mutants = {
      {"captured ones may be written", "lua/meissa/sync/isolate.lua",
       "self.held[#self.held + 1] = array.hold(value, \"replicas\")", ""},
      {"for good", "lua/meissa/driver/replica_functions.lua", "  give_back(run)\n", ""},
      {"they do not travel", "lua/meissa/kernel/message.lua",
       "if not is_dense and not array.is_handle(value) then", "if not is_dense then"},
      {"without labels", "lua/meissa/kernel/array_bytes.lua",
       "labels = labels_of(value),", ""},
      {"arrays that cannot be written are reduced", "lua/meissa/sync/values.lua",
       "if array.is(value) and array.is_frozen(value) then", "if false then"},
    },
  },
  {
    rule = "an operation makes of values between workers what the driver would make of them",
    finders = {operations},
    mutants = {
      {"draws are the worker's", "lua/meissa/worker/operation.lua",
       "if end_draws(place, before) or not ok then", "end_draws(place, before) if not ok then"},
      {"what it counts it counts for good", "lua/meissa/worker/operation.lua",
       "(isolate.copy(op, {}, 0, instead_of, held))", "op"},
      {"counting changes nothing", "lua/meissa/worker/operation.lua",
       "return not about.assigns", "return true"},
      {"no global is changed by who reads it", "lua/meissa/worker/operation.lua",
       "if not is_made_of(getfenv(fn)[name], changes_nothing, seen) then return false end", ""},
      {"what failed is taken", "lua/meissa/worker/collective.lua",
       "  if head_of(self, board, 1).combined ~= stamp_of(self) then return false end\n", ""},
      {"anything fits", "lua/meissa/worker/operation.lua",
       "if not values.fit(result, lists[1][e]) then return nil end", ""},
      {"captured tables are no matter", "lua/meissa/worker/collective.lua",
       "  if op and not operations.is_simple(op) then return nil end\n", "", finders = {hosts}},
      {"all is the driver's to combine", "lua/meissa/worker/collective.lua",
       "if op and not operations.is_simple(op) then", "if op then", finders = {hosts}},
    },
  },
  {
    rule = "filters where all hear all go on from what is merged, without a barrier",
    finders = {merges, {spec = "spec/driver/replicate_stale_spec.lua"}},
    mutants = {
      {"from what was told", "lua/meissa/sync/post_filters.lua",
       "if posts.shared then lib.ms_filter_move(posts.filter, posts.into, nil) end", ""},
      {"receivers have what the sender merged", "lua/meissa/sync/post_filters.lua",
       "lib.ms_filter_move(posts.filter, posts.into, nil)",
       "lib.ms_filter_move(posts.filter, posts.into, posts.into)"},
      {"what is left out is 0", "csrc/sync/filter.c",
       "bits == left_out ? known[i] : message[i]", "bits == left_out ? 0 : message[i]"},
      {"changes are those since the rows began", "lua/meissa/sync/post.lua",
       "self.by_round = self.by_round or self.shared and settings.merge.payload == \"delta\"",
       "self.by_round = self.by_round"},
      {"books are of one block", "csrc/sync/filter.c",
       "    memcpy(filter->ledger, state + ledger_at(filter), ledger_size(filter));\n", ""},
    },
  },
  {
    rule = "a model's parameters are its own memory, and options mean something",
    finders = {models, merges},
    mutants = {
      {"copies are parameters", "lua/meissa/sync/models.lua",
       "if not is_own then", "if false then"},
      {"parameters stay where they were", "lua/meissa/sync/models.lua",
       "  vector.pointer[0] = before\n  return vector", "  return first"},
      {"views are in one piece", "lua/meissa/sync/models.lua",
       "return not vector.array or c_api", "return true or c_api"},
      {"a bound needs nothing to be left out", "lua/meissa/sync/settings.lua",
       "if s.bound < math.huge and s.quota == math.huge and s.filter.kind == \"none\" then",
       "if false then"},
    },
  },
  {
    rule = "options of an exchange count from the round on that they are given in",
    finders = {{spec = "spec/driver/replicas_options_spec.lua"}},
    mutants = {
      {"what workers have met by is not known", "lua/meissa/sync/meeting.lua",
       "if not slot or slot.began ~= began then", "if not slot or request.round == 1 then"},
      {"a table is always the same", "lua/meissa/sync/exchanged_array.lua",
       "made, row, copy_of(options), self.t", "made, row, options, self.t"},
    },
  },
}
