-- SPDX-License-Identifier: MIT
--
-- Objects with methods: what they store is lost on a worker, so it is refused however the object
-- was come by; and lists of objects of which the analysis knows all elements are as exact as
-- objects with names. Compared with the plain loop.
local child = require "spec.support.child"
local meissa = require "meissa"
local plain = require "spec.support.plain"
local parallel = meissa.parallel

local N = 12

describe("a method that stores into a captured object", function()
  local Counter = {}
  Counter.__index = Counter
  function Counter:add(i) self.n = self.n + i return i end
  local one = setmetatable({ n = 0 }, Counter)
  local list = { one, name = one, setmetatable({ n = 0 }, Counter) }
  local total = 0
  local function bump(i) total = total + 1 return i end
  local functions = { bump, name = bump }
  local A = meissa.zeros(N)

  local loops = {
    ["an element"] = function() for i in parallel(N) do list[1]:add(i) end end,
    ["ipairs"] = function()
      for i in parallel(N) do for _, each in ipairs(list) do each:add(i) end end
    end,
    ["pairs"] = function()
      for i in parallel(N) do for _, each in pairs(list) do each:add(i) end end
    end,
    ["select"] = function() for i in parallel(N) do (select(1, list[1])):add(i) end end,
    ["unpack"] = function() for i in parallel(N) do local l = unpack(list) l:add(i) end end,
    ["next"] = function() for i in parallel(N) do local _, l = next(list) l:add(i) end end,
    ["rawget"] = function() for i in parallel(N) do rawget(list, 1):add(i) end end,
    ["assert"] = function() for i in parallel(N) do assert(list.name):add(i) end end,
    ["a condition"] = function()
      for i in parallel(N) do local l = i > 3 and list.name or list[2] l:add(i) end
    end,
    ["a table"] = function() for i in parallel(N) do local t = { list.name } t[1]:add(i) end end,
    ["a field"] = function()
      for i in parallel(N) do local t = {} t.x = list.name t.x:add(i) end
    end,
    ["table.insert"] = function()
      for i in parallel(N) do local t = {} table.insert(t, list.name) t[1]:add(i) end
    end,
    ["rawset"] = function()
      for i in parallel(N) do local t = {} rawset(t, 1, list.name) t[1]:add(i) end
    end,
    ["a closure in a table"] = function()
      for i in parallel(N) do local t = { function() return list.name end } t[1]():add(i) end
    end,
    ["a function in a list"] = function()
      for i in parallel(N) do for _, f in ipairs(functions) do f(i) end end
    end,
    ["a function in a table of the body"] = function()
      for i in parallel(N) do local t = { bump } t[1](i) end
    end,
    ["sort"] = function()
      for i in parallel(N) do local t = { i, 2, 1 } table.sort(t, functions[1]) end
    end,
    ["gsub"] = function()
      for i in parallel(N) do local t = { bump } A[i] = #("ab"):gsub("b", t[1]) end
    end,
    ["string.gsub"] = function()
      for i in parallel(N) do local t = { bump } A[i] = #string.gsub("ab", "b", t[1]) end
    end,
    ["pcall"] = function() for i in parallel(N) do local t = { bump } pcall(t[1], i) end end,
    ["__index"] = function()
      for i in parallel(N) do local t = setmetatable({}, { __index = bump }) A[i] = t[i] end
    end,
    ["__call"] = function()
      for i in parallel(N) do local t = setmetatable({}, { __call = bump }) t(i) end
    end,
    ["__add"] = function()
      for i in parallel(N) do local t = setmetatable({}, { __add = bump }) A[i] = t + i end
    end,
  }

  after_each(function() meissa.init {} end)

  it("is refused however the object is come by", function()
    for _, workers in ipairs { 0, 2 } do
      meissa.init { workers = workers }
      for name, loop in pairs(loops) do
        local ok, err = pcall(loop)
        assert.is_false(ok, name)
        assert.equal("DEP", err.code, name)
        assert.truthy(err.message:find("DEP112", 1, true), err.message)
      end
      assert.same({ 0, 0, 0 }, { one.n, list[2].n, total })
    end
  end)

  it("may store into objects that the body makes", function()
    meissa.init { workers = 2 }
    local sum = 0
    for i in parallel(N) do
      local own = setmetatable({ n = 0 }, Counter)
      own:add(i)
      own:add(1)
      sum = sum + own.n
    end
    assert.equal(N * (N + 1) / 2 + N, sum)
  end)
end)

-- A program of layers, run as written and by meissa: what it prints must be the same.
local PROGRAM = [[
local meissa = require "meissa"
local parallel = ...
local N = 12
local X, A = meissa.ones(N, 4), meissa.zeros(N)
local L = {} L.__index = L
function L:forward(x) return x * self.w end
function L:update(by) self.w = self.w + by end
local D = {} D.__index = D
function D:step(i) for j = 1, 4 do self.W[i][j] = self.W[i][j] * 2 + i end return 0 end
function D:forward(i) local s = 0 for j = 1, 4 do s = s + self.W[i][j] end return s end
local net = {setmetatable({w = 2}, L), setmetatable({w = 3}, L)}
local dense = {setmetatable({W = X}, D), setmetatable({W = meissa.ones(N, 4)}, D)}
local mixed = {net[1], dense[1]}
local model = {layers = dense}
function model:run(i)
  local s = 0
  for _, l in ipairs(self.layers) do l:step(i) s = s + l:forward(i) end
  return s
end
local out = {}
local function show() out[#out + 1] = A:sum() .. " " .. X:sum() .. " " .. dense[2].W:sum() end
for i in parallel(N) do A[i] = net[1]:forward(i) end show()
for i in parallel(N) do
  local x = i
  for _, l in ipairs(net) do x = l:forward(x) end
  A[i] = x
end show()
net[1]:update(1)
for i in parallel(N) do A[i] = net[1]:forward(i) end show()
for i in parallel(N) do dense[1]:step(i) A[i] = dense[1]:forward(i) end show()
for i in parallel(N) do
  local s = 0
  for k, l in ipairs(dense) do local w = l.W l:step(i) s = s + k * l:forward(i) + w[i][1] end
  A[i] = s
end show()
for i in parallel(N) do model.layers[2]:step(i) A[i] = model:run(i) end show()
for i in parallel(N) do
  local s = 0
  for _, l in ipairs(mixed) do s = s + l:forward(i) end
  A[i] = s
end show()
dense[1], dense[2] = dense[2], dense[1]
for i in parallel(N) do dense[1]:step(i) A[i] = dense[1]:forward(i) end show()
for i in parallel(N) do X[i]:add(1):scal(2) A[i] = X[i]:scal(0.5):sum() end show()
for i in parallel(N) do local v = X[i]:fill(3):add(i) v[1] = v[1] + i end show()
return table.concat(out, "\n")
]]

describe("lists of objects whose elements are known", function()
  local want = assert(loadstring(PROGRAM))(plain.parallel) .. "\n"

  for _, road in ipairs { "MEISSA_SHM=1", "MEISSA_SHM=0" } do
    for _, engine in ipairs { "lua", "native" } do
      for workers = 0, 2 do
        it(("compute what the plain loop does: %s, %s, %d workers"):format(road, engine, workers),
          function()
            local text = "local function program(...) " .. PROGRAM .. " end\n" ..
              'print(program(require("meissa").parallel))'
            local env = ("%s MEISSA_ENGINE=%s MEISSA_WORKERS=%d"):format(road, engine, workers)
            local output, status = child.script(text, { env = env })
            assert.equal(want, output)
            assert.equal(0, status)
          end)
      end
    end
  end
end)
