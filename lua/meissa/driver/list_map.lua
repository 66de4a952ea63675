-- SPDX-License-Identifier: MIT
--- Sweeps: a function of each element of a list, on the workers.
-- @module meissa.driver.list_map

local errors = require "meissa.base.errors"
local loop = require "meissa.driver.loop"
local tables = require "meissa.base.tables"

local M = {}

-- Each element is a block, so that a few heavy ones spread; a grid has at most so many.
local MOST_BLOCKS = 4096

-- An error of the loop below in terms of the call of map, with the function `fn`.
local function reword(err, fn)
  if not errors.is(err) then return err end
  local info = debug.getinfo(fn, "S")
  local element = type(err.iteration) == "table" and err.iteration[1]
  -- Of what cannot return no iteration is told, but which element of the list it is.
  local refused = string.match(err.message, "^results%[(%d+)%]")
  if refused and errors.is_own(err.file) then
    element = tonumber(refused)
    err.message = string.gsub(err.message, "^results%[%d+%]", "the result")
  end
  if type(element) == "number" then
    err.message = string.format("element %d: %s", element, err.message)
    if errors.is_own(err.file) then -- what was raised has no place
      err.file = string.match(info.source, "^[@=](.*)") or info.short_src
      err.line = info.linedefined
    end
  elseif err.code == "DEP" then
    -- The lines that it shows are those below: what is said of them is said of the function.
    local place = string.format("\n  %s:%d:", info.short_src, info.linedefined)
    local message = string.gsub(err.message, "^loop over i ", "meissa.map ", 1)
    message = string.gsub(message, "\n  %d+ | [^\n]*\n *%^+", (string.gsub(place, "%%", "%%%%")))
    message = string.gsub(message, "iteration (%d)", "element %1")
    err.message = string.gsub(message, "meissa%.each%(%.%.%., (%b{}), %.%.%.%)",
      "meissa.map(list, fn, %1)")
    err.file, err.line = errors.place()
  end
  return err
end

-- A list with holes has no length that one could trust.
local function check_whole(list)
  local count, last = #list, 0
  for key in tables.each(list) do
    if type(key) == "number" and key > last then last = key end
  end
  for position = 1, math.max(count, last) do
    if list[position] == nil then
      errors.raise("OPT", "meissa.map: the list has a hole: element %g is there, element %d is nil",
                   last, position)
    end
  end
end

--- The results of a function for each element of a list: map(list, fn, opts). Results are what can
-- return from a loop: numbers, strings, booleans, tables of these, and what stands outside of fn.
-- @tab list a list without holes; its elements are what captured values can be
-- @func fn fn(element, position) gives one result; it must not change what it does not own
-- @tab[opt] opts `impure = true` allows files and foreign code, `explain = true` shows the plan,
-- `serial = true` runs whatever cannot run in parallel as a plain loop
-- @treturn table the results, in the order of the list
-- Errors: OPT, DEP, BDY (naming the element), WRK, INT, NET.
-- @usage local losses = meissa.map({0.1, 0.01, 0.001}, function(rate) return train(rate) end)
function M.map(list, fn, opts)
  if type(list) ~= "table" or type(fn) ~= "function" then
    errors.raise("OPT", "meissa.map takes a list and a function of an element: " ..
                 "meissa.map({0.1, 0.01}, function(rate) return train(rate) end)")
  end
  check_whole(list)
  errors.check_options("map", opts, {"impure", "explain", "serial"})
  local options = {grid = {math.min(math.max(#list, 1), MOST_BLOCKS)}, ordered = false}
  for name, value in tables.each(opts or {}) do options[name] = value end
  local results = {}
  local ok, err = pcall(loop.each, #list, options, function(i)
    results[i] = fn(list[i], i)
  end)
  if not ok then error(reword(err, fn), 0) end
  return results
end

return M
