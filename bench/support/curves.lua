-- SPDX-License-Identifier: MIT
--- What the benches of replicas share: learning by settings, each with the best of the step sizes
-- that all have tried, as curves over rounds, samples, bytes and time; what it took to a target.
--
-- A setting is {name =, ...}; a curve a list of points, one a pass: {pass, rounds, samples,
-- seconds, megabytes, missed, waited, loss, ...}.
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

--- The options of a bench of linear models on replicas, and what was asked.
-- @tab parser argparse's @string passes @string reg defaults @string figure what it draws
function M.ask(parser, passes, reg, figure)
  local function number(name, words, default)
    parser:option(name, words):convert(tonumber):default(default)
  end
  parser:option("--data", "A file in LIBSVM's form (gz); default: 20,000 points of its own.")
  number("--points", "How many points to generate.", "20000")
  number("--replicas", "Copies of the weights.", "8")
  number("--every", "Examples of a replica between exchanges.", "100")
  number("--passes", "Passes over the data.", passes)
  parser:option("--rates", "Step sizes that are tried; that of pass k is a k-th.")
    :convert(M.numbers):default "0.02,0.1,0.5"
  number("--reg", "Weight of the squared norm.", reg)
  number("--target", "How near to the serial loss, as a factor.", "1.02")
  number("--workers", "Worker processes.", "2")
  parser:option("--png", "Draw " .. figure .. " to this file.")
  parser:flag("--json", "Print one JSON object a line and nothing else.")
  return parser:parse()
end

--- A curve of a model that is gone through in passes.
-- @number passes how many @func pass pass(k) goes through the data once
-- @func look look(point) adds what has come of it, out of the timed region
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
    look(point)
    list[k] = point
  end
  return list
end

--- The curve of the best step size, and that.
-- @func learn learn(setting, rate) gives a curve, and further results
-- @return the curve, the step size, the further results
function M.tune(setting, rates, learn)
  local best, rate, rest
  learn(setting, rates[1]) -- compilers
  for _, each in ipairs(rates) do
    local results = {learn(setting, each)}
    local curve = results[1]
    local loss = curve[#curve].loss
    if loss == loss and (not best or loss < best[#best].loss) then
      best, rate, rest = curve, each, {unpack(results, 2)}
    end
  end
  if not best then error(setting.name .. ": no step size gives a finite loss") end
  return best, rate, unpack(rest)
end

--- The first point of a curve that reaches a loss; {} if none does.
function M.within(curve, loss)
  for _, point in ipairs(curve) do
    if point.loss <= loss then return point end
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
-- @number rate the step size @number target a loss @tab own fields
function M.show(report, asked, setting, curve, rate, target, own)
  if asked.json then
    for _, point in ipairs(curve) do
      point.setting, point.curve, point.rate = setting.name, true, rate
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

--- A curve as a figure has it: `x` and `y` are names of fields.
function M.points(setting, curve, x, y)
  local list = {}
  for k, point in ipairs(curve) do list[k] = {point[x], point[y]} end
  return {name = setting.name, points = list}
end

return M
