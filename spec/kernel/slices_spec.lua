-- SPDX-License-Identifier: MIT
-- Output into captured tables as machine code: numbers, booleans and nil under keys that follow the
-- loop's indices, as on the Lua engine and in the plain loop.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local parallel = meissa.parallel

local N = 30
local A = meissa.rand({ N, 4 }, { seed = 1 })

-- The engine, and a function that fills tables.
local loops = {
  ["numbers"] = { "native", function(o, t)
    for i in parallel(N, o) do t[i] = A[i]:sum() * i end
  end },
  ["numbers and booleans"] = { "native", function(o, t)
    for i in parallel(N, o) do t[i] = i % 3 == 0 and i or A[i][1] > 0.5 end
  end },
  ["some, and nil"] = { "native", function(o, t)
    for i in parallel(N, o) do
      t[i + 100] = i
      if i % 2 == 0 then t[i] = i * 2 else t[i] = nil end
      if i % 5 == 0 then t[i + 100] = nil end
    end
  end },
  ["keys of many kinds"] = { "native", function(o, t)
    for i in parallel(N, o) do t[-3 * i] = -i t[7 - 3 * i] = i end
  end },
  ["again and again"] = { "native", function(o, t)
    for i in parallel(N, o) do for k = 1, 3 do t[i] = k * i end end
  end },
  ["several tables, sums beside them"] = { "native", function(o, t, u)
    local sum = 0
    for i in parallel(N, o) do
      t[i], u[i] = A[i][1], A[i][2] < 0.5
      sum = sum + A[i][3]
    end
    t.sum = ("%.17g"):format(sum)
  end },
  ["over two dimensions"] = { "native", function(o, t)
    for i, j in parallel(N, 4, o) do t[i * 4 + j] = A[i][j] * 2 end
  end },
  ["strings"] = { "lua", function(o, t) for i in parallel(N, o) do t[i] = "x" .. i end end },
}

describe("output into tables", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  for name, each in pairs(loops) do
    it("is the same: " .. name, function()
      local engine, loop = each[1], each[2]
      local made = {}
      for n, options in ipairs { { engine = "lua" }, engine == "native" and { engine = engine } or
        {}, { serial = true } } do
        local t, u = { [7] = "old", kept = true }, {}
        loop(options, t, u)
        if n < 3 then assert.equal(n == 1 and "lua" or engine, meissa.last().engine) end
        made[n] = { t, u }
      end
      assert.same(made[1], made[2])
      made[3][1].sum = made[1][1].sum -- formed in another order
      assert.same(made[3], made[1])
    end)
  end

  it("is dropped where the loop fails", function()
    local t = { 5 }
    local ok = pcall(function()
      for i in parallel(N, { engine = "native" }) do
        t[i] = i
        if i == 20 then error("twenty") end
      end
    end)
    assert.is_false(ok)
    assert.same({ 5 }, t)
  end)

  it("ends where a key is none, in the Lua engine's words", function()
    local raised = {}
    for n, engine in ipairs { "lua", "native" } do
      local t = {}
      local ok, err = pcall(function()
        for i in parallel(N, { engine = engine }) do t[i + (i > 9 and 0 / 0 or 0)] = i end
      end)
      raised[n] = { ok, not ok and err.message, not ok and err.line, not ok and err.code, next(t) }
    end
    assert.same(raised[1], raised[2])
  end)
end)
