-- SPDX-License-Identifier: MIT
--- Rows and lists that names hold: what an expression was is not changed by names that go on to
-- hold another row, where values are evaluated together: in machine code as in plain Lua.
local meissa = require "meissa"
local parallel = meissa.parallel

local N = 12
local A = meissa.from {{1, 2}, {4, 5}, {9, 7}, {3, 8}}
local B = meissa.zeros({4, 2, 2})
local I = meissa.from({{1, 2}, {4, 5}, {9, 7}, {3, 8}}, {type = "int32"})
for k = 1, 4 do B[k] = k end
local t = {{1, 2, 3}, {7, 8}, {4, 5}, {6, 9}}

-- Bodies over rows[1] to rows[4].
local function bodies(rows)
  local function second(row, k) return row[k] end
  return {
    swapped = function(i)
      local p, q = rows[1], rows[3]
      for _ = 1, i do p, q = q, p end
      return p[1] * 10 + q[1]
    end,
    ["taken in turns"] = function(i)
      local p, q, r = rows[1], rows[3], rows[4]
      for _ = 1, i do p, q, r = q, r, p end
      return p[1] * 100 + q[1] * 10 + r[1]
    end,
    shifted = function(i)
      local p, q = rows[1], rows[3]
      for k = 2, 4 do p, q = q, rows[k] end
      return p[1] * 10 + q[1] + i
    end,
    ["an argument"] = function(i)
      local p = rows[1]
      local function go_on() p = rows[3] return 1 end
      return second(p, go_on()) + i * p[2]
    end,
    ["a local"] = function(i)
      local p = rows[1]
      local function go_on() p = rows[3] return 1 end
      local r, k = p, go_on()
      return r[k] + i * p[2]
    end,
    returned = function(i)
      local p = rows[1]
      local function go_on() p = rows[3] return 1 end
      local function both() return p, go_on() end
      local r, k = both()
      return r[k] + i * p[2]
    end,
    ["in a local while its key is found"] = function(i)
      local p = rows[1]
      local function go_on() p = rows[3] return 1 end
      return p[go_on()] + i
    end,
  }
end

local ROWS = {["lists"] = bodies(t), ["an array"] = bodies(A), ["an array of integers"] = bodies(I)}

describe("a row", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  for of, list in pairs(ROWS) do
    for name, body in pairs(list) do
      it(("of %s, %s, is the one that it was"):format(of, name), function()
        local y = meissa.zeros(N)
        for i in parallel(N, {engine = "native"}) do y[i] = body(i) end
        for i = 1, N do assert.equal(body(i), y[i], i) end
      end)
    end
  end

  it("of a row, swapped, is the one that it was", function()
    local y = meissa.zeros(N)
    for i in parallel(N, {engine = "native"}) do
      local p, q = B[1], B[3]
      for _ = 1, i do p, q = q, p end
      y[i] = p[1][2] * 10 + q[2][1]
    end
    for i = 1, N do assert.equal(i % 2 == 1 and 31 or 13, y[i]) end
  end)
end)
