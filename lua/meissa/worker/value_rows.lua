-- SPDX-License-Identifier: MIT
--- How the values of a replica lie in its row of a mailbox, behind the head: all numbers together,
-- then one array after the other, each between stamps. Who has values of the same form finds them.
-- @module meissa.worker.value_rows

local array = require "meissa.array"
local ffi = require "ffi"
local mailboxes = require "meissa.kernel.mailbox"

local M = {}

local doubles, stamps = ffi.typeof "double *", ffi.typeof "volatile double *"

local LINE, room_of = mailboxes.LINE, mailboxes.room_of

-- What is put for an array, and where in a row; `e` is its number among the values.
local function place_of(e, value, at)
  local about, core = array.describe(value), array.core_of_part(value)
  return {e = e, at = at + LINE, footer = at + LINE + room_of(about.bytes), bytes = about.bytes,
          count = about.count, size = about.bytes / math.max(about.count, 1),
          type = about.type, number = core.type, dims = about.dims}
end

--- Where in each row values lie: all numbers together, `numbers`, then the arrays; `size` in all.
function M.layout(list)
  local layout, at, count = {places = {}}, mailboxes.HEAD, 0
  local function add(place)
    layout.places[#layout.places + 1], at = place, place.footer + LINE
  end
  for _, value in ipairs(list) do count = count + (type(value) == "number" and 1 or 0) end
  if count > 0 then
    layout.numbers = {at = at + LINE, footer = at + LINE + room_of(8 * count)}
    add(layout.numbers)
  end
  for e, value in ipairs(list) do
    if type(value) ~= "number" then add(place_of(e, value, at)) end
  end
  layout.size = at
  return layout
end

--- The array that lies at a place.
function M.array_in(row, place, board)
  return board:array_at(place, tonumber(row - board.memory) + place.at)
end

--- Stamps lie before and behind a place: number 0 of what was put, 1 of what was summed there.
function M.write_between(row, place, number, stamp, write, ...)
  ffi.cast(stamps, row + place.at - LINE)[number] = stamp
  write(row, place, ...)
  ffi.cast(stamps, row + place.footer)[number] = stamp
end

--- Whether both stamps with this number are such.
function M.has_stamp(row, place, number, stamp)
  return ffi.cast(stamps, row + place.at - LINE)[number] == stamp and
    ffi.cast(stamps, row + place.footer)[number] == stamp
end

--- Puts the numbers among values.
function M.put_numbers(row, place, list)
  local to, n = ffi.cast(doubles, row + place.at), 0
  for _, value in ipairs(list) do
    if type(value) == "number" then to[n], n = value, n + 1 end
  end
end

--- Puts an array, without the elements from `first` on, to before `last`, where `from` tells where
-- it lies.
function M.put_array(row, place, value, board, from, first, last)
  if not from then
    M.array_in(row, place, board):copy(value)
    return
  end
  local to, rest = row + place.at, last * place.size
  ffi.copy(to, from, first * place.size)
  ffi.copy(to + rest, from + rest, place.bytes - rest)
end

--- Number n of a row, from 0.
function M.number_at(row, layout, n)
  return ffi.cast(doubles, row + layout.numbers.at)[n]
end

--- What becomes of the numbers among values, by their places in the list: `combine(n)` of each, by
-- its place among the numbers from 0.
function M.numbers_of(list, combine)
  local numbers, n = {}, 0
  for e, value in ipairs(list) do
    if type(value) == "number" then numbers[e], n = combine(n), n + 1 end
  end
  return numbers
end

--- The numbers and the arrays that lie on a row, by their places in a list as the given one.
function M.values_on(row, layout, list, board)
  local numbers = M.numbers_of(list, function(n) return M.number_at(row, layout, n) end)
  local arrays = {}
  for _, place in ipairs(layout.places) do
    if place.e then arrays[place.e] = M.array_in(row, place, board) end
  end
  return numbers, arrays
end

return M
