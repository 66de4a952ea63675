-- SPDX-License-Identifier: MIT
-- Sweeps over a list: results in its order, what functions may do, errors that name the element.
local meissa = require "meissa"

local sqrt, io = math.sqrt, io

local function refusal(...)
  local ok, err = pcall(meissa.map, ...)
  assert.is_false(ok)
  return tostring(err), err
end

for _, workers in ipairs {0, 1, 2, 3} do
  describe(("meissa.map with %d workers"):format(workers), function()
    setup(function() meissa.init {workers = workers} end)
    teardown(function() meissa.init {} end)

    it("gives results in the order of the list", function()
      local list = {}
      for k = 1, 50 do list[k] = {rate = k / 10} end
      local results = meissa.map(list, function(run, k)
        return {rate = run.rate, label = "run " .. k}
      end)
      assert.equal(50, #results)
      for k = 1, 50 do assert.same({rate = k / 10, label = "run " .. k}, results[k]) end
      assert.same({}, meissa.map({}, sqrt))
      assert.same({1, 2, 3}, meissa.map({1, 4, 9}, sqrt))
    end)

    it("reads captured arrays", function()
      local A = meissa.zeros(10)
      A:fill(2)
      local function train(rate) return rate * A:sum() end
      assert.same({20, 40}, meissa.map({1, 2}, function(rate) return train(rate) end))
    end)

    it("cuts a block for each element", function()
      meissa.map({1, 2, 3, 4, 5}, function(x) return x end)
      assert.same({5}, meissa.last().grid)
    end)

    it("refuses functions that change what they do not own", function()
      local count = 0
      local function counted(x)
        count = count + x
        return count
      end
      local text, err = refusal({1, 2}, counted)
      assert.is_truthy(text:find("meissa.map cannot be run on workers [DEP112", 1, true))
      assert.is_truthy(text:find("meissa.map(list, fn, {serial = true})", 1, true))
      assert.is_truthy(err.file:find("map_spec.lua", 1, true))
      assert.same({1, 3}, meissa.map({1, 2}, counted, {serial = true}))
      local function noisy(x) return io.open("/nonexistent/" .. x) == nil end
      assert.is_truthy(refusal({1}, noisy):find("meissa.map(list, fn, {impure = true})", 1, true))
      assert.same({true, true}, meissa.map({1, 2}, noisy, {impure = true}))
    end)

    it("hands on errors whose iteration names no element", function()
      local _, err = pcall(meissa.zeros, -1)
      for _, iteration in ipairs {3, {}, {"first"}} do
        err.iteration = iteration
        local text = refusal({1}, function() error(err) end, {serial = true})
        assert.is_truthy(text:find("ARR: zeros: extent -1", 1, true), text)
      end
    end)

    it("names bad arguments", function()
      assert.is_truthy(refusal(3):find("OPT: meissa.map takes a list and a function", 1, true))
      assert.is_truthy(refusal({}, sqrt, {inpure = true}):find("did you mean 'impure'?", 1, true))
    end)

    it("takes no lists with holes", function()
      local cut = {1, 2, 3, 4}
      cut[2] = nil -- its length may still be 4
      for hole, list in pairs {
        ["element 3 is there, element 2 is nil"] = {1, nil, 3},
        ["element 4 is there, element 2 is nil"] = cut,
        ["element 1e+09 is there, element 1 is nil"] = {[1e9] = 1},
      } do
        assert.is_truthy(refusal(list, sqrt):find("OPT: meissa.map: the list has a hole: " .. hole,
                                                  1, true))
      end
      assert.same({1, 2}, meissa.map({1, 4, name = "squares"}, sqrt))
    end)

    if workers > 0 then
      it("names the function where what was raised has no place", function()
        local line = debug.getinfo(1, "l").currentline
        for _, fn in ipairs {
          function() error({ code = 7 }) end, function() error("no place", 0) end,
        } do
          local ok, err = pcall(meissa.map, { 1, 2 }, fn)
          assert.is_false(ok)
          assert.matches("map_spec%.lua$", err.file)
          assert.equal(line + 2, err.line)
        end
      end)

      it("names the element that failed", function()
        local text = refusal({"a", "b", "c"}, function(x)
          if x == "b" then error("no data") end
          return x
        end)
        assert.is_truthy(text:find("BDY: element 2: no data", 1, true))
        assert.is_truthy(text:find("map_spec.lua", 1, true))
      end)
    end
  end)
end
