-- SPDX-License-Identifier: MIT
-- examples/train_cnn.lua on handwritten digits: a step against the slope of the loss, by
-- differences in plain Lua, and what it learns.
local child = require "spec.support.child"
local examples = require "spec.face.examples"
local meissa = require "meissa"

local DATA = "spec/data/optdigits.tra.gz"
local FILTERS, POINTS, CLASSES = 3, 12, 10

-- The mean loss of a network {K, b, W, c} of plain tables.
local function loss_of(net, X, y)
  local K, b, W, c = unpack(net)
  local total = 0
  for e, x in ipairs(X) do
    local pooled, outputs, sum = {}, {}, 0
    for f = 1, FILTERS do
      local seen = {}
      for i = 0, 5 do
        seen[i] = {}
        for j = 0, 5 do
          local s = b[f]
          for a = 0, 2 do
            for d = 0, 2 do s = s + K[f][3 * a + d + 1] * x[8 * (i + a) + j + d + 1] end
          end
          seen[i][j] = s > 0 and s or 0
        end
      end
      for i = 0, 4, 2 do
        for j = 0, 4, 2 do
          pooled[#pooled + 1] = math.max(seen[i][j], seen[i][j + 1], seen[i + 1][j],
                                         seen[i + 1][j + 1])
        end
      end
    end
    for k = 1, CLASSES do
      outputs[k] = c[k]
      for p = 1, #pooled do outputs[k] = outputs[k] + pooled[p] * W[p][k] end
      sum = sum + math.exp(outputs[k])
    end
    total = total + math.log(sum) - outputs[y[e]]
  end
  return total / #X
end

describe("train_cnn.lua", function()
  it("takes the step that its loss says", function()
    local X, y, lines = {}, {}, {}
    for p, row in ipairs(meissa.read.csv(DATA):totable()) do
      if p > POINTS then break end
      lines[p] = table.concat(row, ",")
      y[p], X[p] = table.remove(row) + 1, row
      for f = 1, #row do row[f] = row[f] / 16 end
    end
    lines[#lines + 1] = ("16,"):rep(64) .. "9" -- so that there are ten classes; it is left out
    local path = os.tmpname()
    child.write(path, table.concat(lines, "\n") .. "\n")
    local net = {
      meissa.randn({FILTERS, 9}, {seed = 4, scale = 1 / 3}):totable(), {0, 0, 0},
      meissa.randn({FILTERS * 9, CLASSES}, {seed = 5, scale = 1 / math.sqrt(27)}):totable(),
      meissa.zeros(CLASSES):totable()}
    local _, _, saved = examples.run("train_cnn.lua", ("--data %s --epochs 1 --replicas 1 " ..
      "--batch %d --filters %d --rate 0.3 --seed 4"):format(path, POINTS, FILTERS))
    os.remove(path)
    local after = {saved.K:totable(), saved.b:totable(), saved.W:totable(), saved.c:totable()}
    local checked, there = 0, loss_of(net, X, y)
    local function check(list, results)
      for k in ipairs(list) do
        if type(list[k]) == "table" then
          check(list[k], results[k])
        else
          -- From below: what sees nothing but zeros is cut off there.
          local value, small = list[k], 1e-6
          list[k] = value - small
          local slope = (there - loss_of(net, X, y)) / small
          list[k] = value
          assert.near(value - 0.3 * slope, results[k], 1e-6)
          checked = checked + 1
        end
      end
    end
    check(net, after)
    assert.equal(27 + 3 + 270 + 10, checked)
  end)

  it("learns digits, with the same bits for any number of workers", function()
    local arguments = "--data %s --test spec/data/optdigits.tes.gz --epochs %d %s"
    local rows, summary = examples.run_only("train_cnn.lua", arguments:format(DATA, 10, ""))
    assert.is_true(rows[10].accuracy >= 0.96, rows[10].accuracy)
    assert.equal("reproducible", summary.guarantee)
    local _, _, one = examples.run("train_cnn.lua", arguments:format(DATA, 1, ""),
                                   "MEISSA_WORKERS=1")
    local _, _, three = examples.run("train_cnn.lua", arguments:format(DATA, 1, ""),
                                     "MEISSA_WORKERS=3")
    for name, each in pairs(one) do assert.same(each:totable(), three[name]:totable()) end
    rows, summary = examples.run_only("train_cnn.lua", arguments:format(DATA, 10, "--staleness 2"))
    assert.is_true(rows[10].accuracy >= 0.94, rows[10].accuracy)
    assert.equal("bounded(0, 2)", summary.guarantee)
  end)
end)
