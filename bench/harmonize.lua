-- SPDX-License-Identifier: MIT
--- What is sent, and how it is merged: logistic regression on replicas that are harmonized (Herb,
-- Jungnickel, Alt, "Harmonization of replicated machine learning models", section 4; the paper
-- promises experiments and has none).
--
-- A row is a setting after all passes, with the best of the step sizes that all have tried: the
-- mean logistic loss of the merged model, what was sent, and what it took until the loss was within
-- --target of that of one serial pass after the other. Settings: thresholds by weights by forms of
-- the merge, messages older or newer than the receiver, what becomes of changes that stay behind,
-- floors, sketches, and one average at the end of each pass. Curves, loss against rounds, samples,
-- bytes and time, are in the objects that --json prints, and in the figure.
--   luajit bench/harmonize.lua [--data a9a.gz] [--replicas 8] [--every 500] [--json] [--png FILE]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. directory ..
  "../examples/support/?.lua;" .. package.path
local argparse = require "argparse"
local curves = require "curves"
local figure = require "figure"
local logreg = require "logreg_harmonized"
local meissa = require "meissa"
local points = require "points"
local run = require "run"

local parser = argparse("harmonize.lua", "Logistic regression on harmonized replicas.")
parser:option("--eps", "Thresholds of the grid."):convert(curves.numbers):default "0.01,0.1,0.5"
parser:option("--lambda", "Weights of the grid."):convert(curves.numbers):default "0.5,1"
local asked = curves.ask(parser, "6", "0.00001", "loss against megabytes")

local SETTINGS = {{name = "serial"}, {name = "one replica", replicas = 1, options = {}}}

local function add(name, options) SETTINGS[#SETTINGS + 1] = {name = name, options = options} end

add("averaged once a pass", {every = math.huge})
add("mean, all is sent", {})
for _, eps in ipairs(asked.eps) do
  add(("mean, eps %g"):format(eps), {filter = {relative = eps, floor = 0.01}})
end
for _, lambda in ipairs(asked.lambda) do
  for _, form in ipairs {"shifted", "normalised", "printed"} do
    local merge = {weighted = lambda, form = form}
    add(("%s %g, all is sent"):format(form, lambda), {merge = merge})
    for _, eps in ipairs(asked.eps) do
      add(("%s %g, eps %g"):format(form, lambda, eps),
          {merge = merge, filter = {relative = eps, floor = 0.01}})
    end
  end
end
for _, form in ipairs {"shifted", "normalised"} do
  local merge = {weighted = 1, form = form}
  add(form .. " 1, 1 round old", {merge = merge, lags = {{1, 1}}})
  add(form .. " 1, 0 to 3 old", {merge = merge, lags = {{0, 1}, {1, 1}, {2, 1}, {3, 1}}})
  add(form .. " 1, ssp 2", {merge = merge, sync = "ssp", staleness = 2})
end
for _, residual in ipairs {"keep", "drop", "invalidate"} do
  add("both ways, eps 0.1, " .. residual, {filter = {relative = 0.1, floor = 0.01},
                                           residual = residual, topology = "ring-both"})
end
for _, floor in ipairs {0, 0.001, 0.1} do
  add(("mean, eps 0.1, floor %g"):format(floor), {filter = {relative = 0.1, floor = floor}})
end
for _, width in ipairs {64, 256, 1024} do
  add(("changes by sketch 3x%d"):format(width),
      {merge = {add = 1 / asked.replicas}, filter = {sketch = "count", width = width, depth = 3}})
end

local report = run.report({json = asked.json, quiet = true}, {
  {key = "setting", title = "setting", format = "%s", width = 26},
  {key = "rate", title = "rate", format = "%g", width = 7},
  {key = "rounds", title = "rounds", format = "%d", width = 8},
  {key = "loss", title = "loss", format = "%.4f", width = 9},
  {key = "accuracy", title = "accuracy", format = "%.4f", width = 10},
  {key = "samples_per_second", title = "samples/s", format = "%.0f", width = 11},
  {key = "seconds", title = "seconds", format = "%.3f", width = 9},
  {key = "megabytes", title = "MB", format = "%.3f", width = 9},
  unpack(curves.TARGET)
})

meissa.init {workers = asked.workers, quiet = true}
local X, y = points.take({data = asked.data, points = asked.points, seed = 1}, points.mostly_right)
y = points.signs(y)
local unordered = {ordered = false}

-- A curve with one step size, and the weights.
local function learn(setting, rate)
  local w = meissa.zeros(X:size(2))
  local r, how = w, {serial = true}
  if setting.options then
    local options = {replicas = setting.replicas or asked.replicas, every = asked.every}
    for name, value in pairs(setting.options) do options[name] = value end
    r, how = meissa.replicate(w, options), {}
  end
  return curves.learn(asked.passes, function(pass)
    logreg.pass(r, X, y, rate / pass, asked.reg, how)
  end, function(point)
    point.samples = point.pass * X:size(1)
    point.loss, point.accuracy = logreg.measure(w, X, y, unordered)
  end, setting.options ~= nil), w
end

if not asked.json then
  print(("%s; %d replicas on %d workers, an exchange every %d examples, rates %s"):format(
    tostring(X):match("^[^\n]*"), asked.replicas, asked.workers, asked.every,
    table.concat(asked.rates, " ")))
end
local serial, target
local drawn = {}
for _, setting in ipairs(SETTINGS) do
  local ok, curve, rate, w = pcall(curves.tune, setting, asked.rates, learn)
  if ok then
    target = target or asked.target * curve[#curve].loss
    serial = serial or w
    if setting.replicas == 1 then
      for f = 1, X:size(2) do
        assert(w[f] == serial[f], "one replica has other bits than serial")
      end
    end
    curves.show(report, asked, setting, curve, rate, target, {
      samples_per_second = curve[#curve].samples / curve[#curve].seconds,
      rounds = setting.options and curve[#curve].rounds or false})
    if setting.options and setting.replicas ~= 1 and #drawn < 12 then
      drawn[#drawn + 1] = curves.points(setting, curve, "megabytes", "loss")
    end
  elseif tostring(curve):find("no step size", 1, true) then
    report:row {setting = setting.name, diverged = true}
  else
    error(curve, 0)
  end
end
if not asked.json then
  print [[

A row without numbers: no step size gives a finite loss. The form "printed" halves a value at a
distance of 0 rounds, which is what exchanges of the same round have: it forgets what it learns.]]
end
if asked.png then
  figure(asked.png, {title = "logistic loss of the merged model", x = "MB sent", y = "loss",
                     logarithmic = "x"}, drawn)
end
