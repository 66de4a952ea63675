-- SPDX-License-Identifier: MIT
-- Loops over graphs of captured tables: while nothing of a graph changes it is neither searched nor
-- encoded again, and any change of it is seen. Plain Lua says what is right. MEISSA_TEST_SEED
-- replays a run.
local capture = require "meissa.capture"
local large_values = require "meissa.kernel.large_values"
local meissa = require "meissa"
local parallel = meissa.parallel
local reached = require "meissa.capture.reached"
local seed = require "spec.support.seed"
local serialize = require "meissa.kernel.serialize"

local N, DEPTH = 8, 4

-- How often captures are searched and encoded.
local count = {searched = 0, encoded = 0}

local function counting(fn, ...)
  local resolve, encode = capture.resolve, serialize.encode
  function capture.resolve(...)
    count.searched = count.searched + 1
    return resolve(...)
  end
  function serialize.encode(...)
    count.encoded = count.encoded + 1
    return encode(...)
  end
  local ok, err = pcall(fn, ...)
  capture.resolve, serialize.encode = resolve, encode
  assert(ok, err)
end

local function sum(node, i, depth)
  local all = node.v * i + #node.name + node.extra
  if depth == 0 then return all end
  for k = 1, #node do all = all + sum(node[k], i, depth - 1) end
  return all
end

-- Functions in the graph, called by a name of their own: what they lead to is captured, too.
local function new_weigher(rate)
  local by = {rate = rate}
  return function(i) return by.rate * i end, by, function(x) by = {rate = x} end
end

local function new_node(w, x)
  local node = setmetatable({v = x, name = ("n"):rep(math.floor(8 * x))}, w.meta)
  w.nodes[#w.nodes + 1] = node
  return node
end

local function world(size)
  local w = {nodes = {}, behind = {extra = 0.5}, by = 1, out = meissa.zeros(N)}
  w.meta = {__index = w.behind}
  w.root = new_node(w, 0.5)
  for k = 2, size do
    local node = new_node(w, k / 64 % 1)
    for _ = 1, k % 17 == 0 and 2 or 1 do -- some are met twice
      local parent = w.nodes[math.random(k - 1)]
      parent[#parent + 1] = node
    end
  end
  w.weigh, w.rates, w.set_rates = new_weigher(0.25)
  return w
end

local function run(w, about)
  local out, root, weigh, by = w.out, w.root, w.weigh, w.by
  for i in parallel(N, {engine = "lua"}) do out[i] = sum(root, i, DEPTH) * by + weigh(i) end
  for i = 1, N do
    local right = sum(root, i, DEPTH) * by + weigh(i)
    if right ~= out[i] or 1 / right ~= 1 / out[i] then
      error(("%s: out[%d] is %.17g, not %.17g"):format(about, i, out[i], right), 2)
    end
  end
end

local function any(w) return w.nodes[math.random(#w.nodes)] end

local function zero(w, z)
  for _, node in ipairs(w.nodes) do node.v, node.name, node.extra = z, "", 0 end
  w.rates.rate = z
end

local CHANGES = {
  {"a number", function(w, x) any(w).v = x end},
  {"a string", function(w, x) any(w).name = ("m"):rep(math.floor(9 * x)) end},
  {"a field of its own", function(w, x) any(w).extra = x end},
  {"a field that nobody reads", function(w, x) any(w).other = x end},
  {"a field that is gone", function(w) any(w).extra = nil end},
  {"a node more", function(w, x)
    local node = any(w)
    node[#node + 1] = new_node(w, x)
  end},
  {"a node less", function(w)
    local node = any(w)
    node[#node] = nil
  end},
  {"a node that is met again", function(w)
    local node = any(w)
    node[#node + 1] = any(w)
  end},
  {"another node of the same content", function(w)
    local node = any(w)
    local kid = node[1]
    if kid then
      local other = new_node(w, kid.v)
      for key, value in pairs(kid) do other[key] = value end
      node[1] = other
    end
  end},
  {"nodes in another order", function(w)
    local node = any(w)
    if node[2] then node[1], node[2] = node[2], node[1] end
  end},
  {"another root", function(w) w.root = any(w) end},
  {"what is behind one node", function(w, x)
    setmetatable(any(w), {__index = {extra = x}})
  end},
  {"what is behind all", function(w, x) w.behind.extra = x end},
  {"another table behind all", function(w, x) w.meta.__index = {extra = x} end},
  {"what a function computes with", function(w, x) w.rates.rate = x end},
  {"a function's variable", function(w, x) w.set_rates(x) end},
  {"another function", function(w, x) w.weigh, w.rates, w.set_rates = new_weigher(x) end},
  {"zero", function(w) zero(w, 0) end},
  {"the sign of zero", function(w) zero(w, -0) end},
}

local function search_twice(w, change, x)
  change[2](w, x)
  for _ = 1, 2 do run(w, change[1]) end
end

describe("graphs of captured tables", function()
  math.randomseed(seed)

  it("are searched and encoded once as long as they are the same", function()
    local limit = large_values.LUA_LIMIT
    large_values.LUA_LIMIT = large_values.LIMIT -- nothing is encoded apart
    finally(function() large_values.LUA_LIMIT = limit end)
    local w = world(600)
    for _ = 1, 3 do run(w, "first") end
    count.searched, count.encoded = 0, 0
    counting(function()
      for k = 1, 5 do
        w.by = k -- a number beside the graph
        run(w, "the same")
      end
    end)
    assert.same({searched = 0, encoded = 0}, count)
    counting(search_twice, w, CHANGES[1], 2)
    assert.is_true(count.encoded == 1, "a change is encoded once")
  end)

  it("are written down ever more seldom where no loop comes back to them", function()
    local w, take, taken = world(600), reached.take, 0
    function reached.take(...)
      taken = taken + 1
      return take(...)
    end
    local out, root = w.out, w.root
    local function once(list)
      for i in parallel(N, {engine = "lua"}) do out[i] = sum(root, i, DEPTH) * list[1] end
      for i = 1, N do assert.equal(sum(root, i, DEPTH) * list[1], out[i]) end
    end
    local ok, err = pcall(function()
      for k = 1, 100 do once({k}) end -- another list each time
      assert.is_true(taken > 4 and taken < 10, taken .. " of 100 times")
      local list = {3}
      for k = 1, 70 do
        list[1] = k
        once(list)
      end
      count.searched = 0
      counting(once, list)
      assert.equal(0, count.searched)
      taken = 0
      once({4})
      once({5})
      assert.equal(2, taken)
    end)
    reached.take = take
    assert.is_true(ok, err)
  end)

  it("are not kept alive", function()
    local w = world(50)
    for _ = 1, 4 do run(w, "before") end
    local alive = setmetatable({w.nodes[1], w.nodes[30], w.weigh, w.behind}, {__mode = "v"})
    w = nil -- luacheck: ignore
    jit.flush()
    for _ = 1, 4 do collectgarbage() end
    assert.is_nil(alive[1] or alive[2] or alive[3] or alive[4])
  end)

  it("are so where they travel apart", function()
    local limit = large_values.LIMIT
    large_values.LIMIT = 2000
    local ok, err = pcall(function()
      local w, list = world(20), {}
      for k = 1, 400 do list[k] = {a = k, b = 0.5} end
      local function all()
        local out, at = w.out, w.by
        for i in parallel(N, {engine = "lua"}) do out[i] = list[at + i].a + list[i].b end
        for i = 1, N do assert.equal(list[at + i].a + list[i].b, out[i]) end
      end
      for _ = 1, 3 do all() end
      count.searched, count.encoded = 0, 0
      counting(function()
        for k = 1, 5 do
          w.by = k
          all()
        end
      end)
      assert.same({searched = 0, encoded = 0}, count)
      for k = 1, 20 do
        list[math.random(12)][k % 2 == 0 and "a" or "b"] = k
        all()
      end
    end)
    large_values.LIMIT = limit
    assert.is_true(ok, err)
  end)

  for _, change in ipairs(CHANGES) do
    it("see " .. change[1] .. " change", function()
      local w = world(100)
      for _ = 1, 3 do run(w, "before") end
      for k = 1, 4 do search_twice(w, change, k / 5) end
    end)
  end

  it("see any changes in any order, however much is looked at", function()
    local most = reached.MOST
    for program = 1, 8 do
      reached.MOST = program % 4 == 0 and 256 or most
      local w = world(30 + math.random(150))
      local ok, err = pcall(function()
        for step = 1, 16 do
          local change = CHANGES[math.random(#CHANGES)]
          if math.random(3) > 1 then change[2](w, math.random(1000) / 1000) end
          if math.random(3) == 1 then w.by = math.random(5) end
          for _ = 1, math.random(3) do run(w, ("%d.%d %s"):format(program, step, change[1])) end
        end
      end)
      reached.MOST = most
      assert.is_true(ok, err)
    end
  end)
end)
