-- SPDX-License-Identifier: MIT
--
-- Functions on the same lines of a text, as in generated and in minified ones, are told apart: each
-- has the verdict and the results that it has on lines of its own.
local meissa = require "meissa"

local N = 12

-- Function literals, of which some differ in nothing but what they capture.
local LITERALS = {
  "function(i) A[i] = B[i] + 1 end", "function(i) A[i + 1] = A[i] + 1 end",
  "function(i) A[i] = read(i) end", "function(i) A[i] = next_of(i) end",
  "function(i) return (function(k) A[k] = 2 * B[k] end)(i) end",
  "function(i) A[i] = one.B[i] end", "function(i) A[i] = other.B[i] end",
  "function(i) A[i] = 1 + B[i] end", "function(i) A[i] = B[i] + 2 end",
  "function(k) A[k] = B[k] + 1 end", "function(i) A[i] = B[i] end",
}
local CHUNK = [[
local A, B, one, other = ...
local read = function(i) return B[i] end local next_of = function(i) return A[i + 1] end
local list = {%s}
return list]]

local function world()
  local A, B = meissa.zeros(N + 1), meissa.zeros(N + 1)
  for i = 1, N + 1 do A[i], B[i] = i * i % 7, i * i % 5 end
  return A, B, {B = B}, {B = A}
end

-- What becomes of A by each literal in its own world, and the verdict.
local function outcomes(separator, pick)
  local found = {}
  for k = 1, #LITERALS do
    local A, B, one, other = world()
    local text = CHUNK:format(table.concat(LITERALS, separator))
    found[k] = pick(assert(loadstring(text))(A, B, one, other)[k], A)
  end
  return found
end

local function plainly(fn, A)
  for i = 1, N do fn(i) end
  return table.concat(A:totable(), " ")
end

local function planned(fn)
  local plan = meissa.plan(N, fn)
  local distances = {}
  for k, each in ipairs(plan.distances) do distances[k] = tostring(each[1]) end
  return plan.verdict .. " " .. plan.strategy .. " " .. table.concat(distances, " ")
end

describe("functions on the same lines", function()
  it("have the verdicts that they have on lines of their own", function()
    local apart = outcomes(",\n", planned)
    assert.equal("serial serial 1", apart[2])
    assert.same(apart, outcomes(", ", planned))
  end)

  for workers = 0, 2 do
    for _, engine in ipairs {"lua", "native"} do
      it(("compute what they say: %d workers, %s"):format(workers, engine), function()
        meissa.init {workers = workers}
        local expected = outcomes(", ", plainly)
        assert.same(expected, outcomes(", ", function(fn, A)
          local parallel = meissa.plan(N, fn).verdict == "parallel"
          meissa.each(N, {serial = not parallel, engine = engine}, fn)
          return table.concat(A:totable(), " ")
        end))
      end)
    end
  end

  it("may hold a loop each", function()
    local chunk = [[local A, B, n, parallel = ...
return {]] .. table.concat({
  "function() for i in parallel(n) do A[i] = B[i] end end",
  "function() for i in parallel(n) do A[i + 1] = A[i] end end",
  "function() for i in parallel(n) do A[i] = 2 * B[i] end end"}, ", ") .. "}"
    local A, B = world()
    local list = assert(loadstring(chunk))(A, B, N, meissa.parallel)
    list[1]()
    assert.same({unpack(B:totable(), 1, N)}, {unpack(A:totable(), 1, N)})
    list[3]()
    for i = 1, N do assert.equal(2 * B[i], A[i]) end
    local ok, err = pcall(list[2])
    assert.is_false(ok)
    assert.equal("DEP", err.code)
    list[1]()
    assert.same({unpack(B:totable(), 1, N)}, {unpack(A:totable(), 1, N)})
  end)

  it("are looked into when a loop calls them", function()
    local chunk = "local A, B = ... return {function(i) return B[i] end, " ..
                  "function(i) return A[i - 1] end, function(i) return B[i - 1] end}"
    local A, B = world()
    local list = assert(loadstring(chunk))(A, B)
    local verdicts = {}
    for k, get in ipairs(list) do
      verdicts[k] = meissa.plan({2, N}, function(i) A[i] = get(i) end).strategy
    end
    assert.same({"independent", "serial", "independent"}, verdicts)
  end)

  it("that are the same may be any of them", function()
    local chunk = "local list = {} for k, A in ipairs {...} do " ..
                  "list[k] = k == 1 and function(i) A[i] = k end or " ..
                  "function(i) A[i] = k end end return list"
    local A, B = world()
    for k, fn in ipairs(assert(loadstring(chunk))(A, B)) do
      meissa.each(N, fn)
      local X = k == 1 and A or B
      for i = 1, N do assert.equal(k, X[i]) end
    end
  end)
end)
