-- SPDX-License-Identifier: MIT
--
-- The examples that train models, as their users run them, on real data, against serial
-- implementations of the same methods written here by hand.
local child = require "spec.support.child"
local draws = require "spec.support.draws"
local examples = require "spec.face.examples"
local meissa = require "meissa"

local run, run_only = examples.run, examples.run_only

describe("train_lda.lua on news entries", function()
  local DATA, VOCAB = "spec/data/docword.kos.txt.gz", "spec/data/vocab.kos.txt"
  local K, ALPHA, BETA, SWEEPS, LAST = 10, 0.1, 0.01, 24, 5

  -- Collapsed Gibbs sampling with exact totals: mean log-likelihood of the last sweeps.
  local function serial()
    local counts = meissa.read.docword(DATA)
    local V, draw = counts:size(2), draws.park_miller(7)
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
      ("luajit examples/train_slr.lua %s --json 2>&1"):format(arguments))
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
