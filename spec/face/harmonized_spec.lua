-- SPDX-License-Identifier: MIT
-- examples/logreg_harmonized.lua on a9a: without a filter against the serial model of replicas, bit
-- for bit; with one, fewer bytes for nearly the same loss.
local examples = require "spec.face.examples"
local meissa = require "meissa"
local model = require "spec.driver.replicate_model"

local DATA = "spec/data/a9a.gz"

local function serial(replicas, every)
  local X, y = meissa.read.libsvm(DATA)
  local data, w = {}, {}
  for e = 1, X:size(1) do data[e] = {y[e] > 0 and 1 or -1, {}} end
  for e, f, x in X:each() do
    assert(x == 1) -- all features are
    table.insert(data[e][2], f)
  end
  for f = 1, X:size(2) do w[f] = 0 end
  return (model.run({passes = 1, n = #data, replicas = replicas, every = every, w = w,
                     topology = meissa.topology("ring", replicas), merge = "mean"},
    function(row, e)
      local label, at = unpack(data[e])
      local margin = 0
      for _, f in ipairs(at) do margin = margin + row[f] end
      local slope = label / (1 + math.exp(label * margin))
      for _, f in ipairs(at) do row[f] = row[f] + 0.05 * (slope - 1e-5 * row[f]) end
    end))
end

describe("logreg_harmonized.lua", function()
  it("is the serial model without a filter", function()
    local _, _, saved = examples.run("logreg_harmonized.lua", ("--data %s --epochs 1 --eps 0 " ..
      "--replicas 6 --every 700 --topology ring"):format(DATA))
    assert.same(serial(6, 700), saved.w:totable())
  end)

  it("sends less with one, and learns as well", function()
    local function run(arguments, environment)
      local rows, _, saved = examples.run("logreg_harmonized.lua",
        ("--data %s --epochs 3 %s"):format(DATA, arguments), environment)
      return rows[3], saved.w:totable()
    end
    local whole = run "--eps 0"
    local least
    for _, residual in ipairs {"keep", "drop", "invalidate"} do
      local row, w = run("--eps 0.2 --residual " .. residual)
      assert.is_true(row.megabytes < 0.6 * whole.megabytes)
      assert.is_true(row.loss < 1.02 * whole.loss and row.accuracy > 0.845)
      least = least or w
    end
    assert.same(least, select(2, run("--eps 0.2", "MEISSA_WORKERS=1")))
  end)
end)
