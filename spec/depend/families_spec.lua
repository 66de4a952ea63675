-- SPDX-License-Identifier: MIT
--
-- The analyser on families of loops that are known from textbooks, in several sizes and both
-- orders: distances, strategy, dimensions and verdict are those that the oracle forms from what the
-- body really touches. The bodies run here as they are, on tables that note every access.

local analyze = require "meissa.analyze"
local oracle = require "spec.depend.oracle"

local SIZES = { 4, 5, 6 }
local families = {}

-- One loop: a family, the indices, the ranges (of n), the body, and loops that are collapsed.
local function add(family, indices, ranges, body, inner)
  families[#families + 1] = { family = family, indices = indices, ranges = ranges, body = body,
    inner = inner or {} }
end

-- ---- the loops ----

for _, pair in ipairs { "i, i", "i, i-1", "i, i+1", "i, i-2", "2*i, i", "2*i, 2*i+1", "2*i, 2*i-2",
  "3*i, 2*i", "3*i+1, 3*i-2", "4*i, 2*i+6", "6*i, 4*i+1", "n-i, i", "n-i, n-i+1", "2*n-i, 2*i",
  "-i+20, i", "i+n, i", "i+2*n, i", "5, i", "i, 3", "7, 7", "2*i+4, 4*i", "i*3-1, i*3+5" } do
  local write, read = pair:match("(.-), (.*)")
  add("coefficients", "i", "{1, n}", ("A[%s] = A[%s] + 1"):format(write, read))
end

for _, body in ipairs { "A[i+j] = A[i+j-1]", "A[2*i+j] = A[i+2*j]", "A[i-j+9] = i",
  "A[i+j] = B[i]", "B[i] = A[i+j]", "A[i+2*j] = A[i+2*j+1]", "A[3*i+j] = A[3*i+j-3]",
  "A[2*i+2*j] = A[2*i+2*j+1]", "A[i] = A[j]", "A[j] = A[i] B[i] = 1", "C[i][i+j] = C[i][j]",
  "C[i+j][j] = C[i+j+1][j]", "C[j][i] = C[i][j]", "C[i][j] = C[j][i]", "C[i+j][i-j+9] = 1",
  "C[i][j] = C[i-1][j]", "C[i][j] = C[i][j-1]", "C[i][j] = C[i-1][j-1]", "C[i][j] = C[i-1][j+1]",
  "C[i][j] = C[i-1][j] + C[i][j-1]", "C[i][j] = C[i+1][j] + C[i][j+1]",
  "C[i][j] = C[i-1][j] + C[i+1][j] + C[i][j-1] + C[i][j+1]", "C[i][j] = C[i-2][j] + C[i][j-3]",
  "C[i][j] = C[i-1][j+1] + C[i][j-1]", "C[i][j] = C[i-1][j-1] + C[i-1][j+1]",
  "C[i][j] = C[i-2][j+1]", "C[i][j] = C[i-2][j+1] + C[i-1][j]", "C[i][1] = C[i][2] + j",
  "C[1][j] = C[2][j] + i", "C[1][1] = i", "A[i] = A[i] + C[i][j]", "A[j] = A[j] + C[i][j]",
  "A[i] = A[i] + B[j] B[j] = B[j] + A[i]", "A[i] = B[j] B[j] = 2", "A[1] = A[1] + C[i][j]",
  "A[i] = A[i-1] + j", "C[2*i][2*j] = C[2*i+1][2*j]", "C[2*i][j] = C[2*i-2][j+1]",
  "C[i][j] = C[i-1][j-2] + C[i-2][j-1]" } do
  add("coupled", "i, j", "{3, n+2}, {3, n+3}", body)
end

for _, body in ipairs { "A[n*(i-1)+j] = A[n*(i-1)+j] + 1", "A[n*i+j] = A[n*i+j-1]",
  "A[n*i+j] = A[n*i+j-n]", "A[n*i+j] = A[n*i+j+1]", "A[10*i+j] = A[10*i+j-10]",
  "A[10*i+j] = A[10*(i-1)+j+1]", "A[(i-1)*n+(j-1)+1] = 2", "A[n*j+i] = A[n*j+i+1]",
  "local k = n*(i-1) + j A[k] = A[k-1]", "A[2*n*i+2*j] = A[2*n*i+2*j+1]" } do
  add("linearised", "i, j", "{2, n}, {1, n}", body)
end

for _, body in ipairs { "A[i % 2 + 1] = A[i % 2 + 1] + 1", "A[i % 3] = i", "A[i] = A[i % 2]",
  "A[(i + 1) % n] = A[i % n]", "A[i - i % 2] = 1", "A[2 * (i % 2) + i] = A[i]",
  "A[math.floor(i / 2)] = A[i]", "A[math.floor((i + 1) / 2)] = i", "A[i] = A[math.floor(i / 3)]",
  "A[bit.rshift(i, 1)] = i", "A[bit.lshift(i, 1)] = A[i]", "A[bit.arshift(i, 1) + 9] = A[i]",
  "local h = math.floor(i / 2) A[2*h] = A[2*h+1]", "A[i % n + 1] = A[(i + 1) % n + 1]",
  "A[bit.arshift(i - 4, 1)] = i",
  "for k = 1, 2 do A[bit.lshift(i + k, 2)] = A[bit.rshift(8 * i, 1) + 4] end" } do
  add("remainders", "i", "{1, n+2}", body)
end

for _, body in ipairs { "C[i % 2][j] = C[1 - i % 2][j]", "C[i][math.floor(j / 2)] = C[i][j]",
  "C[math.floor(i / 2)][j % 2] = 1", "C[(i + j) % 2][j] = C[(i + j) % 2][j-1]",
  "C[i][j % 2] = C[i-1][j % 2]" } do
  add("remainders", "i, j", "{1, n}, {1, n}", body)
end

for _, each in ipairs {
  { "i, j", "{1, n}", "j = i, n", "C[i][j] = C[j][i]" }, { "i, j", "{1, n}", "j = 1, i",
    "A[j] = A[i]" },
  { "i, j", "{2, n}", "j = i, n", "C[i][j] = C[i-1][j]" },
  { "i, j", "{1, n}", "j = i + 1, n", "C[j][i] = C[i][i] + C[j][i]" },
  { "i, j", "{2, n}", "j = i - 1, i + 1", "C[i][j] = C[i-1][j] + C[i][j-1]" },
  { "i, j", "{1, n}", "j = n - i, n", "A[i+j] = A[i+j-1]" },
  { "i, j", "{1, n}", "j = 2 * i, 2 * i + 2", "A[j] = i" },
  { "i, j", "{n, 1, -1}", "j = i, n", "C[i][j] = C[i+1][j] + C[i][j-1]" },
  { "i, j", "{1, n}", "j = n, i, -1", "C[i][j] = C[i][j+1]" },
  { "i, j", "{1, n}", "j = i, i + 2", "C[i][j-i] = C[i][j-i+1]" },
  { "i, j", "{1, n}", "j = 1, n, 2", "C[i][j] = C[i][j-1] + C[i][j-2]" },
  { "i, j", "{1, n}", "j = i, n", "A[i] = A[i] + C[i][j] * B[j]" },
  { "i, j", "{1, n}", "j = 1, i - 1", "A[i] = A[i] - C[i][j] * A[j]" } } do
  add("triangular and banded", each[1], each[2], each[4], { each[3] })
end

for _, each in ipairs {
  { "i", "{2, n+4, 2}", "A[i] = A[i-1] + A[i+1]" }, { "i", "{1, n+4, 2}", "A[i] = A[i-2]" },
  { "i, j", "{2, n, 2}, {2, n}", "C[i][j] = C[i-1][j] + C[i+1][j]" },
  { "i, j", "{1, n}, {1, n}", "C[i][2*j+i%2] = C[i][2*j+1-i%2]" },
  { "i", "{1, n}", "A[2*i] = A[2*i-1] + A[2*i+1]" }, { "i", "{1, n}",
    "A[2*i-1] = A[2*i] + A[2*i-2]" } } do
  add("red-black", each[1], each[2], each[3])
end

for _, each in ipairs {
  { "i, j", "{1, n}, {1, n}", "C[i][j] = C[i][j] + C[i][2] * C[2][j]" },
  { "k, i, j", "{1, n}, {1, n}, {1, n}", "C[i][j] = C[i][j] + C[i][k] + C[k][j]" },
  { "k, i", "{1, n}, {1, n}", "for j = 1, n do C[i][j] = C[i][j] + C[i][k] + C[k][j] end" },
  { "i", "{3, n+2}", "for j = 3, n+2 do C[i][j] = C[i][j] - C[i][2] * C[2][j] end" },
  { "i", "{3, n+2}", "C[i][2] = C[i][2] / C[2][2]" },
  { "k", "{1, n-1}", "for i = k+1, n do C[i][k] = C[i][k] / C[k][k] end" },
  { "k", "{1, n}",
    "for i = k+1, n do for j = k+1, n do C[i][j] = C[i][j] - C[i][k] * C[k][j] end end" },
  { "j", "{1, n}",
    "for k = 1, j-1 do for i = j, n do C[i][j] = C[i][j] - C[i][k] * C[j][k] end end" },
  { "j", "{1, n}", "for k = 1, n do C[k][j] = C[k][j] / D[j][j] end" },
  { "i", "{2, n}", "for k = 1, n do C[i][k] = C[i][k] - C[1][k] end" },
  { "i, j", "{1, n}, {1, n}", "for k = 1, n do D[i][j] = D[i][j] + C[i][k] * C[k][j] end" },
  { "i, j, k", "{1, n}, {1, n}, {1, n}", "D[i][j] = D[i][j] + C[i][k] * C[k][j]" },
  { "i", "{1, n}", "A[i] = 0 for k = 1, n do A[i] = A[i] + C[i][k] * B[k] end" },
  { "i", "{1, n}", "for k = 1, i-1 do A[i] = A[i] - C[i][k] * A[k] end A[i] = A[i] / C[i][i]" } } do
  add("linear algebra", each[1], each[2], each[3])
end
add("linear algebra", "k, i, j", "{1, n}", "C[i][j] = C[i][j] - C[i][k] * C[k][j]",
  { "i = k + 1, n", "j = k + 1, n" })
add("linear algebra", "k, i", "{1, n}", "C[i][k] = C[i][k] / C[k][k]", { "i = k + 1, n" })
add("linear algebra", "i, j", "{1, n}", "C[i][j] = C[i][j] - C[i][1] * C[j][1]", { "j = 1, i" })

for _, each in ipairs {
  { "t, i", "{2, n}, {2, n}", "C[t][i] = C[t-1][i-1] + C[t-1][i] + C[t-1][i+1]" },
  { "t, i", "{2, n}, {2, n}", "A[i] = A[i-1] + A[i] + A[i+1]" },
  { "t, i", "{1, n}, {2, n}", "C[t % 2][i] = C[(t+1) % 2][i-1] + C[(t+1) % 2][i+1]" },
  { "t, i", "{1, n}, {2, n}", "B[i] = A[i-1] + A[i+1] A[i] = B[i]" },
  { "t, i", "{2, n}, {3, n}", "C[t][i] = C[t-1][i-2] + C[t-1][i+2]" },
  { "t, i", "{3, n}, {2, n}", "C[t][i] = C[t-1][i] + C[t-2][i-1] + C[t-2][i+1]" },
  { "t, i", "{2, n}, {2, n}", "C[t][i] = C[t-1][i+1] + C[t][i-1]" },
  { "t, i, j", "{2, n}, {2, n}, {2, n}", "E[t][i][j] = E[t-1][i-1][j] + E[t-1][i+1][j]" },
  { "t, i, j", "{1, n}, {2, n}, {2, n}",
    "C[i][j] = C[i-1][j] + C[i][j-1] + C[i+1][j] + C[i][j+1]" } } do
  add("stencils in time", each[1], each[2], each[3])
end

for _, body in ipairs { "E[i][j][k] = E[i-1][j][k] + E[i][j-1][k] + E[i][j][k-1]",
  "E[i][j][k] = E[i][j-1][k] + E[i][j][k-1]", "E[i][j][k] = E[i][j][k-1]",
  "E[i][j][k] = E[i-1][j-1][k-1]", "E[i][j][k] = E[i-1][j+1][k]", "E[i][j][k] = E[i-1][j+1][k-1]",
  "A[i] = A[i] + B[j] B[j] = B[j] + 1", "A[i] = A[i] + 1 B[j] = B[j] + A[i] F[k] = F[k] + B[j]",
  "C[i][j] = C[i][j] + F[k] F[k] = 1", "C[i][k] = C[i][k] + C[j][k]", "C[i][j] = C[j][k]",
  "E[i][j][k] = E[k][j][i]", "A[i+j+k] = 1", "C[i+j][k] = C[i+j-1][k]",
  "E[i][j][k] = E[i-1][j][k+1] + E[i][j-1][k]", "D[i][j] = D[i][j] + C[k][j]" } do
  add("three deep", "i, j, k", "{2, n}, {2, n}, {2, n}", body)
end

for _, each in ipairs {
  { "i", "{1, n}", "A[i] = 1 A[i+1] = 2" }, { "i", "{1, n}", "A[i] = 1 B[2*i] = 2 B[2*i+1] = 3" },
  { "i", "{1, n}", "A[2*i] = 1 A[3*i] = 2" }, { "i, j", "{1, n}, {1, n}", "A[i] = 1 B[j] = 2" },
  { "i, j", "{1, n}, {1, n}", "A[i] = j B[i] = j" }, { "i, j", "{1, n}, {1, n}",
    "A[i+j] = 1 B[i-j+9] = 2" },
  { "i, j", "{1, n}, {1, n}", "A[j] = 1 C[i][1] = 2" }, { "i", "{1, n}", "A[1] = i B[i] = 1" } } do
  add("writes alone", each[1], each[2], each[3])
end

for _, each in ipairs {
  { "i", "{1, n}", "A[p[i]] = A[i]" }, { "i", "{1, n}", "A[i] = A[p[i]]" },
  { "i", "{1, n}", "B[i] = A[p[i]]" }, { "i", "{1, n}", "A[p[i]] = 1" },
  { "i, j", "{1, n}, {1, n}", "C[i][p[j]] = C[i][p[j]] + 1" },
  { "i, j", "{1, n}, {1, n}", "C[p[i]][j] = C[p[i]][j] + 1" },
  { "i, j", "{1, n}, {1, n}", "C[i][p[j]] = C[i-1][p[j]]" },
  { "i, j", "{1, n}, {1, n}", "A[p[i]] = A[p[i]] + C[i][j]" } } do
  add("opaque tables", each[1], each[2], each[3])
end

for _, each in ipairs {
  { "i", "{1, n}", "local w = C[i] w[1] = w[2]" }, { "i", "{1, n}",
    "local w, v = C[i], C[i+1] w[1] = v[1]" },
  { "i", "{1, n}", "local w = C[i] local v = C[1] w[2] = v[1]" }, { "i", "{1, n}",
    "C[i]:fill(D[i]:sum())" },
  { "i", "{2, n}", "C[i]:fill(C[i-1]:sum())" }, { "i, j", "{1, n}, {1, n}",
    "C[i]:fill(D[j]:sum()) D[j]:fill(1)" },
  { "i", "{1, n}", "C[i]:copy(C[1])" }, { "i", "{1, n}", "D[i]:copy(C[i+1])" },
  { "i, j", "{1, n}, {1, n}", "local w = C[j] w[i] = w[i] + 1" },
  { "i", "{1, n}", "local X = C X[i][1] = C[i-1][1]" } } do
  add("views", each[1], each[2], each[3])
end

for _, each in ipairs {
  { "i", "{n, 1, -1}", "A[i] = A[i+1]" }, { "i", "{n, 1, -1}", "A[i] = A[i-1]" },
  { "i", "{n+8, 1, -3}", "A[i] = A[i+3]" }, { "i", "{1, 3*n, 3}", "A[i] = A[i+1]" },
  { "i", "{-n, n}", "A[i+9] = A[9-i]" }, { "i", "{0, n}", "A[i*2] = A[i+1]" },
  { "i, j", "{n, 2, -1}, {2, n}", "C[i][j] = C[i+1][j-1]" },
  { "i, j", "{2, n}, {n, 2, -1}", "C[i][j] = C[i-1][j-1]" },
  { "i, j", "{n, 2, -1}, {n, 2, -1}", "C[i][j] = C[i-1][j] + C[i][j+1]" },
  { "i, j", "{1, n, 2}, {1, n, 3}", "A[i+j] = 1" }, { "i", "{5, 4}", "A[1] = A[2]" },
  { "i, j", "{1, n}, {3, 2}", "A[1] = A[2]" }, { "i", "{3, 3}", "A[1] = A[1] + 1" },
  { "i, j", "{2, 2}, {1, n}", "A[j] = A[j-1]" }, { "i, j", "{1, n}, {2, 2}",
    "A[i] = A[j] + 1" } } do
  add("steps and empty ranges", each[1], each[2], each[3])
end
add("steps and empty ranges", "i, j", "{1, n}", "C[i][j] = C[i-1][j]", { "j = 3, 2" })
add("steps and empty ranges", "i, j", "{2, n}", "C[i][j] = C[i-1][j] + C[i][j-1]", { "j = 2, n" })
add("steps and empty ranges", "i, j, k", "{1, n}", "A[i+j+k] = 1", { "j = 1, 2", "k = j, 2" })

-- ---- running them ----

local DIMS = { A = 1, B = 1, F = 1, C = 2, D = 2, E = 3 }

-- A value that stands for a row of an array, and notes what is done to it.
local function proxy(name, prefix, visit)
  local depth = #prefix
  local function element(k)
    local list = { unpack(prefix) }
    list[#list + 1] = k
    return list
  end
  local function whole(write)
    local list = { unpack(prefix) }
    while #list < DIMS[name] do list[#list + 1] = "*" end
    visit(name, list, write, false)
  end
  local methods = {}
  function methods.sum() whole(false) return 1 end
  function methods.fill() whole(true) end
  function methods.copy(_, other) other:sum() whole(true) end
  return setmetatable({}, {
    __index = function(_, k)
      if methods[k] then return methods[k] end
      if depth + 1 < DIMS[name] then return proxy(name, element(k), visit) end
      visit(name, element(k), false, k == "*")
      return 1
    end,
    __newindex = function(_, k) visit(name, element(k), true, k == "*") end,
  })
end

local function evaluate(text, values)
  return setfenv(assert(loadstring("return " .. text)), values)()
end

-- A loop of one size as the oracle takes it.
local function instance(case, n)
  local names, extents = {}, evaluate("{" .. case.ranges .. "}", { n = n })
  for name in case.indices:gmatch("%a+") do names[#names + 1] = name end
  local body = assert(loadstring(("local %s = ... %s"):format(case.indices, case.body)))
  local head = #extents == #names and "for %s in parallel(%s) do %s end"
    or "for %s in parallel(%s, {collapse = " .. #names .. "}) do %s end"
  local inside = case.body
  for k = #case.inner, 1, -1 do inside = ("for %s do %s end"):format(case.inner[k], inside) end
  local loop = { dims = #names, names = names, rectangle = #names == 2 and #case.inner == 0,
    text = head:format(table.concat(names, ", ", 1, #extents), case.ranges, inside) }
  function loop.step(d)
    if extents[d] then return extents[d][3] or 1 end
    return evaluate("select(3, " .. case.inner[d - #extents]:match("= (.*)") .. ", 1)",
      { n = n, i = 1, j = 1, k = 1, select = select })
  end
  function loop.bounds(d, values)
    local range = extents[d]
    if range then return range[1], range[2], range[3] or 1, 0 end
    local known = { n = n, i = values.i, j = values.j, k = values.k }
    local lo, hi, step = evaluate(case.inner[d - #extents]:match("= (.*)"), known)
    return lo, hi, step or 1, (step or 1) < 0 and -lo or math.abs(step or 1) == 1 and lo or 0
  end
  function loop.touch(values, visit)
    local open = case.body:find("p[", 1, true) ~= nil
    local function note(name, element, write)
      local star = false
      for k = 1, #element do star = star or element[k] == "*" end
      visit(name, element, write, open and star)
    end
    local env = { n = n, math = math, bit = bit,
      p = setmetatable({}, { __index = function() return "*" end }) }
    for name in pairs(DIMS) do env[name] = proxy(name, {}, note) end
    local list = {}
    for d, name in ipairs(names) do list[d] = values[name] end
    setfenv(body, env)(unpack(list))
  end
  return loop
end

local function bindings(n)
  local shapes = { n = n, p = analyze.opaque }
  for name, dims in pairs(DIMS) do shapes[name] = analyze.shape(unpack({ 99, 99, 99 }, 1, dims)) end
  return shapes
end

local slow = tonumber(os.getenv("MEISSA_TEST_SLOWDOWN")) or 1

local function check(case, n)
  local loop = instance(case, n)
  for _, ordered in ipairs { true, false } do
    loop.ordered = ordered
    local best, plan = math.huge, nil
    for _ = 1, 3 do
      local start = os.clock()
      plan = analyze.analyze(loop.text, bindings(n), { ordered = ordered })
      best = math.min(best, os.clock() - start)
    end
    local problem = oracle.compare(loop, plan)
    assert(not problem, ("%s, n = %d, %s: %s"):format(loop.text, n,
      ordered and "ordered" or "unordered", tostring(problem)))
    local limit = case.body:find("%%") or case.body:find("floor") or case.body:find("bit%.")
    local message = ("%s took %.1f ms"):format(loop.text, best * 1000)
    assert(best < (limit and 0.1 or 0.005) * slow, message)
  end
end

describe("families of loops:", function()
  for number, case in ipairs(families) do
    it(("%s %d: %s"):format(case.family, number, case.body), function()
      for _, n in ipairs(SIZES) do check(case, n) end
    end)
  end

  it("shifts that may wrap are no products", function()
    for _, body in ipairs { "A[bit.rshift(i - 4, 1)] = i", "A[bit.lshift(i, 30)] = i",
      "A[bit.lshift(i, i)] = i", "A[bit.lshift(p[i], 1)] = i", "A[bit.rshift(-i, 1)] = i" } do
      local plan = analyze.analyze("for i in parallel(9) do " .. body .. " end", bindings(9))
      assert.are.equal("unknown", plan.verdict, body)
      assert.are.equal("DEP102", plan.reasons[1].code)
    end
  end)

  it("are at least 150", function() assert.is_true(#families >= 150) end)
end)
