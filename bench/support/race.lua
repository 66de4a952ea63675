-- SPDX-License-Identifier: MIT
--- Meissa against C written by hand: the same blocks in the same order on the same memory, in one
-- thread, the C compiled with the native engine's flags.
--
-- C and Meissa take turns, because machines drift, and the best of a few passes of each counts.
-- What Meissa takes is the time that its only worker spent in blocks. C keeps no undo log, so
-- neither does the pass that it is compared with; what one costs is under "undo". What a pass takes
-- from call to return is under "pass". In strict mode arrays and sums must have the same bits.
--
-- A loop is what loops.lua says, with `file`, the C text that has its function.
local ffi = require "ffi"
local hand = require "hand"
local json = require "dkjson"
local meissa = require "meissa"

local M = {}

-- Seconds that the last loop's blocks took: on its worker, or in this process if it is small.
local function busy_of(plan)
  return plan.workers == 0 and plan.seconds or plan.shares[1].busy
end

-- Runs a pass; the seconds in all, and those that its blocks took.
local function timed_pass(case, options)
  local busy, started = 0, meissa.clock()
  case.pass(options, function() busy = busy + busy_of(meissa.last()) end)
  return meissa.clock() - started, busy
end

local function restore(case)
  for k, array in ipairs(case.written) do array:copy(case.before[k]) end
end

-- The arrays that a pass changed, as strings of bytes.
local function bytes_of(case)
  local list = {}
  for k, array in ipairs(case.written) do
    local clone = array:clone()
    local pointer = clone:data()
    local element = ({float = 4, double = 8, int32 = 4, int64 = 8})[clone:type()]
    local count = 1
    for d = 1, clone:dim() do count = count * clone:size(d) end
    list[k] = ffi.string(pointer, count * element)
  end
  return list
end

-- Runs the loop once by Meissa, recording its blocks, and once in C; whether they agree to the bit.
local function compare(case, options, recording)
  case.before = {}
  for k, array in ipairs(case.written) do case.before[k] = array:clone() end
  local sum = case.pass(options, function(numbers)
    hand.add(recording, meissa.last(), case, numbers)
  end)
  local here = bytes_of(case)
  restore(case)
  local other = hand.replay(recording, meissa.clock)
  local there, same = bytes_of(case), sum == other
  for k, bytes in ipairs(here) do same = same and bytes == there[k] end
  return same, math.abs(sum - other) <= 1e-3 * math.abs(other)
end

-- Rounds of C and Meissa in turn: the least seconds of C, of blocks without and with an undo log,
-- and of a pass.
local function race(case, options, recording, rounds)
  local c, bare, safe, passes = math.huge, math.huge, math.huge, math.huge
  local without = {transaction = false}
  for name, value in pairs(options) do without[name] = value end
  for _ = 1, rounds do
    restore(case)
    local _, seconds_of_c = hand.replay(recording, meissa.clock)
    c = math.min(c, seconds_of_c)
    restore(case)
    local _, busy = timed_pass(case, without)
    bare = math.min(bare, busy)
    restore(case)
    local seconds, busy_too = timed_pass(case, options)
    safe, passes = math.min(safe, busy_too), math.min(passes, seconds)
  end
  return c, bare, safe, passes
end

-- Passes until the kernel is there that the loop is going to keep: the compiler makes one with the
-- arrays' extents as constants when these are met again, while the loop runs with what there is.
-- Of one round nobody takes figures.
local function warm_up(case, options, rounds)
  local from, passes = meissa.clock(), 0
  repeat
    restore(case)
    case.pass(options, function() end)
    passes = passes + 1
  until passes >= 4 and (rounds == 1 or meissa.clock() - from > 0.5)
end

local function measure(loop, how, size)
  local case = loop.make(how.rank, loop.element, size)
  local library = hand.compile(loop.file, how.rank, loop.element, how.numeric)
  local recording = hand.record(library, loop.name)
  local options = {numeric = how.numeric, engine = how.engine}
  local same, near = compare(case, options, recording)
  restore(case)
  warm_up(case, options, size.rounds)
  local result = {
    loop = loop.name, title = loop.title, rank = how.rank, element = loop.element,
    numeric = how.numeric, engine = meissa.last().engine, same_bits = same, near = near,
    ok = near and (same or how.numeric == "fast"),
  }
  local c, bare, safe, passes = race(case, options, recording, size.rounds)
  result.c, result.meissa = case.updates / c / 1e6, case.updates / bare / 1e6
  result.pass, result.ratio, result.undo = case.updates / passes / 1e6, c / bare, safe / bare - 1
  return result
end

local function show(result)
  io.stderr:write(("%-15s %5d %-6s %-7s %9.2f %9.2f %7.2f %6.1f%% %9.2f  %s\n"):format(
    result.title, result.rank, result.numeric, result.engine, result.c, result.meissa,
    result.ratio, 100 * result.undo, result.pass,
    result.same_bits and "same bits" or result.ok and "" or "DIFFERENT"))
  print(json.encode(result, {keyorder = {"loop", "rank", "numeric", "engine"}}))
end

--- Adds the options that all races take to a parser of argparse.
function M.options(parser)
  parser:option("--loop", "Only this loop (a C function).")
  parser:option("--rank", "Only this rank."):convert(tonumber)
  parser:option("--numeric", "Only this mode."):choices {"strict", "fast"}
  parser:option("--engine", "Only this engine."):choices {"auto", "lua"}
  parser:option("--rounds", "Passes of each, in turn."):convert(tonumber):default "5"
  return parser
end

-- What was asked for, as a list of {loop, {rank =, numeric =, engine =}}.
local function chosen(loops, asked)
  local list = {}
  for _, loop in ipairs(loops) do
    for _, rank in ipairs(loop.ranks) do
      for _, numeric in ipairs {"strict", "fast"} do
        for _, engine in ipairs {"auto", "lua"} do
          local wanted = (not asked.loop or asked.loop == loop.name) and
            (not asked.rank or asked.rank == rank) and
            (not asked.numeric or asked.numeric == numeric) and
            (not asked.engine or asked.engine == engine) and
            (engine ~= "lua" or numeric == "strict") -- the Lua engine has one mode
          if wanted then
            list[#list + 1] = {loop, {rank = rank, numeric = numeric, engine = engine}}
          end
        end
      end
    end
  end
  return list
end

--- Measures a list of loops, or those of it that were asked for: a table on stderr, and JSON on
-- stdout. Raises an error when results differ from C's.
-- @tab loops the list
-- @tab asked what the parser gave, which the loops' `make` gets as well
function M.run(loops, asked)
  meissa.init {workers = 1}
  io.stderr:write(("%-15s %5s %-6s %-7s %9s %9s %7s %7s %9s\n"):format("M updates/s", "rank",
    "mode", "engine", "C", "blocks", "of C", "undo", "pass"))
  local wrong = 0
  for _, each in ipairs(chosen(loops, asked)) do
    local result = measure(each[1], each[2], asked)
    show(result)
    if not result.ok then wrong = wrong + 1 end
    collectgarbage()
  end
  if wrong > 0 then error(wrong .. " results differ from C's", 0) end
end

return M
