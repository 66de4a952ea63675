-- SPDX-License-Identifier: MIT
--- The arguments of a benchmark that takes a few by their place, with help text.
local argparse = require "argparse"

--- Reads them, all of which may be left out.
-- @string name the benchmark's file
-- @string summary what it measures, a sentence
-- @tab ... of each argument {name, what it is, default, choices = a list or nil}; whole numbers
-- from 1 on where the default is a number
-- @return their values, in order
return function(name, summary, ...)
  local parser, list, values = argparse(name, summary), {...}, {}
  local function whole(text)
    local number = tonumber(text)
    if number and number >= 1 and number % 1 == 0 then return number end
    return nil, "not a whole number from 1 on: " .. text
  end
  for _, each in ipairs(list) do
    local what = ("%s (default: %s)"):format(each[2], each[3])
    local argument = parser:argument(each[1], what):args "?"
    if each.choices then argument:choices(each.choices) end
    if type(each[3]) == "number" then argument:convert(whole) end
  end
  local given = parser:parse()
  for k, each in ipairs(list) do values[k] = given[each[1]] or each[3] end
  return unpack(values)
end
