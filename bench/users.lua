-- SPDX-License-Identifier: MIT
--- The programs that a researcher writes first: as plain Lua, by Meissa with its defaults, and in C
--- by hand.
--
-- Each program is written once (support/programs_dense.lua, programs_sparse.lua): its plain form is
-- made of the text, and runs in one process over FFI arrays; bench/users.c has it by hand for one
-- core. All look at their results inside of what is timed. The three take turns, because machines
-- drift, and the best run of each counts: of as many as `--rounds` says at least, and of so many
-- that each has run for `--seconds`. On a machine with other work these repeat within 5 %, where
-- medians, of times or of ratios, differ by a third. What they give is compared.
--
-- Prints a table on stderr, where `call` is the time of plain Lua for one parallel call, and the
-- same figures as JSON on stdout, an object a line. Goals: against plain Lua 0.8 for calls from
-- 20 us on, 1 from 50 us, 1.8 from 1 ms on 2 workers, where neither a wavefront nor memory is the
-- limit; against C 0.8 a core from calls of 100 us, 0.9 in fast mode from 1 ms. A figure that
-- misses one is marked. With `--clock cpu` times are those that the driver and its workers were
-- on a core, in all: what can be compared on a machine that others use, with one worker. All takes
-- five minutes.
--   luajit bench/users.lua [--program heat] [--workers 1] [--clock cpu] [--size 1]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. package.path
local argparse = require "argparse"
local ffi = require "ffi"
local hand = require "hand"
local json = require "dkjson"
local meissa = require "meissa"
local plain = require "plain_program"

local parser = argparse("users.lua", "Programs as users write them, plain, by Meissa, in C.")
parser:option("--program", "Only this one.")
parser:option("--numeric", "Only this mode."):choices {"strict", "fast"}
parser:option("--workers", "Only with so many."):convert(tonumber)
parser:option("--clock", "What is measured."):choices {"wall", "cpu"}:default "wall"
parser:option("--rounds", "Runs of each, in turn."):convert(tonumber):default "15"
parser:option("--seconds", "Least seconds of each."):convert(tonumber):default "0.3"
parser:option("--warm", "Seconds for the compiler."):convert(tonumber):default "4"
parser:option("--size", "Times the usual size."):convert(tonumber):default "1"
local asked = parser:parse()

ffi.cdef [[
typedef double bench_user(const double *numbers, void *const *arrays);
typedef struct bench_time { long seconds, nanoseconds; } bench_time;
int bench_clock(int clock, bench_time *time) __asm__("clock_gettime");
]]

local time = ffi.new "bench_time"

-- Seconds on one of the system's clocks.
local function seconds_of(clock)
  assert(ffi.C.bench_clock(clock, time) == 0)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end

-- Seconds by the clock that was asked for.
local function now()
  if asked.clock == "wall" then return meissa.clock() end
  local total = seconds_of(2) -- CLOCK_PROCESS_CPUTIME_ID
  for _, pid in ipairs(meissa.workers().pids) do
    total = total + seconds_of(bit.bor(bit.lshift(bit.bnot(pid), 3), 2)) -- clock_getcpuclockid(3)
  end
  return total
end

local programs = {}
for _, file in ipairs {"programs_dense", "programs_sparse"} do
  for _, each in ipairs(require(file)) do programs[#programs + 1] = each end
end

-- What a program is given, as each of the three wants it: {names, meissa =, plain = lists of
-- values; numbers, pointers = C's vectors; arrays = by name {own =, meissa =}}.
local function prepare(program)
  local given = program.make(asked.size)
  local case = {names = {}, meissa = {}, plain = {}, numbers = {}, pointers = {}, arrays = {},
                keep = {}}
  for k, each in ipairs(given) do
    local name, value = each[1], each[2]
    case.names[k], case.meissa[k], case.plain[k] = name, value, value
    if type(value) == "number" then case.numbers[#case.numbers + 1] = value end
    if meissa.is_array(value) then
      local own = plain.array(value)
      case.plain[k], case.arrays[name] = own.value, {own = own, meissa = value}
      local parts = own.sparse and {"start", "column", "value", "row"} or {false}
      for _, part in ipairs(parts) do
        local memory = part and own.memory[part] or own.memory
        case.pointers[#case.pointers + 1] = ffi.cast("void *", memory)
      end
    end
  end
  for name, what in pairs(program.buffers or {}) do
    local base = case.arrays[what[1]]
    table.insert(case.names, name)
    table.insert(case.meissa, meissa.buffer(base.meissa, what[2]))
    table.insert(case.plain, base.own.value)
  end
  for _, name in ipairs(program.written) do
    local array = case.arrays[name]
    array.before, array.bytes = array.meissa:clone(), ffi.string(array.own.memory, array.own.bytes)
  end
  return case
end

local function restore(program, case)
  for _, name in ipairs(program.written) do
    local array = case.arrays[name]
    array.meissa:copy(array.before)
    ffi.copy(array.own.memory, array.bytes, #array.bytes)
  end
end

local function compile_c(program, case, numeric)
  local library = hand.compile("users.c", 1, "double", numeric)
  ffi.cdef(("bench_user %s;"):format(program.name))
  local numbers = ffi.new("double[?]", #case.numbers + 1, case.numbers)
  local pointers = ffi.new("void *[?]", #case.pointers + 1, case.pointers)
  case.keep[#case.keep + 1] = {library, numbers, pointers}
  local call = library[program.name]
  return function() return call(numbers, pointers) end
end

-- The three functions of a program: {plain =, meissa =, c =}.
local function functions_of(program, case, numeric)
  local list = {}
  local count = #case.names
  case.plain_given = {unpack(case.plain, 1, count)}
  case.plain_given[count + 1] = program.random and math.random or false
  case.plain_given[count + 2] = function() case.calls = case.calls + 1 end
  local names = table.concat(case.names, ", ")
  local function chunk(text)
    return ("local %s, random, called = ...\nreturn function()\n%s\nend"):format(names, text)
  end
  case.calls, case.plain_runs = 0, 0
  local function as_plain(counted)
    local make = assert(loadstring(chunk(plain.text(program.text, counted))))
    return make(unpack(case.plain_given, 1, count + 2))
  end
  as_plain(true)()
  restore(program, case)
  function list.new_plain() return as_plain(false) end
  list.plain = list.new_plain()
  local text = program.text
  if numeric == "fast" then
    text = text:gsub("parallel(%b())", function(call)
      return "parallel(" .. call:sub(2, -2) .. ", {numeric = \"fast\"})"
    end)
  end
  local given = {unpack(case.meissa, 1, count)}
  given[count + 1] = program.random and meissa.random or false
  list.meissa = meissa.run(chunk(text), unpack(given, 1, count + 1))
  if program.name ~= "word_count" then list.c = compile_c(program, case, numeric) end
  return list
end

local function near(a, b, tolerance)
  return math.abs(a - b) <= tolerance * math.max(1, math.abs(a), math.abs(b))
end

-- What the compiler makes in the background is there after a while; not all bodies can be made.
local function warm_up(program, case, functions)
  local rounds, from = 0, meissa.clock()
  repeat
    restore(program, case)
    functions.meissa()
    rounds = rounds + 1
    local patience = meissa.last().engine == "native" and asked.warm / 4 or asked.warm
  until rounds >= 4 and meissa.clock() - from > patience
end

local SIDES = {"plain", "meissa", "c"}

-- Runs one side: its result, and seconds. Which traces LuaJIT makes of a text is luck, so that the
-- plain program is loaded anew every few runs.
local function run_side(program, case, functions, side)
  restore(program, case)
  collectgarbage()
  if side == "plain" then
    if case.plain_runs % 4 == 0 then functions.plain = functions.new_plain() end
    case.plain_runs = case.plain_runs + 1
  end
  local started = now()
  local result = functions[side]()
  return result, now() - started
end

-- Runs all in turn, each side first in its turn, until each has had as many rounds and seconds as
-- were asked for. Plain Lua, the slowest, stays away when it has had both. The least seconds of
-- each by name, and whether what they give agrees.
local function race(program, case, functions)
  local spent, runs, best, results = {}, {}, {}, {}
  for _, side in ipairs(SIDES) do spent[side], runs[side], best[side] = 0, 0, math.huge end
  local function wants(side)
    return functions[side] and (runs[side] < asked.rounds or spent[side] < asked.seconds)
  end
  local round = 0
  while wants "plain" or wants "meissa" or wants "c" do
    local contest = wants "meissa" or wants "c"
    for k = 1, #SIDES do
      local side = SIDES[(k + round) % #SIDES + 1]
      if wants(side) or contest and side ~= "plain" and functions[side] then
        local result, seconds = run_side(program, case, functions, side)
        results[side], best[side] = result, math.min(best[side], seconds)
        spent[side], runs[side] = spent[side] + seconds, runs[side] + 1
      end
    end
    round = round + 1
  end
  local tolerance = program.random and 0.01 or program.loose and 0.3 or 1e-6
  return best, near(results.plain, results.meissa, tolerance) and
    near(results.c or results.plain, results.plain, tolerance)
end

-- Which goals a result misses, in words.
local function missed(result)
  local list, call = {}, result.call * 1e6
  local goal = call >= 1000 and result.workers >= 2 and not result.bound and 1.8 or
    call >= 50 and 1 or call >= 20 and 0.8 or 0
  if result.of_plain < goal then list[#list + 1] = ("plain %.1f"):format(goal) end
  local of_c = result.numeric == "fast" and (call >= 1000 and 0.9 or 0) or call >= 100 and 0.8 or 0
  if result.workers == 1 and result.of_c and result.of_c < of_c then
    list[#list + 1] = ("C %.1f"):format(of_c)
  end
  return list
end

local function measure(program, numeric, workers)
  local case = prepare(program)
  local functions = functions_of(program, case, numeric)
  warm_up(program, case, functions)
  local best, agree = race(program, case, functions)
  local result = {
    program = program.name, numeric = numeric, workers = workers, clock = asked.clock,
    calls = case.calls,
    bound = program.bound, engine = meissa.last().engine, agree = agree,
    plain = best.plain, meissa = best.meissa, c = functions.c and best.c or nil,
    call = best.plain / case.calls, of_plain = best.plain / best.meissa,
    of_c = functions.c and best.c / best.meissa or nil,
  }
  result.missed = missed(result)
  return result
end

local function show(result)
  io.stderr:write(("%-17s %-6s %7d %10.1f %8.2f %8.2f %8s %7.2f %7s  %s%s%s\n"):format(
    result.program, result.numeric, result.workers, result.call * 1e6, result.plain * 1e3,
    result.meissa * 1e3, result.c and ("%.2f"):format(result.c * 1e3) or "-", result.of_plain,
    result.of_c and ("%.2f"):format(result.of_c) or "-",
    #result.missed > 0 and "below " .. table.concat(result.missed, ", ") or "",
    result.bound and " (" .. result.bound .. ")" or "", result.agree and "" or " DIFFERENT"))
  print(json.encode(result, {keyorder = {"program", "numeric", "workers", "call"}}))
end

io.stderr:write(("%-17s %-6s %7s %10s %8s %8s %8s %7s %7s\n"):format("", "mode", "workers",
  "call us", "plain ms", "Meissa", "C", "x plain", "x C"))
local wrong = 0
for _, workers in ipairs {1, 2} do
  if not asked.workers or asked.workers == workers then
    meissa.init {workers = workers, quiet = true}
    for _, program in ipairs(programs) do
      for _, numeric in ipairs {"strict", "fast"} do
        local wanted = (not asked.program or asked.program == program.name) and
          (not asked.numeric or asked.numeric == numeric)
        if wanted then
          local result = measure(program, numeric, workers)
          show(result)
          if not result.agree then wrong = wrong + 1 end
          collectgarbage()
        end
      end
    end
  end
end
if wrong > 0 then error(wrong .. " results differ", 0) end
