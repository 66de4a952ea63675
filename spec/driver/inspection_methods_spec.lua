-- SPDX-License-Identifier: MIT
-- Inspection of loops whose bodies call methods of what has the arrays: where these touch other
-- arrays alone the loop runs level by level, or is proved parallel; else it is refused.
local expect = require "spec.support.expect"
local meissa = require "meissa"
local parallel = meissa.parallel

local N = 60

local Class = {}
Class.__index = Class
function Class:bias(i) return self.eta * self.b[i] end
function Class:deep(i) return self:bias(i) + self:peek(i) end
function Class:peek(i) return self.x[self.to[i]] end
function Class:poke(i, v) self.x[self.to[i]] = v end
function Class:weights() return self.x end
function Class:me() return self end
function Class.other(_, k, i) return k.x[i] end

-- A model; x[from[i]] comes before x[i], and `to` is a permutation.
local function model()
  local int = {type = "int32"}
  local k = {x = meissa.zeros(N), b = meissa.rand({N}, {seed = 1}), eta = 0.5,
             from = meissa.ones({N}, int), to = meissa.zeros({N}, int)}
  for i = 1, N do k.from[i], k.to[i] = math.max(1, math.floor(i / 2)), (i * 7) % N + 1 end
  return setmetatable(k, Class)
end

-- Runs a body over i with `k`, a model, as a loop of Meissa; k.x afterwards.
local function run(body, options)
  local k = model()
  local text = ("for i in parallel({2, N}, %s) do %s end"):format(options, body)
  setfenv(assert(loadstring(text)), {k = k, N = N, parallel = parallel})()
  return k.x:totable()
end

for _, road in ipairs {{workers = 2}, {workers = 3, shm = false}} do
  describe("methods, " .. (road.shm == false and "by value" or "shared"), function()
    setup(function() meissa.init(road) end)
    teardown(function() meissa.init {} end)

    for _, body in ipairs {
      "k.x[i] = k:bias(i) - 0.5 * k.x[k.from[i]]",
      "local v = k:bias(i) if k.from[i] > 3 then k.x[i] = v + k.x[k.from[i]] end",
      "k.x[k.to[i]] = k:bias(i) + k.x[i]", "k.x[i] = k.x[k.from[i]] + k.bias(k, i)",
    } do
      it("that touch other arrays leave levels: " .. body, function()
        for _, options in ipairs {"{}", "{engine = 'lua'}"} do
          local found = run(body, options)
          assert.equal("levels", meissa.last().strategy)
          assert.same(run(body, "{serial = true}"), found)
        end
      end)
    end

    it("that touch other arrays leave proofs", function()
      local found = run("k.x[k.to[i]] = k:bias(i)", "{ordered = false}")
      assert.equal("independent", meissa.last().strategy)
      assert.same(run("k.x[k.to[i]] = k:bias(i)", "{serial = true}"), found)
    end)

    for _, statement in ipairs {
      "k.x[i] = k.x[k.from[i]] + k:peek(i)", "k.x[i] = k.x[k.from[i]] + k:deep(i)",
      "k.x[i] = k.x[k.from[i]] k:poke(i, 3)", "k.x[k.to[i]] = k.x[k.from[i]] k:poke(i, 3)",
      "k.x[i] = k.x[k.from[i]] + k:weights()[k.to[i]]",
      "k.x[i] = k.x[k.from[i]] + k:other(k, k.to[i])",
      "local w = k:weights() w[k.to[i]] = i k.x[i] = k.x[k.from[i]]",
      "local t = k t.x[k.to[i]] = 5 k.x[i] = k.x[k.from[i]] + k:bias(i)",
      "local t = k:me() t.x[k.to[i]] = 5 k.x[i] = k.x[k.from[i]]",
      "local t = {k} k.x[i] = k.x[k.from[i]] + t[1].x[k.to[i]]",
    } do
      it("by which the same array is touched do not: " .. statement, function()
        expect.raises("DEP", "cannot be proved parallel", function() run(statement, "{}") end)
      end)
    end
  end)
end
