-- SPDX-License-Identifier: MIT
-- Random loops with buffers, for several statements, types, rules of merging, and delays.
local M = {}

M.ROWS = 3 -- of the matrix behind vb

-- Statements of bodies: `wb` buffers the vector w of m elements, `vb` the matrix v; x has n
-- numbers, idx n subscripts of w, X n rows of m columns; s is scratch space.
local STATEMENTS = {
  "wb[idx[i]] = wb[idx[i]] + x[i]",
  "for k = 1, 5 do local p = i * k % m + 1 wb[p] = wb[p] + x[i] * k end",
  "for f, t in X[i]:nonzeros() do wb[f] = wb[f] + t * x[i] end",
  "wb[idx[i]] = wb[idx[i]] + 2 * w[i % m + 1]",
  "vb[i % 3 + 1][idx[i]] = vb[i % 3 + 1][idx[i]] + x[i]",
  "for k = 1, m do if (k + i) % 3 == 0 then vb[1][k] = vb[1][k] + v[2][k] + x[i] end end",
  "for k = 1, 4 do s[k] = x[i] * k end wb[idx[i]] = wb[idx[i]] + s[3]",
  "local p = wb[idx[i]] if p > 2 then wb[idx[i]] = wb[idx[i]] - p end",
}

local TEXT = [[
local parallel, n, m, w, v, wb, vb, x, idx, X, s, count, counts, seen, before, how = ...
local sum = 0
for i in parallel(n, how) do
  seen[i], before[i] = count[1], counts[1]
  counts[1] = counts[1] + 1
  %s
  sum = sum + x[i] * 0.1
end
return sum]]

-- Rules of merging, by name; the ones with a helper array have another result.
M.RULES = {
  scaled = function(old, g) return old + 0.5 * g end,
  adaptive = function(old, g, squares)
    local new = squares + g * g
    return old + g / math.sqrt(1 + new), new
  end,
}

--- A random case: how long, over what, with which body, rule and options (math.random's).
function M.case()
  local case = {n = math.random(1, 900), m = math.random(1, 150), body = {}}
  case.data = math.random(1e6)
  for k = 1, math.random(1, 3) do case.body[k] = STATEMENTS[math.random(#STATEMENTS)] end
  case.text = TEXT:format(table.concat(case.body, "\n  "))
  local types, rules = {"double", "double", "float", "int32"}, {"sum", "scaled", "adaptive"}
  case.type = types[math.random(#types)]
  case.rule = case.type == "int32" and "sum" or rules[math.random(#rules)]
  case.delay = math.random() < 0.5 and math.random(1, case.n) or nil
  case.grid = not case.delay and math.random() < 0.3 and {math.random(1, 70)} or nil
  return case
end

--- The arrays of a case, the same each time.
function M.make(meissa, case)
  math.randomseed(case.data)
  local n, m, entries = case.n, case.m, {i = {}, j = {}, v = {}}
  local made = {x = meissa.zeros(n), idx = meissa.zeros({n}, {type = "int32"}),
                w = meissa.zeros({m}, {type = case.type}), v = meissa.zeros(M.ROWS, m),
                z = meissa.ones(m), count = meissa.zeros(1), seen = meissa.zeros(n),
                before = meissa.zeros(n)}
  for i = 1, n do
    made.x[i] = case.type == "int32" and math.random(-3, 3) or math.random() - 0.4
    made.idx[i] = math.random(m)
    for _ = 1, math.random(0, 4) do
      local e = #entries.i + 1
      entries.i[e], entries.j[e], entries.v[e] = i, math.random(m), math.random(-4, 4)
    end
  end
  entries.i[#entries.i + 1], entries.j[#entries.j + 1], entries.v[#entries.v + 1] = n, m, 1
  made.X = meissa.sparse({n, m}, entries)
  return made
end

--- Runs a case with options of its loop: its arrays and its sum.
function M.run(meissa, case, how)
  local made = M.make(meissa, case)
  local rule = M.RULES[case.rule]
  local wb = meissa.buffer(made.w, {apply = rule, max_delay = case.delay,
                                    with = case.rule == "adaptive" and made.z or nil})
  local counts, vb = meissa.buffer(made.count), meissa.buffer(made.v)
  made.sum = assert(loadstring(case.text))(meissa.parallel, case.n, case.m, made.w, made.v, wb, vb,
    made.x, made.idx, made.X, meissa.scratch(4), made.count, counts, made.seen, made.before, how)
  made.engine = meissa.last().engine
  return made
end

return M
