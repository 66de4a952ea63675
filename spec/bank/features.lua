-- SPDX-License-Identifier: MIT
-- What users do besides running loops of a strategy, for the bank: {name =, run = function(meissa)}
-- gives what is to stay the same, or raises it.
local list = {}

local function add(name, run) list[#list + 1] = {name = name, run = run} end

-- Runs functions and gives what each raises or returns, as text.
local function each_result(...)
  local words = {}
  for k, fn in ipairs {...} do
    local ok, result = pcall(fn)
    words[k] = tostring(ok) .. " " .. tostring(result)
  end
  return unpack(words)
end

add("made arrays", function(meissa)
  return meissa.rand({7, 5}, {seed = 3}), meissa.randn({31}, {seed = 4, type = "float"}),
    meissa.full({3, 3}, 2.5), meissa.ones(4), meissa.from {{1, 2}, {3, 4}},
    meissa.sparse({3, 3}, {i = {1, 3}, j = {2, 1}, v = {5, 6}})
end)

add("shown arrays", function(meissa)
  local A = meissa.rand({3, 3}, {seed = 3})
  return tostring(A), tostring(A[2]), tostring(meissa.rand({300, 300})), tostring(meissa.sparse(
    {30, 30}, {i = {1, 3}, j = {2, 1}, v = {5, 6}}))
end)

add("arithmetic", function(meissa)
  local A, B = meissa.rand({40, 30}, {seed = 1}), meissa.rand({30, 20}, {seed = 2})
  local C, x = meissa.zeros(40, 20), meissa.rand({30}, {seed = 3})
  C:gemm(A, B)
  return C, A:sum(), A:mean(), A:min(), A:max(), A:norm(), x:dot(x), A:clone():scal(3):add(1),
    meissa.zeros(40):gemv(A, x), A:transpose():clone(), A:narrow(1, 3, 5):sum(),
    A:clone():axpy(0.5, A)
end)

add("sets", function(meissa)
  local S = meissa.sparse({20, 10}, {i = {1, 3, 7, 20}, j = {2, 1, 10, 4}, v = {5, 6, 7, 8}})
  local train, test = S:split(0.5, {seed = 2})
  return train, test, S:filter(function(_, _, v) return v > 5 end),
    S:map(function(_, _, v) return v * 2 end), S:reduce(function(a, b) return a + b end, 0),
    S:randomize({1}, {seed = 4})
end)

add("groups", function(meissa)
  local S = meissa.sparse({20, 10}, {i = {1, 3, 3, 20}, j = {2, 1, 10, 4}, v = {5, 6, 7, 8}})
  return tostring(S:group_by(1)), tostring(S:group_by(2))
end)

add("a matrix factorization", function(meissa)
  local parallel = meissa.parallel
  local i, j, v = {}, {}, {}
  for k = 1, 600 do i[k], j[k], v[k] = k * 7 % 50 + 1, k * 11 % 40 + 1, k % 9 end
  local ratings, sse = meissa.sparse({50, 40}, {i = i, j = j, v = v}), 0
  local W = meissa.randn({50, 6}, {scale = 0.1, seed = 1})
  local H = meissa.randn({40, 6}, {scale = 0.1, seed = 2})
  for _ = 1, 2 do
    for a, b, r in parallel(ratings) do
      local w, h = W[a], H[b]
      local e = r - w:dot(h)
      sse = sse + e * e
      for k = 1, 6 do
        local wk = w[k]
        w[k] = wk + 0.02 * e * h[k]
        h[k] = h[k] + 0.02 * e * wk
      end
    end
  end
  return W, H, sse
end)

add("tables and strings that blocks output", function(meissa)
  local squares, words, counts = {}, {}, {}
  for k in meissa.parallel(50) do squares[k] = k * k end
  for k in meissa.parallel(50) do if k % 7 == 0 then words[#words + 1] = "w" .. k end end
  for k in meissa.parallel(50) do counts[k % 3] = (counts[k % 3] or 0) + 1 end
  return squares, words, counts
end)

add("objects", function(meissa)
  local O = meissa.objects(9)
  for k in meissa.parallel(9) do O[k] = {name = "o" .. k, size = k} end
  return O[3], O[9]
end)

add("map", function(meissa)
  return meissa.map({3, 1, 2}, function(k) return {k, k * k} end)
end)

add("random numbers", function(meissa)
  meissa.seed(7)
  local total, A = 0, meissa.zeros(100)
  for k in meissa.parallel(100) do
    A[k] = meissa.random() + meissa.random(6)
    total = total + meissa.normal()
  end
  return A, total, meissa.random(100)
end)

add("each", function(meissa)
  local A, sum = meissa.zeros(30), 0
  meissa.each(30, function(k)
    A[k] = k * 2
    sum = sum + k
  end)
  return A, sum
end)

add("run and plan", function(meissa)
  local A = meissa.zeros(10)
  meissa.run [[ for i in parallel(10) do local x = i * 2 end ]]
  return tostring(meissa.plan(4, function(k) A[k] = A[1] end)), A
end)

add("what is printed in bodies", function(meissa)
  for k in meissa.parallel(6, {grid = {3}}) do print("body", k) end
end)

add("scratch space and snapshots", function(meissa)
  local s, A = meissa.scratch(4), meissa.rand({20, 4}, {seed = 5})
  local old, B = A:snapshot(), meissa.zeros(20)
  for k in meissa.parallel(20) do
    for c = 1, 4 do s[c] = old[k][c] * 2 end
    B[k] = s:sum()
    A[k]:fill(old[21 - k][1])
  end
  return A, B
end)

add("a histogram through buffers", function(meissa)
  local w, x = meissa.zeros(5), meissa.rand({400}, {seed = 6})
  local wb = meissa.buffer(w, {max_delay = 50, apply = function(old, g) return old + 0.5 * g end})
  for k in meissa.parallel(400) do
    local c = math.floor(x[k] * 5) + 1
    wb[c] = wb[c] + x[k] - 0.01 * w[c]
  end
  return w
end)

add("collisions that depend on data", function(meissa)
  local p, A = meissa.zeros({60}, {type = "int32"}), meissa.rand({60}, {seed = 7})
  for k = 1, 60 do p[k] = k * 7 % 60 + 1 end
  for k in meissa.parallel(60) do A[k] = A[k] * 0.5 + k end
  local B = meissa.zeros(60)
  for k in meissa.parallel(60) do B[k] = A[p[k]] + A[61 - k] end
  return A, B
end)

add("files", function(meissa)
  local path = os.tmpname()
  local A = meissa.rand({12, 5}, {seed = 8})
  A:save(path)
  local B = meissa.load(path)
  meissa.save(path, {A = A, rank = 5})
  local model = meissa.load(path)
  os.remove(path)
  return B, model.A, model.rank
end)

add("readers", function(meissa)
  local X, y = meissa.read.libsvm "spec/data/a9a.t.gz"
  local counts, vocab = meissa.read.docword("spec/data/docword.kos.txt.gz")
  local votes = meissa.read.triples("spec/data/wiki-Vote.txt.gz", {comment = "#", square = true})
  return X, y, counts, tostring(vocab), votes, votes:label(1, 5), votes:index(1, 30),
    meissa.read.csv "spec/data/optdigits.tra.gz",
    meissa.read.triples("spec/data/ml-latest-small.ratings.csv.gz", {sep = ",", skip = 1})
end)

add("errors of arrays", function(meissa)
  local A = meissa.zeros(3, 3)
  return each_result(function() return A[4][1] end, function() return A[1][0] end,
    function() A[1][2.5] = 1 end, function() return meissa.zeros(-1) end,
    function() return meissa.zeros({3}, {tpye = "float"}) end,
    function() return meissa.zeros({3}, {type = "flaot"}) end,
    function() return A:dot(meissa.zeros(4)) end, function() return A:nonsense() end,
    function() return meissa.from {{1, 2}, {3}} end, function() return A:narrow(1, 3, 3) end,
    function() return meissa.sparse({2, 2}, {i = {3}, j = {1}, v = {1}}) end,
    function() meissa.zeros({2}, {type = "int32"})[1] = 0.5 end, function() return A:free(3) end)
end)

add("errors of files", function(meissa)
  return each_result(function() return meissa.load "no/such/file" end,
    function() return meissa.read.csv "no/such/file" end,
    function() return meissa.read.triples("README.md") end,
    function() return meissa.read.libsvm "README.md" end,
    function() return meissa.read.docword "README.md" end,
    function() return meissa.load "README.md" end,
    function() return meissa.read.csv("README.md", {spe = ","}) end)
end)

add("errors of options", function(meissa)
  local parallel = meissa.parallel
  return each_result(function() for _ in parallel(3, {orderd = true}) do end end,
    function() for _ in parallel(3, {engine = "nativ"}) do end end,
    function() for _ in parallel(3, {grid = {0}}) do end end,
    function() for _ in parallel("x") do end end, function() for _ in parallel() do end end,
    function() for _ in parallel({1, 2, 0}) do end end, function() meissa.init {wrokers = 2} end,
    function() meissa.seed("x") end, function() return meissa.buffer(3) end,
    function() return meissa.map(3, 4) end)
end)

add("errors of bodies", function(meissa)
  local parallel, A = meissa.parallel, meissa.zeros(40)
  local L = meissa.zeros({40}, {type = "int32"})
  local t = {}
  return each_result(function() for k in parallel(40) do A[k + (k > 30 and 20 or 0)] = 1 end end,
    function() for k in parallel(40) do L[k] = k == 17 and 0.5 or 1 end end,
    function() for k in parallel(40) do if k > 20 then error("at " .. k) end A[k] = 1 end end,
    function() for k in parallel(40) do A[k] = t.x.y end end,
    function() for k in parallel(40) do A[k] = A[1] + k end end,
    function() for k in parallel(40) do A[k] = math.random() end end,
    function() for k in parallel(40) do A[k] = os.time() end end), A, L
end)

add("refusals", function(meissa)
  local parallel, A, B, w, s = meissa.parallel, meissa.zeros(40), meissa.zeros(40, 40), {}, 0
  return each_result(function() for k in parallel({2, 40}) do A[k] = A[k - 1] + 1 end end,
    function() for k in parallel(40) do A[k % 3 + 1] = k end end,
    function() for k in parallel(40) do s = A[k] + s * 2 end end,
    function() for k in parallel(40) do w[1] = k end return w end,
    function() for k in parallel(40) do B[k][1] = B[41 - k][1] end end,
    function() for k in parallel(40) do if s > 3 then break end A[k] = k end end)
end)

return list
