-- SPDX-License-Identifier: MIT
--
-- The pair of iterations that a refusal names: where two names stand for one element, it says so.
local meissa = require "meissa"
local parallel = meissa.parallel

describe("an element that two views show", function()
  local V = meissa.zeros(20)
  local low, high = V:narrow(1, 1, 19), V:narrow(1, 2, 19)

  local function said(loop)
    local ok, err = pcall(loop)
    assert.is_false(ok)
    return err.message
  end

  it("is called one", function()
    local text = said(function() for i in parallel(19) do low[i] = high[i] end end)
    assert.truthy(text:find("iteration 2 writes low[2], the same element", 1, true), text)
    assert.truthy(text:find("iteration 1 reads high[1]", 1, true), text)
  end)

  it("has its name in the array that both are of, where the body uses that", function()
    local text = said(function() for i in parallel(18) do V[i + 1] = high[i + 1] low[i] = 1 end end)
    assert.truthy(text:find("which is V[", 1, true), text)
    local place, base = text:match "high%[(%d+)%], which is V%[(%d+)%]"
    assert.equal(tonumber(place) + 1, tonumber(base))
  end)

  it("of one name is not told twice", function()
    local text = said(function() for i in parallel(18) do low[i] = low[i + 1] end end)
    assert.falsy(text:find("same element", 1, true), text)
  end)
end)
