-- SPDX-License-Identifier: MIT
--- Lists of numbers from outside of the loop, and lists of such lists, as kernels read them.
--
-- Lists in one another are numbered level by level, the outermost 0, and numbers in them go on
-- behind the last list: element k of list n has the number starts[n] + k - 1 (MS_PARAM_STARTS in
-- csrc/kernel/emit/emit.h).
-- @module meissa.kernel.outer_lists

local ffi = require "ffi"

local M = {}

local doubles = ffi.typeof("double[?]")
local wholes = ffi.typeof("int64_t[?]")

-- The lists, in the order of their numbers, and how many elements all have; a list of numbers is
-- all there is, and its first element has number 0.
local function lists_of(outermost)
  if type(outermost[1]) == "number" then return {outermost}, 0, #outermost end
  local lists, at, elements = {outermost}, 1, 0
  while lists[at] do
    local list = lists[at]
    elements = elements + #list
    if type(list[1]) == "table" then
      for k = 1, #list do lists[#lists + 1] = list[k] end
    end
    at = at + 1
  end
  return lists, 1, elements
end

--- Copies such lists.
-- @tab outermost the list
-- @tab[opt] into what this gave for others: its memory is used again if it is as large
-- @treturn table {numbers =, starts = vectors; count = of elements; lists = how many}
function M.copy(outermost, into)
  local lists, first, elements = lists_of(outermost)
  if not into or into.count ~= elements or into.lists ~= #lists then
    into = {count = elements, lists = #lists, numbers = doubles(first + elements + 1),
            starts = wholes(#lists + 1)}
  end
  for n, list in ipairs(lists) do
    into.starts[n - 1] = first
    if type(list[1]) == "number" then
      for k = 1, #list do into.numbers[first + k - 1] = list[k] end
    end
    first = first + #list
  end
  into.starts[#lists] = first
  return into
end

--- Calls found(slot, value, subject, key) for each number of lists that were copied.
function M.each_number(outermost, copied, found)
  for n, list in ipairs((lists_of(outermost))) do
    for k = 1, type(list[1]) == "number" and #list or 0 do
      found(copied.numbers + (copied.starts[n - 1] + k - 1), list[k], list, k)
    end
  end
end

return M
