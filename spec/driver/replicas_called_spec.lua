-- SPDX-License-Identifier: MIT
-- Functions that replicas give to what they call: one for all, and a copy, wherever replicas are.
local meissa = require "meissa"
local roads = require "spec.driver.all_roads"

local ROUNDS, K = 3, 3

-- What replicas have after rounds by options(r, t), and what else those leave.
local function exchanged(options)
  return meissa.replicas(K, {}, function(r)
    local w, list = meissa.full({1}, r.index), {}
    for t = 1, ROUNDS do
      local given, count = options(r, t)
      r:exchange(w, given)
      list[#list + 1] = w[1]
      list[#list + 1] = count and count() or nil
    end
    return list
  end)
end

-- The messages of errors with this code, which are the same on all roads.
local function messages_of(code, list)
  return roads.on_all_roads(function()
    local messages = {}
    for n, each in ipairs(list) do
      local ok, err = pcall(exchanged, each[2])
      assert.is_false(ok, each[1])
      assert.equal(code, err.code, tostring(err))
      messages[n] = err.message
    end
    return messages
  end)
end

-- Options that are refused, each with what the error says.
local function check_refused(code, list)
  for n, message in ipairs(messages_of(code, list)) do
    assert.truthy(message:find(list[n][1], 1, true), message)
  end
end

local OTHER = "is another function than that of replica 1"

local rates = {0.5, 0.5, 0.5}
local weights = meissa.full({1}, 0.25)

describe("functions that replicas give to r:exchange", function()
  teardown(roads.stop)

  it("are one for all, and a copy: what they change is lost", function()
    local list = roads.on_all_roads(function()
      return exchanged(function()
        local calls = 0
        return {merge = function(own, heard)
          calls = calls + 1
          return own + heard / calls
        end}, function() return calls end
      end)
    end)
    for k = 1, K do
      for t = 1, ROUNDS do assert.equal(0, list[k][2 * t]) end
    end
  end)

  it("may be made anew, and of equal values", function()
    local list = roads.on_all_roads(function()
      return exchanged(function(r, t)
        local about = {rate = rates[r.index] / t, kind = {"by", r.count}, nothing = 0 / 0}
        local own = meissa.full({2}, t)
        return {merge = function(mine, heard)
          return mine + about.rate * (heard - mine) * own[2] * weights[1] / about.kind[2]
        end, lags = function(round) return round > about.rate and 1 or 0 end, staleness = 1}
      end)
    end)
    assert.not_equal(list[1][ROUNDS], list[2][ROUNDS])
  end)

  it("know how many replicas there are, and no number", function()
    local list = roads.on_all_roads(function()
      return exchanged(function(r)
        return {merge = function(own, heard) return own + heard / r.count end}
      end)
    end)
    assert.is_true(math.abs(1 + (2 + 3) / K - list[1][1]) < 1e-12)
    local refused = {}
    for n, name in ipairs {"index", "nodeIndex"} do
      refused[n] = {"r." .. name .. " was read in a function that r.exchange called, which is one",
                    function(r)
                      return {merge = function(own, heard) return own + heard / r[name] end}
                    end}
    end
    check_refused("BDY", refused)
    roads.on_all_roads(function()
      return meissa.replicas(2, {}, function(r)
        return r.allReduce(r.index, function(a, b) return a + b / r.numNodes end)
      end)
    end)
  end)

  it("are refused where they differ", function()
    check_refused("OPT", {
      {"option 'merge' of replica 2 " .. OTHER .. ": one is called", function(r)
        return {merge = r.index == 2 and function(own, heard) return own + heard end or
          function(own, heard) return own - heard end}
      end},
      {"option 'merge' of replica 3 " .. OTHER .. " ('rate' differs)", function(r)
        local rate = math.max(2, r.index)
        return {merge = function(own, heard) return own + rate * heard end}
      end},
      {"option 'merge' of replica 2 " .. OTHER .. " ('own_rates' differs)", function(r)
        local own_rates = meissa.full({2}, r.index)
        return {merge = function(own, heard) return own + own_rates[1] * heard end}
      end},
      {"option 'merge' of replica 2 " .. OTHER .. " ('how' differs)", function(r, t)
        local how = math.ceil
        if t == ROUNDS and r.index == 2 then how = math.abs end
        return {merge = function(own, heard) return own + how(heard) end}
      end},
      {"option 'merge' of replica 2 " .. OTHER .. " ('rate_of_all' differs)", function(r)
        rate_of_all = r.index -- luacheck: ignore
        return {merge = function(own, heard)
          return own + rate_of_all * heard -- luacheck: ignore
        end}
      end},
      {"option 'lags' of replica 2 " .. OTHER .. " ('lag' differs)", function(r)
        local lag = r.index % 2
        return {staleness = 2, lags = function() return lag end}
      end},
    })
  end)
end)

describe("matrices that replicas give to r:exchange", function()
  teardown(roads.stop)

  it("are equal, or refused", function()
    local function of(first)
      return function(r)
        local M = meissa.full({K, K}, 1 / K)
        if r.index == 2 then M[1][1], M[1][2] = first, 2 / K - first end
        return {topology = {matrix = M}, biased = true}
      end
    end
    check_refused("OPT", {{"r:exchange: replica 2 has other options than replica 1", of(0)}})
    roads.on_all_roads(function() return exchanged(of(1 / K)) end)
  end)
end)
