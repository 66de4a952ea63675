-- SPDX-License-Identifier: MIT
-- Bodies with every construct, and the world that they run in. Used by the kernel specs.
local array = require "meissa.array"

local function world()
  local env = {
    A = array.rand({ 12, 5 }, { seed = 1 }), B = array.rand({ 12 }, { seed = 2 }),
    F = array.rand({ 12, 5 }, { seed = 3, type = "float" }),
    C = array.zeros({ 12, 5 }, { type = "int32" }), L = array.zeros({ 12 }, { type = "int64" }),
    T = array.rand({ 4, 3, 5 }, { seed = 4 }),
    n = 12, m = 5, worst = -100, best = 100, lr = 0.37, sum = 0.25, low = 3, text = "x",
    opts = { rate = 0.1, deep = { er = 7 }, name = "model" },
    idx = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8 }, list = { 1.5, 2.5, 3.5 },
  }
  return env
end

--- The space of bodies that name none.
local rows = { ranges = { { 1, 12 } } }
local function over_rows() return rows end

-- name, loop text, options
local bodies = {
  { "vector", "for i in parallel(n) do B[i] = B[i] * 2 + i end" },
  { "one line with a comment", "for i in parallel(n) do B[i] = i --[[ x ]] end -- done" },
  { "header over lines", "for i\nin parallel(\n  n\n)\ndo\n B[i] = i * lr\nend" },
  { "empty body", "for i in parallel(n) do end" },
  { "body ends in a comment", "for i in parallel(n) do B[i] = 3 -- end\nend" },
  { "matrix", "for i in parallel(n) do for k = 1, m do A[i][k] = A[i][k] + k * lr end end" },
  { "listed subscripts",
    "for i in parallel(n) do for k = 1, m do A[{i, k}] = A[{i,k}] - 1 end end" },
  { "listed and chained, mixed types",
    "for i in parallel(n) do for k = 1, m do F[{i, k}] = A[i][k] C[i][k] = k * i end end" },
  { "row view",
    "for i in parallel(n) do local w = A[i] for k = 1, m do w[k] = w[k] * w[1] end end" },
  { "two views",
    "for i in parallel(n) do local w, f = A[i], F[i]\nfor k = 1, m do w[k], f[k] = f[k], " ..
    "w[k] end end" },
  { "view of a view",
    "for i in parallel(4) do local s = T[i] local r = s[2] for k = 1, 5 do r[k] = s[1][k] " ..
    "+ s[3][k] end end",
    space = { ranges = { { 1, 4 } } } },
  { "view that escapes",
    "for i in parallel(n) do local w = A[i] local v = w v[2] = 4 w[3] = v[2] end" },
  { "view used by a nested function",
    "for i in parallel(n) do local w = A[i] local function f(k) return w[k] end w[2] = " ..
        "f(1) + 1 end" },
  { "view that is reassigned", "for i in parallel(n) do local w = A[i] w = F[i] w[1] = 2 end" },
  { "view that is shadowed",
    "for i in parallel(n) do local w = A[i] do local w = {1, 2} B[i] = w[2] end w[1] = " ..
    "w[2] end" },
  { "length of a view",
    "for i in parallel(n) do local w = A[i] for k = 1, #w do w[k] = k end end" },
  { "alias of an array", "for i in parallel(n) do local X = A local Y = X Y[i][2] = X[i][1] end" },
  { "indirect subscripts", "for i in parallel(n) do B[i] = A[idx[i]][2] + list[1] end" },
  { "computed subscripts",
    "for i in parallel(n) do B[(i * 5) % 12 + 1] = i B[13 - i] = B[13 - i] + 1 end" },
  { "floor in subscripts", "for i in parallel(n) do B[i] = A[math.floor((i + 1) / 2)][1] end" },
  { "reduction", "for i in parallel(n) do sum = sum + B[i] end", pieces = 1 },
  { "minimum", "for i in parallel(n) do if B[i] < low then low = B[i] end end" },
  { "maximum", "for i in parallel(n) do sum = math.max(sum, B[i]) end" },
  { "maximum of negative numbers",
    "for i in parallel(n) do worst = math.max(worst, -B[i] - 1) end" },
  { "minimum of large numbers",
    "for i in parallel(n) do if B[i] + 90 < best then best = B[i] + 90 end end" },
  { "product", "for i in parallel(n) do sum = sum * 2 end" },
  { "or", "for i in parallel(n) do found = found or B[i] > 0.9 end" },
  { "and", "for i in parallel(n) do text = text and B[i] > 0 end" },
  { "private, last value kept", "for i in parallel(n) do last = i * 2 B[i] = last end",
    ordered = true },
  { "private table", "for i in parallel(n) do last = {i, {i}} B[i] = last[2][1] end",
    ordered = true },
  { "goto continue",
    "for i in parallel(n) do if i % 3 == 0 then goto continue end local x = i B[i] = x " ..
    "::continue:: end" },
  { "while and repeat", [[for i in parallel(n) do
    local x, k = B[i], 0
    while x < 4 do x = x * 2 k = k + 1 end
    repeat local y = x - 1 x = y until y < 1
    B[i] = x + k
  end]] },
  { "break of an inner loop",
    "for i in parallel(n) do for k = 1, m do if A[i][k] > 0.5 then B[i] = k break end end " ..
    "end" },
  { "downward inner loop",
    "for i in parallel(n) do for k = m, 2, -1 do A[i][k] = A[i][k - 1] end end" },
  { "fractional inner step",
    "for i in parallel(n) do for x = 0, 1, 0.25 do B[i] = B[i] + x end end" },
  { "multiple assignment",
    "for i in parallel(n) do local a, b = 1, 2 a, b, B[i] = b, a, a + b A[i][1], A[i][2] = " ..
    "a, b end" },
  { "multiple values of a call",
    "for i in parallel(n) do A[i][1], A[i][2], A[i][3] = unpack(list) B[i] = unpack(list) " ..
    "end" },
  { "shadowed index", "for i in parallel(n) do local i = i + 1 if i <= 12 then B[i] = i end end" },
  { "assigned index", "for i in parallel(n) do i = i + 1 if i <= 12 then B[i] = i end end" },
  { "shadowed capture", "for i in parallel(n) do local lr = lr * 2 B[i] = lr end" },
  { "strings",
    "for i in parallel(n) do local s = opts.name .. i .. text B[i] = #s + (s:byte(1)) end" },
  { "paths", "for i in parallel(n) do B[i] = opts.rate * opts.deep.er + opts['deep'].er end" },
  { "path and its table",
    "for i in parallel(n) do local o = opts B[i] = o.deep.er + opts.deep.er end" },
  { "builtins",
    "for i in parallel(n) do B[i] = math.sqrt(i) + math.floor(i / 2) + bit.band(i, 3) + " ..
    "tonumber('7') end" },
  { "nested functions", [[for i in parallel(n) do
    local function f(x) return x * lr + A[i][1] end
    local g = function(...) local a = ... return select('#', ...) + a end
    B[i] = f(2) + g(4, 5)
  end]] },
  { "closures in a table",
    "for i in parallel(n) do local t = {f = function(x) return x + i end, i, [3] = 4} B[i] " ..
    "= t.f(t[1]) + t[3] end" },
  { "method definitions",
    "for i in parallel(n) do local o = {} function o.a(x) return x + 1 end function o:b(x) " ..
    "return self.a(x) end B[i] = o:b(i) end" },
  { "logic",
    "for i in parallel(n) do B[i] = (i > 3 and B[i] or -1) + (not (i == 2) and 1 or 0) end" },
  { "vararg-free local function recursion",
    "for i in parallel(n) do local function fib(x) if x < 2 then return x end return fib(x " ..
    "- 1) + fib(x - 2) end B[i] = fib(i) end" },
  { "int64", "for i in parallel(n) do L[i] = i * 4294967296 B[i] = L[i] / 3 end" },
  { "integer store of a computed value",
    "for i in parallel(n) do C[i][1] = math.floor(B[i] * 100) end" },
  { "float rounding",
    "for i in parallel(n) do local f = F[i] f[1] = f[1] * lr f[2] = f[1] / 3 end" },
  { "methods of arrays", "for i in parallel(n) do local x = A[i] B[i] = B[i] + #x + #A end" },
  { "products of rows",
    "for i in parallel(n) do local w, f = A[i], F[i] B[i] = w:dot(f) + w:dot(w) + " ..
    "f:dot(A[i]) + A[i]:dot(A[i]) end" },
  { "sums and norms of rows",
    "for i in parallel(n) do local w = F[i] B[i] = w:sum() + A[i]:norm() * T[1][2]:sum() " ..
    "end" },
  { "row statements", [[for i in parallel(n) do
    local w, f = A[i], F[i]
    f:fill(3) f:axpy(0.1, w) w:scal(lr) w:axpy(-2, f) f:copy(w) w:cmul(f)
    A[i]:axpy(i * 2, F[i])
  end]] },
  { "row builtins that keep objects", [[for i in parallel(n) do
    local w = A[i]
    B[i] = w:max() + w:min() + w:size(1)
    local u = A[i]:fill(i)
    B[i] = B[i] + u[2]
    local c = C[i]
    c:fill(4)
    B[i] = B[i] + c:sum()
  end]] },
  { "rows of one extent", "for i in parallel(n) do local w = A[i] w:fill(lr) B[i] = w:dot(w) end" },
  { "power", "for i in parallel(n) do B[i] = i ^ 3 + 2 ^ -1 end" },
  { "fields of a generic for",
    "for i in parallel(n) do for k, v in ipairs(list) do B[i] = B[i] + k * v end for k, v " ..
    "in pairs({a = 1}) do B[i] = B[i] + v end end" },
  { "long strings and escapes",
    "for i in parallel(n) do local s = [==[\n]]]==] .. '\\n\\65' B[i] = #s end" },
  { "semicolons", "for i in parallel(n) do local x = 1; B[i] = x; end" },
}

return { world = world, over_rows = over_rows, list = bodies }
