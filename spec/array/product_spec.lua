-- SPDX-License-Identifier: MIT
--
-- gemv, ger, gemm against sums in plain Lua; snapshots.

local meissa = require "meissa"
local blas = require "meissa.array.blas"
local expect = require "spec.support.expect"
local raises = expect.raises
local draws = require "spec.support.draws"
local seed = require "spec.support.seed"

local function random_numbers() return draws.whole(draws.of_number(seed)) end
local told = "MEISSA_TEST_SEED=" .. seed

local function near(a, b, tolerance)
  assert.is_true(math.abs(a - b) <= tolerance * math.max(1, math.abs(b)), a .. " is not " .. b)
end

describe("products", function()
  local types = { { "double", 1e-12 }, { "float", 1e-4 }, { "int32", 0 } }
  for _, case in ipairs(types) do
    local name, tolerance = case[1], case[2]
    local scale = name == "int32" and 10 or 1
    local function random(dims, number)
      return meissa.rand(dims, { seed = number, type = name, scale = scale })
    end

    it("are what sums in plain Lua give, " .. name, function()
      for _, turned in ipairs { false, true } do
        local A = turned and random({ 7, 5 }, 1):transpose() or random({ 5, 7 }, 1)
        local B, x = random({ 7, 4 }, 2), random({ 7 }, 3)
        local y, C = meissa.ones({ 5 }, { type = name }), meissa.ones({ 5, 4 }, { type = name })
        assert.equal(y, y:gemv(A, x))
        C:gemm(A, B)
        for i = 1, 5 do
          local sum = 0
          for k = 1, 7 do sum = sum + A[i][k] * x[k] end
          near(y[i], sum, tolerance)
          assert.equal(A[i]:clone():dot(x), y[i])
          for j = 1, 4 do
            sum = 0
            for k = 1, 7 do sum = sum + A[i][k] * B[k][j] end
            near(C[i][j], sum, tolerance)
          end
        end
        local before = C:clone()
        C:gemm(3, 2, A, B)
        y:gemv(-1, 2, A, x)
        for i = 1, 5 do
          near(y[i], A[i]:clone():dot(x), 2 * tolerance)
          for j = 1, 4 do near(C[i][j], 5 * before[i][j], 2 * tolerance) end
        end
      end
    end)

    it("of two vectors are matrices, " .. name, function()
      local x, y, A = random({ 3 }, 4), random({ 4 }, 5), random({ 3, 4 }, 6)
      local before = A:clone()
      A:ger(1, 2, x, y)
      for i = 1, 3 do
        for j = 1, 4 do near(A[i][j], before[i][j] + 2 * x[i] * y[j], tolerance) end
      end
      A:ger(x, y)
      for i = 1, 3 do
        for j = 1, 4 do near(A[i][j], x[i] * y[j], tolerance) end
      end
    end)
  end

  it("may be formed by OpenBLAS when that is permitted", function()
    assert.is_truthy(blas.library())
    for _, name in ipairs { "double", "float" } do
      local tolerance = name == "double" and 1e-11 or 1e-3
      local A = meissa.randn({ 90, 80 }, { seed = 1, type = name })
      local B = meissa.randn({ 80, 70 }, { seed = 2, type = name })
      local x = meissa.randn({ 80 }, { seed = 3, type = name })
      local fast = { numeric = "fast" }
      local function both(result, call)
        local one, two = result(), result()
        call(one)
        call(two, fast)
        assert.is_true(one:axpy(-1, two):norm(math.huge) < tolerance)
      end
      local function matrix() return meissa.ones({ 90, 70 }, { type = name }) end
      local function vector() return meissa.ones({ 90 }, { type = name }) end
      both(matrix, function(C, opts) C:gemm(A, B, opts) end)
      both(matrix, function(C, opts) C:gemm(2, 0.5, A, B, opts) end)
      both(matrix, function(C, opts) C:gemm(A:clone():transpose():transpose(), B, opts) end)
      both(matrix, function(C, opts) C:gemm(A, B:transpose():clone():transpose(), opts) end)
      both(vector, function(y, opts) y:gemv(A, x, opts) end)
      both(vector, function(y, opts) y:gemv(1, -1, A, x, opts) end)
      both(vector, function(y, opts) y:gemv(A:transpose():clone():transpose(), x, opts) end)
      both(function() return A:clone() end, function(C, opts)
        C:ger(1, 2, vector(), x, opts)
      end)
    end
  end)

  -- Above the sizes from which blocks, chunks of sums and threads are taken.
  it("have the bits of dot at any size", function()
    local random = random_numbers()
    local kinds = { "float", "double", "int32" }
    local shapes = { { 70, 33, 65 }, { 1, 5000, 3 }, { 3, 8200, 1 }, { 33, 17, 131 }, { 2, 0, 2 },
      { 65, 70, 2 }, { 130, 40, 60 } }
    for _, shape in ipairs(shapes) do
      local m, k, n = unpack(shape)
      local one, two = kinds[random(3)], kinds[random(3)]
      local function draw(rows, columns, kind)
        local turned = random(2) == 1
        local M = meissa.rand(turned and { columns, rows } or { rows, columns },
          { seed = random(1000), type = kind, scale = kind == "int32" and 9 or 1 })
        return turned and M:transpose() or M
      end
      local A, B = draw(m, k, one), draw(k, n, two)
      local C, y = meissa.zeros(m, n):gemm(A, B), meissa.zeros(m)
      local columns = B:transpose()
      for i = 1, m do
        for j = 1, n do assert.equal(A[i]:dot(columns[j]), C[i][j], told) end
      end
      y:gemv(A, columns[1])
      for i = 1, m do assert.equal(C[i][1], y[i]) end
    end
  end)

  -- Entries drawn at random, in no order, some of them twice.
  local function draw_sparse(random, rows, columns, count, kind)
    local lists = { i = {}, j = {}, v = {} }
    for e = 1, count do
      lists.i[e], lists.j[e], lists.v[e] = random(rows), random(columns), random(2000) / 8
      if kind:find "^int" then lists.v[e] = math.floor(lists.v[e]) end
    end
    return meissa.sparse({ rows, columns }, lists, { type = kind })
  end

  it("with sparse matrices are what loops over their entries give", function()
    local random = random_numbers()
    local shapes = { { 9, 7, 30 }, { 1500, 3, 4 }, { 40, 1000, 2000 }, { 3, 3, 0 } }
    for _, shape in ipairs(shapes) do
      local m, k, count = unpack(shape)
      for _, kind in ipairs { "float", "double", "int64" } do
        local S = draw_sparse(random, m, k, count, kind)
        local x, B = meissa.rand({ k }, { seed = 1 }), meissa.rand({ k, 5 }, { seed = 2 })
        local L = meissa.rand({ 4, m }, { seed = 3, type = "float" })
        local y, C, D = meissa.ones(m), meissa.zeros(m, 5), meissa.full({ 4, k }, 2)
        y:gemv(3, -0.5, S, x)
        C:gemm(S, B)
        D:gemm(1, 1, L, S)
        local want = {}
        for r = 1, 4 do
          want[r] = {}
          for j = 1, k do want[r][j] = 0 end
        end
        for i = 1, m do
          local sum, row = 0, { 0, 0, 0, 0, 0 }
          for j, v in S[i]:nonzeros() do
            sum = sum + v * x[j]
            for c = 1, 5 do row[c] = row[c] + v * B[j][c] end
            for r = 1, 4 do want[r][j] = want[r][j] + L[r][i] * v end
          end
          assert.equal(3 + sum * -0.5, y[i], told)
          for c = 1, 5 do assert.equal(row[c], C[i][c], told) end
        end
        for r = 1, 4 do
          for j = 1, k do assert.equal(2 + want[r][j], D[r][j], told) end
        end
      end
    end
  end)

  it("see what sparse matrices hold now", function()
    local S, y = meissa.sparse({ 2, 2 }, { i = { 1, 2 }, j = { 2, 1 } }), meissa.zeros(2)
    y:gemv(S, meissa.from { 1, 10 })
    S[2][1] = 7
    assert.same({ 10, 7 }, y:gemv(S, meissa.from { 1, 10 }):totable())
  end)

  it("leave the threads of OpenBLAS as they were", function()
    local library = blas.library()
    local ffi = require "ffi"
    ffi.cdef [[void spec_set_openblas_threads(int) __asm__("openblas_set_num_threads");]]
    local before = library.meissa_openblas_get_num_threads()
    for threads = 1, 2 do
      library.spec_set_openblas_threads(threads)
      meissa.zeros(90, 90):gemm(meissa.ones(90, 80), meissa.ones(80, 90), { numeric = "fast" })
      assert.equal(threads, library.meissa_openblas_get_num_threads())
    end
    library.spec_set_openblas_threads(before)
  end)

  it("take rows, columns and results that overlap", function()
    local A = meissa.from { { 1, 2 }, { 3, 4 } }
    A[1]:gemv(A, A:select(2, 2))
    assert.same({ { 10, 22 }, { 3, 4 } }, A:totable())
    A:gemm(A, A)
    assert.same({ { 166, 308 }, { 42, 82 } }, A:totable())
  end)

  it("run in loops", function()
    meissa.init { workers = 2 }
    local W, M, V = meissa.zeros(8, 4), meissa.rand({ 4, 6 }, { seed = 1 }),
      meissa.rand({ 8, 6 }, { seed = 2 })
    for i in meissa.parallel(8) do W[i]:gemv(M, V[i]) end
    for i = 1, 8 do
      for k = 1, 4 do assert.equal(M[k]:dot(V[i]), W[i][k]) end
    end
    meissa.init {}
  end)

  local A, x, S = meissa.ones(2, 3), meissa.ones(3), meissa.sparse({ 2, 3 }, { i = {}, j = {} })
  local bad = {
    { "ARR", "extents 3 and 2 do not match",
      function() meissa.zeros(2):gemv(A, meissa.ones(2)) end },
    { "ARR", "extents 2 and 3 do not match", function() meissa.zeros(3):gemv(A, x) end },
    { "ARR", "the matrix must be", function() meissa.zeros(2):gemv(x, x) end },
    { "ARR", "the vector must be", function() meissa.zeros(2):gemv(A, A) end },
    { "ARR", "the vector must be a dense", function() meissa.zeros(2):gemv(A, S) end },
    { "ARR", "one of the two matrices must be dense",
      function() meissa.zeros(2, 2):gemm(S, meissa.sparse({ 3, 2 }, { i = {}, j = {} })) end },
    { "ARR", "do not match", function() meissa.zeros(2):gemv(S, meissa.ones(2)) end },
    { "ARR", "beyond 2^53", function()
      local B = meissa.ones({ 3, 2 }, { type = "int64" })
      B:data()[3] = 2LL ^ 60
      meissa.zeros(2, 2):gemm(A, B)
    end },
    { "ARR", "the result must be", function() A:clone():gemv(A, x) end },
    { "ARR", "expected an array, not a table", function() x:gemv({}, x) end },
    { "ARR", "expected an array, not a nil", function() x:gemv(A) end },
    { "OPT", "two numbers or none", function() x:gemv(2, A, x) end },
    { "OPT", "unknown option", function() meissa.zeros(2):gemv(A, x, { fast = true }) end },
    { "OPT", 'numeric is "strict" or "fast"',
      function() meissa.zeros(2):gemv(A, x, { numeric = "quick" }) end },
    { "ARR", "do not match", function() meissa.zeros(2, 2):gemm(A, A) end },
    { "ARR", "do not match", function() meissa.zeros(3, 3):gemm(A, A:transpose()) end },
    { "ARR", "do not match", function() meissa.zeros(3, 2):ger(meissa.ones(2), x) end },
    { "ARR", "does not fit into type int32", function()
      meissa.zeros({ 2 }, { type = "int32" }):gemv(meissa.full({ 2, 3 }, 0.5), x)
    end },
    { "ARR", "snapshot", function() meissa.zeros(2):snapshot():gemv(A, x) end },
  }
  for k, case in ipairs(bad) do
    it("name what is wrong, case " .. k, function() raises(case[1], case[2], case[3]) end)
  end
end)

describe("products with a transpose (" .. told .. ")", function()
  for _, name in ipairs { "double", "float" } do
    it("have the bits of those with its copy, " .. name, function()
      local number = random_numbers()
      for round = 1, 60 do
        local rows, columns = number(1, 700), number(1, round % 3 == 0 and 2500 or 40)
        local stored = meissa.rand({ columns, rows + 3 }, { seed = number(1, 1e6), type = name })
        local A = stored:narrow(2, number(1, 4), rows):transpose()
        local x = meissa.rand({ 2 * columns }, { seed = number(1, 1e6), type = name })
        x = round % 2 == 0 and x:narrow(1, 1, columns) or x:reshape(columns, 2):select(2, 2)
        local y, expected = meissa.zeros({ rows }), meissa.zeros({ rows })
        y:gemv(A, x)
        expected:gemv(A:clone(), x)
        for k = 1, rows do assert.equal(expected[k], y[k], rows .. " x " .. columns) end
        assert.equal(A:clone()[rows]:dot(x), expected[rows])
      end
    end)
  end
end)

describe("a snapshot", function()
  local function snapshots()
    return meissa.from({ { 1, 2 }, { 3, 4 } }):snapshot(),
      meissa.sparse({ 2, 2 }, { i = { 1 }, j = { 2 }, v = { 5 } }):snapshot()
  end

  it("keeps the contents of its time", function()
    local A = meissa.from { 1, 2, 3 }
    local old = A:snapshot()
    A:fill(9)
    assert.same({ 1, 2, 3 }, old:totable())
    assert.equal(6, old:sum())
    old:clone()[1] = 5
  end)

  local writes = {
    function(D) D[1][1] = 0 end, function(D) D[{ 1, 1 }] = 0 end, function(D) D[1] = 0 end,
    function(D) D[{ { 1, 2 }, 1 }] = 0 end, function(D) D:fill(0) end, function(D) D:scal(2) end,
    function(D) D:copy(meissa.zeros(2, 2)) end, function(D) D:add(1) end,
    function(D) D:cmul(D) end, function(D) D[1]:fill(0) end, function(D) D[1]:axpy(1, D[2]) end,
    function(D) D[1]:copy(D[2]) end, function(D) D:narrow(1, 1, 1):fill(0) end,
    function(D) D:transpose()[1][1] = 0 end, function(D) D:select(1, 1)[1] = 0 end,
    function(D) for i in meissa.parallel(2) do D[i][1] = 0 end end,
    function(D) for i in meissa.parallel(2, { serial = true }) do D[i][1] = 0 end end,
    function(D) local row = D[1] for i in meissa.parallel(2) do row[i] = 0 end end,
    function(_, S) S[1][2] = 0 end, function(_, S) S:fill(0) end,
    function(_, S) S[{ { 1, 2 } }] = 0 end,
    function(_, S) for i, j in meissa.parallel(S) do S[i][j] = 0 end end,
  }
  for k, write in ipairs(writes) do
    it("is not written, case " .. k, function()
      local D, S = snapshots()
      raises("ARR", "snapshot", function() write(D, S) end)
      assert.same({ { 1, 2 }, { 3, 4 } }, D:totable())
      assert.equal(5, S[1][2])
    end)
  end

  it("is read in loops and can be freed", function()
    local A = meissa.from { 1, 2, 3, 4 }
    local old = A:snapshot()
    for i in meissa.parallel({ 2, 4 }) do A[i] = old[i] + old[i - 1] end
    assert.same({ 1, 3, 5, 7 }, A:totable())
    old:free()
    raises("ARR", "freed", function() return old[1] end)
    raises("ARR", "freed", function() old[1] = 1 end)
  end)
end)
