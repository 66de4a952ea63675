-- SPDX-License-Identifier: MIT
--
-- Loops over the entries of a sparse array that they write: an iteration's value is that of before
-- the loop, so a loop that may write another entry is refused where it takes values, and runs where
-- it reads the element. Compared with the plain loop over S:each().
local meissa = require "meissa"
local parallel = meissa.parallel

local function entries()
  return meissa.sparse({ 3, 6 }, { i = { 1, 1, 1, 2 }, j = { 1, 2, 3, 5 }, v = { 40, 20, 30, 7 } })
end

local function each_plain(S) return S:each() end

local function put(S, i, j, value) S[i][j] = value end

-- By name: a loop over S by `over`, which gives i, j and v.
local WRONG = {
  ["the next entry"] = function(S, options)
    for i, j, v in parallel(S, options) do if j < 3 then S[i][j + 1] = v + 1 end end
  end,
  ["an entry from data"] = function(S, options)
    for i, j, v in parallel(S, options) do S[1][v % 3 + 1] = j + i end
  end,
  ["the next entry, whose value a function of the body takes"] = function(S, options)
    for i, j, v in parallel(S, options) do
      local function value() return v end
      if j < 3 then S[i][j + 1] = value() end
    end
  end,
  ["a row"] = function(S, options)
    for i, _, v in parallel(S, options) do put(S, i, 1, v) end
  end,
}

local RIGHT = {
  ["its own entry"] = function(S, over) for i, j, v in over(S) do S[i][j] = v * 2 end end,
  ["its own entry at times"] = function(S, over)
    for i, j, v in over(S) do if v > 25 then S[i][j] = v * 2 end end
  end,
  ["its own entry by a function"] = function(S, over)
    for i, j, v in over(S) do put(S, i, j, v + 1) end
  end,
}

local function values(S)
  local list = {}
  for _, _, v in S:each() do list[#list + 1] = v end
  return list
end

-- luacheck: push ignore v
describe("a loop over sparse entries", function()
  after_each(function() meissa.init {} end)

  for name, loop in pairs(WRONG) do
    it("that takes values may not write " .. name, function()
      for _, workers in ipairs { 0, 2 } do
        meissa.init { workers = workers }
        for _, options in ipairs { {}, { ordered = true } } do
          local S = entries()
          local ok, err = pcall(loop, S, options)
          assert.is_false(ok)
          assert.matches("DEP10[12]", tostring(err))
          assert.same({ 40, 20, 30, 7 }, values(S))
        end
      end
    end)
  end

  for name, loop in pairs(RIGHT) do
    it("may write " .. name, function()
      local expected = entries()
      loop(expected, each_plain)
      for _, workers in ipairs { 0, 1, 2 } do
        meissa.init { workers = workers }
        local S = entries()
        loop(S, parallel)
        assert.same(values(expected), values(S))
      end
    end)
  end

  it("may read what it writes elsewhere, and name a value that it does not use", function()
    for _, workers in ipairs { 0, 2 } do
      meissa.init { workers = workers }
      local S, named, checked = entries(), entries(), entries()
      for i, j in parallel(S, { ordered = true }) do
        if j < 3 then S[i][j + 1] = S[i][j] + 1 end
      end
      for i, j, v in parallel(named, { ordered = true }) do
        if j < 3 then named[i][j + 1] = named[i][j] + 1 end
      end
      for i, j, v in parallel(checked, { ordered = true, check = true }) do
        if j < 3 then checked[i][j + 1] = checked[i][j] + 1 end
      end
      for _, each in ipairs { S, named, checked } do
        assert.same({ 40, 41, 42, 7 }, values(each))
      end
    end
  end)

  it("gives a value that the body does not use to no engine", function()
    meissa.init { workers = 2 }
    for _, engine in ipairs { "lua", "native" } do
      local S, A = entries(), meissa.zeros(3, 6)
      for i, j, v in parallel(S, { engine = engine }) do A[i][j] = j end
      assert.same({ 1, 2, 3, 0, 0, 0 }, A[1]:totable())
    end
  end)

  it("says what to read instead", function()
    local S = entries()
    local _, err = pcall(WRONG["the next entry"], S, { ordered = true })
    assert.matches("have their values from before it", tostring(err))
    assert.matches("read the element:  S[i][j] in place of v", tostring(err), 1, true)
    _, err = pcall(function()
      for _, _, v in parallel(S) do S[1][v % 3 + 1] = v end
    end)
    assert.matches("names of their own, and read the element in place of v", tostring(err))
  end)
end)
-- luacheck: pop
