-- SPDX-License-Identifier: MIT
-- What returns from a loop: what stands outside of it as itself, what the body makes as a copy; the
-- rest is refused, with any number of workers.
local meissa = require "meissa"
local errors = require "meissa.base.errors"
local parallel = meissa.parallel

local N = 12

local Vec = {}
Vec.__index = Vec
function Vec:norm() return self.x end
function Vec.__add(a, b) return setmetatable({x = a.x + b.x}, Vec) end
local function vec(x) return setmetatable({x = x}, Vec) end

local shared = {1, {2}}
local records = {}
for k = 1, N do records[k] = {id = k, at = vec(k)} end

local function code_and_text(fn)
  local ok, err = pcall(fn)
  assert.is_false(ok)
  assert.is_true(errors.is(err), tostring(err))
  return err.code, err.message
end

-- What a loop refuses, by what follows the table's or variable's name.
local REFUSED = {
  {"is a function that was made in the body", function(t)
    for i in parallel(N) do t[i] = function() return i end end
  end},
  {".f is a function that was made in the body", function(t)
    for i in parallel(N, {ordered = false}) do t[i] = {f = function() return i end} end
  end},
  {" (metatable).__index is a function that was made in the body", function(t)
    for i in parallel(N) do t[i] = setmetatable({}, {__index = function() return i end}) end
  end},
  {"is a function that was made in the body", function(t)
    for i in parallel(N) do t[#t + 1] = function() return i end end
  end},
  {"x is a function that was made in the body", function()
    local x
    for i in parallel(N) do x = function() return i end end
    return x
  end},
  {"x is a function that was made in the body", function()
    local x
    meissa.each(N, function(i) x = function() return i end end)
    return x
  end},
  {"is a coroutine", function(t)
    for i in parallel(N) do t[i] = coroutine.create(print) end
  end},
  {".row is an array or part of one", function(t)
    local A = meissa.zeros(N, 2)
    for i in parallel(N) do t[i] = {row = A[i]} end
  end},
  {" (a key) is a function that was made in the body", function(t)
    for i in parallel(N) do t[function() return i end] = true end
  end},
}

local ROADS = {{workers = 0}, {workers = 1}, {workers = 2}, {workers = 2, shm = false}}

for _, road in ipairs(ROADS) do
  describe(("what returns from %d workers%s"):format(road.workers,
    road.shm == false and " by value" or ""), function()
    setup(function() meissa.init(road) end)
    teardown(function() meissa.init {} end)

    it("has the metatables that stand outside", function()
      local t, l, h = {}, {}, {}
      for i in parallel(N) do t[i] = vec(i) end
      for i in parallel(N) do l[#l + 1] = setmetatable({x = 2 * i}, Vec) end
      for i in parallel(N) do h[i % 3] = (h[i % 3] or 0) + i end
      for i = 1, N do
        assert.equal(Vec, getmetatable(t[i]))
        assert.equal(Vec, getmetatable(l[i]))
        assert.equal(i, t[i]:norm())
        assert.equal(2 * i, l[i]:norm())
      end
      assert.same({[0] = 30, 22, 26}, h)
      local mapped = meissa.map({1, 2, 3}, vec)
      assert.equal(Vec, getmetatable(mapped[2]))
    end)

    it("is what stands outside itself", function()
      local t, l, u, last, best, at, any = {}, {}, {}, nil, 0, nil, nil
      for i in parallel(N) do
        t[i] = i % 2 == 0 and shared or {shared[2], vec}
        u[i] = {[shared] = Vec.norm, [records[i]] = math.sin, print}
        l[#l + 1] = records[N + 1 - i]
        last = records[i]
        if i > best then best, at = i, records[i].at end
        any = any or i > 4 and records[i]
      end
      assert.is_true(rawequal(t[2], shared) and rawequal(t[N], shared))
      assert.is_true(rawequal(t[3][1], shared[2]) and t[3][2] == vec)
      assert.is_true(u[5][shared] == Vec.norm and u[5][records[5]] == math.sin and u[5][1] == print)
      for i = 1, N do assert.is_true(rawequal(l[i], records[N + 1 - i])) end
      assert.is_true(rawequal(last, records[N]) and rawequal(at, records[N].at))
      assert.is_true(rawequal(any, records[5]))
    end)

    it("are counts and sets of what stands outside", function()
      local count, set, made = {}, {}, {}
      for i in parallel(N) do
        local key = records[i % 3 + 1]
        count[key] = (count[key] or 0) + i
        set[vec] = true
        made[{i}] = true
      end
      for k = 1, 3 do assert.equal(({18, 22, 26})[k] + (k == 1 and 12 or 0), count[records[k]]) end
      assert.is_true(set[vec])
      local seen = 0
      for key in pairs(made) do seen = seen + key[1] end
      assert.equal(N * (N + 1) / 2, seen)
    end)

    it("is a copy of what the body makes, in its shape", function()
      local t, u, l = {}, {}, {}
      for i in parallel(N) do
        local own = setmetatable({i, 5LL, true, "s"}, {__mode = "k", note = shared})
        t[i], u[i] = own, {own}
        l[#l + 1] = own
      end
      assert.is_true(rawequal(t[3], u[3][1]) and rawequal(l[3], t[3]))
      assert.same({3, 5LL, true, "s"}, {unpack(t[3])})
      assert.is_true(rawequal(getmetatable(t[3]).note, shared))
    end)

    it("is nothing that cannot", function()
      for _, each in ipairs(REFUSED) do
        local code, text = code_and_text(function() each[2] {} end)
        assert.equal("BDY", code)
        assert.is_truthy(text:find(each[1], 1, true), text)
      end
    end)

    it("is asked of nothing that was there before, nor of a serial loop", function()
      local t = {old = coroutine.create(print), [2] = function() return 1 end}
      for i in parallel(N) do t[i] = {i} end
      assert.same({2}, t[2])
      for i in parallel(N, {serial = true}) do t[i] = function() return i end end
      assert.equal(3, t[3]())
    end)
  end)
end

describe("what returns of tables that are sent apart", function()
  local large = {}
  for k = 1, 80000 do large[k] = {id = k, text = ("x"):rep(150) .. k} end

  for _, shm in ipairs {true, false} do
    it("is themselves, " .. (shm and "shared" or "by value"), function()
      meissa.init {workers = 2, shm = shm}
      for _ = 1, 2 do
        local t = {}
        for i in parallel(N) do t[i] = {large[i], shared} end
        for i = 1, N do
          assert.is_true(rawequal(t[i][1], large[i]) and rawequal(t[i][2], shared))
        end
      end
      meissa.init {}
    end)
  end
end)
