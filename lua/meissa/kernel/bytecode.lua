-- SPDX-License-Identifier: MIT
--- What a Lua function does, as its bytecode tells: which globals it reads, and whether it uses
-- LuaJIT's own `^`.
-- @module meissa.kernel.bytecode
local util = require("jit.util")

local M = {}

local band, rshift = bit.band, bit.rshift

-- The opcodes that a probe has and an empty function has not.
local function opcodes(source)
  local codes = {}
  local fn = assert(loadstring(source))
  for pc = 1, util.funcinfo(fn).bytecodes - 1 do
    local ins = util.funcbc(fn, pc)
    if ins then codes[pc] = band(ins, 0xff) end
  end
  return codes
end

-- The numbering differs between versions, so it is asked for.
local GGET = opcodes("return probe")[1]
local POW = opcodes("local a, b = ... return a ^ b")[2]

local function scan(proto, seen, about)
  local info = util.funcinfo(proto)
  for pc = 1, info.bytecodes - 1 do
    local ins = util.funcbc(proto, pc)
    local op = band(ins, 0xff)
    if op == GGET then
      local name = util.funck(proto, -rshift(ins, 16) - 1)
      if not seen[name] then
        seen[name] = true
        about.globals[#about.globals + 1] = name
      end
    elseif op == POW then
      about.power = true
    end
  end
  if not info.children then return end
  for n = -1, -info.gcconsts, -1 do
    local constant = util.funck(proto, n)
    if type(constant) == "proto" then scan(constant, seen, about) end
  end
end

--- Looks through a function and those defined in it.
-- @tparam function fn a Lua function
-- @treturn table {globals = list of names that it reads, power = true if it uses `^`}
function M.about(fn)
  local about = { globals = {} }
  scan(fn, {}, about)
  return about
end

return M
