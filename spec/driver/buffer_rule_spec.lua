-- SPDX-License-Identifier: MIT
-- Rules of merging (`apply`) that fail, or free what they are called for.
local meissa = require "meissa"
local parallel = meissa.parallel

local ROADS = {{workers = 0}, {workers = 1}, {workers = 3}, {workers = 2, shm = false}}

describe("a buffer", function()
  it("says what its rule raised, and lets it free nothing that is merged into", function()
    for _, road in ipairs(ROADS) do
      meissa.init(road)
      local w, n = meissa.zeros(5000), 5000
      local what = function() error("limit") end
      local wb = meissa.buffer(w, {apply = function(old, g) what() return old + g end})
      local function fails()
        local ok, err = pcall(function() for i in parallel(n) do wb[i] = wb[i] + 1 end end)
        assert.is_false(ok)
        assert.equal(0, w:sum())
        return err
      end
      local err = fails()
      assert.equal("BDY", err.code)
      assert.truthy(err.message:find("'apply' of .*: limit"), err.message)
      assert.equal(debug.getinfo(1, "S").source, "@" .. tostring(err.file)) -- of the loop
      assert.equal(16, err.line)
      what = function() error({7}) end
      assert.same({7}, fails().value)
      what = function() w:free() end
      err = fails()
      assert.equal("ARR", err.code)
      assert.truthy(err.message:find("is being merged into", 1, true), err.message)
      what = function() end
      for i in parallel(n) do wb[i] = wb[i] + 1 end
      assert.equal(5000, w:sum())
      w:free()
    end
    meissa.init {}
  end)
end)
