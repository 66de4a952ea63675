-- SPDX-License-Identifier: MIT
-- Plain tables that a body only appends to or counts in are what the plain loop makes of them.
local analyze = require "meissa.analyze"
local child = require "spec.support.child"
local meissa = require "meissa"

local SCRIPT = [==[
local meissa = require "meissa"
local n, words = 640, {}
local recorded = os.getenv "RECORDED" == "1"
local A, B, R = meissa.zeros(n), meissa.zeros(40, 40), meissa.ones(34, 50)
for i = 1, n do A[i], words[i] = i * 7 % 13, "w" .. i * 31 % 17 end

local bodies = {
  "if A[i] > 10 then t[#t + 1] = i end if A[i] == 3 then t[1 + #t] = {i, words[i]} end",
  "for k = 1, A[i] % 3 do t[#t + 1] = k > 1 and words[i] or false end",
  "t[#t + 1] = A[i] > 6 and i or nil",
  "h[words[i]] = (h[words[i]] or 0) + 1",
  "local k = A[i] % 3 h[k] = i + (h[k] or 0) h[-1] = (h[-1] or 0) - 2",
  "if A[i] == 5 then h[A[i] > 3] = (h[A[i] > 3] or 0) + i t[#t + 1] = -i end",
  "o.list[#o.list + 1] = i o.counts[A[i]] = (o.counts[A[i]] or 0) + 1",
  "if A[i] > 99 then t[#t + 1] = i h[i] = (h[i] or 0) + 1 end",
  "h[i] = (h[i] or 0) + i s = s + i",
  "h.a = (h.a or 0) + 1 if A[i] > 5 then h['b c'] = i + (h['b c'] or 0) - 2 end",
  "if A[i] > 10 then table.insert(t, i) end if A[i] == 3 then insert(t, #t + 1, {words[i]}) end",
  "table.insert(t, math.floor(A[i] / 2)) t[#t + 1] = -i insert(o.list, words[i])",
  "if h[words[i]] then h[words[i]] = h[words[i]] + i else h[words[i]] = i end",
  "local k = A[i] if not h[k] then h[k] = 2 - i else h[k] = 2 - i + h[k] end",
  "if not h[words[i]] then h[words[i]] = 0 end h[words[i]] = h[words[i]] - i",
  "local k = words[i] h[k] = h[k] or 0 h[k] = 1 + h[k] h[i] = (h[i] or 0) + i",
  "h[words[i]], t[#t + 1] = (h[words[i]] or 0) + 1, i",
  "if A[i] > 3 then t[#t + 1], o.list[1 + #o.list] = i, words[i] end",
  "o.seen[words[i]] = true o.last['k' .. i % 5] = 'x'",
  "if A[i] > 5 then o.seen[A[i] > 6] = 7 end o.last[i % 5] = -0 o.last[i % 9 + 2] = -0",
  "o.seen[i] = true o.last[i], o.last[i + 1] = true, true",
  "if A[i] > 99 then h.a = (h.a or 0) + 1 end o.p, o.q = (o.p or 0) + i, o.q or i > 9 and i",
}
local starts = {"{}, {}", "{'a', 'b'}, {w3 = 5, w1 = false, [2] = 1}", "{1, nil, 3, nil, 5}, {}"}

local function text_of(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for key, each in pairs(value) do
    parts[#parts + 1] = tostring(key) .. "=" .. text_of(each)
  end
  table.sort(parts)
  return "{" .. table.concat(parts, ",") .. "}"
end

local function run(start, head, body, tail)
  local env = setmetatable({A = A, B = B, R = R, words = words, n = n, parallel = meissa.parallel,
                            recorded = recorded}, {__index = _G})
  local text = ("local o = {list = {}, counts = {}, seen = {}, last = {z = 1, [3] = 2}}\n" ..
                "local insert, s, t, h = table.insert, 0, %s\n" ..
                "%s %s %s\n" ..
                "return {t, h, o, s, o.best and 1 / o.best}"):format(start, head, body, tail)
  local ok, result = pcall(setfenv(assert(loadstring(text)), env))
  return ok and text_of(result) or tostring(result)
end

local compared = 0
for _, body in ipairs(bodies) do
  for _, start in ipairs(starts) do
    local expected = run(start, "for i = 1, n do", body, "end")
    assert(expected:sub(1, 1) == "{", expected)
    for _, head in ipairs {"for i in parallel(n) do", "for i in parallel(n, {ordered = false}) do",
                           "for i in parallel(n, {check = recorded, grid = {7}}) do"} do
      local got = run(start, head, body, "end")
      if got ~= expected then print(start, head, body, got, expected) end
      compared = compared + 1
    end
  end
end
-- What depends on the order of iterations, in spaces of which blocks would rather cut any index.
local ordered = {
  "local v = i * j == 12 and i * 100 + j o.first = o.first or v o.last = v or o.last",
  "local zero = i % 2 == 0 and 0 or -0 if zero > o.best then o.best = zero end",
  "if (i * j) % 3 == 0 then t[#t + 1] = i * 100 + j end h[j] = (h[j] or 0) + i",
}
for _, body in ipairs(ordered) do
  for _, shape in ipairs {{30, 9}, {2, 70}, {1, 40}, {70, 70}} do
    local start = "{}, {} local o = {best = -9, first = false, last = false}"
    local expected = run(start, ("for i = 1, %d do for j = 1, %d do"):format(unpack(shape)), body,
                         "end end")
    local got = run(start, ("for i, j in parallel(%d, %d) do"):format(unpack(shape)), body, "end")
    if got ~= expected then print(body, shape[1], shape[2], got, expected) end
  end
end
-- Lists in blocks that are no ranges of the loop's order: wavefronts, skewed and swept loops,
-- partitions of an inner index, ranges that descend.
local beside = {"R[i+1][j+1] = R[i][j+1] + R[i+1][j]", "R[i+1][j+1] = R[i][j+2] + R[i][j]",
                "R[i+1][j] = R[i][j] + 1", "R[i+1][j] = R[i][j+1] + 1"}
local lists = {"if (i * j) % 3 == 0 then t[#t + 1] = i * 100 + j end",
               "for k = 1, j % 3 do insert(t, k > 1 and 'w' .. i or j) end",
               "if i > j then t[#t + 1] = {i, j} end " ..
               "o.list[#o.list + 1] = -j h[j] = i + (h[j] or 0)"}
local ranges = {{"i = 1, 24", "j = 1, 9", "24, 9"}, {"i = 1, 7", "j = 1, 40", "7, 40"},
                {"i = 30, 2, -1", "j = 1, 12", "{30, 2, -1}, 12"},
                {"i = 1, 1", "j = 1, 9", "1, 9"}, {"i = 1, 0", "j = 1, 9", "0, 9"}}
local seen, strategies = {}, 0
for _, first in ipairs(beside) do
  for _, second in ipairs(lists) do
    for _, each in ipairs(ranges) do
      local body, start = first .. " " .. second, starts[1 + compared % 3]
      R:fill(1)
      local expected = run(start, ("for %s do for %s do"):format(each[1], each[2]), body, "end end")
      for _, head in ipairs {"for i, j in parallel(%s, {check = recorded}) do",
                             "for i, j in parallel(%s, {grid = {3, 4}}) do"} do
        R:fill(1)
        local got = run(start, head:format(each[3]), body, "end")
        local uncut = head:find("grid") and got:find("OPT: option 'grid' has 2 entries", 1, true)
        if got ~= expected and not uncut then print(start, head, each[3], body, got, expected) end
        local strategy = meissa.last() and meissa.last().strategy or "none"
        strategies, seen[strategy] = strategies + (seen[strategy] and 0 or 1), true
      end
    end
  end
end
assert(strategies >= 4 and seen.wavefront and seen.skew, strategies)
-- Entries of a sparse array in its own order, cut along the other dimension.
do
  local at = {i = {}, j = {}, v = {}}
  for k = 1, 300 do at.i[k], at.j[k], at.v[k] = k * 7 % 31 + 1, k * 11 % 17 + 1, k % 5 end
  local S, C = meissa.sparse({40, 20}, at), meissa.zeros(20)
  local got, expected = {}, {}
  for i, j, r in meissa.parallel(S, {ordered = true}) do
    C[j] = C[j] + r
    got[#got + 1] = i * 1000 + j * 10 + r
  end
  for i = 1, 40 do
    for k = 1, 300 do
      if at.i[k] == i then expected[#expected + 1] = i * 1000 + at.j[k] * 10 + at.v[k] end
    end
  end
  local function column(a, b) return math.floor(a / 10) < math.floor(b / 10) end
  for k = 2, #expected do -- by insertion, so that equal entries keep their order
    local each, to = expected[k], k
    while to > 1 and column(each, expected[to - 1]) do
      expected[to], to = expected[to - 1], to - 1
    end
    expected[to] = each
  end
  if text_of(got) ~= text_of(expected) then print("entries", text_of(got), text_of(expected)) end
end
local h, key = {}, {}
for i in meissa.parallel(n) do h[key] = (h[key] or 0) + 1 end
print(compared, meissa.last().engine, h[key] == n)
]==]

describe("plain tables that are gathered", function()
  -- What is recorded is so in the driver before the loop runs, whatever that has.
  for _, environment in ipairs {"MEISSA_WORKERS=0 RECORDED=1", "MEISSA_WORKERS=1",
                                "MEISSA_WORKERS=2 RECORDED=1",
                                "MEISSA_WORKERS=5", "MEISSA_WORKERS=2 MEISSA_SHM=0",
                                "MEISSA_WORKERS=2 MEISSA_ENGINE=native"} do
    it("are those of the plain loop, " .. environment, function()
      local output, status = child.script(SCRIPT, {env = environment})
      assert.equal(0, status, output)
      assert.equal("198\tlua\ttrue\n", output)
    end)
  end

  local function role(body, bindings, options)
    bindings = bindings or {}
    bindings.t = bindings.t or {}
    bindings.A = require("meissa").shape(20)
    local plan = analyze.analyze("for i in parallel(20) do " .. body .. " end", bindings, options)
    return plan.scalars.t and plan.scalars.t.role, plan.reasons[1] and plan.reasons[1].code
  end

  it("are named in the fixes of what is like them", function()
    for body, fix in pairs {
      ["table.insert(t, f(i))"] = "one value only: table.insert(t, (f(i)))",
      ["insert(t, f(i))"] = "one value only: insert(t, (f(i)))",
      ["table.insert(t[i], f(i))"] = "t[#t + 1] = value",
      ["t[i][#t[i] + 1] = i"] = "local own = {}  own[...] = value  ... t[i] = own",
      ["table.insert(t, 1, i)"] = "call it before or after the loop",
      ["table.sort(t, A)"] = "call it before or after the loop",
      ["t[i % 3] = t[i % 3] + 1"] = "t[i % 3] = (t[i % 3] or 0) + ...",
      ["t[i % 3] = t[i % 2] - 1"] = "list keys and values",
      ["t[A[i]] = i"] = "local t = {}  ... t[i] = value",
      ["t[2 * i + 1] = t[2 * i + 1] * 2"] = "local new = {}  ... new[2 * i + 1] = value",
      ["(function() t[i] = 1 end)()"] = "use an array",
    } do
      local text = ("for i in parallel(9) do %s end"):format(body)
      local plan = analyze.analyze(text, {t = {}, A = {}, f = function(x) return x end,
                                           insert = table.insert})
      assert.equal("DEP107", plan.reasons[1].code)
      assert.truthy(plan.reasons[1].fixes[1]:find(fix, 1, true), plan.reasons[1].fixes[1])
    end
  end)

  it("must hold numbers before", function()
    local h = {x = "keep"}
    local ok, err = pcall(function()
      for i in meissa.parallel(5) do h[i % 2] = (h[i % 2] or 0) + 1 end
    end)
    assert.is_false(ok)
    assert.truthy(tostring(err):find('h["x"] is a string before the loop; sums by key need', 1,
      true))
  end)

  it("are told", function()
    assert.equal("listed", (role "t[#t + 1] = A[i]"))
    assert.equal("listed", (role "table.insert(t, A[i])"))
    assert.equal("listed", (role "table.insert(t, tostring(i)) table.insert(t, (f(i)))"))
    assert.equal("counted", (role "if t[i] then t[i] = t[i] + 1 else t[i] = 1 end"))
    assert.equal("counted", (role "if t[i] == nil then t[i] = 0 end t[i] = t[i] + 1"))
    assert.equal("counted", (role "t[i % 3] = (t[i % 3] or 0) + A[i]"))
    assert.equal("listed", (role "t[#t + 1], A[i] = i, 1"))
    assert.equal("marked", (role "t[A[i]] = true"))
    assert.equal("marked", (role "t[i % 3] = 'x'"))
    assert.equal("marked", (role "t[i] = true t[i + 1] = true"))
    assert.equal("sliced", (role "t[i] = true"))
    assert.equal("sliced", (role "for k = 1, 3 do t[3 * i + k] = true end"))
  end)

  it("are none where something else uses them", function()
    local shared = {}
    local function peek() return #shared end
    for _, body in ipairs {
      "t[#t + 1] = #t", "t[#t + 1] = t[1]", "t[#t + 2] = i", "t[#t] = i", "t[#t + 1], A[i] = i, #t",
      "t[#t + 1] = i A[i] = #t", "t[#t + 1] = i t[i] = 1", "(function() t[#t + 1] = i end)()",
      "t[i % 3] = (t[i % 3] or 1) + 1", "t[i % 3] = (t[i % 2] or 0) + 1",
      "t[i % 3] = (t[i % 3] or 0) * 2", "t[i % 3] = 1 - (t[i % 3] or 0)",
      "t[i % 3] = (t[i % 3] or 0) + #t", "t[i % 3] = (t[i % 3] or 0) + 1 t[#t + 1] = 2",
      "t[i % 3] = (t[i % 3] or 0) + 1 A[i] = t[1]", "t[#t + 1] = peek()", "t[#t + 1] = #u",
      "table.insert(t, math.modf(i))", "table.insert(t, f(i))", "table.insert(t, #t)",
      "table.insert(t, #t, i)", "table.insert(t, 1, i)", "table.insert(u, t)",
      "table.insert(t, i) t[i % 3] = (t[i % 3] or 0) + 1", "table.insert(t, i, i, i)",
      "if t[i % 3] then t[i % 3] = t[i % 3] + 1 else t[i % 3] = 2 end",
      "if t[i % 3] then t[i % 3] = t[i % 3] + 1 else t[i % 2] = 1 end",
      "if t[i % 2] then t[i % 3] = t[i % 3] + 1 else t[i % 3] = 1 end",
      "if not t[i % 3] then t[i % 3] = t[i % 3] + 1 else t[i % 3] = 1 end",
      "if not t[i % 3] then t[i % 3] = 1 end t[i % 3] = t[i % 3] + 1",
      "if not t[i % 3] then t[i % 3] = 0 end t[i % 2] = t[i % 2] + 1",
      "if not t[i % 3] then t[i % 3] = 0 end A[i] = 1 t[i % 3] = t[i % 3] + 1",
      "t[i % 3] = t[i % 3] or 0 t[i % 3] = t[i % 3] * 2", "t[A[i]] = true t[A[i] + 1] = false",
      "t[A[i]] = true A[i] = #t", "t[A[i]] = i", "t[A[i]] = nil", "t[A[i]] = {}",
      "if not t[A[i]] then t[A[i]] = true end", "t[A[i]] = true t[#t + 1] = true",
      "t[A[i]] = 1 t[A[i]] = (t[A[i]] or 0) + 1", "t[t[i]] = true",
    } do
      local _, code = role(body, {t = shared, u = shared, peek = peek, f = peek})
      assert.is_truthy(code, body)
    end
    local _, code = role("t[#t + 1] = i", {t = setmetatable({}, {__newindex = print})})
    assert.equal("DEP107", code)
  end)
end)
