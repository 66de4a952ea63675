-- SPDX-License-Identifier: MIT
--- What the benches of replicas share: learning by settings, each with the best of the step sizes
-- that all have tried, as curves over rounds, samples, bytes and time; what it took to a target.
--
-- A setting is {name =, ...}; a curve a list of points, one a pass: {pass, rounds, samples,
-- seconds, megabytes, missed, waited, loss, ...}.
local figure = require "figure"
local meissa = require "meissa"

local M = {}

--- Positive numbers with commas between them, as an option has them.
function M.numbers(text)
  local list = {}
  for each in text:gmatch "[^,]+" do
    local number = tonumber(each)
    if not number or number <= 0 then return nil, "not a positive number: " .. each end
    list[#list + 1] = number
  end
  if #list == 0 then return nil, "no number" end
  return list
end

--- Declares options with two defaults, of which --quick takes the second.
-- @tab parser argparse's @tab list of {name, words, default, quick = the other, convert =}
-- @treturn func fills in what a command line has left out
function M.options(parser, list)
  for _, each in ipairs(list) do
    local words = each[2]
    if each[3] then words = ("%s (default: %s)"):format(words:gsub("%.$", ""), each[3]) end
    parser:option("--" .. each[1], words):convert(each.convert or tonumber)
  end
  parser:flag("--quick", "A small run, some seconds long, that shows whether all works.")
  parser:flag("--json", "Print one JSON object a line and nothing else.")
  return function(asked)
    for _, each in ipairs(list) do
      local name, default = each[1]:gsub("-", "_"), each[3]
      if asked.quick and each.quick then default = each.quick end
      if asked[name] == nil and default then
        asked[name] = (each.convert or tonumber)(default)
      end
    end
    return asked
  end
end

local function text(words) return words end

--- The options of a bench of linear models on replicas.
-- @string passes @string reg defaults @string figure what it draws
function M.linear(passes, reg, drawn)
  return {
    {"data", "A file in LIBSVM's form (gz); without, points of its own.", convert = text},
    {"points", "How many points to generate.", "20000", quick = "2000"},
    {"replicas", "Copies of the weights.", "8"},
    {"every", "Examples of a replica between exchanges.", "100", quick = "25"},
    {"passes", "Passes over the data.", passes, quick = "2"},
    {"rates", "Step sizes that are tried; that of pass k is a k-th.", "0.02,0.1,0.5,2",
     quick = "0.1,0.5", convert = M.numbers},
    {"reg", "Weight of the squared norm.", reg},
    {"target", "How near to the serial loss, as a factor.", "1.02", quick = "2"},
    {"workers", "Worker processes.", "2"},
    {"png", "Draw " .. drawn .. " to this file.", convert = text},
  }
end

--- Which parts of a bench are asked for, all unless some are named with commas between: {[name] =
-- true}.
function M.parts(parser, names, parts)
  local known, wanted = {}, {}
  for _, part in ipairs(parts) do known[part] = true end
  for name in (names or table.concat(parts, ",")):gmatch "[^,]+" do
    if not known[name] then
      parser:error(("no part '%s': %s"):format(name, table.concat(parts, ", ")))
    end
    wanted[name] = true
  end
  return wanted
end

--- A curve of a model that is gone through in passes.
-- @number passes how many @func pass pass(k) goes through the data once
-- @func look look(point) adds what has come of it, out of the timed region; whether that will do
-- @bool exchanges whether that is done by replicas, of which meissa.last() tells
function M.learn(passes, pass, look, exchanges)
  local rounds, bytes, seconds, missed, waited, list = 0, 0, 0, 0, 0, {}
  for k = 1, passes do
    local started = meissa.clock()
    pass(k)
    seconds = seconds + meissa.clock() - started
    local last = exchanges and meissa.last()
    if last then
      rounds, bytes = rounds + last.rounds, bytes + last.exchanged
      missed = missed + (last.missed or 0)
      for _, share in ipairs(last.shares or {}) do waited = waited + share.waited end
    end
    local point = {pass = k, rounds = rounds, seconds = seconds, megabytes = bytes / 1e6,
                   missed = missed, waited = waited}
    list[k] = point
    if look(point) then break end
  end
  return list
end

--- The curve of the best step size, and that.
-- @func learn learn(setting, rate[, passes]) gives a curve, and further results
-- @return the curve, the step size, the further results; nil: no step size gives a finite loss
function M.tune(setting, rates, learn)
  local best, rate, rest
  learn(setting, rates[1], 1) -- compilers
  for _, each in ipairs(rates) do
    local results = {learn(setting, each)}
    local curve = results[1]
    local loss = curve[#curve].loss
    if loss == loss and loss < math.huge and (not best or loss < best[#best].loss) then
      best, rate, rest = curve, each, {unpack(results, 2)}
    end
  end
  if best then return best, rate, unpack(rest) end
end

--- The first point of a curve that reaches a loss; {} if none does.
-- @string[opt] field whose loss: "worst_replica" in place of the merged model
function M.within(curve, loss, field)
  for _, point in ipairs(curve) do
    if point[field or "loss"] <= loss then return point end
  end
  return {}
end

--- Columns of what it took to a target.
M.TARGET = {
  {key = "target_rounds", title = "to target", format = "%d rounds", width = 14},
  {key = "target_samples", title = "", format = "%d", width = 9},
  {key = "target_megabytes", title = "", format = "%.2f MB", width = 11},
  {key = "target_seconds", title = "", format = "%.3f s", width = 10},
}

--- A row about a curve, with fields of its own added; with --json its points before it.
-- @tab report of run.report @tab asked options @tab setting @tab curve
-- @number rate the step size @number target a loss
-- @tab own fields; what is false there stays out
function M.show(report, asked, setting, curve, rate, target, own)
  if asked.json then
    for _, point in ipairs(curve) do
      point.setting, point.curve, point.rate = setting.name, true, rate
      point.experiment = own and own.experiment
      report:row(point)
    end
  end
  local last, first = curve[#curve], M.within(curve, target)
  local row = {setting = setting.name, rate = rate, loss = last.loss, seconds = last.seconds,
               megabytes = last.megabytes, rounds = last.rounds, accuracy = last.accuracy,
               target_rounds = first.rounds, target_samples = first.samples,
               target_megabytes = first.megabytes, target_seconds = first.seconds}
  for name, value in pairs(own or {}) do
    row[name] = value
    if value == false then row[name] = nil end
  end
  report:row(row)
end

-- A file's name with more before its end: "a.png", "b" gives "a-b.png".
local function with(path, more)
  local stem, rest = path:match "^(.*)(%.[^./]*)$"
  return ("%s-%s%s"):format(stem or path, more, rest or "")
end

--- Draws curves against rounds, samples, megabytes and seconds.
-- @string path the file @string[opt] more what is put before its end
-- @string title @string y words about the loss @tab curves {name =, points = a curve}
function M.draw(path, more, title, y, curves)
  return figure(more and with(path, more) or path, {
    title = title, y = y, key = "loss", logarithmic = "x", panels = {
      {x = "rounds", key = "rounds"}, {x = "samples", key = "samples"},
      {x = "MB sent", key = "megabytes"}, {x = "seconds", key = "seconds"}}}, curves)
end

return M
