-- SPDX-License-Identifier: MIT
--- The programs of bench/users.lua as plain Lua: LuaJIT's loops over FFI arrays in one process.
--
-- A text for Meissa becomes a plain one by four rules: `for i in parallel(n) do` counts, `{a, b}`
-- gives its bounds; with two indices there are two loops, and the line `end --2` ends both;
-- `parallel(S)` goes through the entries of a sparse array, row by row; `S[i]:nonzeros()` through
-- those of a row.
local ffi = require "ffi"

local M = {}

-- The bounds of `for`: of "n", or of "{a, b}".
local function bounds(space)
  local first, last = space:match "^{(.-), (.*)}$"
  return first or "1", last or space
end

-- The bounds of each of the spaces of a call: "{2, n}, m" are two.
local function spaces_of(text)
  local list, depth, from = {}, 0, 1
  for at = 1, #text + 1 do
    local letter = text:sub(at, at)
    if letter:find "[{(]" then depth = depth + 1 end
    if letter:find "[})]" then depth = depth - 1 end
    if depth == 0 and (letter == "," or letter == "") then
      list[#list + 1] = text:sub(from, at - 1):match "^%s*(.-)%s*$"
      from = at + 1
    end
  end
  return list
end

local function counting(indices, spaces)
  local text, k = "", 0
  for index in indices:gmatch "%a+" do
    k = k + 1
    local first, last = bounds(spaces[k])
    text = text .. ("for %s = %s, %s do "):format(index, first, last)
  end
  return text
end

--- A program's text as plain Lua. Each loop that was parallel tells `called()` first, if it is
-- wanted.
function M.text(text, counted)
  text = text:gsub("for ([%a, ]+) in parallel(%b()) do", function(indices, call)
    local spaces = spaces_of(call:sub(2, -2))
    local begin = counted and "called() " or ""
    local _, commas = indices:gsub(",", "")
    if commas == #spaces - 1 then return begin .. counting(indices, spaces) end
    local i, j, v = indices:match "(%a+), (%a+), (%a+)"
    local S = spaces[1]
    return begin .. ("for e = 1, %s.count do local %s, %s, %s = %s.row[e], %s.column[e], ")
      :format(S, i, j, v, S, S) .. S .. ".value[e]"
  end)
  text = text:gsub("for (%a+), (%a+) in (%a+)%[(%a+)%]:nonzeros%(%) do", function(j, v, S, i)
    return ("for e = %s.start[%s] + 1, %s.start[%s + 1] do "):format(S, i, S, i) ..
      ("local %s, %s = %s.column[e], %s.value[e]"):format(j, v, S, S)
  end)
  return (text:gsub("end %-%-2", "end end"))
end

-- A pointer that is subscripted from 1 on.
local function from_one(pointer) return pointer - 1 end

local function sparse_of(S)
  local rows, count = S:size(1), S:nnz()
  local own = {count = count, memory = {start = ffi.new("int64_t[?]", rows + 1),
    column = ffi.new("int32_t[?]", count), value = ffi.new("double[?]", count),
    row = ffi.new("int32_t[?]", count)}}
  local at, start = 0, {0}
  for i = 1, rows do
    for j, v in S[i]:nonzeros() do
      own.memory.row[at], own.memory.column[at], own.memory.value[at] = i - 1, j - 1, v
      at = at + 1
    end
    start[i + 1], own.memory.start[i] = at, at
  end
  -- Numbers from 1 on for Lua, in memory of their own: C counts from 0.
  own.start, own.value = start, from_one(own.memory.value)
  own.lua = {row = ffi.new("int32_t[?]", count), column = ffi.new("int32_t[?]", count)}
  for e = 0, count - 1 do
    own.lua.row[e], own.lua.column[e] = own.memory.row[e] + 1, own.memory.column[e] + 1
  end
  own.row, own.column = from_one(own.lua.row), from_one(own.lua.column)
  return own
end

--- An array of Meissa in memory of the FFI: {memory = elements, and `bytes` of them; or of a sparse
-- array vectors; value = what plain Lua subscripts}.
function M.array(A)
  if not pcall(A.narrow, A, 1, 1, 1) then -- sparse arrays have no views
    local own = sparse_of(A)
    return {sparse = true, memory = own.memory, value = own}
  end
  local kind, count = A:type() == "int32" and "int32_t" or "double", A:nnz()
  local memory = ffi.new(kind .. "[?]", count)
  ffi.copy(memory, (A:clone():data()), count * ffi.sizeof(kind))
  local own = {memory = memory, bytes = count * ffi.sizeof(kind)}
  if A:dim() == 1 then
    own.value = from_one(memory)
  else
    own.value = {}
    for i = 1, A:size(1) do own.value[i] = from_one(memory + (i - 1) * A:size(2)) end
  end
  return own
end

return M
