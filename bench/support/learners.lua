-- SPDX-License-Identifier: MIT
--- What learns on replicas, the examples' models with one face.
--
-- A learner is {words =, samples =, new =, replicate =, pass =, measure =}: `new()` gives the list
-- of arrays that are learned; `replicate(arrays, options)` their replicas; `pass(replicas or
-- arrays, rate, how)` goes through all samples once; `measure(arrays, learned, brief)` tells the
-- loss and, unless that is to be brief, the share of what is classified correctly. Of one that is
-- `costly` to measure single replicas are only measured at the end.
local classifier = require "classifier"
local cnn = require "train_cnn"
local logreg = require "logreg_harmonized"
local meissa = require "meissa"
local mf = require "train_mf"
local mlp = require "train_mlp"
local svm = require "train_svm"

local M = {}

local unordered = {ordered = false}

-- A model of one array of weights, a pass of which takes examples in turn.
local function linear(model, words, X, y, reg)
  return {
    words = ("%s, %d examples of %d features"):format(words, X:size(1), X:size(2)),
    samples = X:size(1),
    new = function() return {meissa.zeros(X:size(2))} end,
    replicate = function(arrays, options) return {meissa.replicate(arrays, options)} end,
    pass = function(replicas, rate, how) model.pass(replicas[1], X, y, rate, reg, how) end,
    measure = function(arrays) return model.measure(arrays[1], X, y, unordered) end,
  }
end

--- A support vector machine.
function M.svm(X, y, reg) return linear(svm, "SVM", X, y, reg) end

--- Logistic regression.
function M.logreg(X, y, reg) return linear(logreg, "logistic regression", X, y, reg) end

-- A classifier of pictures: its loss is the share of what it was trained on and gets wrong, what is
-- correct counts on the pictures to test on.
local function network(model, words, data, batch, decay, arrays, how)
  local batches = math.floor(data.X:size(1) / batch)
  return {
    words = ("%s, %d pictures"):format(words, batches * batch), samples = batches * batch,
    constant_rate = true, unit = batch,
    new = arrays,
    replicate = classifier.replicate,
    pass = function(replicas, rate, more)
      if not replicas.momentum then -- serial: plain arrays beside the plain ones
        replicas.momentum = {}
        for k, each in ipairs(replicas) do replicas.momentum[k] = each:clone():fill(0) end
      end
      how.serial = more.serial
      model.pass(replicas, data.X, data.y, 1, batch, rate, decay, how)
    end,
    costly = true,
    measure = function(net, _, brief)
      return 1 - model.accuracy(net, data.X, data.y),
             not brief and model.accuracy(net, data.T, data.ty) or nil
    end,
  }
end

--- The convolutional network of train_cnn.lua.
-- @tab data of classifier.data @int filters @int batch @number decay of the momentum
function M.cnn(data, filters, batch, decay)
  return network(cnn, "convolutional network", data, batch, decay, function()
    return cnn.new(filters, data.classes, 1)
  end, {filters = filters, classes = data.classes})
end

--- The multilayer network of train_mlp.lua.
function M.mlp(data, hidden, batch, decay)
  return network(mlp, "multilayer network", data, batch, decay, function()
    return mlp.new(data.X:size(2), hidden, data.classes, 1)
  end, {hidden = hidden, classes = data.classes})
end

--- Matrix factorization: what the columns have is replicated, and what the rows have shared out
-- with them; the loss is the root of the mean squared error.
function M.mf(ratings, rank, reg)
  return {
    words = ("matrix factorization, %d ratings"):format(ratings:nnz()), samples = ratings:nnz(),
    constant_rate = true,
    new = function()
      local model = mf.new(ratings, rank, 1)
      return {model.H, model.bi, model = model}
    end,
    replicate = function(arrays, options)
      local replicas = {meissa.replicate({arrays[1], arrays[2]}, options)}
      replicas.model = arrays.model
      return replicas
    end,
    pass = function(replicas, rate, how)
      local model = {}
      for name, value in pairs(replicas.model) do model[name] = value end
      model.H, model.bi = replicas[1], replicas[2]
      mf.sgd(model, ratings, rate, reg, how)
    end,
    measure = function(arrays, learned)
      local model = {}
      for name, value in pairs(learned.model) do model[name] = value end
      model.H, model.bi = arrays[1], arrays[2]
      return mf.rmse(model, ratings, {})
    end,
  }
end

return M
