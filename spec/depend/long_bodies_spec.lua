-- SPDX-License-Identifier: MIT
--
-- Generated bodies: hundreds of statements that touch one array, and expressions of hundreds of
-- terms, are analysed and give what plain Lua gives.
local meissa = require "meissa"

local N, WIDTH = 5, 400

-- A loop's text from a line for each k.
local function body(line, separator, first, last)
  local lines = {}
  for k = 1, WIDTH do lines[k] = line:gsub("%$k", k):gsub("%$n", k + 1) end
  return (first or "") .. table.concat(lines, separator or " ") .. (last or "")
end

local BODIES = {
  { "statements that read what the next one writes", body "M[i][$k] = M[i][$n] + V[i] * $k" },
  { "elements of one vector", body "W[400 * i + $k] = $k + i" },
  { "conditions", body("if x > $k then M[i][$k] = $k end") },
  { "a chain of elseif", body("if V[i] == $k then M[i][$k] = 1 else", "",
    nil, " M[i][1] = 2 end") },
  { "terms of elements", body("$k * M[i][$k]", " + ", "V[i] = ") },
  { "terms of numbers", body("i", " + ", "V[i] = ") },
}

local function world()
  local M, V, W = meissa.zeros(N, WIDTH + 1), meissa.zeros(N), meissa.zeros((N + 1) * WIDTH)
  for i = 1, N do
    V[i] = i
    for k = 1, WIDTH + 1 do M[i][k] = (i * k) % 17 end
  end
  return { M = M, V = V, W = W, x = 200, n = N }
end

-- A world after a text, as plain tables.
local function after(text, run)
  local env = world()
  run(text, env)
  return { env.M:totable(), env.V:totable(), env.W:totable() }
end

local function plainly(text, env)
  setfenv(assert(loadstring("for i = 1, n do " .. text .. " end")), env)()
end

local function in_parallel(text, env)
  env.parallel = meissa.parallel
  local chunk = "for i in parallel(n) do " .. text .. " end"
  setfenv(assert(loadstring(chunk)), env)()
  assert.equal("independent", meissa.last().strategy)
end

describe("long bodies", function()
  teardown(function() meissa.init {} end)

  for _, workers in ipairs { 0, 2 } do
    for _, case in ipairs(BODIES) do
      it(("of %s, with %d workers"):format(case[1], workers), function()
        meissa.init { workers = workers }
        assert.same(after(case[2], plainly), after(case[2], in_parallel))
      end)
    end
  end
end)
