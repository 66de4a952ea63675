-- SPDX-License-Identifier: MIT
-- The Lua engine on one core: million rating updates a second of SGD matrix factorization as an
-- emitted kernel (rows as offsets), against the same loop over live row views. Synthetic ratings,
-- 6040 x 3706, float, random order. A table on stderr, one JSON object on stdout.
-- Arguments: number of ratings (default 1000000).
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local arguments = require "arguments"
local ffi = require "ffi"
local array = require "meissa.array"
local core = require "meissa.core"
local families = require "meissa.kernel.family"
local kernel = require "meissa.kernel"
local packing = require "meissa.kernel.pack"

local users, items = 6040, 3706
local count = arguments("kernel_lua.lua", "The Lua engine against loops over live row views.",
  {"ratings", "How many.", 1000000})
local body = [[
for i, j, r in parallel(ratings) do
  local w, h = W[i], H[j]
  local e = r - mu - w:dot(h)
  sse = sse + e * e
  for k = 1, K do
    local wk = w[k]
    w[k] = wk + lr * (e * h[k] - reg * wk)
    h[k] = h[k] + lr * (e * wk - reg * h[k])
  end
end]]

local function ratings()
  local i, j = ffi.new("int32_t[?]", count), ffi.new("int32_t[?]", count)
  local v = ffi.new("float[?]", count)
  math.randomseed(1)
  for e = 0, count - 1 do
    i[e], j[e], v[e] = math.random(users), math.random(items), math.random() * 5
  end
  return i, j, v
end

local function item_of(A)
  local about = array.describe(A)
  return { pointer = A.array.data, dims = about.dims, strides = about.strides }
end

-- A function that runs the emitted kernel on entries first..last. The caller keeps `env` alive.
local function emitted(env, i, j, v)
  local loop = assert(core.loop(body, "@mf.lua"))
  local values, bindings, things = {}, {}, {}
  for c, capture in ipairs(loop:captures()) do
    local value = env[capture.root]
    values[c] = value
    if type(value) == "number" then
      bindings[c] = { kind = "number", number = value, depth = 0 }
    else
      local about = array.describe(value)
      bindings[c] = { kind = "array", dims = about.dims, array = about.id, storage = about.store,
        depth = 0 }
      things[#things + 1] = item_of(value)
    end
  end
  local space = { ranges = { { 1, users, 1 }, { 1, items, 1 } }, source = 0, sparse = true,
    array = array.zeros({ 1 }, { type = "float" }) }
  local plan = assert(core.plan(loop, bindings, space))
  assert(plan.strategy == "rotate", plan.strategy)
  local kernel_bytes, run_bytes = packing.pack(
    families.find(loop, plan, bindings, values, space, {}), bindings, values)
  things.space = { coords = { i, j }, pointer = v }
  local instance = kernel.prepare(kernel_bytes, run_bytes, things)
  return function(first, last) assert(instance:run { first = first, last = last }) end
end

-- The same over live row views, as the loop would run without the engine.
local function views(env, i, j, v)
  local W, H, mu, lr, reg, K = env.W, env.H, env.mu, env.lr, env.reg, env.K
  return function(first, last)
    local sse = 0
    for entry = first, last do
      local w, h, r = W[i[entry - 1]], H[j[entry - 1]], v[entry - 1]
      local e = r - mu - w:dot(h)
      sse = sse + e * e
      for k = 1, K do
        local wk = w[k]
        w[k] = wk + lr * (e * h[k] - reg * wk)
        h[k] = h[k] + lr * (e * wk - reg * h[k])
      end
    end
    return sse
  end
end

-- Million updates a second: the best of five passes in 64 blocks, after one to warm up.
local function rate(run)
  local best = 0
  for pass = 0, 5 do
    local start = os.clock()
    for block = 0, 63 do
      run(math.floor(count * block / 64) + 1, math.floor(count * (block + 1) / 64))
    end
    local seconds = os.clock() - start
    if pass > 0 then best = math.max(best, count / seconds / 1e6) end
  end
  return best
end

local i, j, v = ratings()
local parts = {}
io.stderr:write(("%6s %12s %12s %8s\n"):format("rank", "kernel M/s", "views M/s", "ratio"))
for _, rank in ipairs { 8, 32, 128 } do
  local function env()
    return { W = array.randn({ users, rank }, { scale = 0.1, seed = 1, type = "float" }),
      H = array.randn({ items, rank }, { scale = 0.1, seed = 2, type = "float" }),
      mu = 2.5, lr = 0.01, reg = 0.05, K = rank, sse = 0 }
  end
  local one, two = env(), env()
  local fast, slow = rate(emitted(one, i, j, v)), rate(views(two, i, j, v))
  assert(one.W[1][1] == two.W[1][1] and one.H[items][rank] == two.H[items][rank])
  io.stderr:write(("%6d %12.2f %12.2f %8.2f\n"):format(rank, fast, slow, fast / slow))
  parts[#parts + 1] = ('{"rank":%d,"kernel":%.3f,"views":%.3f}'):format(rank, fast, slow)
end
local line = '{"bench":"kernel_lua","unit":"million updates/s","ratings":%d,"results":[%s]}'
print(line:format(count, table.concat(parts, ",")))
