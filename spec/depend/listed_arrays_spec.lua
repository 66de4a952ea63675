-- SPDX-License-Identifier: MIT
--
-- Refusals of loops whose arrays only elements of lists have.
local expect = require "spec.support.expect"
local meissa = require "meissa"
local parallel = meissa.parallel

local N = 20

describe("arrays of lists", function()
  it("are named by their place", function()
    local held = { meissa.zeros(N) }
    local function put(i) held[1][i] = held[1][i - 1] end
    local message = expect.refusal(function() for i in parallel({ 2, N }) do put(i) end end)
    assert.truthy(tostring(message):find("writes held[1][2], ", 1, true))
  end)

  it("are told once, with what to write, where methods use them", function()
    local Model, models = {}, {}
    Model.__index = Model
    function Model:fit(i)
      for k = 1, 3 do
        self.v[k] = 0.9 * self.v[k] + i
        self.w[k] = self.w[k] - self.v[k]
      end
    end
    for k = 1, 20 do
      models[k] = setmetatable({ w = meissa.zeros(3), v = meissa.zeros(3) }, Model)
    end
    local message = tostring(expect.refusal(function()
      for k in parallel(20) do models[k]:fit(k) end
    end))
    assert.truthy(message:find("models[1].", 1, true), message)
    assert.is_nil(message:find("also [DEP102", 1, true), message)
    assert.truthy(message:find("meissa.map", 1, true), message)
    local fitted = meissa.map({ 1, 2, 20 }, function(rate)
      local own = setmetatable({ w = meissa.zeros(3), v = meissa.zeros(3) }, Model)
      own:fit(rate)
      return own.w[1]
    end)
    assert.equal(-20, fitted[3])
  end)
end)
