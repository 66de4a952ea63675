-- SPDX-License-Identifier: MIT
-- A table as a subscript is a range, wherever it comes from: a loop is parallel only where a key is
-- known to be no table.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local RANGES = {
  {"from outside", "V[{r}][i] = V[2][i] + i"},
  {"that the body makes", "local q = {2, 5} V[{q}][i] = V[2][i] + i"},
  {"in a list of them", "V[{lists[i]}][i] = V[2][i] + i"},
  {"that a function gives", "V[{give()}][i] = V[2][i] + i"},
  {"that a function is given", "put(V, r, i)"},
  {"or a number", "local q = i > 9 and 1 or r V[{q}][i] = V[2][i] + i"},
  {"that a builtin gives", "V[{rawget(lists, i)}][i] = V[2][i] + i"},
  {"of a list that is gone through", "for _, q in ipairs(lists) do V[{q}][i] = V[2][i] + i end"},
  {"of elements, filled", "w[{r}]:fill(i)"},
  {"of elements, of the body, filled", "local q = {2, 5} w[{q}]:fill(w[i] + i)"},
  {"that is all subscripts", "local p = {i, 1} V[i + 1][1] = V[p] + 1"},
  {"of elements that are copied", "V[{i + 1, r}] = V[i]"},
  {"that inspection does not follow", "w[i + 1] = w[range]:sum()"},
  {"that inspection does not follow, of rows", "V[i + 1][1] = V[{1, range[1]}]:sum()"},
  {"of elements, by a name", "local part = w[{r}] part:fill(i)"},
  {"of elements, by pieces", "w[{i > 2 and r or lists[i]}]:fill(i)"},
}

-- What is certainly no table, and what the loop gives.
local ELEMENTS = {
  {"in a list", "V[flat[i]][i] = V[flat[i]][i] + i"},
  {"in a list of records", "V[records[i].row][i] = V[records[i].row][i] + i"},
  {"in a record", "V[one.row][i] = i"},
  {"of another array", "V[w[i] + 1][i] = i"},
  {"formed", "local q = flat[i] + 1 V[q][i] = i"},
}

-- Loops that are parallel with a range by a name, which they reach as the plain loop does.
local REACHED = {
  {"filled", "parallel(1)", "w[range]:fill(i + 1)"},
  {"of the body, filled", "parallel(1)", "local q = {{i, 3}} w[q]:fill(i + 1)"},
  {"in a list, filled", "parallel(1)", "w[ranges[i]]:fill(i + 1)"},
  {"one or another, filled", "parallel(1)", "local q = i > 9 and flat[1] or range w[q]:fill(i)"},
  {"that a function gives, filled", "parallel(1)", "w[give_range()]:fill(i)"},
  {"assigned", "parallel(1)", "w[range] = i"},
  {"of a row", "parallel(1)", "V[i][range]:fill(i)"},
  {"of a row by a name", "parallel(1)", "local row = V[i] row[range]:fill(i) row[1] = 7"},
  {"that is read", "parallel(4)", "V[i][1] = w[range][2] + w[{{1, 2}}]:sum()"},
  {"of rows", "parallel(4)", "w[i] = V[range][i % 2 + 1][2]"},
  {"that is an element's", "parallel(4)", "w[i] = V[place] + V[flat[i]][1]"},
}

local function environment()
  local lists, records = {}, {}
  for k = 1, 4 do lists[k], records[k] = {2, 5}, {row = 5 - k} end
  local r = {2, 5}
  local range = {{2, 3}}
  return setmetatable({
    range = range, ranges = {range}, place = {3, 2}, give_range = function() return range end,
    V = meissa.zeros(6, 4), w = meissa.zeros(6), r = r, lists = lists, records = records,
    flat = {4, 2, 3, 1}, one = {row = 3}, give = function() return r end,
    put = function(V, q, i) V[{q}][i] = V[2][i] + i end,
    parallel = meissa.parallel,
  }, {__index = _G})
end

local function run(space, body, count)
  local env = environment()
  local text = string.format("for i in %s do %s end", space, body)
  if space == "plain" then text = string.format("for i = 1, %d do %s end", count or 4, body) end
  local ok, message = pcall(setfenv(assert(loadstring(text)), env))
  return ok, message, env
end

local function elements(V)
  local list = {}
  for i = 1, 6 do
    for j = 1, 4 do list[#list + 1] = V[i][j] end
  end
  return list
end

describe("a table as a subscript", function()
  teardown(kept_workers.stop)
  after_each(function() kept_workers.init {} end)

  for _, each in ipairs(RANGES) do
    it("is a range " .. each[1], function()
      for workers = 0, 2, 2 do
        kept_workers.init { workers = workers }
        local ok, message = run("parallel(4)", each[2])
        assert.is_false(ok)
        assert.truthy(tostring(message):find("DEP10%d"), tostring(message))
      end
    end)
  end

  for _, each in ipairs(REACHED) do
    it("is reached " .. each[1], function()
      local _, _, expected = run("plain", each[3], tonumber(each[2]:match("%d")))
      for workers = 0, 2, 2 do
        kept_workers.init { workers = workers }
        local ok, message, env = run(each[2], each[3])
        assert.is_true(ok, tostring(message))
        assert.same(elements(expected.V), elements(env.V))
        assert.same(expected.w:totable(), env.w:totable())
      end
    end)
  end

  for _, each in ipairs(ELEMENTS) do
    it("is none " .. each[1], function()
      local _, _, expected = run("plain", each[2])
      for workers = 0, 2, 2 do
        kept_workers.init { workers = workers }
        local ok, message, env = run("parallel(4)", each[2])
        assert.is_true(ok, tostring(message))
        assert.same(elements(expected.V), elements(env.V))
      end
    end)
  end
end)
