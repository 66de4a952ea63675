-- SPDX-License-Identifier: MIT
-- Captured lists of lists of numbers as machine code reads them, to any depth: by subscripts, by
-- the names of inner lists, their lengths and ipairs; what is no such list, or not everywhere
-- equally deep, stays on the Lua engine, and both stop in the same words where a list is missing.
local compiler = require "meissa.kernel.compiler"
local meissa = require "meissa"
local compare_engines = require "spec.kernel.compare_engines"
local seed = require "spec.support.seed"
local parallel = meissa.parallel

local N = 24
local A = meissa.rand({ N, 6 }, { seed = 1 })
local v = meissa.zeros(N)
local matrix = { { 1, 2, 3 }, { 4, 5.5, -6 }, { 7, 8, 9 }, { 0.25, -0, 1e300 } }
local ragged = { { 1 }, { 2, 3, 4, 5 }, {}, { 6, 7 } }
local cube = { { { 1, 2 }, { 3 } }, { { 4, 5, 6 } }, {}, { {}, { 7, 8 } } }
local net = { layers = { { 1, 2, 3, 4, 5, 6 }, { 2, 1 } }, scale = 2 }
local uneven, mixed = { { 1, 2 }, 3 }, { { 1, 2 }, { 3, "4" } }
local gaps, keyed, empty = { { 1, nil, 3 }, { 2 } }, { { 1, 2, name = 3 }, { 4 } }, { {}, { 1 } }
local deep, round = { { { { { 1 } } } } }, { { 1 } }
round[2] = round
local metas = { setmetatable({ 1 }, {}), { 2 } }

function net:score(i)
  local s = 0
  for l = 1, #self.layers do
    for k = 1, #self.layers[l] do s = s + self.layers[l][k] * A[i][k] end
  end
  return s * self.scale
end

-- The engine, and the loop.
local loops = {
  ["by subscripts"] = { "native", function(o)
    for i in parallel(N, o) do v[i] = matrix[i % 4 + 1][i % 3 + 1] + matrix[2][2] end
  end },
  ["rows by a name"] = { "native", function(o)
    for i in parallel(N, o) do
      local row, s = matrix[i % 4 + 1], 0
      for k = 1, #row do s = s + row[k] * A[i][k] end
      row = matrix[i % 2 + 1]
      v[i] = s + row[1]
    end
  end },
  ["of all lengths"] = { "native", function(o)
    for i in parallel(N, o) do
      local row, s = ragged[i % 4 + 1], #ragged
      for k = 1, #row do s = s + row[k] * k end
      v[i] = s + (row[2] or 100) + (ragged[4][i] or 1000) + (row[i / 2] or 10) + (row[0] or 5)
    end
  end },
  ["by ipairs"] = { "native", function(o)
    for i in parallel(N, o) do
      local s = i
      for r, row in ipairs(ragged) do
        s = s + r * #row
        for k, x in ipairs(row) do s = s + k * x * A[i][k] end
      end
      for k in ipairs(matrix[i % 3 + 1]) do s = s * 2 + k end
      v[i] = s
    end
  end },
  ["in one another"] = { "native", function(o)
    for i in parallel(N, o) do
      local s, some = 0, cube[i % 4 + 1]
      for j = 1, #some do
        for k = 1, #some[j] do s = s + some[j][k] * k + j end
      end
      v[i] = s + cube[2][1][3]
    end
  end },
  ["where they may be missing"] = { "native", function(o)
    for i in parallel(N, o) do
      local row = matrix[i - 3]
      if row then v[i] = row[1] elseif not matrix[-i] then v[i] = -1 end
      local k = i
      while matrix[k] do k = k + 1 end
      v[i] = v[i] + k
    end
  end },
  ["by functions"] = { "native", function(o)
    for i in parallel(N, o) do
      local all = ragged
      local function row_of(k) return all[k] end
      local function first(list, k) return list[k] or 0 end
      local function sum(list, k) return k > #list and 0 or list[k] + sum(list, k + 1) end
      v[i] = first(row_of(2), i) + sum(matrix[i % 4 + 1], 1)
    end
  end },
  ["as fields of what has methods"] = { "native", function(o)
    for i in parallel(N, o) do v[i] = net:score(i) + net.layers[2][1] end
  end },
  ["with fast arithmetic"] = { "native", function(o)
    o.numeric = "fast"
    for i in parallel(N, o) do v[i] = matrix[i % 4 + 1][2] * 2 end
  end },
  ["not equally deep"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = i > 0 and uneven[1][2] or 0 end
  end },
  ["with strings"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = mixed[1][2] + i end
  end },
  ["with gaps"] = { "lua", function(o) for i in parallel(N, o) do v[i] = gaps[1][3] + i end end },
  ["with other keys"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = keyed[1][2] + i end
  end },
  ["with nothing in the first"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = empty[2][1] + i end
  end },
  ["too deep"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = deep[1][1][1][1][1] + i end
  end },
  ["that hold themselves"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = round[1][1] + i end
  end },
  ["with metatables"] = { "lua", function(o)
    for i in parallel(N, o) do v[i] = metas[1][1] + i end
  end },
}

-- Bodies that stop.
local stopping = {
  function(i) return matrix[i][1] end,
  function(i)
    local row = matrix[i]
    return row[1]
  end,
  function(i) return #matrix[i] end,
  function(i)
    local row = ragged[i]
    return #row
  end,
  function(i)
    local s = 0
    for _, x in ipairs(ragged[i]) do s = s + x end
    return s
  end,
  function(i) return matrix[1][i] + 1 end,
  function(i) return cube[i % 4 + 1][1][1] + 1 end,
  function(i) return assert(matrix[i])[1] end,
}

-- Lists of so many levels.
local function draw(levels, first)
  local list = {}
  for k = 1, math.random(first and 1 or 0, 4) do
    list[k] = levels == 1 and math.random(-9, 9) or draw(levels - 1, first and k == 1)
  end
  return list
end

describe("lists of lists of numbers (seed " .. seed .. ")", function()
  if compiler.missing() then
    pending("native kernels: " .. compiler.missing())
    return
  end
  setup(function() meissa.init { workers = 1 } end)

  for name, each in pairs(loops) do
    it("are read: " .. name, function() compare_engines(each[1], each[2], v) end)
  end

  it("are as they are in each loop", function()
    local t = { { 1, 2 }, { 3 } }
    local function sum(o)
      local s = 0
      for i in parallel(3, o) do
        local row = t[i]
        if row then s = s + (row[1] or 100) + (row[2] or 1000) end
      end
      return s
    end
    local function expected()
      local s = 0
      for _, row in ipairs(t) do s = s + (row[1] or 100) + (row[2] or 1000) end
      return s
    end
    local changes = {
      function() t[1][1] = 7 end, function() t[2][2] = 5 end, function() t[1][2] = nil end,
      function() t[3] = { 8, 9 } end, function() t[1], t[2] = t[2], t[1] end,
      function() t[2] = {} end, function() t[1] = { 1, 2, 3, 4 } end, function() t[3] = nil end,
    }
    for _, change in ipairs(changes) do
      for _, engine in ipairs { "native", "lua", "native" } do
        assert.equal(expected(), sum { engine = engine })
      end
      change()
      for _ = 1, 4 do assert.equal(expected(), sum { engine = "native" }) end
    end
    t[2] = { "3" }
    assert.equal(expected(), sum {})
    assert.equal("lua", meissa.last().engine)
  end)

  it("end loops in the Lua engine's words where one is missing", function()
    for n, body in ipairs(stopping) do
      local raised = {}
      for e, engine in ipairs { "lua", "native" } do
        local ok, err = pcall(function()
          for i in parallel(N, { engine = engine }) do v[i] = body(i) end
        end)
        raised[e] = { ok, err.code, err.message, err.line, err.iteration }
      end
      assert.is_false(raised[1][1], n)
      assert.same(raised[1], raised[2], n)
    end
  end)

  it("of random shapes have the elements that Lua finds", function()
    math.randomseed(seed)
    for _ = 1, 30 do
      local t = draw(3, true)
      local images = {}
      for n, engine in ipairs { "lua", "native" } do
        local s = 0
        for i in parallel(N, { engine = engine }) do
          local a, b, c = i % 5, math.floor(i / 5) % 5, i % 4 + 0.5 * (i % 2)
          local some = t[a]
          if some then
            local last = some[b]
            s = s + 7 * #some
            if last then s = s + (last[c] or 31) * i end
          end
        end
        images[n] = s
      end
      assert.equal(images[1], images[2])
    end
  end)
end)
