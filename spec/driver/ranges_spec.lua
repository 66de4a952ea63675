-- SPDX-License-Identifier: MIT
-- Ranges whose ends are negative, of arrays and of rows, in a body: they count from the end on
-- every road, in what loops touch, move and undo.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local plain = require "spec.support.plain"

-- What the body does, and how it runs; nil: iterations meet.
local loops = {
  {"for i in parallel(10) do V[{{-i, -i}}] = i end", "independent"},
  {"for i in parallel(10) do V[{{-i, -i}}] = i V[{{i, i}}] = i * 100 end"},
  {"for i in parallel(9) do V[i] = V[{{-1, -1}}]:sum() + i end", "independent"},
  {"for i in parallel(10) do V[i] = V[{{-1, -1}}]:sum() + i end"},
  {"for i in parallel({2, 10}) do V[i] = V[{{i - 12, i - 12}}]:sum() + i end"},
  {"for i in parallel(9) do V[i] = V[{{i + 1, -1}}]:sum() end"},
  {"for i in parallel(5) do V[i] = V[{{-5, -i}}]:sum() end", "independent"},
  {"for i in parallel(6) do if i ~= 3 then V[{{i - 3}}] = i end end", "independent"},
  {"for i in parallel(6) do if i ~= 3 then V[{{i - 3, -1}}] = i end end"},
  {"for i in parallel(10) do M[{{i}, {-1}}] = i M[{-i + 11, 1}] = M[11 - i][3] end", "independent"},
  {"for i in parallel(10) do M[{{i, i}, {-1, -1}}] = i M[11 - i][4] = M[11 - i][4] * 10 + i end"},
  {"for i in parallel(10) do V[i] = M[{{-i}, {-2, -1}}]:sum() M[i][1] = i end", "independent"},
  {"for i in parallel(10) do put(-i, i) end", "independent"},
  {"for i in parallel(10) do M[i][{{-2, -1}}] = i end", "independent"},
  {"for i in parallel(10) do local t = M[i] t[{{-2}}] = t[{{1, 2}}]:sum() end", "independent"},
  {"for i in parallel(4) do M[1][{{-i, -i}}]:fill(i) end", "independent"},
  {"for i in parallel(4) do M[1][{{-i, -1}}]:fill(i) end"},
  {"for i in parallel(4) do M[1][{{-i, -i}}]:fill(i) M[1][i] = 0 end"},
  {"for i in parallel(9) do M[i][{{-1}}]:copy(M[i + 1][{{1}}]) end", "independent"},
  {"for i in parallel(9) do M[i][{{-1}}]:copy(M[i + 1][{{-2, -1}}][{{2}}]) end"},
  {"for i in parallel(10) do V[i] = M[11 - i][{{2, -2}}]:sum() end", "independent"},
  {"for i in parallel(10) do M[i][middle]:fill(i) end"},
  {"for i in parallel(4) do M[1][middle]:fill(i) end"},
}

local function world()
  local V, M = meissa.zeros(10), meissa.zeros(10, 4)
  for i = 1, 10 do
    V[i] = i * 3
    for j = 1, 4 do M[i][j] = i * 7 + j end
  end
  return {V = V, M = M, middle = {{2, -2}}, put = function(k, x) V[{{k, k}}] = x end}
end

local roads = {{workers = 2}, {workers = 2, shm = false}, {workers = 3, shm = false}}

describe("ranges with negative ends", function()
  it("are those elements in every loop that runs in parallel, which others are not", function()
    finally(kept_workers.stop)
    for _, loop in ipairs(loops) do
      local written = world()
      plain.run(loop[1], written, plain.parallel)
      for r = 0, #roads do
        kept_workers.init(roads[r] or {workers = 0})
        local env = world()
        local ok, err = pcall(plain.run, loop[1], env, meissa.parallel)
        assert.are.equal(loop[2] ~= nil, ok, loop[1] .. ": " .. tostring(err))
        if ok then
          assert.are.equal(loop[2], meissa.last().strategy, loop[1])
          assert.are.same({written.V:totable(), written.M:totable()},
                          {env.V:totable(), env.M:totable()}, loop[1])
        else
          assert.are.equal("DEP", err.code, loop[1])
        end
      end
    end
  end)

  it("are as they were after a loop that failed", function()
    finally(kept_workers.stop)
    for _, road in ipairs(roads) do
      kept_workers.init(road)
      local env = world()
      local before = {env.V:totable(), env.M:totable()}
      local V, M = env.V, env.M
      local ok = pcall(function()
        for i in meissa.parallel(10) do
          V[{{-i, -i}}] = -1
          M[{{-i}, {-2, -1}}] = -i
          if i == 10 then error("stop") end
        end
      end)
      assert.is_false(ok)
      assert.are.same(before, {V:totable(), M:totable()})
    end
  end)

  it("are no positions: those of elements are from 1 on", function()
    local V, M = meissa.zeros(5), meissa.zeros(5, 5)
    for _, wrong in ipairs {
      function() return V[-1] end, function() return V[{-1}] end,
      function() return M:narrow(1, -1, 1) end, function() return M:select(1, -1) end,
      function() return V[{{0, 2}}] end, function() return V[{{-2, -3}}] end,
      function() return V[{{-6, -1}}] end, function() return M:transpose(-1, 1) end,
    } do
      local ok, err = pcall(wrong)
      assert.are.same({false, "ARR"}, {ok, not ok and err.code})
    end
  end)
end)
