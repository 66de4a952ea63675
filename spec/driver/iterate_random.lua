-- SPDX-License-Identifier: MIT
--- Random programs in rounds, in the form that spec/support/rounds.lua runs: stencils with offsets
-- and conditions, bands, mirrors, subscripts from data, sparse rows, several arrays, carried ones.
local meissa = require "meissa"

local M = {}

local pick = math.random

-- A value that is read of array `name`, given by an index j of 1 .. n.
local READS = {
  function(name) return ("OLD.%s[(j + %d) %% n + 1]"):format(name, pick(0, 9)) end,
  function(name) return ("OLD.%s[n + 1 - j]"):format(name) end,
  function(name) return ("OLD.%s[math.min(j + %d, n)]"):format(name, pick(3)) end,
  function(name) return ("OLD.%s[math.max(j - %d, 1)]"):format(name, pick(3)) end,
  function(name) return ("OLD.%s[p[j]]"):format(name) end,
  function(name) return ("OLD.%s[p[(j + t) %% n + 1]]"):format(name) end,
  function(name) return ("OLD.%s[j]"):format(name) end,
  function(name) return ("OLD.%s[%d]"):format(name, pick(5)) end,
  function(name) return ("OLD.%s[math.floor((j + 1) / 2)]"):format(name) end,
}

local function read(names)
  return READS[pick(#READS)](names[pick(#names)])
end

-- Statements that leave something in the local x.
local PARTS = {
  function(names) return ("x = x + 0.5 * %s"):format(read(names)) end,
  function(names) return ("x = x - %s * 0.25"):format(read(names)) end,
  function(names)
    local name, width = names[pick(#names)], pick(3)
    return ("for k = math.max(1, j - %d), math.min(n, j + %d) do x = x + OLD.%s[k] * 0.1 end")
      :format(width, width, name)
  end,
  function(names)
    return ("if j %% %d == t %% 2 then x = x + %s else x = x - 1 end"):format(pick(2, 4),
      read(names))
  end,
  function(names)
    return ("for i, v in S[j]:nonzeros() do x = x + v * OLD.%s[i] end"):format(names[pick(#names)])
  end,
  function() return "c[j] = c[j] + t x = x + c[j] * 0.01" end,
  function() return "sum = sum + x" end,
}

-- How an array gets its next version.
local WRITES = {
  function(name) return ("NEW.%s[j] = x * 0.3"):format(name) end,
  function(name) return ("NEW.%s[n + 1 - j] = x * 0.2 + j"):format(name) end,
  function(name)
    return ("if (j + t) %% %d ~= 0 then NEW.%s[j] = x * 0.4 end"):format(pick(2, 4), name)
  end,
  function(name) return ("if j > %d then NEW.%s[j] = x * 0.25 end"):format(pick(4), name) end,
}

--- A program; math.random decides about it.
function M.program()
  local n, names = pick(5, 40), {"A", "B", unpack {"C"}}
  for _ = pick(#names), #names - 1 do table.remove(names) end
  local lines = {"local x = 0.5 * j"}
  for _ = 1, pick(4) do lines[#lines + 1] = PARTS[pick(#PARTS)](names) end
  for _, name in ipairs(names) do lines[#lines + 1] = WRITES[pick(#WRITES)](name) end
  local seed = pick(1000)
  local function world()
    local env = {meissa = meissa, n = n, sum = 0, p = meissa.zeros({n}, {type = "int32"}),
                 c = meissa.zeros {n}}
    local at = {i = {}, j = {}, v = {}}
    for j = 1, n do
      env.p[j] = (j * 7 + seed) % n + 1
      for k = 1, 3 do
        at.i[#at.i + 1], at.j[#at.j + 1], at.v[#at.v + 1] = j, (j * k + seed) % n + 1, k / 8
      end
    end
    env.S = meissa.sparse({n, n}, {i = at.i, j = at.j, v = at.v})
    for k, name in ipairs(names) do env[name] = meissa.rand({n}, {seed = seed + k}) end
    return env
  end
  return {arrays = names, rounds = pick(2, 7), indices = {"j"}, bounds = {"1, n"}, ranges = {"n"},
          body = table.concat(lines, "\n"), world = world}
end

return M
