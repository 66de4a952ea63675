-- SPDX-License-Identifier: MIT
-- Small loops over captured functions, methods and tables that are run again by one call of C: each
-- change of what these lead to is seen, and so are numbers that methods of arrays compute with. The
-- same loops as plain Lua say what is right. MEISSA_TEST_SEED replays a run.
local launches = require "meissa.driver.launch"
local meissa = require "meissa"
local parallel = meissa.parallel
local reached = require "meissa.capture.reached"
local seed = require "spec.support.seed"

local N = 12

-- luacheck: globals level

-- What worlds may share: arrays, and the environment of their functions.
local function new_basis()
  local env = {level = 0.5, math = {sqrt = math.sqrt, floor = math.floor}}
  local total, other = meissa.zeros(N), meissa.zeros(N)
  return {W = meissa.rand(N, {seed = 1}), V = meissa.rand(N, {seed = 2}), out = meissa.zeros(N),
          total = total, other = other, pending = meissa.buffer(total),
          elsewhere = meissa.buffer(other), env = setmetatable(env, {__index = _G})}
end

-- What loops capture, made anew for each program.
local function world(basis)
  basis = basis or new_basis()
  local w = {W = basis.W, V = basis.V, out = basis.out, env = basis.env}
  local rate, other = 0.25, 3
  local function inner(x) return x * rate end
  local function outer(x) return inner(x) + math.sqrt(x) * level end
  local function at(i) return (i + other) % N + 1 end
  w.set_rate = function(x) rate = x end
  w.set_inner = function(fn) inner = fn end
  w.set_other = function(x) other = x end
  for _, fn in ipairs {inner, outer, at} do setfenv(fn, w.env) end
  w.outer, w.at = outer, at
  local pending = basis.pending
  w.total, w.other = basis.total, basis.other
  function w.put(p) pending[p] = pending[p] + rate end
  function w.put_elsewhere() pending, w.times = basis.elsewhere, 3 end
  function w.rate() return rate end
  w.model = {W = w.W, b = 2, sub = {c = 1}}
  function w.model.predict(m, i) return m.W[i] * m.b + m.sub.c end
  w.base = {}
  w.base.__index = w.base
  function w.base.scale(self, x) return x * self.b end
  w.class = setmetatable({}, w.base)
  w.class.__index = w.class
  function w.class.predict(self, i) return self:scale(self.W[i]) end
  w.object = setmetatable({W = w.W, b = 3}, w.class)
  w.list, w.first = {1, 2, 3, 4}, 1
  return w
end

-- Each loop twice: in parallel, and as plain Lua over `t`.
local LOOPS = {
  globals = {function(w)
    local out, outer = w.out, w.outer
    for i in parallel(N) do out[i] = outer(i) end
  end, function(w, t)
    for i = 1, N do t[i] = w.outer(i) end
  end},
  subscripts = {function(w)
    local out, W, at = w.out, w.W, w.at
    for i in parallel(N) do out[at(i)] = W[i] end
  end, function(w, t)
    for i = 1, N do t[w.at(i)] = w.W[i] end
  end},
  methods = {function(w)
    local out, model = w.out, w.model
    for i in parallel(N) do out[i] = model:predict(i) end
  end, function(w, t)
    for i = 1, N do t[i] = w.model:predict(i) end
  end},
  classes = {function(w)
    local out, object = w.out, w.object
    for i in parallel(N) do out[i] = object:predict(i) end
  end, function(w, t)
    for i = 1, N do t[i] = w.object:predict(i) end
  end},
  lists = {function(w)
    local out, list = w.out, w.list
    for i in parallel(N) do out[i] = list[i % 4 + 1] + #list end
  end, function(w, t)
    for i = 1, N do t[i] = w.list[i % 4 + 1] + #w.list end
  end},
}

-- What a function stores into buffers.
LOOPS.buffers = {function(w)
  local put = w.put
  w.total:fill(0)
  w.other:fill(0)
  for i in parallel(N) do put(i % 5 + 1) end
  for i = 1, N do w.out[i] = w.total[i] + 3 * w.other[i] end
end, function(w, t)
  for i = 1, N do t[i] = 0 end
  for i = 1, N do t[i % 5 + 1] = t[i % 5 + 1] + w.rate() end
  for i = 1, N do t[i] = (w.times or 1) * t[i] end
end}

local function double(x) return 2 * x end

-- What may change, by the loop that sees it.
local CHANGES = {
  globals = {
    {"a variable", function(w, x) w.set_rate(x) end},
    {"a variable's sign of zero", function(w, x) w.set_rate(x > 0.5 and 0 or -0) end},
    {"a variable that is nan", function(w) w.set_rate(0 / 0) end},
    {"the function behind a variable", function(w) w.set_inner(double) end},
    {"a function with variables of its own", function(w, x) w.set_inner(function(y)
      return y - x
    end) end},
    {"a global", function(w, x) w.env.level = x end},
    {"a function of a library", function(w) w.env.math.sqrt = double end},
    {"a library", function(w) w.env.math = {sqrt = function(y) return y + 1 end} end},
    {"the environment", function(w, x)
      setfenv(w.outer, setmetatable({level = x}, {__index = _G}))
    end},
    {"what is behind the environment", function(w, x)
      w.env.level = nil
      setmetatable(w.env, {__index = {level = x}})
    end},
    {"the table behind the environment", function(w, x)
      w.env.level = nil
      getmetatable(w.env).__index = {level = x}
    end},
  },
  subscripts = {
    {"a number in subscripts", function(w, x) w.set_other(math.floor(20 * x)) end},
    {"another one that is alike", function(w) w.set_other(3) end},
  },
  methods = {
    {"a field", function(w, x) w.model.b = x end},
    {"a field of a field", function(w, x) w.model.sub.c = x end},
    {"the table of a field", function(w, x) w.model.sub = {c = x} end},
    {"an array", function(w) w.model.W = w.V end},
    {"a longer array", function(w) w.model.W = meissa.rand(2 * N, {seed = 3}) end},
    {"the array's elements", function(w, x) w.W:fill(x) end},
    {"a method", function(w) w.model.predict = function(m, i) return m.W[i] - m.b end end},
    {"a metatable", function(w) setmetatable(w.model, {__index = {z = 1}}) end},
    {"a field that others do not read", function(w, x) w.model.epoch = x end},
    {"a field that is gone to a metatable", function(w, x)
      w.model.b = nil
      setmetatable(w.model, {__index = {b = x}})
    end},
  },
  classes = {
    {"a field", function(w, x) w.object.b = x end},
    {"a method of the class", function(w)
      w.class.predict = function(self, i) return self.W[i] + self.b end
    end},
    {"a method of the class behind it", function(w)
      w.base.scale = function(self, x) return x - self.b end
    end},
    {"a method of the object's own", function(w)
      w.object.scale = function(_, x) return x * x end
    end},
    {"the class", function(w)
      setmetatable(w.object, {__index = {predict = function(self, i) return self.W[i] end}})
    end},
    {"the class behind the class", function(w)
      setmetatable(w.class, {__index = {scale = function(_, x) return -x end}})
    end},
    {"what __index is", function(w)
      w.class.__index = {predict = function(self, i) return 5 * self.W[i] end}
    end},
    {"a field that goes to the class", function(w, x)
      w.object.b, w.class.b = nil, x
    end},
  },
  buffers = {
    {"a number that is added", function(w, x) w.set_rate(x) end},
    {"the buffer", function(w) w.put_elsewhere() end},
  },
  lists = {
    {"an element", function(w, x) w.list[3] = x end},
    {"one more element", function(w, x) w.list[#w.list + 1] = x end},
    {"a field of another kind", function(w) w.list.name = "list" end},
    {"all elements", function(w, x) for k = 1, 4 do w.list[k] = k * x end end},
    {"another list", function(w, x) w.list = {x, x, 1, 2} end},
  },
}

local function expected(loop, w)
  local t = {}
  for i = 1, N do t[i] = w.out[i] end
  loop[2](w, t)
  return t
end

local function same(one, other)
  for i = 1, N do
    local a, b = one[i], other[i]
    if not (a ~= a and b ~= b) and (a ~= b or 1 / a ~= 1 / b) then return false end
  end
  return true
end

-- Runs a loop and compares it; whether a launch has run it. Where plain Lua raises an error, the
-- loop does, too, and leaves all as it was.
local function run(name, w, about)
  local loop, before, old = LOOPS[name], launches.executions, w.out:totable()
  local ok, right = pcall(expected, loop, w)
  assert.equal(ok, (pcall(loop[1], w)), about)
  assert.is_true(same(ok and right or old, w.out:totable()), name .. ", " .. about)
  return launches.executions > before
end

-- Runs a loop over a world, or each time over the one that a function makes, until a launch has.
local function until_launched(name, w, about)
  local started = os.time()
  while not run(name, type(w) == "function" and w() or w, about) do
    -- No machine is too busy for that.
    assert(os.time() - started < 60, "no launch of " .. name .. ", " .. about)
  end
end

-- Runs a loop over one world after the other, each anew over the same basis, until a launch has run
-- it; gives what makes such worlds.
local function until_launched_anew(name)
  local basis = new_basis()
  local function anew() return world(basis) end
  until_launched(name, anew, "anew")
  return anew
end

describe("small loops over what functions and tables lead to", function()
  for name, changes in pairs(CHANGES) do
    for _, change in ipairs(changes) do
      it(("see %s change (%s)"):format(change[1], name), function()
        local w = world()
        until_launched(name, w, "before")
        change[2](w, 0.625)
        for _ = 1, 3 do run(name, w, change[1]) end
        change[2](w, 0.75)
        for _ = 1, 3 do run(name, w, change[1]) end
      end)
    end
  end

  it("look at the fields of buffers, and at nothing behind", function()
    local take, most = reached.take, 0
    finally(function() reached.take = take end)
    function reached.take(...)
      local found, count = take(...)
      most = math.max(most, count)
      return found, count
    end
    run("buffers", world(), "once")
    assert.is_true(most > 0 and most <= 32, most)
  end)

  it("see numbers that are computed with change without the long way", function()
    local cases = {{"globals", "set_rate"}, {"methods", "model", "b"}, {"classes", "object", "b"},
                   {"lists", "list", 2}}
    for _, case in ipairs(cases) do
      local w = world()
      until_launched(case[1], w, "before")
      for x = 1, 20 do
        if case[3] then w[case[2]][case[3]] = x / 8 else w[case[2]](x / 8) end
        assert.is_true(run(case[1], w, "number " .. x), case[1] .. " took the long way")
      end
    end
  end)

  it("find those that are made anew, and their numbers", function()
    local cases = {globals = "set_rate", methods = "model", classes = "object", lists = "list",
                   subscripts = "at"}
    for name, what in pairs(cases) do
      local anew = until_launched_anew(name)
      for x = 1, 20 do
        local w = anew()
        if name == "globals" then w[what](x / 8) elseif name == "lists" then w.list[2] = x / 8
        elseif name ~= "subscripts" then w[what].b = x / 8 end
        if x % 7 == 0 then collectgarbage() end
        assert.is_true(run(name, w, "number " .. x), name .. " took the long way")
      end
    end
  end)

  it("see what is made anew in another way", function()
    for name, changes in pairs(CHANGES) do
      local anew = until_launched_anew(name)
      for _, change in ipairs(changes) do
        for k = 1, 6 do
          local w = anew()
          if k % 3 > 0 then change[2](w, k / 8) end
          run(name, w, change[1])
        end
      end
    end
  end)

  it("see functions of LuaJIT's libraries change", function()
    local w, sqrt = world(), math.sqrt
    w.env.math = nil
    until_launched("globals", w, "before")
    _G.math.sqrt = double
    local ok, err = pcall(run, "globals", w, "another math.sqrt")
    _G.math.sqrt = sqrt
    assert.is_true(ok, err)
    for _ = 1, 3 do run("globals", w, "math.sqrt again") end
  end)

  it("see any changes in any order", function()
    math.randomseed(seed)
    local random, before = math.random, launches.executions
    for program = 1, 40 do
      local w = world()
      for name in pairs(CHANGES) do until_launched(name, w, "program " .. program) end
      for step = 1, 20 do
        for name, changes in pairs(CHANGES) do
          if random(3) == 1 then
            local change = changes[random(#changes)]
            change[2](w, random(1000) / 1000)
            local repeats = random(3)
            for _ = 1, repeats do run(name, w, ("%d.%d %s"):format(program, step, change[1])) end
          end
        end
      end
    end
    assert.is_true(launches.executions - before > 500, "few launches")
  end)

  it("take numbers that methods of arrays compute with as data", function()
    local W, X = meissa.zeros(N, 3), meissa.rand({N, 3}, {seed = 2})
    local right = W:totable()
    local function train(rate, by)
      for i in parallel(N, {engine = "native"}) do
        local row = W[i]
        row:axpy(rate, X[i])
        row:scal(rate)
        row[by] = row[by] + by
      end
      for i = 1, N do
        for j = 1, 3 do
          local sum = (right[i][j] + rate * X[i][j]) * rate
          right[i][j] = j == by and sum + by or sum
        end
        assert.same(right[i], W[i]:totable())
      end
    end
    local before, tries = launches.executions, 0
    while launches.executions == before and tries < 3000 do
      tries = tries + 1
      train(1 + tries / 4096, 1)
    end
    before = launches.executions
    for n = 1, 20 do train(1 - n / 64, 1) end
    assert.equal(before + 20, launches.executions)
    for n = 1, 6 do train(0.5, n % 3 + 1) end
  end)

  it("see arrays that are freed", function()
    local w = world()
    until_launched("methods", w, "before")
    w.W:free()
    local ok, err = pcall(LOOPS.methods[1], w)
    assert.is_false(ok)
    assert.equal("ARR", err.code)
  end)

  it("keep nothing alive", function()
    local w = world()
    until_launched("methods", w, "before")
    local alive = setmetatable({w.model, w.W, w.model.predict}, {__mode = "v"})
    w = nil -- luacheck: ignore
    jit.flush()
    for _ = 1, 4 do collectgarbage() end
    assert.is_nil(alive[1] or alive[2] or alive[3])
  end)

  it("do without where there is too much to look at", function()
    local w, most = world(), reached.MOST
    for k = 1, 400 do w.model["x" .. k] = k end
    reached.MOST = 256
    local ok, err = pcall(function()
      for _ = 1, 200 do assert.is_false(run("methods", w, "large")) end
      w.model.b = 7
      run("methods", w, "large")
    end)
    reached.MOST = most
    assert.is_true(ok, err)
  end)

  it("look at thousands of tables", function()
    local w, last = world(), {}
    for k = 1, 3000 do last = {k = k, next = last} end
    w.model.last = last
    until_launched("methods", w, "large")
    last.k = 7
    run("methods", w, "a number")
    last.next.next = {k = 8}
    run("methods", w, "fewer")
  end)
end)
