-- SPDX-License-Identifier: MIT
--
-- Locals that inner loops count up or down (`p = p + 1`): subscripts made of them are as exact as
-- those made of indices, and the results are those of the loop as written.
local meissa = require "meissa"
local plain = require "spec.support.plain"

local N, M, K = 9, 4, 3

-- What the loop does; the strategy: nil where it cannot be proved parallel.
local BODIES = {
  {"local p = (i - 1) * m for j = 1, m do p = p + 1 A[p] = B[p] + j end", "independent"},
  {"local p = i * m + 1 for j = 1, m do p = p - 1 A[p] = B[p] + j end", "independent"},
  {"local p = i * m for j = m, 1, -1 do A[p] = p * j p = p - 1 end", "independent"},
  {"local p = (i - 1) * m * k for a = 1, m do for b = 1, k do p = p + 1 A[p] = B[a] * b end end",
    "independent"},
  {"local p = (i - 1) * m * k for a = 1, m do for b = 1, k do p = 1 + p A[p] = b end A[p] = a end",
    "independent"},
  {"local p, q = (i - 1) * m, i for j = 1, m do p, q = p + 1, q + 2 A[p] = B[q] end",
    "independent"},
  {"local p = i * m for j = 1, m do if B[j] > 3 then goto continue end A[p] = B[j] " ..
    "::continue:: p = p - 1 end", "independent"},
  {"local p = i * m for j = 1, m do if B[j] > 3 then goto continue end A[p] = B[j] p = p - 1 " ..
    "::continue:: end", nil},
  {"local p = (i - 1) * m for j = 1, m do p = p + 1 if B[j] > 3 then goto continue end " ..
    "A[p] = B[j] + p ::continue:: end", "independent"},
  {"local p = (i - 1) * m for j = 1, m do p = p + 1 if B[p] > 3 then break end A[p] = j end",
    "independent"},
  {"local p = (i - 1) * m for j = 1, m do p = p + 1 if B[p] > 3 then break end end A[p] = 1", nil},
  {"local p = (i - 1) * m for j = 1, m do if B[j] > 3 then p = p + 1 end A[p + 1] = j end", nil},
  {"local p = i if B[i] > 3 then p = 2 * i A[p] = 1 p = p + 1 A[p] = 2 end", "independent"},
  {"local p = i if B[i] > 3 then p = p + 9 else A[p + 20] = 1 end", "independent"},
  {"local p = i if B[i] > 3 then p = p + 1 end A[p] = 1", nil},
  {"local p = i while B[p] > 3 do p = p + 1 A[p] = i end", nil},
  {"local p = i repeat p = p + 1 until B[p] > 3 A[p] = i", nil},
  {"local p = i p = p + n A[p] = A[p + n] p = p + 2 * n A[p] = A[p + n]", "independent"},
  {"local p = i local function next() p = p + 1 return p end A[next()] = i A[p + n] = p", nil},
  {"local p = 0 for j = 1, m do p = p + 1 A[(i - 1) * m + p] = j end p = 7 A[p * 10 + i] = p",
    "independent"},
  {"put((i - 1) * m, m, i)", "independent"}, {"A[last(i, m) + i] = 1", "independent"},
  {"A[last(0 * i, m)] = i", nil},
  {"local p = (i - 1) * (m + 1) for j = 1, m do p = p + 1 A[p + 1] = A[p] + B[j] end",
    "independent"},
  {"local p = (i - 1) * m for j = 1, m do p = p + 1 A[p + 1] = A[p] + B[j] end", nil},
  -- as often as an index says
  {"local p = 0 for j = 1, i do p = p + 1 A[(i - 1) * n + p] = j end", "independent"},
  {"local p = 0 for j = 1, i do p = p + 1 end A[p] = i", "independent"},
  {"local p = 0 for j = 1, i do p = p + 2 end for j = 1, 2 do p = p - 1 A[p + 1] = j end",
    "independent"},
  {"local p = 1 for j = n, i, -1 do p = p + 1 end A[p] = i", "independent"},
  {"local p = 1 for j = i, n - 1 do p = p + 1 if B[j] > 9 then break end end A[p] = i", nil},
  {"local p = 2 * n for j = 1, i do p = p - 1 end A[p] = A[p + n]", "independent"},
  {"local p = 2 * n for j = 1, i do p = p - 1 end A[p] = A[p - 1]", nil},
  {"for a = 1, m do local p = i for b = 1, a do p = p + n end A[p] = a end", "independent"},
  {"for a = 1, m do local p = i for b = 1, a do p = p + 1 end A[p] = a end", nil},
  {"local p = 2 * n for j = 1, i do p = p - 1 end A[p + i] = i", nil},
  {"for k = i, i + 2 * n, n do A[k] = i end", "independent"},
  {"local p = i for j = 1, 2 do p = p + 1 end A[p] = A[i + 2] + 1", "independent"},
  {"local p = i for j = 1, 2 do p = p + 1 end A[p] = A[i + 1] + 1", nil},
  {"local p = i for j = 3, i do p = p + 1 end A[p] = i", "independent"}, -- 1, 2, 4, 6, ...
  {"local p = 0 for j = 3, i do p = p + 1 end A[i + p] = i", "independent"},
  {"local p = 0 for j = 3, i do p = p + 1 end A[p + 1] = i", nil},
  {"local p = 3 for j = i, 4 do p = p - 1 end A[5 * i + p] = A[5 * i + p] + 1", "independent"},
  {"local p = 0 for j = i, 4 do p = p - 1 end A[2 * i + p + 4] = i", "independent"},
  {"local p = 0 for j = i, 4 do p = p + 2 end A[i + p] = i", nil},
  {"local p = i for j = 3, i do p = p + n end for j = 1, 2 do p = p + n A[p] = j end",
    "independent"},
  {"local p = i for j = 3, i do p = p + 1 end for j = 1, 2 do p = p + n A[p] = j end", nil},
  {"local p = i for j = 3, i do p = p + n end for j = 2, i do p = p - n A[p + n] = j end",
    "independent"},
  {"local p = i * n for j = 1, i, 2 do p = p + 1 A[p] = j end A[p + 1] = i", "independent"},
  {"local p = 0 for j = 1, i, 2 do p = p + 1 end A[2 * p - i % 2] = i", "independent"},
  {"local p = 0 for j = 1, i, 2 do p = p + 1 end A[p] = i", nil},
  {"local p = i for j = 5, i, 3 do p = p + 1 end A[p] = i", "independent"},
  {"local p = n for j = i, 1, -2 do p = p - 1 end A[2 * p + i % 2] = i", "independent"},
  {"local p = n for j = i, 1, -2 do p = p - 1 end A[p] = i", nil},
  {"for a = i, 1, -2 do local p = i for b = 1, a, 2 do p = p + n end A[p] = a end", "independent"},
  {"local p = 0 for j = 1, i % 3 do p = p + 1 end local q = i % 4 A[3 * i + p] = q", "independent"},
  {"local p = 0 for j = 2, i % 3 do p = p + 1 end local q = i % 4 A[2 * i + p] = q", "independent"},
  {"local p = 0 for j = 2, i % 3 do p = p + 1 end local q = i % 4 A[i + p] = q", nil},
}

-- Functions that a loop's text calls.
local FUNCTIONS = [[
local function put(p, m, v) for j = 1, m do p = p + 1 A[p] = v + j end end
local function last(p, m) for j = 1, m do p = p + 1 end return p end
]]

local function world(array)
  local A, B = array(), array()
  for k = 1, 12 * N do A[k], B[k] = k % 11, k * k % 7 end
  return {A = A, B = B, n = N, m = M, k = K}
end

local function loop(body)
  return FUNCTIONS .. "for i in parallel(n) do " .. body .. " end"
end

local function plainly(body)
  local env = world(function() return {} end)
  plain.run(loop(body), env, plain.parallel)
  return plain.numbers(env.A)
end

describe("locals that are counted up and down", function()
  teardown(function() meissa.init {} end)

  for number, case in ipairs(BODIES) do
    it(("are analysed: %d"):format(number), function()
      local env = world(function() return meissa.zeros(12 * N) end)
      env.plan = meissa.plan
      local text = FUNCTIONS .. "return plan(n, function(i) " .. case[1] .. " end)"
      local chunk = setfenv(assert(loadstring(text)), setmetatable(env, {__index = _G}))
      assert.equal(case[2] or "serial", chunk().strategy)
    end)
  end

  for workers = 0, 2 do
    for _, engine in ipairs {"lua", "native"} do
      it(("give what plain Lua gives: %d workers, %s"):format(workers, engine), function()
        meissa.init {workers = workers}
        for _, case in ipairs(BODIES) do
          local text = loop(case[1])
          local env = world(function() return meissa.zeros(12 * N) end)
          env.options = {engine = engine, serial = case[2] == nil}
          text = text:gsub("parallel%(n%)", "parallel(n, options)")
          plain.run(text, env, meissa.parallel)
          assert.equal(plainly(case[1]), plain.numbers(env.A:totable()), case[1])
        end
      end)
    end
  end
end)
