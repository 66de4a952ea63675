-- SPDX-License-Identifier: MIT
-- Small tables that bodies make for themselves: both engines give the same bits and errors, blocks
-- whose keys grow too large run on the Lua engine, and bodies with other tables stay there.
local meissa = require "meissa"

local N = 600

local BODIES = {
  ["grows from nothing"] = [[
    local t = {}
    for k = 1, 8 do t[k] = A[i][k] * k end
    for k = 8, 1, -1 do A[i][k] = t[9 - k] end]],
  ["begins with values"] = [[
    local t = {0, i, A[i][1]}
    for k = 1, 8 do t[k % 3 + 1] = t[k % 3 + 1] + A[i][k] end
    A[i][1] = t[1] + t[2] * t[3] ]],
  ["is nil where nothing is"] = [[
    local t, n = {1, nil, 3}, 0
    for k = -1, 300 do if t[k] == nil then n = n + 1 end end
    if t[1.5] == nil and t[0 / 0] == nil and t[2 ^ 40] == nil and t[true] == nil then n = n + 1 end
    t[1] = nil
    A[i][1] = n + (t[1] or 10) + (t[3] or 100)]],
  ["holds booleans"] = [[
    local seen = {false, false}
    for k = 1, 8 do
      if seen[k] == nil then seen[k] = A[i][k] > 0.5 end
      if seen[k] then A[i][k] = k end
    end]],
  ["is read by any key"] = [[
    local t = {5, 6, 7}
    for k = 1, 8 do A[i][k] = t[math.floor(A[i][k] * 4)] or t[A[i][k] * 2] or -1 end]],
  ["swaps"] = [[
    local t, k = {A[i][1], A[i][2]}, 1
    t[1], t[2] = t[2], t[1]
    k, t[2] = 2, t[1]
    A[i][1], A[i][2], A[i][3] = t[1], t[2], k]],
  ["is handed to functions"] = [[
    local a, b = {}, {i}
    A[i][1] = fill(a, 4) * total(a, 4) + fill(a, 2)
    A[i][2] = mix(a, b) * mix(a, b) + a[1] + 10 * b[1] ]],
  ["is made and used in functions, where it may grow too large"] = [[
    A[i][1] = largest(A[i], 8)
    A[i][2] = fill({}, i) + largest(A[i], 3)]],
  ["has other names"] = [[
    local t = {1, 2}
    local u = t
    u[3] = i
    local function add(k) t[k] = t[k] + 1 end
    add(1) add(3)
    A[i][1] = t[1] + t[2] + t[3] + u[1] ]],
  ["is new in each turn"] = [[
    for k = 1, 8 do
      local t = {k}
      if k % 2 == 0 then goto continue end
      t[2] = (t[2] or 0) + t[1]
      A[i][k] = t[2]
      ::continue::
    end]],
  ["keeps what is not a number from sums"] = [[
    local t = {1}
    A[i][1] = 3
    if i == 77 then A[i][2] = t[1] + t[2] end]],
  ["is compared with nil"] = [[
    local t = {1}
    if i == 300 then A[i][2] = t[2] < 1 and 1 or 2 end]],
  ["has keys beyond its room in some blocks"] = [[
    local t = {}
    t[i] = i + 1
    A[i][1] = t[i] + (t[1] or 0) + (t[256] or 0)]],
  ["is beside subscripts out of range"] = [[
    local t = {}
    t[1] = A[i][1]
    A[i + 1][2] = 3 * t[1] ]],
  ["takes any number as a key"] = [[
    local t = {}
    for k = 1, 8 do t[math.floor((A[i][k] - 0.5) * 600)] = k end
    t[0] = 10 t[-0.0] = t[0] + 1 t[-7] = 3 t[1.5] = 4 t[2 ^ 53] = 5 t[-1e300] = 6 t[1 / 0] = 7
    t[true], t[false] = 8, 9
    local s = 0
    for k = -300, 300 do s = s + (t[k] or 0) * (k % 11) end
    A[i][1] = s + t[1.5] * t[2 ^ 53] + t[-1e300] * t[1 / 0] + t[true] * 10 + t[false]
    A[i][2] = t[A[i][3] ] or t[0] ]],
  ["has many keys"] = [[
    local t, s = {}, 0
    for k = 1, i * 2 do t[k * 3 - i] = k end
    for k = 1, i do t[k * 6 - i] = nil end
    for k = -i, 6 * i do s = s + (t[k] or 0) * (k % 3 + 1) end
    A[i][1] = s]],
  ["has as many fields as a product says"] = [[
    local t = {}
    for k = 1, n * n do t[k] = 0 end
    for k = 1, 8 do t[(k - 1) * n + 1] = t[(k - 1) * n + 1] + A[i][k] end
    for k = 1, 8 do A[i][k] = t[(k - 1) * n + 1] + k end]],
  ["is sorted into"] = [[
    local best, who = {}, {}
    for k = 1, 3 do best[k], who[k] = 2, 0 end
    for j = 1, 8 do
      local k, x = 3, A[i][j]
      if x < best[k] then
        while k > 1 and best[k - 1] > x do
          best[k], who[k] = best[k - 1], who[k - 1]
          k = k - 1
        end
        best[k], who[k] = x, j
      end
    end
    for k = 1, 3 do A[i][k] = best[k] + who[k] end]],
  ["is new in each turn, with any keys"] = [[
    for k = 1, 8 do
      local t = {}
      if t[-k] or t[1 - k] then A[i][k] = -1 end
      t[-k], t[1 - k] = k, k + 1
      if A[i][k] < 0.3 then goto continue end
      A[i][k] = t[-k] * t[1 - k] + spread({}, k)
      ::continue::
    end]],
  ["refuses nil as a key"] = [[
    local t, u = {}, {}
    u[-i] = 1
    if i == 400 then t[u[5] ] = i end
    A[i][1] = u[-i] ]],
  ["refuses nan as a key"] = [[
    local t = {}
    t[-i] = 1
    if i == 500 then t[(A[i][1] - A[i][1]) / 0] = i end
    A[i][1] = t[-i] ]],
  ["grows at its end"] = [[
    local t = {}
    for k = 1, 8 do if A[i][k] > 0.5 then t[#t + 1] = k end end
    for k = 1, #t do A[i][k] = t[k] * #t end]],
  ["grows far at its end"] = [[
    local t, s = {7}, 0
    for k = 1, i do t[#t + 1] = k * A[i][1] end
    for k = #t, 1, -1 do s = s * 0.5 + t[k] end
    A[i][2] = s + #t]],
  ["is a stack"] = [[
    local t, s = {i % 7 + 2}, 0
    t[#t] = nil
    t[#t] = nil
    t[#t + 1] = i % 7 + 2
    while #t > 0 do
      local top = t[#t]
      t[#t] = nil
      s = s + top
      if top > 1 then t[#t + 1] = top - 1 t[#t + 1] = math.floor(top / 2) end
      if #t > 3 then t[#t] = 1 end
    end
    A[i][1] = s]],
  ["takes nil at its end for nothing"] = [[
    local t, u = {}, {1, 2, 3}
    for k = 1, 8 do
      local x
      if A[i][k] > 0.4 then x = k end
      t[#t + 1] = x
      u[#u] = x
      u[#u + 1] = k
    end
    A[i][1], A[i][2], A[i][3] = #t, #u, #t > 0 and t[#t] or -1]],
  ["has its length in functions"] = [[
    local t = {}
    local function push(x) t[#t + 1] = x end
    push(i) push(2)
    A[i][1] = append(t, 5) + append(t, #t) + #t
    for k = 1, #t do A[i][k + 1] = t[k] end]],
  ["is measured before it changes"] = [[
    local t = {1, 2}
    local function push(x) t[#t + 1] = x return #t end
    A[i][1] = #t + push(4) * 10 + #t * 100
    for k = 1, #t do t[#t + 1] = k end
    A[i][2] = #t]],
  ["is summed"] = [[
    local t = {}
    for k = 1, 8 do t[k] = A[i][k] end
    sum = sum + t[1] * t[8] ]],
}

-- The bodies that end in an error, with its words.
local FAIL = {
  ["keeps what is not a number from sums"] = "arithmetic on a nil value",
  ["is compared with nil"] = "compare nil with number",
  ["is beside subscripts out of range"] = "subscript 601 is outside 1..600",
  ["refuses nil as a key"] = "table index is nil",
  ["refuses nan as a key"] = "table index is NaN",
}

-- Functions that bodies hand tables to.
local FUNCTIONS = [[
local function fill(t, n) for k = 1, n do t[k] = k * k end return n end
local function total(t, n) local s = 0 for k = 1, n do s = s + t[k] end return s end
local function spread(t, n) for k = -n, n do t[k * 0.5] = k end return t[-n * 0.5] + t[n * 0.5] end
local function append(t, x) t[#t + 1] = x return #t end
local function mix(a, b) a[1] = a[1] + 1 b[1] = b[1] * 2 return a[1] + b[1] end
local function largest(row, n)
  local t, most = {}, 1
  for k = 1, n do t[k] = row[k] end
  for k = 2, n do if t[k] > t[most] then most = k end end
  return most
end
]]

local STAY = {
  ["a length where there may be gaps"] = "local t = {1, 2} t[i] = 1 A[i][1] = t[1]  A[i][2] = #t",
  ["the length of a list with nil in it"] = "local t = {1, nil, 3} A[i][1] = #t",
  ["a length that may change while a value for the end is evaluated"] = [[
    local t = {}
    local function push(x) t[#t + 1] = x return nil end
    t[#t + 1] = push(i)
    A[i][1] = #t]],
  ["fields"] = "local t = {x = 1} A[i][1] = t.x",
  ["fields set"] = "local t = {} t.x = 1 A[i][1] = 1",
  ["tables of tables"] = "local t = {{1}, {2}} A[i][1] = t[1][1]",
  ["a table that takes another's place"] = [[
    local last
    for k = 1, 3 do local t = {k} if k < 3 then last = t end end
    A[i][1] = last[1] ]],
  ["a function that is handed different ones"] = [[
    local a, b = {}, {}
    A[i][1] = fill(a, 3) + fill(b, 4) ]],
  ["what goes through it"] = "local s = 0 for _, v in ipairs {1, 2} do s = s + v end A[i][1] = s",
}

-- The array after a loop with this body, whether it ended well, its sum or error, its engine.
local function run(body, options)
  local A = meissa.rand({N, 8}, {seed = 3})
  local text = ("local A, options = ... local sum, n = 0, 9 %s " ..
    "for i in parallel(%d, options) do %s end return sum"):format(FUNCTIONS, N, body)
  local ok, sum = pcall(meissa.run, text, A, options)
  local told = ok and sum or tostring(sum):gsub("worker %d+", "worker")
  return A:totable(), ok, told, ok and meissa.last().engine
end

-- Whether two tables of rows differ in rounding only.
local function near(a, b)
  for i = 1, N do
    for k = 1, 8 do
      if math.abs(a[i][k] - b[i][k]) > 1e-12 * math.abs(a[i][k]) then return false end
    end
  end
  return true
end

describe("a table of a body", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  for name, body in pairs(BODIES) do
    it(name, function()
      local there, fine, other = run(body, {engine = "lua"})
      assert.are.equal(not FAIL[name], fine, tostring(other))
      if not fine then assert.truthy(other:find(FAIL[name], 1, true), other) end
      for _, numeric in ipairs {"strict", "fast"} do
        local here, ok, told, engine = run(body, {engine = "native", numeric = numeric})
        assert.are.equal(fine, ok, tostring(told) .. "\n" .. tostring(other))
        if ok then assert.are.equal("native", engine) end
        if numeric == "strict" then
          assert.are.equal(other, told)
          assert.are.same(there, here)
        else
          assert.is_true(near(there, here))
        end
      end
    end)
  end

  for name, body in pairs(STAY) do
    it("stays on the Lua engine with " .. name, function()
      local _, ok, told, engine = run(body, {})
      assert.is_true(ok, told)
      assert.are.equal("lua", engine)
    end)
  end

  it("gives the same for any number of workers, on both roads", function()
    local body, first = BODIES["has keys beyond its room in some blocks"], nil
    for _, workers in ipairs {1, 2, 3} do
      meissa.init {workers = workers}
      local here = run(body, {engine = "native"})
      first = first or here
      assert.are.same(first, here)
    end
    meissa.init {workers = 2}
  end)
end)
