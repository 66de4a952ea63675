-- SPDX-License-Identifier: MIT
-- Loops over models that fail: the next one begins with models that are built anew, with the
-- parameters and the generators of random numbers from before, wherever replicas were.
local child = require "spec.support.child"
local meissa = require "meissa"
local parallel = meissa.parallel

local n, K = 24, 4

local function params(model) return model.w end

-- Models of which all but `w` is their own; what they begin with is start(k).
local function made(start, final)
  return meissa.replicate(function(k)
    return {w = meissa.full({2}, start(k)), v = meissa.zeros(1), steps = 0,
            step = function(self, x)
              self.v[1] = 0.5 * self.v[1] + x
              self.w[1] = self.w[1] - 0.1 * self.v[1]
              self.steps = self.steps + 1
              return math.random()
            end}
  end, {replicas = K, every = 2, final = final, topology = "ring", params = params})
end

local X = meissa.randn({n}, {seed = 7})

-- Goes through it once, failing in iteration `at`: the steps that models have taken, momentum, and
-- what they draw, by iteration.
local function pass(r, at)
  local steps, momentum, drawn = meissa.zeros(n), meissa.zeros(n), meissa.zeros(n)
  for e in parallel(n) do
    local model = r()
    drawn[e] = model:step(X[e])
    steps[e], momentum[e] = model.steps, model.v[1]
    if e == at then error "stop here" end
  end
  return {steps = steps:totable(), momentum = momentum:totable(), drawn = drawn:totable()}
end

-- The parameters of all replicas.
local function held(r)
  local list = {}
  for k = 1, K do list[k] = r:replica(k):totable() end
  return list
end

describe("models of a loop that failed", function()
  after_each(function() meissa.init {workers = 2, quiet = true} end)

  for _, road in ipairs {{workers = 0}, {workers = 1}, {workers = 2}, {workers = 4},
                         {workers = 2, shm = false}} do
    for _, final in ipairs {"mean", "none"} do
      local where = ("%s, %d workers, shm %s"):format(final, road.workers, tostring(road.shm))
      it("begin anew with the parameters from before: " .. where, function()
        meissa.init {workers = road.workers, shm = road.shm, quiet = true}
        local function one() return 1 end
        local whole = made(one, final)
        pass(whole)
        local expected = pass(whole) -- what is drawn without a failure
        local r = made(one, final)
        pass(r)
        local before = held(r)
        for _, at in ipairs {1, 9, n, 5} do -- in the first round and in the last one
          assert.is_false((pcall(pass, r, at)))
          assert.same(before, held(r))
        end
        local other = made(function(k) return before[k][1] end, final) -- the same as models that
        for k = 1, K do before[k][2] = before[k][1] end -- are built with these
        local right, got = pass(other), pass(r)
        assert.same({right.steps, right.momentum}, {got.steps, got.momentum})
        for k = 1, K do assert.equal(other:replica(k)[1], r:replica(k)[1]) end
        assert.same(expected.drawn, got.drawn)
        assert.equal(n / K, got.steps[n])
        assert.same(expected.steps, pass(r).steps) -- from then on they live on
      end)
    end
  end

  it("are no longer those of an earlier number of workers", function()
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers, quiet = true}
      local r = made(function(k) return k end)
      pass(r)
      meissa.init {workers = 2 - workers, quiet = true}
      assert.is_false((pcall(pass, r, 3)))
      meissa.init {workers = workers, quiet = true}
      assert.equal(n / K, pass(r).steps[n])
    end
  end)

  it("leave the program's own as it is", function()
    for _, workers in ipairs {0, 2} do
      meissa.init {workers = workers, quiet = true}
      local r = made(function() return 1 end)
      pass(r)
      local own = r()
      own.steps = 100
      assert.is_false((pcall(pass, r, n)))
      assert.is_true(rawequal(own, r()))
      assert.equal(n / K, pass(r).steps[n])
      assert.is_true(rawequal(own, r()))
      assert.equal(100, own.steps)
      assert.equal(r:replica(2)[1], r().w[1])
    end
  end)

  it("begin anew after Ctrl-C", function()
    for _, workers in ipairs {0, 2} do
      local output = child.interrupted([[
        local meissa = require "meissa"
        local r = meissa.replicate(function()
          return {w = meissa.zeros(1), n = 0, step = function(self)
            self.n, self.w[1] = self.n + 1, self.w[1] + 1
            return self.n
          end}
        end, {replicas = 2, every = 2, params = function(model) return model.w end})
        local seen = meissa.zeros(8)
        local function pass(passes)
          for t, e in meissa.parallel(passes, 8, {impure = true}) do
            local model = r()
            seen[e] = model:step()
            if passes > 1 then
              local f = require "ffi"
              f.cdef "int usleep(unsigned);"
              f.C.usleep(5000)
              if t == 3 then io.open("begun", "w"):close() end
            end
          end
        end
        pass(1)
        local ok, err = pcall(pass, 1000)
        print(ok, err.code, r:replica(1)[1], r:replica(2)[1])
        pass(1)
        print(table.concat(seen:totable(), " "), r:replica(1)[1])]],
        {env = "MEISSA_WORKERS=" .. workers, once = "begun"})
      assert.equal("false\tINT\t4\t4\n1 2 3 4 1 2 3 4\t8\n", output)
    end
  end)
end)
