-- SPDX-License-Identifier: MIT
-- examples/train_mlp.lua on handwritten digits: a step against one in plain Lua, and what it
-- learns.
local examples = require "spec.face.examples"
local meissa = require "meissa"

local DATA = "spec/data/optdigits.tra.gz"
local HIDDEN, CLASSES = 6, 10

local function zeros(a, b)
  local list = {}
  for i = 1, a do
    list[i] = b and zeros(b) or 0
  end
  return list
end

-- One step down the slope of all points together, in plain Lua.
local function step(net, X, y, rate)
  local W1, b1, W2, b2 = unpack(net)
  local n, inputs = #X, #W1
  local g1, s1, g2, s2 = zeros(inputs, HIDDEN), zeros(HIDDEN), zeros(HIDDEN, CLASSES),
                         zeros(CLASSES)
  for p = 1, n do
    local x, h, o, sum = X[p], {}, {}, 0
    for k = 1, HIDDEN do
      h[k] = b1[k]
      for f = 1, inputs do h[k] = h[k] + x[f] * W1[f][k] end
      h[k] = math.tanh(h[k])
    end
    for c = 1, CLASSES do
      o[c] = b2[c]
      for k = 1, HIDDEN do o[c] = o[c] + h[k] * W2[k][c] end
      o[c] = math.exp(o[c])
      sum = sum + o[c]
    end
    for c = 1, CLASSES do
      o[c] = o[c] / sum - (c == y[p] and 1 or 0)
      s2[c] = s2[c] + o[c]
    end
    for k = 1, HIDDEN do
      local d = 0
      for c = 1, CLASSES do
        d = d + o[c] * W2[k][c]
        g2[k][c] = g2[k][c] + h[k] * o[c]
      end
      d = d * (1 - h[k] * h[k])
      s1[k] = s1[k] + d
      for f = 1, inputs do g1[f][k] = g1[f][k] + x[f] * d end
    end
  end
  for k = 1, HIDDEN do
    b1[k] = b1[k] - rate / n * s1[k]
    for f = 1, inputs do W1[f][k] = W1[f][k] - rate / n * g1[f][k] end
    for c = 1, CLASSES do W2[k][c] = W2[k][c] - rate / n * g2[k][c] end
  end
  for c = 1, CLASSES do b2[c] = b2[c] - rate / n * s2[c] end
end

describe("train_mlp.lua", function()
  it("takes the step that its loss says", function()
    local data = meissa.read.csv(DATA)
    local X, y, n = {}, {}, data:size(1)
    for p, row in ipairs(data:totable()) do
      y[p], X[p] = table.remove(row) + 1, row
      for f = 1, #row do row[f] = row[f] / 16 end
    end
    local inputs = #X[1]
    local net = {
      meissa.randn({inputs, HIDDEN}, {seed = 4, scale = 1 / math.sqrt(inputs)}):totable(),
      zeros(HIDDEN),
      meissa.randn({HIDDEN, CLASSES}, {seed = 5, scale = 1 / math.sqrt(HIDDEN)}):totable(),
      zeros(CLASSES)}
    step(net, X, y, 0.7)
    local _, _, saved = examples.run("train_mlp.lua", ("--data %s --epochs 1 --replicas 1 " ..
      "--batch %d --hidden %d --rate 0.7 --seed 4"):format(DATA, n, HIDDEN))
    local function near(a, b)
      if type(a) == "table" then
        for k in ipairs(a) do near(a[k], b[k]) end
      else
        assert.is_true(math.abs(a - b) < 1e-9, a .. " is not " .. b)
      end
    end
    near(net, {saved.W1:totable(), saved.b1:totable(), saved.W2:totable(), saved.b2:totable()})
  end)

  it("learns digits, with the same bits for any number of workers", function()
    local arguments = ("--data %s --test spec/data/optdigits.tes.gz --hidden 48 --epochs %d")
    local rows, summary = examples.run_only("train_mlp.lua", arguments:format(DATA, 24))
    assert.is_true(rows[24].accuracy >= 0.96, rows[24].accuracy)
    assert.equal("reproducible", summary.guarantee)
    local _, _, one = examples.run("train_mlp.lua", arguments:format(DATA, 1), "MEISSA_WORKERS=1")
    local _, _, three = examples.run("train_mlp.lua", arguments:format(DATA, 1),
                                     "MEISSA_WORKERS=3")
    for name, each in pairs(one) do assert.same(each:totable(), three[name]:totable()) end
  end)
end)
