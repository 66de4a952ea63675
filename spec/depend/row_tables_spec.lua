-- SPDX-License-Identifier: MIT
-- Methods of arrays that a plain table holds store into these arrays, whatever their names.
local meissa = require "meissa"

local BODIES = {
  "rows[i]:fill(X[i][1])", "rows[i]:copy(X[i])", "rows[i]:axpy(1, X[i])",
  "rows[i]:free() X[i][1] = 1",
  "local r = rows[i] r:fill(X[i][1])", "rows[i]:fill(0) X[i][2] = 1", "X[i]:fill(rows[i][1])",
}

describe("rows that a table holds", function()
  for _, body in ipairs(BODIES) do
    it("are written by their methods: " .. body, function()
      local X, rows = meissa.zeros(6, 4), {}
      for k = 1, 6 do rows[k] = X[7 - k] end
      local env = setmetatable({X = X, rows = rows, plan = meissa.plan}, {__index = _G})
      local chunk = assert(loadstring("return plan(6, function(i) " .. body .. " end)"))
      local plan = setfenv(chunk, env)()
      assert.equal("serial", plan.strategy)
      assert.equal("read+write", plan.arrays.X.access)
    end)
  end

  it("are only read by others", function()
    local X, out, rows = meissa.ones(6, 4), meissa.zeros(6), {}
    for k = 1, 6 do rows[k] = X[7 - k] end
    for i in meissa.parallel(6) do out[i] = rows[i]:sum() + X[i]:dot(X[i]) end
    assert.equal(48, out:sum())
  end)
end)
