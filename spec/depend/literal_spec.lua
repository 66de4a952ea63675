-- SPDX-License-Identifier: MIT
--
-- Functions that a body makes and calls: what they do to arrays is seen where they are called, and
-- the results are those of the loop as written.
local meissa = require "meissa"
local plain = require "spec.support.plain"

local N, K = 9, 4

-- What the loop does, and the strategy; nil: it cannot be proved parallel.
local BODIES = {
  {"local function f(w) w[1] = i end f(W[i])", "independent"},
  {"local function f(w, k) return w[k] end A[i] = f(W[i], 2) + f(V[i], 3)", "independent"},
  {"local f = function(w) for k = 1, K do w[k] = w[k] * 2 + i end end f(W[i]) f(V[i])",
    "independent"},
  {"local function f(k) return A[k] end A[i + 1] = f(i) + 1", nil},
  {"local function f(k) return B[k] end A[i + 1] = f(i) + f(i + 1)", "independent"},
  {"local function f(w, v) w[1] = v[2] end f(W[i], V[i]) f(V[i], W[i])", "independent"},
  {"local function f(w) w[1] = w[1] + 1 end f(W[1])", nil},
  {"local s = 0 local function f(w) s = s + w[1] end f(W[i]) f(V[i]) A[i] = s", "independent"},
  {"local function f(w, k) if k > K then return 0 end return w[k] end A[i] = f(W[i], i % 6 + 1)",
    "independent"},
  {"local function f(k) if k > 3 then return W[k] end return V[k] end f(i)[1] = i",
    "independent"},
  {"local function f(k) if k > 3 then return W[k - 3] end return W[k] end f(i)[1] = i", nil},
  {"local function f(k) for q = 1, 3 do if q == k then return q end end return 1 end A[f(i)] = i",
    nil},
  {"local function f(k) if k > n then return end return k end A[f(i)] = i", "independent"},
  {"local function f(k) if B[k] > 3 then return k end return k end A[f(i)] = i", "independent"},
  {"local function f(k) if B[k] > 3 then return 1 end return k end A[f(i)] = i", nil},
  {"local function g(w, k) return w[k] end local function f(w) return g(w, 1) + g(w, 2) end " ..
    "A[i] = f(W[i])", "independent"},
  {"local function f(n) if n < 2 then return n end return f(n - 1) + f(n - 2) end A[i] = f(i)",
    "independent"},
  {"local function f(n) if n < 2 then return A[n + 1] end return f(n - 1) end A[i + 2] = f(i)",
    nil},
  {"local function f(k) A[k] = k end local t = {f} t[1](i)", nil},
  {"local function f(k) A[k] = k end local g = f g(i)", nil},
  {"local function f(w) for k = 1, K do if w[k] > 5 then return k end end return 1 end " ..
    "A[i] = f(W[i])", "independent"},
  {"local function f(w) for k = 1, K do if w[k] > 5 then return end w[k] = i end end f(W[i])",
    "independent"},
  {"repeat local function f(k) A[k] = k end f(i) until f ~= nil", nil},
  {"for k = 1, K do local function f(w) w[k] = i + k end f(W[i]) end", "independent"},
  {"local p = (i - 1) * K local function f(k) C[p + k] = k end for k = 1, K do f(k) end",
    "independent"},
  {"local function f(p) for k = 1, K do p = p + 1 C[p] = i end return p end " ..
    "C[f((i - 1) * K)] = 1", "independent"},
  {"local function f(a, b) return B[a] + (b or 0) end A[i] = f(i) + f(i, 1) + f(f(1) * 0 + 1)",
    "independent"},
  {"local function f(...) return (...) end A[f(i)] = 1", nil},
  {"local function f(k) goto out ::out:: A[k] = i end f(i)", "independent"},
  {"local function f(w) return w:sum() end A[i] = f(W[i])", "independent"},
  {"local function f(w) w:fill(i) end f(W[i]) if i > 3 then f(V[i]) end", "independent"},
  {"local function never() A[1] = i end A[i] = i", "independent"},
}

local function world()
  local env = {A = meissa.zeros(N + 2), B = meissa.zeros(N + 2), C = meissa.zeros(N * K),
               W = meissa.zeros(N, K), V = meissa.zeros(N, K), n = N, K = K}
  for i = 1, N do
    env.A[i], env.B[i] = i % 4, i * i % 7
    for k = 1, K do env.W[i][k], env.V[i][k] = (i + k) % 8, i * k % 5 end
  end
  return env
end

local function outcome(env)
  return plain.numbers(env.A:totable(), env.C:totable(), env.W:totable(), env.V:totable())
end

describe("functions that a body makes", function()
  teardown(function() meissa.init {} end)

  for number, case in ipairs(BODIES) do
    it(("are seen through: %d"):format(number), function()
      local env = setmetatable(world(), {__index = {plan = meissa.plan}})
      local text = "return plan(n, function(i) " .. case[1] .. " end)"
      assert.equal(case[2] or "serial", setfenv(assert(loadstring(text)), env)().strategy)
      if not case[2] then return end
      env.parallel = meissa.plan
      setfenv(assert(loadstring("for i in parallel(n) do " .. case[1] .. " end")), env)()
      assert.equal(case[2], meissa.last().strategy)
    end)
  end

  for workers = 0, 2 do
    for _, engine in ipairs {"lua", "either"} do
      it(("give what plain Lua gives: %d workers, %s engine"):format(workers, engine), function()
        meissa.init {workers = workers}
        for _, case in ipairs(BODIES) do
          local expected, env = world(), world()
          plain.run("for i in parallel(n) do " .. case[1] .. " end", expected, plain.parallel)
          env.options = {engine = engine == "lua" and engine or nil, serial = case[2] == nil}
          plain.run("for i in parallel(n, options) do " .. case[1] .. " end", env, meissa.parallel)
          assert.equal(outcome(expected), outcome(env), case[1])
        end
      end)
    end
  end
end)
