-- SPDX-License-Identifier: MIT
--- Programs of the bank (tools/bank.lua) that no other script runs, a record each.
--
--     luajit spec/bank/suites.lua SUITE FIRST LAST
local ffi = require "ffi"
local json = require "dkjson"
local meissa = require "meissa"
local plain = require "spec.support.plain"
local watch = require "spec.bank.watch"

local workers = tonumber(os.getenv "MEISSA_WORKERS")
local engine = os.getenv "MEISSA_ENGINE"

local SIZES = {float = 4, double = 8, int32 = 4, int64 = 8}

-- The bits of an array; every nan is the same one, as engines may give different ones.
local function bits(array)
  if array:type() == "object" then return "objects" end
  local copy = array:clone()
  local count, data = tonumber(copy:nnz()), copy:data()
  for k = 0, count - 1 do
    if data[k] ~= data[k] then data[k] = 0 / 0 end
  end
  return watch.digest(ffi.string(data, count * SIZES[array:type()]))
end

local function is_array(value)
  return type(value) ~= "table" and pcall(function() return value:nnz() end)
end

-- What a value is, to the last bit; tables by their keys.
local function image(value, seen)
  seen = seen or {}
  if type(value) == "number" then return value ~= value and "nan" or ("%a"):format(value) end
  if type(value) == "cdata" or type(value) == "userdata" then
    return is_array(value) and bits(value) or type(value)
  end
  if type(value) == "function" then return "function" end
  if type(value) ~= "table" then return tostring(value) end
  if seen[value] then return "again" end
  seen[value] = true
  local parts = {}
  for key, each in pairs(value) do parts[#parts + 1] = tostring(key) .. "=" .. image(each, seen) end
  table.sort(parts)
  return "{" .. table.concat(parts, " ") .. "}"
end

-- Records what a function gives or raises.
local function record(name, run, ...)
  local results = {pcall(run, ...)}
  local words = {}
  for k = 2, table.maxn(results) do
    words[k - 1] = results[1] and image(results[k]) or tostring(results[k])
  end
  if not results[1] and type(results[2]) == "table" then
    local err = results[2]
    words[#words + 1] = ("%s at %s, iteration %s"):format(tostring(err.code), tostring(err.line),
                                                          image(err.iteration))
  end
  watch.record(name, (results[1] and "" or "raised ") .. table.concat(words, " "), meissa.last())
end

-- A text run with some globals; these are recorded, too.
local function record_text(name, text, env)
  record(name, function()
    local ok, err = pcall(plain.run, text, env, meissa.parallel)
    local left = setmetatable(env, nil)
    if ok then return left end
    if type(err) == "table" then err.message = err.message .. " " .. image(left) end
    error(err, 0)
  end)
end

local suites = {}

-- Without workers the recorder compares each program with its plan, too.
function suites.programs(number)
  local random, texts = require "spec.check.programs_random", require "spec.check.programs_text"
  local text = texts.of(random.program(number))
  if workers > 0 then text = text:gsub("check = true", "check = false") end
  local arguments = {random.arguments(meissa, number)}
  local chunk = setfenv(assert(loadstring(text)), setmetatable(
    {parallel = meissa.parallel, meissa = meissa}, {__index = _G}))
  record(number, function() return chunk(unpack(arguments)), arguments end)
end

function suites.engines(number)
  local loop = require("spec.kernel.engines_random").loop(number)
  record_text(number, loop.text, require("spec.kernel.engines_world").world(number, loop.n))
end

function suites.bounds(number)
  local loop = require("spec.kernel.bounds_random").loop(number)
  local text = loop.text:gsub("parallel%(n%)", ("parallel({%d, %d, %d})"):format(
    unpack(loop.ranges[1])), 1)
  record_text(number, text, loop.world())
end

function suites.kernel(number)
  local bodies = require "spec.kernel.random"
  record_text(number, bodies.generate(number), bodies.world())
end

function suites.reductions(number)
  local random = require "spec.driver.reductions_random"
  record(number, function()
    return assert(random.run(meissa, random.program(number), false, engine))
  end)
end

function suites.served(number)
  local random = require "spec.driver.served_random"
  local env, draw = random.world(meissa, number)
  local text = random.loop(number)
  for pass = 1, 3 do
    local copy = {options = {}}
    for key, value in pairs(env) do copy[key] = value end
    record_text(("%d.%d"):format(number, pass), text, copy)
    random.change(env, pass, draw)
  end
end

function suites.buffers(number)
  local random = require "spec.driver.buffer_random"
  math.randomseed(number)
  local case = random.case()
  record(number, function()
    return random.run(meissa, case, {engine = engine, grid = case.grid})
  end)
end

-- The loops with known answers, planned and run in both orders.
function suites.catalogue(number)
  local k = 0
  for line in io.lines "spec/data/loops.jsonl" do
    local case = json.decode(line)
    for _, ordered in ipairs {true, false} do
      k = k + 1
      if k == number then
        local bindings = {}
        for name, what in pairs(case.bindings) do
          bindings[name] = what.shape and meissa.shape(unpack(what.shape))
            or what.opaque and meissa.opaque or what.number
        end
        local ok, plan = pcall(meissa.analyze, case.source, bindings, {ordered = ordered})
        watch.record(case.id .. (ordered and " ordered" or " unordered"), tostring(plan),
                     ok and watch.plan(plan) or "none")
      end
    end
  end
end

-- The rows of that file on workers, from the specs' list of loops.
function suites.rows(number)
  local loop = require("spec.support.loops").of_file("spec/data/loops.jsonl")[number]
  if loop then record_text(loop.name, loop.text, loop.world(meissa)) end
end

-- Loops of every strategy.
function suites.strategies(number)
  local loop = require("spec.support.loops").list[number]
  if loop then record_text(loop.name, loop.text, loop.world(meissa)) end
end

function suites.features(number)
  local feature = require("spec.bank.features")[number]
  if feature then record(feature.name, feature.run, meissa) end
end

io.stdout:setvbuf "line"
local suite, first, last = arg[1], tonumber(arg[2]), tonumber(arg[3])
for number = first, last do suites[suite](number) end
