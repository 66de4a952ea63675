-- SPDX-License-Identifier: MIT
-- time limit: 300 s
--
-- The examples with buffers as their users run them, on real data, against serial implementations
-- of the same methods written here by hand.
local child = require "spec.support.child"
local json = require "dkjson"
local meissa = require "meissa"

-- Runs an example: its rows and its summary.
local function run_only(name, arguments, environment)
  local output, status = child.shell(("%s luajit examples/%s %s --json"):format(
    environment or "MEISSA_WORKERS=2", name, arguments), 200)
  assert.equal(0, status, output)
  local rows = {}
  for line in output:gmatch("[^\n]+") do rows[#rows + 1] = assert(json.decode(line), line) end
  local summary = table.remove(rows)
  assert.is_true(summary.summary)
  return rows, summary
end

-- The same, and what it saved.
local function run(name, arguments, environment)
  local path = os.tmpname()
  local rows, summary = run_only(name, ("%s --save %s"):format(arguments, path), environment)
  local saved = meissa.load(path)
  os.remove(path)
  return rows, summary, saved
end

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

describe("train_lda.lua on news entries", function()
  local DATA, VOCAB = "spec/data/docword.kos.txt.gz", "spec/data/vocab.kos.txt"
  local K, ALPHA, BETA, SWEEPS, LAST = 10, 0.1, 0.01, 40, 5

  -- Collapsed Gibbs sampling with exact totals: mean log-likelihood of the last sweeps.
  local function serial()
    local counts = meissa.read.docword(DATA)
    local V, state = counts:size(2), 7
    local function draw() -- Park and Miller's generator
      state = state * 16807 % 2147483647
      return state / 2147483647
    end
    local doc, word, topic, documents, words, totals, length = {}, {}, {}, {}, {}, {}, {}
    for k = 1, K do totals[k] = 0 end
    local function row(rows, at)
      if not rows[at] then
        rows[at] = {}
        for k = 1, K do rows[at][k] = 0 end
      end
      return rows[at]
    end
    for d, w, count in counts:each() do
      for _ = 1, count do
        local z, t = math.floor(draw() * K) + 1, #doc + 1
        doc[t], word[t], topic[t] = d, w, z
        row(documents, d)[z] = row(documents, d)[z] + 1
        row(words, w)[z] = row(words, w)[z] + 1
        totals[z], length[d] = totals[z] + 1, (length[d] or 0) + 1
      end
    end
    local sums, mean = {}, 0
    for sweep = 1, SWEEPS do
      for t = 1, #doc do
        local ds, ws, old = documents[doc[t]], words[word[t]], topic[t]
        ds[old], ws[old], totals[old] = ds[old] - 1, ws[old] - 1, totals[old] - 1
        local sum = 0
        for k = 1, K do
          sum = sum + (ds[k] + ALPHA) * (ws[k] + BETA) / (totals[k] + V * BETA)
          sums[k] = sum
        end
        local target, new = draw() * sum, 1
        while sums[new] < target and new < K do new = new + 1 end
        ds[new], ws[new], totals[new] = ds[new] + 1, ws[new] + 1, totals[new] + 1
        topic[t] = new
      end
      if sweep > SWEEPS - LAST then
        local likelihood = 0
        for t = 1, #doc do
          local ds, ws, p = documents[doc[t]], words[word[t]], 0
          for k = 1, K do p = p + (ds[k] + ALPHA) * (ws[k] + BETA) / (totals[k] + V * BETA) end
          likelihood = likelihood + math.log(p / (length[doc[t]] + K * ALPHA))
        end
        mean = mean + likelihood / #doc / LAST
      end
    end
    return mean
  end

  it("rises to the plateau of the serial sampler", function()
    local rows, summary, saved = run("train_lda.lua",
      ("--data %s --vocab %s --rank %d --epochs %d"):format(DATA, VOCAB, K, SWEEPS))
    local mean = 0
    for k = SWEEPS - LAST + 1, SWEEPS do mean = mean + rows[k].log_likelihood / LAST end
    local expected = serial()
    assert.is_true(math.abs(mean / expected - 1) < 0.01,
                   ("%.4f, serial %.4f"):format(mean, expected))
    assert.is_true(mean > rows[1].log_likelihood + 0.3)
    assert.equal("rotate", summary.strategy)
    -- Every token is counted once in each of the three.
    assert.equal(467714, saved.totals:sum())
    assert.equal(467714, saved.words:sum())
    assert.equal(467714, saved.documents:sum())
  end)

  it("gives the same bits on one worker and by value", function()
    local _, _, one = run("train_lda.lua", "--epochs 3", "MEISSA_WORKERS=1")
    local _, _, three = run("train_lda.lua", "--epochs 3", "MEISSA_WORKERS=3 MEISSA_SHM=0")
    assert.same(one.words:totable(), three.words:totable())
    assert.same(one.documents:totable(), three.documents:totable())
  end)
end)

describe("train_slr.lua", function()
  local census = "--data spec/data/a9a.gz --test spec/data/a9a.t.gz"
  local news = "--data spec/data/rcv1_small.gz --test spec/data/rcv1_small.t.gz"

  -- AdaGrad from its definition, point by point and without delay: the mean loss of the last pass,
  -- and the share of the test's points that are right after it.
  local function serial(data, test, passes)
    local X, y = meissa.read.libsvm(data)
    local T, t = meissa.read.libsvm(test, {like = X})
    local w, squares, loss = {}, {}, 0
    for f = 1, X:size(2) do w[f], squares[f] = 0, 1 end
    local function rows_of(A)
      local rows = {}
      for i = 1, A:size(1) do rows[i] = {} end
      for i, f, v in A:each() do
        local row = rows[i]
        row[#row + 1], row[#row + 2] = f, v
      end
      return rows
    end
    local function margin_of(row)
      local margin = 0
      for k = 1, #row, 2 do margin = margin + w[row[k]] * row[k + 1] end
      return margin
    end
    local rows = rows_of(X)
    for _ = 1, passes do
      loss = 0
      for i, row in ipairs(rows) do
        local label, p = y[i] > 0 and 1 or 0, 1 / (1 + math.exp(-margin_of(row)))
        loss = loss - math.log(label == 1 and p or 1 - p)
        for k = 1, #row, 2 do
          local f, g = row[k], (label - p) * row[k + 1]
          squares[f] = squares[f] + g * g
          w[f] = w[f] + 0.3 / math.sqrt(squares[f]) * g
        end
      end
    end
    local right = 0
    for i, row in ipairs(rows_of(T)) do
      if (margin_of(row) > 0) == (t[i] > 0) then right = right + 1 end
    end
    return loss / #rows, right / T:size(1)
  end

  for _, case in ipairs {{"adarevision", 0.845}, {"sgd", 0.80}} do
    local update, least = case[1], case[2]

    it("classifies census records as well as is known to be possible, with " .. update, function()
      local rate = update == "sgd" and " --rate 0.002" or ""
      local rows, summary = run_only("train_slr.lua", ("%s --epochs 8 --update %s%s"):format(
        census, update, rate))
      assert.is_true(summary.accuracy >= least, tostring(summary.accuracy))
      assert.is_true(rows[8].loss < rows[1].loss)
    end)
  end

  it("comes close to the serial rule on census records", function()
    local loss, accuracy = serial("spec/data/a9a.gz", "spec/data/a9a.t.gz", 8)
    local _, summary = run_only("train_slr.lua", census .. " --epochs 8")
    assert.is_true(math.abs(summary.loss / loss - 1) < 0.05,
                   ("%.4f, serial %.4f"):format(summary.loss, loss))
    assert.is_true(math.abs(summary.accuracy - accuracy) < 0.01,
                   ("%.4f, serial %.4f"):format(summary.accuracy, accuracy))
  end)

  -- Many more features than points: stages of a twentieth of the points.
  it("comes close to the serial rule on news", function()
    local loss, accuracy = serial("spec/data/rcv1_small.gz", "spec/data/rcv1_small.t.gz", 6)
    local rows, summary = run_only("train_slr.lua", news .. " --epochs 6 --delay 50")
    assert.is_true(math.abs(summary.loss / loss - 1) < 0.05,
                   ("%.4f, serial %.4f"):format(summary.loss, loss))
    assert.is_true(summary.accuracy >= 0.86 and math.abs(summary.accuracy - accuracy) <= 0.02,
                   ("%.4f, serial %.4f"):format(summary.accuracy, accuracy))
    for k = 2, #rows do assert.is_true(rows[k].loss < rows[k - 1].loss) end
  end)

  it("takes features of the test that the data do not have", function()
    local data, test = os.tmpname(), os.tmpname()
    child.write(data, ("1 1:1 3:1\n-1 2:1 3:1\n"):rep(20))
    child.write(test, "1 1:1 5:1\n-1 2:1 5:1\n")
    local arguments = ("--data %s --test %s --epochs 3"):format(data, test)
    local output, status = child.shell(
      ("luajit examples/train_slr.lua %s --json 2>&1"):format(arguments), 60)
    assert.not_equal(0, status)
    assert.matches("expected a feature id of at most 3, found 5", output)
    local _, summary = run_only("train_slr.lua", arguments .. " --features 5")
    assert.equal(1, summary.accuracy)
    os.remove(data)
    os.remove(test)
  end)
end)

describe("sweep.lua", function()
  it("trains the same models wherever they are trained", function()
    local arguments = "--ratings 20000 --epochs 3 --rates 0.01 0.04 --regs 0.05 0.1"
    local expected, best = run_only("sweep.lua", arguments, "MEISSA_WORKERS=0")
    assert.equal(4, #expected)
    for _, workers in ipairs {1, 3} do
      local rows, summary = run_only("sweep.lua", arguments, "MEISSA_WORKERS=" .. workers)
      assert.same(expected, rows)
      assert.equal(best.rate, summary.rate)
    end
    for _, row in ipairs(expected) do assert.is_true(row.test_rmse >= best.test_rmse) end
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
