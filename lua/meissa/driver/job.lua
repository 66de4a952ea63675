-- SPDX-License-Identifier: MIT
--- Jobs: one execution of a planned loop, on the driver.
--
-- The driver turns captured arrays and the iteration space into operands (pieces of memory with a
-- movement), packs the kernel and the captured values, and runs the job on a session, or the blocks
-- in its own process. What a worker makes of it is in execution.lua.
-- @module meissa.driver.job

local array = require "meissa.array"
local buffer = require "string.buffer"
local worker_count = require "meissa.driver.worker_count"
local engine = require "meissa.kernel.engine"
local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local execution = require "meissa.kernel.execution"
local failures = require "meissa.driver.loop_failure"
local ffi = require "ffi"
local grids = require "meissa.plan.grid"
local inprocess_history = require "meissa.driver.inprocess_history"
local job_operands = require "meissa.plan.operands"
local kernel = require "meissa.kernel"
local large_values = require "meissa.kernel.large_values"
local layouts = require "meissa.plan.layout"
local packing = require "meissa.kernel.pack"
local partition_entries = require "meissa.plan.partition_entries"
local prefetch = require "meissa.driver.prefetch"
local pool = require "meissa.driver.pool"
local progress = require "meissa.base.progress"
local random = require "meissa.kernel.random"
local replay = require "meissa.driver.replay"
local show = require "meissa.array.show"
local small = require "meissa.driver.small"
local spaces = require "meissa.plan.space"
local stages = require "meissa.plan.stage"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local trace = require "meissa.base.trace"

local M = {}

-- Says once for a loop and a captured value that it is large.
local function notice_large(run, large)
  local record = run.record
  if not large or tables.next(large) == nil then return end
  record.large = record.large or {}
  for _, about in tables.each(large) do
    if about.size > large_values.NOTABLE and not record.large[about.path] then
      record.large[about.path] = true
      local often = about.apart and "once, and again when it changes" or "with every run of the " ..
        "loop, because it holds functions or is part of another value"
      io.stderr:write(string.format("meissa: %s: '%s' is %s and is sent to each worker %s. " ..
        "Numbers in an array (meissa.from) need not be sent.\n", failures.place(run), about.path,
        show.bytes(about.size), often))
    end
  end
end

-- Shows the session's notices, one a line.
local function give_notice(run, notices)
  for line in string.gmatch(notices, "[^\n]+") do
    io.stderr:write(string.format("meissa: %s: %s\n", failures.place(run), line))
  end
end

-- What goes to a worker once: the kernel.
local function static_bytes(static, key, kernel_bytes)
  static.static = static.static or {}
  local bytes = static.static[key]
  if not bytes then
    bytes = buffer.encode {kernel = kernel_bytes}
    static.static[key] = bytes
  end
  return bytes
end

--- After a run: copies of a sparse array's values that were made before the loop are out of date;
-- an array that the loop has written wholly, and not read, is valid even if its contents were lost
-- before.
function M.mark_written(run)
  for c, binding in ipairs(run.bindings) do
    local about = binding.kind == "array" and run.plan.array_of[c]
    if about and about.written then
      if binding.sparse then array.mark_written(run.values[c]) end
      local whole = about.memory == "write" and about.writes.whole
      if whole then array.mark_overwritten(run.values[c]) end
    end
  end
end

-- Seconds from the user's call to the first iteration anywhere.
local function launch_of(called, shares)
  local first = math.huge
  for _, share in ipairs(shares) do first = math.min(first, share.began or first) end
  return first - called
end

-- Moves the loop's bar.
local function bar_progress(bar, run)
  local each = run.grid.volume / run.grid.blocks -- iterations of a block, more or less
  return function(finished) bar:show(finished * each) end
end

-- What a job tells its workers: `key`, `kernel`, `operands`, `run`; and for the driver the `bytes`
-- of the kernel, the captured `values` (or what is `given` instead) as a string, those that travel
-- `apart`, what is `large`, what is `known` (see kernel.pack), the ids of `buffers`.
local function pack(run, served)
  local kernel_bytes, run_bytes, key, apart, large, known = packing.pack(
    run.kernel, run.bindings, run.given or run.values, run.native, run.basics)
  local operands, where_bytes, where = job_operands.collect(run, apart, served)
  return {
    key = key, kernel = static_bytes(run.kernel, key, kernel_bytes), operands = operands,
    run = buffer.encode {run = run_bytes, where = where_bytes, layout = run.grid.words,
                         draws = run.plan.draws and run.draws or nil, first = run.first,
                         posted = run.posts and run.posts.round},
    bytes = kernel_bytes, values = run_bytes, apart = apart, large = large, known = known,
    buffers = where.buffers,
  }
end

-- The run that is on its workers; no closures know it, as LuaJIT does not compile their making.
local executing

local function warn_stalled(seconds, number, block)
  local run = executing
  local where = block and failures.describe_block(run, run.grid.layout, block) or "no block"
  io.stderr:write(string.format("meissa: %s: no block finished for %.0f s; worker %d is in %s\n",
    failures.place(run), seconds, number, where))
end

-- Shows what a stage of the loop has told.
local function show_told(run, notices, printed)
  if notices and notices ~= "" then give_notice(run, notices) end
  if printed and printed ~= "" then io.stdout:write(printed) end
end

-- Adds the merges of buffers to a job, and who shows the output of a stage.
local function add_stages(request, run, told)
  request.merges = stages.merges(run, told.buffers)
  request.told = function(notices, printed) show_told(run, notices, printed) end
  request.renew = run.by_value and
    function() job_operands.renew(told.operands, stages.targets(run)) end or nil
end

-- Runs the blocks of a loop, or of a slice that marks what they need or a round, of which what each
-- block has put into buffers is wanted by itself (`told.singly`); the outcome, or nil and the
-- failure.
local function execute(run, told, bar)
  local grid = run.part or run.grid -- of rounds a job runs some
  local request = {
    key = told.key, kernel = told.kernel, operands = told.operands.core, run = told.run,
    plan = run.grid.core, transaction = run.space.transaction,
    workers = run.even_loads and 0 or
      worker_count.size(run.session, grid, run.plan.strategy, run.record.learned),
    loads = run.even_loads and ffi.cast("uint64_t *", run.even_loads) or
      worker_count.loads(grid, run.record.learned),
    stalled = warn_stalled, advanced = bar and bar_progress(bar, run),
    unlogged = not told.marks and small.is_unlogged(run),
    flat = told.flat, buffers = #told.buffers, apart = told.singly, into = told.into,
    first = run.first, last = run.last, rounds = run.rounds, starts = run.starts,
  }
  if not told.singly and #run.plan.buffers > 0 then add_stages(request, run, told) end
  local outer = executing -- a rule of merging may run loops of its own
  executing = run
  local outcome, failure = pool.during_loop(run.session.run, run.session, request)
  executing = outer
  return outcome, failure
end

-- Runs a slice that marks what the blocks of a loop need: what they have marked, by the id of the
-- array of marks and by block, and the bytes sent; nil when its body failed.
local function execute_marks(run, told)
  told.singly = true
  engine.running(run.native)
  local outcome, failure = execute(run, told)
  local notices = (outcome or failure).notices
  if notices then give_notice(run, notices) end
  if outcome then
    engine.ran(run.native, worker_count.busy(outcome.workers))
    local marked = {}
    for n, id in ipairs(told.buffers) do marked[id] = outcome.pending[n] end
    return marked, outcome.moved
  end
  if failure.code ~= "BDY" then failures.raise(run, run.grid.layout, failure) end
  return nil, 0
end

-- What blocks left, in plan order; as one string where that is good.
local function results_of(outcome)
  if outcome.flat then return {flat = outcome.flat, blocks = outcome.blocks} end
  local ordered = {}
  for position, block in ipairs(outcome.order) do ordered[position] = outcome.results[block] end
  return ordered
end

-- Runs a loop: what its blocks left, and the outcome.
local function run_loop(run, told)
  told.flat = kernel.combines_flat(run.kernel)
  local bar = progress.wanted() and
    progress.bar(failures.place(run), run.grid.volume, "iterations") or nil
  local outcome, failure = execute(run, told, bar)
  if bar then bar:clear() end
  local told_back = outcome or failure
  show_told(run, told_back.notices, told_back.printed)
  if not outcome then failures.raise(run, run.grid.layout, failure) end
  return results_of(outcome), outcome
end

--- Runs a job. `run` has record, plan, space, bindings, values, grid, kernel and native (see
-- family.find and engine.choose), session, called (when the user's call began), draws (what its
-- random numbers belong to), roots and env, which the captured values were found in, and basics.
-- @return the scalars to assign, a list of {capture =, value =}; what it took; what blocks left:
-- `results`, `bytes` and `known`, as kernel.combine takes them
-- Errors: BDY WRK INT NET ARR.
function M.run(run)
  run.by_value = worker_count.by_value(run.session)
  local served, fetched, listing = prefetch.find(run, pack, execute_marks)
  local told = pack(run, served)
  notice_large(run, told.large)
  engine.running(run.native)
  local results, outcome = run_loop(run, told)
  run.record.learned = worker_count.learn(outcome, run.part or run.grid, run.plan.strategy,
                                          run.record.learned)
  engine.ran(run.native, worker_count.busy(outcome.workers))
  M.mark_written(run)
  run.interrupted = run.interrupted or outcome.interrupted -- a loop may have several jobs
  local measured = {
    seconds = system.clock() - run.called, listing = listing,
    moved = outcome.moved + fetched, shares = outcome.workers,
    workers = #outcome.workers, launch = launch_of(run.called, outcome.workers),
    deaths = outcome.deaths, redone = outcome.redone, repeated = outcome.repeated,
  }
  return kernel.combine(told.bytes, run.values, results, told.known), measured,
    {results = results, bytes = told.bytes, known = told.known}
end

-- Where what blocks leave is copied to, by number, of those that have rows.
local function rows_by_number(run, ids)
  local into = {}
  for n, id in ipairs(ids) do into[n] = run.rows[id] or false end
  return into
end

--- Runs a round of a loop over replicas, whose grid the run has. What replicas hold then is copied
-- to `rows` of the run: by the id of the array that stands for a copy {pointer =, size =, count =}.
-- @return {results = what its blocks left, in plan order; held = by number and by block, what was
-- put into buffers; buffers = the ids of the arrays that stand for pending elements, by that
-- number; bytes and known as kernel.combine takes them; outcome =}
-- Errors: as M.run.
function M.run_round(run)
  run.by_value = worker_count.by_value(run.session)
  local told = pack(run, nil)
  told.singly, told.into = true, rows_by_number(run, told.buffers)
  engine.running(run.native)
  local results, outcome = run_loop(run, told)
  engine.ran(run.native, worker_count.busy(outcome.workers))
  M.mark_written(run)
  return {results = results, held = outcome.pending, buffers = told.buffers, bytes = told.bytes,
          known = told.known, outcome = outcome, large = told.large}
end

-- -------------------------------------------------------------------------------- in process

-- A run's kernel on the arrays' own memory: {bytes =, key =, known = (see kernel.pack), operands =,
-- where = (see operands.collect), instance =, own = (see execution.instance)}.
local function open_here(run)
  local bytes, run_bytes, key, apart, _, known = packing.pack(
    run.kernel, run.bindings, run.given or run.values, run.native, run.basics)
  local operands, _, where = job_operands.collect(run, apart)
  local draws = run.plan.draws and run.draws or nil
  local instance, own = execution.instance(bytes, run_bytes, job_operands.pieces(operands), where,
                                           draws, run.grid.layout, run.first)
  return {bytes = bytes, key = key, known = known, operands = operands, where = where,
          instance = instance, own = own}
end

--- The same in this process, block by block, of one round or of several that exchange by posts.
-- What a round that fails has written stays.
function M.run_round_here(run)
  local opened = open_here(run)
  local instance, own, where = opened.instance, opened.own, opened.where
  execution.post(instance, where, own, run.posts and run.posts.round)
  local run_block, along = execution.runner(instance, run.grid.layout), run.along
  local results, held, began = {}, {}, system.clock()
  local into = rows_by_number(run, where.buffers)
  for n = 1, #where.buffers do held[n] = {} end
  engine.running(run.native)
  local next_block = along and along.order and replay.order(along, run.first) or
    grids.serial_order(run.grid, run.first, run.last)
  local told = inprocess_history.loop(run.first and run.last - run.first or run.grid.blocks)
  for number in next_block do
    told:begin(number)
    own:begin(number)
    if instance.versions then instance.versions:begin(number, along and along.reads[number]) end
    local bytes, failure = run_block(number)
    if not bytes then
      told:over(false)
      error(errors.new(failure), 0)
    end
    told:commit(number)
    results[along and number - run.first + 1 or #results + 1] = bytes
    own:take_replicas(number, into)
    local parts = {}
    own:take(parts)
    for n, id in ipairs(where.buffers) do
      if parts[id] then held[n][number] = parts[id][1] end
    end
  end
  told:over(true)
  if along and along.order then replay.check_end(along) end
  M.mark_written(run)
  engine.ran(run.native, system.clock() - began)
  return {results = results, held = held, buffers = where.buffers, bytes = opened.bytes,
          known = opened.known, began = began, seconds = system.clock() - began}
end

--- Runs the blocks in this process, in the plan's serial order, as workers would run them: on the
-- arrays' own memory. Of a loop that fails nothing remains, unless it is no transaction.
-- @return the scalars to assign, a list of {capture =, value =}; what blocks left, as of M.run
-- Errors: BDY, ARR.
function M.run_here(run)
  local opened = open_here(run)
  local instance, own = opened.instance, opened.own
  local run_block, all, along = execution.runner(instance, run.grid.layout), {}, run.along
  local follows = not (run.native or run.given) and kernel.speculates(run.kernel)
  local began = system.clock()
  engine.running(run.native)
  local next_block, list = grids.serial_order(run.grid, run.first, run.last), stages.of(run.grid)
  if along and along.order then next_block = replay.order(along, run.first) end
  local told
  -- Rounds of which nobody wants to know more than what they leave; false: nothing is done.
  local function run_at_once(log)
    local plain = run.rounds and log and not (along or own or trace.on.blocks)
    if not plain or environment.get "MEISSA_HISTORY" then return false end
    local bytes = execution.run_rounds(instance, run.first, run.last)
    if bytes == nil then log:restore() end
    all = bytes or all
    return bytes and true or false
  end
  local function run_one(number, parts)
    told:begin(number)
    if own then own:begin(number) end
    if instance.versions then
      instance.versions:begin(number, along and along.reads[number - run.first])
    end
    if trace.on.blocks then trace.say("blocks", "begin job=0 block=%d", number) end
    local bytes, failure = run_block(number)
    if trace.on.blocks then
      trace.say("blocks", "%s job=0 block=%d", bytes and "end" or "fail", number)
    end
    if not bytes and own then own:discard() end
    if not bytes then return failure end
    told:commit(number)
    if own then own:take(parts) end
    if follows then instance:follow(bytes) end
    all[along and number - run.first + 1 or #all + 1] = bytes
  end
  local function run_blocks(log)
    if run_at_once(log) then return end
    for stage = 0, list.count - 1 do
      local before = stage > 0 and list.ends[stage - 1] or 0
      told = run.rounds and inprocess_history.rounds(run) or
        inprocess_history.loop(list.ends[stage] - before)
      local parts, first = {}, failures.first(run.grid.together, execution.order(run.grid.layout))
      for _ = before + 1, list.ends[stage] do
        local number = next_block()
        if not number then break end
        if first:needs(number) then first:take(number, run_one(number, parts)) end
      end
      told:over(first.err == nil)
      first:check()
      if along and along.order then replay.check_end(along) end
      stages.merge(run, parts, log)
    end
  end
  failures.undo_here(run, opened.key, opened.operands, run_blocks)
  M.mark_written(run)
  engine.ran(run.native, system.clock() - began)
  return kernel.combine(opened.bytes, run.values, all, opened.known),
    {results = all, bytes = opened.bytes, known = opened.known}
end

--- For running in this process: cursor(block) gives a function that returns its
-- iterations, and the state that it takes.
function M.cursor(grid, space)
  local layout = grid.layout
  if not grid.partition then
    return function(number)
      local block, ranges = layouts.block(layout, number), {}
      for d, range in ipairs(space.ranges) do ranges[d] = {block.lo[d], block.hi[d], range[3]} end
      return spaces.walk(ranges, space.array)
    end
  end
  return function(number)
    local block = layouts.block(layout, number)
    return partition_entries.entries(grid.partition, block.first, block.last,
                                     space.positions and random.at or nil)
  end
end

return M
