-- SPDX-License-Identifier: MIT
--
-- Meissa's own code goes through tables without LuaJIT's instruction for pairs and without compiled
-- calls of `next`, which are not always right there (lua/meissa/base/tables.lua).
local child = require "spec.support.child"
local funcbc, funck = require("jit.util").funcbc, require("jit.util").funck

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
      lines[#lines + 1] = require("jit.util").funcinfo(fn, pc).currentline
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

  it("name no `next` but that which is not compiled", function()
    local found, files = {}, io.popen "find lua/meissa -name '*.lua' | sort"
    for path in files:lines() do
      local text = child.read(path):gsub("%-%-[^\n]*", "")
      if path ~= "lua/meissa/base/tables.lua" and path ~= "lua/meissa/base/strict.lua" and
         text:find("%f[%w_.:]next%(") then
        found[#found + 1] = path
      end
    end
    files:close()
    assert.same({}, found)
  end)

  -- How many traces call `next`, after hot code that goes through tables by these functions.
  local function traces_with_next(each, follow)
    return (child.script([[
      local tables = require "meissa.base.tables"
      local next = next
      local each, follow = ]] .. each .. ", " .. follow .. [[

      local sum, sets = 0, {{}, {a = 1}, {1, 2, 3}, {a = 1, b = 2, 3}}
      for pass = 1, 300 do
        for _, set in ipairs(sets) do
          for key, value in each(set) do sum = sum + value + #tostring(key) end
          if follow(set) == nil then sum = sum + 1 end
          sum = sum + #tables.keys(set) + (tables.copy(set).a or 0)
        end
      end
      local util, names, count = require "jit.util", require "jit.vmdef".ircall, 0
      for trace = 1, 1000 do
        local info = util.traceinfo(trace)
        for ref = 1, info and info.nins or 0 do
          local mode, what, _, op2 = util.traceir(trace, ref)
          local name = what and require "jit.vmdef".irnames:sub(bit.rshift(what, 8) * 6 + 1,
                                                                bit.rshift(what, 8) * 6 + 6)
          if name and name:find "^CALL" and names[op2] == "lj_vm_next" then count = count + 1 end
        end
      end
      print(sum, count)]]):gsub("%s+$", ""))
  end

  it("are compiled without `next`", function()
    local plain, sum, count
    for _ = 1, 8 do -- LuaJIT draws lots which traces it tries again
      plain = traces_with_next("function(t) return next, t end", "next")
      sum, count = plain:match "^(%d+)\t(%d+)$"
      if count ~= "0" then break end
    end
    assert.is_true(tonumber(count) > 0, plain) -- so it is seen
    assert.equal(sum .. "\t0", traces_with_next("tables.each", "tables.next"))
  end)
end)
