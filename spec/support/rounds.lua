-- SPDX-License-Identifier: MIT
--- Programs in rounds, run by meissa.iterate and by a plain driver loop with a snapshot.
--
-- A body is written once, with `NEW.A` for what the round makes and `OLD.A` for what it reads; as
-- text for iterate both are A, in the plain loop OLD.A is a copy of A as the round began.
local M = {}

--- The loop's text for meissa.iterate.
-- @tab program `arrays` (names), `rounds`, `indices` (names), `ranges` (texts; nil: the array's),
-- `body`, `options` (text)
function M.iterate_text(program)
  local body = program.body:gsub("OLD%.", ""):gsub("NEW%.", "")
  local arrays = #program.arrays == 1 and program.arrays[1] or
    "{" .. table.concat(program.arrays, ", ") .. "}"
  local ranges = program.ranges and ", " .. table.concat(program.ranges, ", ") or ""
  return ("for t, %s in meissa.iterate(%s, %d%s%s) do\n%s\nend"):format(
    table.concat(program.indices, ", "), arrays, program.rounds, ranges,
    program.options and ", " .. program.options or "", body)
end

--- The same as plain loops over `bounds`, a text for each index ("1, n").
function M.plain_text(program)
  local lines = {("for t = 1, %d do local OLD = {}"):format(program.rounds)}
  for _, name in ipairs(program.arrays) do
    lines[#lines + 1] = ("OLD.%s = %s:clone()"):format(name, name)
  end
  for k, index in ipairs(program.indices) do
    lines[#lines + 1] = ("for %s = %s do"):format(index, program.bounds[k])
  end
  lines[#lines + 1] = (program.body:gsub("NEW%.", ""))
  lines[#lines + 1] = ("end "):rep(#program.indices + 1)
  return table.concat(lines, "\n")
end

--- Runs a text with the variables of a world as globals; these afterwards.
function M.run(text, world)
  local chunk = assert(loadstring(text, text))
  setfenv(chunk, setmetatable(world, {__index = _G}))
  chunk()
  return world
end

--- All bits of an array, as a string.
function M.bits(A)
  local list, k = {}, 0
  for _, value in ipairs {A:clone()} do
    local flat = value:totable()
    local function add(part)
      if type(part) == "table" then
        for _, each in ipairs(part) do add(each) end
      else
        k = k + 1
        list[k] = ("%.17g"):format(part)
      end
    end
    add(flat)
  end
  return table.concat(list, " ")
end

return M
