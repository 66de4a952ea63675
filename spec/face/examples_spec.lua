-- SPDX-License-Identifier: MIT
--
-- The examples as their users run them, against serial implementations written here by hand.
local child = require "spec.support.child"
local examples = require "spec.face.examples"
local json = require "dkjson"
local meissa = require "meissa"

-- Runs an example on some workers: its rows, its summary, and what it saved.
local function run(name, arguments, workers)
  local path = os.tmpname()
  local output, status = child.shell(("MEISSA_WORKERS=%d luajit examples/%s %s --json --save %s")
    :format(workers or 2, name, arguments, path))
  assert.equal(0, status, output)
  local rows = {}
  for line in output:gmatch("[^\n]+") do rows[#rows + 1] = assert(json.decode(line), line) end
  local summary = table.remove(rows)
  assert.is_true(summary.summary)
  local saved = meissa.load(path)
  os.remove(path)
  return rows, summary, saved
end

local function largest_difference(A, list)
  local most = 0
  for i = 1, #list do most = math.max(most, math.abs(A[i] - list[i])) end
  return most
end

describe("all that read files", function()
  for _, name in ipairs {"gbt", "kmeans", "lasso_cocoa", "logreg_harmonized", "pagerank", "sweep",
                         "train_cnn", "train_lda", "train_mf", "train_mlp", "train_slr",
                         "train_svm", "wordcount"} do
    it("tell of a file that is not there, " .. name .. ".lua", function()
      local output, status = child.shell(
        ("luajit examples/%s.lua --data no/such/file 2>&1"):format(name))
      assert.equal(1, status)
      assert.equal("no/such/file: FIL: No such file or directory\n", output)
    end)
  end
end)

describe("pagerank.lua", function()
  local DATA = "spec/data/wiki-Vote.txt.gz"

  -- Power iteration over plain tables; `passes` of them.
  local function serial(edges, passes)
    local n, d = edges:size(1), 0.85
    local from, to, links, rank = {}, {}, {}, {}
    for i = 1, n do links[i], rank[i] = 0, 1 / n end
    for i, j in edges:each() do
      from[#from + 1], to[#to + 1] = i, j
      links[i] = links[i] + 1
    end
    for _ = 1, passes do
      local lost, fresh = 0, {}
      for i = 1, n do
        if links[i] == 0 then lost = lost + rank[i] end
      end
      for i = 1, n do fresh[i] = (1 - d) / n + d * lost / n end
      for e = 1, #from do
        fresh[to[e]] = fresh[to[e]] + d * rank[from[e]] / links[from[e]]
      end
      rank = fresh
    end
    return rank
  end

  it("gives the ranks of a serial implementation to 1e-12", function()
    local edges = meissa.read.triples(DATA, {square = true})
    local rows, summary, saved = run("pagerank.lua", "--data " .. DATA)
    assert.equal("partition", summary.strategy)
    assert.is_true(summary.change <= 1e-10 and #rows == summary.passes)
    local rank = serial(edges, summary.passes)
    assert.is_true(largest_difference(saved.rank, rank) <= 1e-12)
    assert.is_true(math.abs(saved.rank:sum() - 1) < 1e-12)
    local best = 1
    for i = 2, #rank do
      if rank[i] > rank[best] then best = i end
    end
    assert.equal(4037, edges:label(1, best)) -- well known for this graph
  end)

  it("gives the same bits on 1 and 3 workers", function()
    local _, _, one = run("pagerank.lua", "--nodes 3000 --epochs 5", 1)
    local _, _, three = run("pagerank.lua", "--nodes 3000 --epochs 5", 3)
    assert.equal(3000, one.rank:size(1))
    for i = 1, 3000 do assert.equal(one.rank[i], three.rank[i]) end
  end)
end)

describe("pagerank.lua in rounds", function()
  it("gives the ranks of the loops over edges", function()
    local _, loops, right = run("pagerank.lua", "--nodes 2000 --epochs 30")
    local _, summary, saved = run("pagerank.lua", "--nodes 2000 --epochs 30 --method rounds")
    assert.equal("rounds", summary.strategy)
    assert.equal(loops.passes, summary.passes)
    assert.is_true(largest_difference(saved.rank, right.rank:totable()) <= 1e-12)
  end)
end)

describe("jacobi.lua", function()
  it("gives the bits of plain loops, in rounds and with a barrier", function()
    local n, sweeps, u = 24, 100, {}
    for i = 1, n do
      u[i] = {}
      for j = 1, n do u[i][j] = j == 1 and 1 or 0 end
    end
    for _ = 1, sweeps do
      local old = u
      u = {}
      for i = 1, n do u[i] = {unpack(old[i])} end
      for i = 2, n - 1 do
        for j = 2, n - 1 do
          u[i][j] = 0.25 * (old[i-1][j] + old[i+1][j] + old[i][j-1] + old[i][j+1])
        end
      end
    end
    for _, method in ipairs {"rounds", "barrier"} do
      local rows, summary, saved = run("jacobi.lua", ("--size %d --epochs %d --method %s"):format(
        n, sweeps, method))
      assert.equal(sweeps, summary.sweeps)
      assert.equal(2, #rows)
      for i = 1, n do
        for j = 1, n do assert.equal(u[i][j], saved[i][j]) end
      end
    end
  end)
end)

describe("the last line of --json", function()
  it("tells the workers that were asked for, and of what was done engine and strategy", function()
    for name, arguments in pairs {["lu.lua"] = "--size 40", ["wordcount.lua"] = "--top 1",
                                  ["linreg.lua"] = "--epochs 3", ["pagerank.lua"] = "--epochs 2"} do
      local _, summary = examples.run_only(name, arguments .. " --workers 2", "")
      assert.equal(2, summary.workers, name)
      assert.is_true(summary.engine == "native" or summary.engine == "lua", name)
      assert.is_string(summary.strategy, name)
      assert.is_number(summary.updates_per_second, name)
    end
  end)

  it("comes behind a line of the last epoch, wherever that is", function()
    for name, key in pairs {["jacobi.lua"] = "change", ["jacobi.lua --method barrier"] = "change",
                            ["linreg.lua"] = "loss"} do
      local file, rest = name:match("^(%S+)(.*)$")
      for _, epochs in ipairs {1, 23, 101} do
        local rows, summary = examples.run_only(file, ("%s --epochs %d"):format(rest, epochs))
        assert.equal(epochs, rows[#rows].epoch, name)
        assert.equal(rows[#rows][key], summary[key], name)
        assert.is_number(summary[key], name)
      end
    end
  end)

  it("is of that epoch alone", function()
    for _, epochs in ipairs {1, 23, 60, 101} do
      local function change(method)
        local rest = ("--method %s --epochs %d"):format(method, epochs)
        return select(2, examples.run_only("jacobi.lua", rest)).change
      end
      assert.equal(change("barrier"), change("rounds"), epochs)
    end
  end)
end)

describe("linreg.lua", function()
  local F, E, RATE = 12, 60, 0.1

  -- The same method over plain tables.
  local function descend(rounds, size, rate)
    local X, known = meissa.randn({E, F}, {seed = 1}), meissa.randn({F}, {seed = 2})
    local w, y = {}, {}
    for e = 1, E do y[e] = X[e]:dot(known) end
    for f = 1, F do w[f] = 0 end
    for t = 1, rounds do
      local old, residual = meissa.from(w), {}
      local function at(b) return ((t - 1) * size % E + b - 1) % E + 1 end
      for b = 1, size do residual[b] = X[at(b)]:dot(old) - y[at(b)] end
      for f = 1, F do
        local gradient = 0
        for b = 1, size do gradient = gradient + residual[b] * X[at(b)][f] end
        w[f] = old[f] - rate / size * gradient
      end
    end
    return w
  end

  for method, size in pairs {full = E, batch = 20, sample = 1} do
    it("gives the weights of plain loops, " .. method, function()
      local w = descend(30, size, method == "sample" and RATE / F or RATE)
      for _, workers in ipairs {1, 3} do
        local _, summary, saved = run("linreg.lua", ("--features %d --examples %d --batch 20 " ..
          "--epochs 30 --ranges 5 --method %s"):format(F, E, method), workers)
        assert.equal(30, summary.rounds)
        for f = 1, F do assert.equal(w[f], saved[f]) end
      end
    end)
  end
end)

-- Sweeps over plain tables: from U into a copy, or in place.
local function relax(n, sweeps, in_place)
  local h, U, F = 1 / (n - 1), {}, {}
  for i = 1, n do
    U[i], F[i] = {}, {}
    for j = 1, n do
      U[i][j] = 0
      F[i][j] = 2 * math.pi ^ 2 * math.sin(math.pi * (i - 1) * h) * math.sin(math.pi * (j - 1) * h)
    end
  end
  for _ = 1, sweeps do
    local V = {}
    for i = 1, n do V[i] = in_place and U[i] or {unpack(U[i])} end
    for i = 2, n - 1 do
      for j = 2, n - 1 do
        V[i][j] = 0.25 * (U[i-1][j] + U[i+1][j] + U[i][j-1] + U[i][j+1] + h * h * F[i][j])
      end
    end
    U = V
  end
  return U
end

local function check_same(list, A)
  for i, row in ipairs(list) do
    for j, value in ipairs(row) do assert.equal(value, A[i][j]) end
  end
end

describe("stencil.lua", function()
  it("relaxes as the serial method of Jacobi does, bit for bit", function()
    local _, summary, U = run("stencil.lua", "--size 24 --epochs 60")
    assert.equal("independent", summary.strategy)
    check_same(relax(24, 60, false), U)
  end)

  it("relaxes as the serial method of Gauss and Seidel does, bit for bit", function()
    local serial = relax(24, 30, true)
    for workers = 1, 3 do
      local _, summary, U = run("stencil.lua", "--method gauss-seidel --size 24 --epochs 30",
        workers)
      assert.equal("wavefront", summary.strategy)
      check_same(serial, U)
    end
  end)

  it("converges to the known solution, in place twice as fast", function()
    for method, epochs in pairs {jacobi = 1000, ["gauss-seidel"] = 500} do
      local rows = run("stencil.lua", ("--method %s --size 20 --epochs %d"):format(method, epochs))
      assert.is_true(rows[#rows].error < rows[1].error / 100)
      assert.is_true(rows[#rows].error < 0.005) -- h^2 pi^2 / 12, and a little
    end
  end)
end)

describe("lu.lua", function()
  local function factorize(A, n)
    for k = 1, n - 1 do
      for i = k + 1, n do
        A[i][k] = A[i][k] / A[k][k]
        for j = k + 1, n do A[i][j] = A[i][j] - A[i][k] * A[k][j] end
      end
    end
    return A
  end

  for method, strategy in pairs {driver = "independent", nest = "wavefront"} do
    it("factorizes as serial code does, bit for bit: " .. method, function()
      local n = 40
      local _, summary, saved = run("lu.lua", ("--method %s --size %d"):format(method, n))
      assert.equal(strategy, summary.strategy)
      assert.is_true(summary.residual < 1e-12)
      check_same(factorize(saved.A:totable(), n), saved.LU)
    end)
  end
end)

describe("cp_tensor.lua", function()
  it("finds a planted tensor", function()
    local rows, summary = run("cp_tensor.lua", "--entries 40000 --epochs 20")
    assert.equal("rotate", summary.strategy)
    assert.is_true(rows[1].train_rmse > 0.5)
    assert.is_true(rows[#rows].train_rmse < 0.055) -- the noise is 0.05
  end)

  it("gives the same bits on 1 and 3 workers", function()
    local _, _, one = run("cp_tensor.lua", "--entries 20000 --epochs 2 --rank 3", 1)
    local _, _, three = run("cp_tensor.lua", "--entries 20000 --epochs 2 --rank 3", 3)
    for _, name in ipairs {"A", "B", "C"} do check_same(one[name]:totable(), three[name]) end
  end)

  it("reads a file of entries, and names a line that is none", function()
    local path = os.tmpname()
    child.write(path, "1 2 1 0.5\n3 1 2 -1e0\n")
    local _, summary, saved = run("cp_tensor.lua", ("--data %s --rank 2 --epochs 1"):format(path))
    assert.is_true(summary.train_rmse > 0)
    assert.same({3, 2, 2}, {saved.A:size(1), saved.B:size(1), saved.C:size(1)})
    child.write(path, "1 2 1 0.5\n3 1 x\n")
    local output, status = child.shell("luajit examples/cp_tensor.lua --data " .. path)
    os.remove(path)
    assert.equal(1, status)
    assert.truthy(output:find("not 'i j k value': 3 1 x", 1, true), output)
  end)
end)

describe("train_mf.lua", function()
  -- Two ratings that share neither row nor column: what an update does, whatever comes first.
  local function updated(update, rate, K)
    local W = meissa.randn({2, K}, {scale = 0.1, seed = 1, type = "float"})
    local H = meissa.randn({2, K}, {scale = 0.1, seed = 2, type = "float"})
    local reg, mu = 0.05, 3
    for n, r in ipairs {5, 1} do
      local w, h = W[n], H[n]
      local e = r - mu - w:dot(h)
      for k = 1, K do
        local wk, hk = w[k], h[k]
        local gw, gh = reg * wk - e * hk, reg * hk - e * wk
        if update == "adagrad" then
          w[k], h[k] = wk - rate * gw, hk - rate * gh -- both sums are 1 at first
        else
          w[k], h[k] = wk + rate * (e * hk - reg * wk), hk + rate * (e * wk - reg * hk)
        end
      end
    end
    return W, H
  end

  for update, rate in pairs {sgd = 0.02, adagrad = 0.1} do
    it("updates rows as " .. update .. " does", function()
      local path = os.tmpname()
      child.write(path, "1,1,5\n2,2,1\n")
      local _, _, saved = run("train_mf.lua",
        ("--data %s --test %s --rank 5 --epochs 1 --update %s"):format(path, path, update))
      os.remove(path)
      local W, H = updated(update, rate, 5)
      for n = 1, 2 do
        for k = 1, 5 do
          assert.equal(W[n][k], saved.W[n][k])
          assert.equal(H[n][k], saved.H[n][k])
        end
      end
    end)

    it("learns by " .. update .. ", with the same bits on 0, 1 and 3 workers", function()
      local arguments = "--ratings 40000 --epochs 4 --rank 8 --update " .. update
      local rows, _, one = run("train_mf.lua", arguments, 1)
      assert.is_true(rows[4].train_rmse < rows[1].train_rmse - 0.01)
      assert.is_true(rows[4].test_rmse < rows[1].test_rmse)
      for _, workers in ipairs {0, 3} do
        local others, _, other = run("train_mf.lua", arguments, workers)
        assert.equal(rows[4].train_rmse, others[4].train_rmse)
        for n = 1, one.W:size(1), 97 do
          for k = 1, 8 do assert.equal(one.W[n][k], other.W[n][k]) end
        end
      end
    end)
  end
end)

describe("examples", function()
  it("say what they do not understand", function()
    for _, name in ipairs {"train_mf", "pagerank", "stencil", "lu", "cp_tensor"} do
      local output, status = child.shell("luajit examples/" .. name .. ".lua --epoch 3")
      assert.is_true(status ~= 0)
      assert.truthy(output:find("unknown option '--epoch'", 1, true), output)
    end
    for _, workers in ipairs {"99999", "1.5"} do
      local output, status = child.shell("luajit examples/lu.lua --workers " .. workers)
      assert.is_true(status ~= 0)
      assert.matches("Error: option 'workers' must be a whole number from 0 to 1024, not '" ..
                     workers .. "'\n$", output)
      assert.not_matches("traceback", output)
    end
  end)
end)
