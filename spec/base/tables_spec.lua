-- SPDX-License-Identifier: MIT
--
-- Meissa's own code goes through tables without LuaJIT's instruction for pairs, which is not always
-- right there (lua/meissa/base/tables.lua).
local funcbc, funck = require "jit.util".funcbc, require "jit.util".funck

local function opcodes_of(text)
  local fn, list = assert(loadstring(text)), {}
  for pc = 1, 100 do
    local instruction = funcbc(fn, pc)
    if not instruction then return list end
    list[pc] = bit.band(instruction, 0xff)
  end
end

-- The instructions that a loop over pairs has and one over another function has not.
local SPECIAL = {}
do
  local with = opcodes_of "local t, u = ... for k, v in pairs(t) do end"
  local without = opcodes_of "local t, u = ... for k, v in other(t) do end"
  for pc, opcode in ipairs(with) do
    if opcode ~= without[pc] then SPECIAL[opcode] = true end
  end
end

-- The lines of a function, and of those inside it, that have such an instruction.
local function lines_of(fn, lines)
  local pc = 1
  local instruction = funcbc(fn, pc)
  while instruction do
    if SPECIAL[bit.band(instruction, 0xff)] then
      lines[#lines + 1] = require "jit.util".funcinfo(fn, pc).currentline
    end
    pc = pc + 1
    instruction = funcbc(fn, pc)
  end
  local n = -1
  local constant = funck(fn, n)
  while constant ~= nil do
    if type(constant) == "proto" then lines_of(constant, lines) end
    n = n - 1
    constant = funck(fn, n)
  end
  return lines
end

describe("loops over tables", function()
  it("are seen here", function()
    local fn = assert(loadstring("return function(t)\nfor k in pairs(t) do end end"))
    assert.same({2, 2}, lines_of(fn, {}))
    assert.same({1, 1}, lines_of(assert(loadstring "for k in next, {} do end"), {}))
    assert.same({}, lines_of(assert(loadstring "for k in ipairs {} do end"), {}))
  end)

  it("are none of LuaJIT's own in any file of Meissa", function()
    local found, files = {}, io.popen "find lua/meissa -name '*.lua' | sort"
    for path in files:lines() do
      for _, line in ipairs(lines_of(assert(loadfile(path)), {})) do
        found[#found + 1] = path .. ":" .. line
      end
    end
    files:close()
    assert.same({}, found)
  end)
end)
