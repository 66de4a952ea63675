-- SPDX-License-Identifier: MIT
--
-- Examples with buffers and tables as their users run them, on real data, against serial
-- implementations of the same methods written here by hand. See also training_spec.lua.
local examples = require "spec.face.examples"
local meissa = require "meissa"

local run, run_only = examples.run, examples.run_only

-- A matrix as plain tables.
local function table_of(path)
  return (meissa.read.csv(path)):totable()
end

describe("kmeans.lua on handwritten digits", function()
  local DATA, K, M = "spec/data/optdigits.tra.gz", 10, 64
  local arguments = ("--data %s --columns %d --rank %d --seed 3"):format(DATA, M, K)

  local function squared(x, c)
    local d = 0
    for k = 1, M do d = d + (x[k] - c[k]) * (x[k] - c[k]) end
    return d
  end

  -- k-means++ and Lloyd's algorithm.
  local function serial(X)
    local n, draws = #X, meissa.rand({K}, {seed = 3 + 2})
    local C, distance, label = {}, {}, {}
    for i = 1, n do distance[i] = math.huge end
    for c = 1, K do
      local at
      if c == 1 then
        at = 1 + math.floor(draws[1] * n)
      else
        local sum = 0
        for i = 1, n do sum = sum + distance[i] end
        local target = draws[c] * sum
        at = 1
        while target > distance[at] and at < n do
          target, at = target - distance[at], at + 1
        end
      end
      C[c] = {unpack(X[at], 1, M)}
      for i = 1, n do distance[i] = math.min(distance[i], squared(X[i], C[c])) end
    end
    local inertia, moved, passes = 0, n, 0
    while moved > 0 do
      inertia, moved, passes = 0, 0, passes + 1
      local sums, counts = {}, {}
      for c = 1, K do
        sums[c], counts[c] = {}, 0
        for k = 1, M do sums[c][k] = 0 end
      end
      for i = 1, n do
        local nearest, least = 1, math.huge
        for c = 1, K do
          local d = squared(X[i], C[c])
          if d < least then nearest, least = c, d end
        end
        if label[i] ~= nearest then moved = moved + 1 end
        label[i], inertia = nearest, inertia + least
        counts[nearest] = counts[nearest] + 1
        for k = 1, M do sums[nearest][k] = sums[nearest][k] + X[i][k] end
      end
      for c = 1, K do
        for k = 1, M do
          if counts[c] > 0 then C[c][k] = sums[c][k] * (1 / counts[c]) end
        end
      end
    end
    return inertia, label, passes
  end

  it("finds the clusters of the serial algorithm, pass for pass", function()
    local inertia, label, passes = serial(table_of(DATA))
    local rows, summary, saved = run("kmeans.lua", arguments)
    assert.equal(passes, summary.passes)
    assert.is_true(math.abs(summary.loss / inertia - 1) < 1e-12)
    assert.same(label, saved.label:totable())
    for k = 2, #rows do assert.is_true(rows[k].loss <= rows[k - 1].loss) end
  end)
end)

describe("gbt.lua on protein structures", function()
  local DATA = "spec/data/protein-tertiary-structure.txt.gz"
  local TREES, DEPTH, BINS, RATE, LEAST = 20, 6, 64, 0.2, 10

  local function bins_of(X, n, F)
    local bin = {}
    for f = 1, F do
      local sorted, cuts = {}, {}
      for i = 1, n do sorted[i] = X[i][f] end
      table.sort(sorted)
      for b = 1, BINS do cuts[b] = sorted[math.ceil(b * n / BINS)] end
      bin[f] = {}
      for i = 1, n do
        local b = 1
        while X[i][f] > cuts[b] do b = b + 1 end
        bin[f][i] = b
      end
    end
    return bin
  end

  -- The best split of the points in `members`, or nil.
  local function split_of(bin, residual, members, F)
    local best, feature, cut = 1e-9, nil, nil
    local total = 0
    for _, i in ipairs(members) do total = total + residual[i] end
    for f = 1, F do
      local sum, count = {}, {}
      for b = 1, BINS do sum[b], count[b] = 0, 0 end
      for _, i in ipairs(members) do
        local b = bin[f][i]
        sum[b], count[b] = sum[b] + residual[i], count[b] + 1
      end
      local left, few = 0, 0
      for b = 1, BINS - 1 do
        left, few = left + sum[b], few + count[b]
        local many = #members - few
        if few >= LEAST and many >= LEAST then
          local right = total - left
          local gain = left * left / few + right * right / many - total * total / #members
          if gain > best then best, feature, cut = gain, f, b end
        end
      end
    end
    return feature, cut
  end

  -- R2 on every fifth point.
  local function serial(X)
    local n, F = #X, #X[1] - 1
    local bin, prediction, residual, mean, count = bins_of(X, n, F), {}, {}, 0, 0
    for i = 1, n do
      prediction[i] = 0
      if i % 5 ~= 0 then mean, count = mean + X[i][F + 1], count + 1 end
    end
    mean = mean / count
    for _ = 1, TREES do
      for i = 1, n do residual[i] = X[i][F + 1] - mean - prediction[i] end
      local function grow(members, all, level)
        local feature, cut
        if level <= DEPTH then feature, cut = split_of(bin, residual, members, F) end
        if not feature then
          local sum = 0
          for _, i in ipairs(members) do sum = sum + residual[i] end
          local value = #members > 0 and RATE * sum / #members or 0
          for _, i in ipairs(all) do prediction[i] = prediction[i] + value end
          return
        end
        local parts = {{{}, {}}, {{}, {}}}
        for which, list in ipairs {members, all} do
          for _, i in ipairs(list) do
            local side = parts[bin[feature][i] > cut and 2 or 1][which]
            side[#side + 1] = i
          end
        end
        grow(parts[1][1], parts[1][2], level + 1)
        grow(parts[2][1], parts[2][2], level + 1)
      end
      local members, all = {}, {}
      for i = 1, n do
        all[i] = i
        if i % 5 ~= 0 then members[#members + 1] = i end
      end
      grow(members, all, 1)
    end
    local left, around = 0, 0
    for i = 5, n, 5 do
      local y = X[i][F + 1] - mean
      left, around = left + (y - prediction[i]) ^ 2, around + y * y
    end
    return 1 - left / around
  end

  it("explains as much as serial boosting", function()
    local expected = serial(table_of(DATA))
    local rows, summary = run("gbt.lua", ("--data %s --epochs %d"):format(DATA, TREES))
    assert.is_true(expected > 0.4, tostring(expected))
    assert.is_true(math.abs(summary.test_r2 - expected) < 0.02,
                   ("%.4f, serial %.4f"):format(summary.test_r2, expected))
    for k = 2, #rows do assert.is_true(rows[k].train_r2 >= rows[k - 1].train_r2) end
  end)

  it("gives the same bits on one worker and by value", function()
    local arguments = "--points 4000 --epochs 3"
    local _, _, one = run("gbt.lua", arguments, "MEISSA_WORKERS=1")
    local _, _, three = run("gbt.lua", arguments, "MEISSA_WORKERS=3 MEISSA_SHM=0")
    assert.same(one.prediction:totable(), three.prediction:totable())
  end)
end)

describe("wordcount.lua", function()
  -- The shell's way: {word =, count =} in the order of counts, then of words.
  local function by_shell(directory, least)
    local list = {}
    local pipe = io.popen(([[
      export LC_ALL=C
      cat %s/* | tr A-Z a-z | tr -cs a-z '\n' | sort | uniq -c]]):format(directory))
    for line in pipe:lines() do
      local count, word = line:match("(%d+) (%a+)")
      if word and #word >= least then list[#list + 1] = {word = word, count = tonumber(count)} end
    end
    pipe:close()
    table.sort(list, function(a, b)
      if a.count ~= b.count then return a.count > b.count end
      return a.word < b.word
    end)
    return list
  end

  it("counts as the shell does", function()
    local expected = by_shell("docs", 3)
    for _, workers in ipairs {0, 1, 3} do
      local rows, summary = run_only("wordcount.lua", "--data docs --least 3 --top 1000000",
                                     "MEISSA_WORKERS=" .. workers)
      assert.same(expected, rows)
      assert.equal(#expected, summary.distinct)
    end
    assert.is_true(#expected > 500)
  end)
end)
