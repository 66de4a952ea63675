-- SPDX-License-Identifier: MIT
--- Sparse logistic regression: a pass of examples/train_slr.lua against C written by hand
-- (buffered.c).
--
-- support/race.lua says what is compared with what. An update is a number that is added to a
-- feature's gradient; the rank is the number of points of a stage. Then, where memory is not
-- shared, what prefetching the weights gains (support/prefetch.lua).
-- Prints tables and the same figures as JSON, one object a line.
--   luajit bench/slr.lua [--part prefetch] [--data a9a.gz] [--rank 500] [--engine lua]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. package.path
local argparse = require "argparse"
local loops = require "loops"
local meissa = require "meissa"
local prefetch = require "prefetch"
local race = require "race"
local slr = require "train_slr"

local function make(delay, _, size)
  local X, y = meissa.read.libsvm(size.data)
  local n, model = X:size(1), slr.new(X:size(2), "adarevision", 0.3)
  local function after() slr.settle(model) end
  local function pass(options, done)
    local loss, how = 0, {ordered = false}
    for name, value in pairs(options) do how[name] = value end
    for first = 1, n, delay do
      loss = loss + slr.stage(model, X, y, first, math.min(first + delay - 1, n), how)
      done {}
      after()
    end
    return loss
  end
  local start, column, values = loops.rows_of(X)
  local written = {model.w, model.start}
  for _, each in ipairs(model.gradient.helpers) do written[#written + 1] = each end
  return {pass = pass, arrays = {start, column, values, model.w, y, model.gradient},
          written = written, after = after, updates = X:nnz(), keep = X}
end

local parser = race.options(argparse("slr.lua", "Logistic regression against C written by hand."))
parser:option("--data", "Points in LIBSVM's form."):default(directory .. "../spec/data/a9a.gz")
parser:option("--part", "Only one of both."):choices {"bodies", "prefetch"}
local asked = parser:parse()
if asked.part ~= "prefetch" then
  race.run({{name = "slr", file = "buffered.c", title = "SLR", ranks = {500, 4000, 100000},
             element = "double", make = make}}, asked)
end
if asked.part ~= "bodies" then prefetch.run(asked) end
