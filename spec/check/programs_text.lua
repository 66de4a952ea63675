-- SPDX-License-Identifier: MIT
--
-- Programs (see programs_random.lua) as text, and made smaller.

local M = {}

local function render(list, lines, indent)
  for _, statement in ipairs(list) do
    local pad = ("  "):rep(indent)
    if statement.text then
      lines[#lines + 1] = pad .. statement.text
    else
      lines[#lines + 1] = pad .. statement.open
      render(statement.body, lines, indent + 1)
      if statement.other then
        lines[#lines + 1] = pad .. statement.middle
        render(statement.other, lines, indent + 1)
      end
      lines[#lines + 1] = pad .. statement.close
    end
  end
end

--- The text of a program: a chunk that takes what
-- programs_random.arguments gives and returns the scalars s, m, n, ok, q.
-- @bool[opt] global whether all that precedes the loop makes globals rather than locals
function M.of(program, global)
  local lines, names = {}, program.names
  for _, line in ipairs(program.head) do
    lines[#lines + 1] = global and line:gsub("^local ", "") or line
  end
  if program.collapse then names = { "i" } end
  lines[#lines + 1] = ("for %s in parallel(%s, {%s}) do"):format(table.concat(names, ", "),
    program.space, program.options)
  for _, header in ipairs(program.headers or {}) do lines[#lines + 1] = header end
  if program.skips then lines[#lines + 1] = "  do" end -- a label may not see later locals
  render(program.body, lines, 1)
  if program.skips then
    lines[#lines + 1] = "  end"
    lines[#lines + 1] = "  ::continue::"
  end
  for _ = 1, 1 + #(program.headers or {}) do lines[#lines + 1] = "end" end
  lines[#lines + 1] = "return {s = s, m = m, n = n, ok = ok, q = q}"
  return table.concat(lines, "\n")
end

-- Calls try() with every way of removing one statement done; keeps those for which it is true.
local function shrink_list(list, try)
  local k, smaller = 1, false
  while k <= #list do
    local statement = table.remove(list, k)
    if try() then
      smaller = true
    else
      local inside = statement.body
      for p = 1, inside and #inside or 0 do table.insert(list, k + p - 1, inside[p]) end
      if inside and try() then
        smaller = true
      else
        for _ = 1, inside and #inside or 0 do table.remove(list, k) end
        table.insert(list, k, statement)
        if inside then smaller = shrink_list(inside, try) or smaller end
        if statement.other then smaller = shrink_list(statement.other, try) or smaller end
        k = k + 1
      end
    end
  end
  return smaller
end

--- Removes statements from a program as long as fails(program) stays true.
function M.shrink(program, fails)
  local function try() return fails(program) end
  repeat
    local smaller = shrink_list(program.body, try)
    for k = #program.head, 3, -1 do
      local line = table.remove(program.head, k)
      if try() then smaller = true else table.insert(program.head, k, line) end
    end
  until not smaller
  return program
end

return M
