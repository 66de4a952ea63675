-- SPDX-License-Identifier: MIT
--- Runs a kernel over many entries, and prints how many loops LuaJIT began to compile in its text
-- and what it gave up on.
local array = require "meissa.array"
local run = dofile("spec/kernel/run.lua")

local vmdef = require "jit.vmdef"
local aborts, loops = {}, 0
local function watch(what, _, fn, _, code, reason)
  local source = fn and require("jit.util").funcinfo(fn).source
  if source ~= "@body.lua" then return end
  if what == "abort" then
    local text = vmdef.traceerr[code]
    if text:find("%", 1, true) then text = text:format(reason) end
    if text:find("NYI") or text:find("blacklisted") then aborts[#aborts + 1] = text end
  elseif what == "start" then
    loops = loops + 1
  end
end
local count, coords = 20000, { {}, {} }
for e = 1, count do
  coords[1][e], coords[2][e] = e * 7 % 60 + 1, e * 11 % 40 + 1
end
local ones = {}
for e = 1, count do ones[e] = e % 5 end
local env = { W = array.randn({ 60, 8 }, { scale = 0.1, seed = 1, type = "float" }),
  H = array.randn({ 40, 8 }, { scale = 0.1, seed = 2, type = "float" }), mu = 2, lr = 0.01,
  reg = 0.05, K = 8, sse = 0 }
jit.attach(watch, "trace")
local ok, failed = run.kernel([[
  for i, j, r in parallel(ratings) do
    local w, h = W[i], H[j]
    local e = r - mu - w:dot(h)
    sse = sse + e ^ 2 + math.max(e, 0)
    for k = 1, K do
      local wk = w[k]
      w[k] = wk + lr * (e * h[k] - reg * wk)
      h[k] = h[k] + lr * (e * wk - reg * h[k])
    end
  end]], env,
  { ranges = { { 1, 60 }, { 1, 40 } }, entries = { coords = coords, values = ones } })
jit.attach(watch)
assert(ok, failed and failed.message)
print("loops " .. loops .. " aborts " .. table.concat(aborts, ", "))
