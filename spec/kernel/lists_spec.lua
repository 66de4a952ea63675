-- SPDX-License-Identifier: MIT
-- Captured lists of numbers as machine code reads them: list[k], #list, ipairs(list), by name, by
-- other names, and as fields; what is no such list stays on the Lua engine.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local compare_engines = require "spec.kernel.compare_engines"
local parallel = meissa.parallel

local N = 24
local A = meissa.rand({ N, 6 }, { seed = 1 })
local v = meissa.zeros(N)
local list, places = { 0.5, -0, 2.5, 1e300, 7 }, {}
for i = 1, N do places[i] = i * 7 % N + 1 end
local mixed, gaps, empty = { 1, 2, "x" }, { 1, 2, nil, 4 }, {}
local named, long = { 1, 2, scale = 3 }, {}
for i = 1, 20000 do long[i] = i end
local model = { weights = { 3, 1, 4, 1, 5, 9 }, options = { steps = { 0.25, 0.5 } } }

function model:score(i)
  local s = 0
  for k = 1, #self.weights do s = s + self.weights[k] * A[i][k] end
  return s * self.options.steps[i % 2 + 1]
end

-- The engine, and the loop.
local loops = {
  ["by a loop's index"] = { "native", function(o)
    for i in parallel(N, o) do v[i] = list[i % 5 + 1] * i end
  end },
  ["as subscripts"] = { "native", function(o)
    for i in parallel(N, o) do v[i] = A[places[i]][2] + places[places[i]] end
  end },
  ["beyond its ends, and between"] = { "native", function(o)
    for i in parallel(N, o) do
      v[i] = (list[i] or -1) + (list[-i] or -2) + (list[i / 2] or -4) + (list[0] and 8 or 0)
    end
  end },
  ["its length"] = { "native", function(o)
    for i in parallel(N, o) do
      local s = #list
      for k = #list, 1, -1 do s = s + list[k] % 3 end
      v[i] = s
    end
  end },
  ["ipairs"] = { "native", function(o)
    for i in parallel(N, o) do
      local s = i
      for k, x in ipairs(list) do if x < 100 then s = s + k * x end end
      for k in ipairs(places) do s = s + A[k][1] end
      v[i] = s
    end
  end },
  ["by another name"] = { "native", function(o)
    for i in parallel(N, o) do
      local t = list
      local function of(from, k) return from[k] end
      v[i] = t[3] + of(t, 1) + of(t, i % 5 + 1)
    end
  end },
  ["as fields of what has methods"] = { "native", function(o)
    for i in parallel(N, o) do v[i] = model:score(i) + model.weights[2] end
  end },
  ["beside strings"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = mixed[i % 2 + 1] end
  end },
  ["with gaps"] = { "lua", function(o) for i in parallel(N, o) do v[i] = gaps[i] or 0 end end },
  ["without anything"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = empty[i] or 0 end
  end },
  ["with other keys"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = named[i % 2 + 1] end
  end },
  ["too long"] = { "lua", function(o) for i in parallel(N, o) do v[i] = long[i] end end },
}

describe("lists of numbers", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  for name, each in pairs(loops) do
    it("are read: " .. name, function() compare_engines(each[1], each[2], v) end)
  end

  it("are as they are in each loop", function()
    local t = { 1, 2, 3 }
    local function sum(o)
      local s = 0
      for i in parallel(3, o) do s = s + (t[i] or 100) end
      return s
    end
    for _, engine in ipairs { "native", "lua", "native" } do
      t[1], t[4] = t[1] + 1, nil
      assert.equal(t[1] + 5, sum { engine = engine })
      t[4] = 5
      assert.equal(t[1] + 5, sum { engine = engine })
    end
    t[3] = nil
    t[4] = nil
    assert.equal(t[1] + 102, sum { engine = "native" })
    t[2] = "2"
    assert.equal(t[1] + 102, sum {})
  end)

  it("end loops in the Lua engine's words where a number is missing", function()
    local raised = {}
    for n, engine in ipairs { "lua", "native" } do
      local ok, err = pcall(function()
        for i in parallel(N, { engine = engine }) do v[i] = list[i] * 2 end
      end)
      raised[n] = { ok, err.code, err.message, err.line, err.iteration }
    end
    assert.is_false(raised[1][1])
    assert.same(raised[1], raised[2])
  end)
end)
