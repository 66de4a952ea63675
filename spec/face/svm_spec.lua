-- SPDX-License-Identifier: MIT
-- examples/train_svm.lua against the serial model of replicas, bit for bit, on a9a and RCV1; and
-- that it learns.
local examples = require "spec.face.examples"
local meissa = require "meissa"
local model = require "spec.driver.replicate_model"

local DATA = "spec/data/a9a.gz"

-- Examples as lists: {label, features, values}.
local function read(path)
  local X, y = meissa.read.libsvm(path)
  local list = {}
  for e = 1, X:size(1) do list[e] = {y[e] > 0 and 1 or -1, {}, {}} end
  for e, f, x in X:each() do
    table.insert(list[e][2], f)
    table.insert(list[e][3], x)
  end
  return list, X:size(2)
end

local function train(data, features, o)
  local w = {}
  for f = 1, features do w[f] = 0 end
  for epoch = 1, o.epochs do
    local rate, reg = o.rate / epoch, o.reg
    w = model.run({passes = 1, n = #data, replicas = o.replicas, every = o.every, w = w,
                   topology = meissa.topology(o.topology, o.replicas), merge = "mean",
                   complete = o.topology == "all"}, function(row, e)
      local y, at, x = unpack(data[e])
      local margin = 0
      for k = 1, #at do margin = margin + row[at[k]] * x[k] end
      margin = margin * y
      for k = 1, #at do
        local g = reg * row[at[k]]
        if margin < 1 then g = g - y * x[k] end
        row[at[k]] = row[at[k]] - rate * g
      end
    end)
  end
  return w
end

describe("train_svm.lua", function()
  for _, o in ipairs {
    {replicas = 8, every = 500, topology = "all", epochs = 2, rate = 0.05, reg = 1e-4,
     data = DATA},
    {replicas = 5, every = 900, topology = "ring", epochs = 1, rate = 0.05, reg = 1e-4,
     data = DATA},
    {replicas = 4, every = 100, topology = "root-expander", epochs = 2, rate = 0.5, reg = 1e-5,
     data = "spec/data/rcv1_small.gz"},
  } do
    it("is the serial model over topology " .. o.topology, function()
      local data, features = read(o.data)
      local arguments = "--data " .. o.data
      for _, name in ipairs {"epochs", "replicas", "every", "topology", "rate", "reg"} do
        arguments = ("%s --%s %s"):format(arguments, name, o[name])
      end
      local rows, summary, saved = examples.run("train_svm.lua", arguments)
      assert.same(train(data, features, o), saved.w:totable())
      assert.equal(o.epochs, #rows)
      assert.equal("reproducible", summary.guarantee)
      assert.equal(math.ceil(math.ceil(#data / o.replicas) / o.every), rows[1].exchanges)
    end)
  end

  it("learns a9a", function()
    local arguments = ("--data %s --test spec/data/a9a.t.gz --epochs 5"):format(DATA)
    local rows = examples.run("train_svm.lua", arguments, "MEISSA_WORKERS=1")
    assert.is_true(rows[5].accuracy > 0.845, rows[5].accuracy)
    assert.is_true(rows[5].loss < rows[1].loss)
  end)

  it("learns RCV1", function()
    local arguments = "--data spec/data/rcv1_small.gz --test spec/data/rcv1_small.t.gz " ..
      "--epochs 5 --rate 0.5 --reg 1e-5 --replicas 2 --every 50"
    local rows = examples.run("train_svm.lua", arguments, "MEISSA_WORKERS=1")
    assert.is_true(rows[5].accuracy > 0.83, rows[5].accuracy)
    assert.is_true(rows[5].loss < rows[1].loss)
  end)
end)
