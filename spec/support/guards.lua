-- SPDX-License-Identifier: MIT
--- Loops whose conditions make them parallel, run one after the other: prints for each its strategy
-- and what it left, to the last bit.
--   luajit guards.lua plain|meissa
local meissa = require "meissa"
local plain = require "spec.support.plain"

-- Text, and the strategy of its last loop.
local LOOPS = {
  {"for k = 1, n do for i in parallel(n) do if i ~= k then for j = 1, n do " ..
    "D[i][j] = math.min(D[i][j], D[i][k] + D[k][j]) end end end end", "independent"},
  {"for i in parallel(n) do if i > k then A[i] = A[i] + A[k] end end", "independent"},
  {"for i in parallel(n) do if not (i ~= k) then A[i] = 1 else A[i] = A[k] end end", "serial"},
  {"for c = 0, 1 do for i in parallel({2, n - 1}) do if i % 2 == c then A[i] = A[i-1] + A[i+1] end "
    .. "end end", "independent"},
  {"for i in parallel(n) do if i == k then goto continue end A[i] = A[k] ::continue:: end",
    "independent"},
  {"for i, j in parallel(n, n) do if i > j then D[i][j] = D[j][i] * 2 end end", "independent"},
  {"for i, j in parallel(n, n) do if j >= i then goto next end do D[i][j] = D[j][i] end ::next:: "
    .. "end", "independent"},
  {"for i in parallel(n) do if i > 20 then A[i] = A[i-20] elseif i > 3 then B[i] = A[i] end end",
    "independent"},
  {"for i, j in parallel(n, n) do if i == j then D[i][j] = 1 else D[i][j] = D[i][i] end end",
    "partition"},
  {"for i in parallel(n) do if on then A[i] = B[i] else A[1] = i end end", "independent"},
  {"for i in parallel(n) do if off then B[1] = C[i] log[#log + 1] = i end A[i] = A[i] + 1 end",
    "independent"},
  {"for i in parallel(n) do if off then t[i] = 1 A:nonsense() print(i) end A[i] = A[i] + 1 end",
    "independent"},
  {"for i in parallel(n) do if off then break end A[i] = A[i] + 1 end", "independent"},
  {"for i in parallel(n) do A[i] = A[i] + (off and B[i] + A[1] or 0) end", "independent"},
  {"for i in parallel(n) do local x = i ~= k and A[k] or 0 if i ~= k then A[i] = x end end",
    "independent"},
  {"for i in parallel(n) do if inside(i) then A[i] = B[i-1] + B[i+1] else A[i] = 0 end end",
    "independent"},
  {"for i in parallel(n) do copy(D, i, k) end", "independent"},
  {"for i in parallel(n) do local odd = i % 2 == 1 if not odd and i > 2 then A[i] = A[i-1] end end",
    "independent"},
  {"for i in parallel(n) do for j = 1, n do if j >= i then break end D[i][j] = D[j][i] end end",
    "independent"},
  {"for i, j in parallel(n, n) do if i ~= 1 and i ~= n and j ~= 1 and j ~= n then " ..
    "B[i] = B[i] + D[i][j] else D[i][j] = 0 end end", "partition"},
  {"for i in parallel(n) do local r = i ~= k and i or k A[r] = A[r] + 1 end", "independent"},
  {"for i in parallel(n) do local r = i == k and 1 or i A[r] = A[r] * 2 + i end", "serial"},
  {"for i in parallel(n) do B[i] = A[math.max(1, i - 1)] + A[math.min(n, i + 1)] end",
    "independent"},
  {"for i in parallel(n) do local w = i > 1 and D[i - 1] or D[n] w[1] = w[2] end", "independent"},
  {"for i in parallel(n) do local w = i ~= k and D[i] or D[k] B[i] = w:sum() w:fill(i) end",
    "independent"},
  {"for i, j in parallel(n, n) do D[i > 1 and i - 1 or n][j] = B[math.max(j, 3)] end",
    "independent"},
  {"for i in parallel(n) do A[{i < n and i + 1 or 1}] = A[{i < n and i + 1 or 1}] + B[i] end",
    "independent"},
  {"for i in parallel(n) do A[math.min(i, k)] = A[math.min(i, k)] + i end", "serial"},
  {"for i in parallel(n) do local at = i - 1 if at < 1 then at = n end D[at][2] = D[at][1] end",
    "independent"},
  {"for i in parallel(n) do local ok = false if i ~= k then ok = true end " ..
    "if ok then A[i] = A[i] + A[k] end end", "independent"},
  {"for i in parallel(n) do local w = D[1] if i > 1 then w = D[i] end w[3] = w[2] + i end",
    "independent"},
  {"for i in parallel(n) do A[wrap(i - 3)] = A[wrap(i - 3)] + B[wrap(i - 1)] end", "independent"},
  {"for i in parallel(n / 2) do for p = math.max(2 * i - 1, 1), math.min(2 * i, n) do " ..
    "A[p] = A[p] + i end end", "independent"},
  {"for i in parallel(n / 2) do for p = math.min(2 * i, n, 3 * i), math.max(2 * i - 1, k, 3), " ..
    "-1 do A[p] = B[i] + p end end", "independent"},
  {"for i in parallel(n / 2) do for p = i > k and 2 * i - 1 or 2 * i, 2 * i do A[p] = i end end",
    "independent"},
  {"for i in parallel({2, n}) do for p = 1, i < k and i - 1 or k + 1 do D[i][p] = D[p][i] end end",
    "serial"},
  {"for i in parallel({2, n}) do for p = 1, i < k and i - 1 or 1 do D[i][p] = D[p][i] end end",
    "independent"},
  {"for i in parallel(n) do local function f(r) if r == k then goto done end A[r] = A[k] " ..
    "::done:: end f(i) end", "independent"},
  {"for i in parallel(n) do local at = wrap(i - 3) if at > k then A[at] = A[k] end end",
    "independent"},
}

local n = 40

local function world()
  local env = {n = n, k = 7, on = true, off = false, t = {}, log = {}}
  for seed, name in ipairs {"A", "B", "C"} do env[name] = meissa.rand({n}, {seed = seed}) end
  env.D = meissa.rand({n, n}, {seed = 4})
  function env.inside(i) return i > 1 and i < n end
  function env.wrap(k)
    if k < 1 then return k + n end
    return k
  end
  function env.copy(D, i, k)
    if i == k then return end
    D[i][1] = D[k][1]
  end
  return env
end

for number, loop in ipairs(LOOPS) do
  local env = world()
  local ok, err = pcall(plain.run, loop[1], env, arg[1] == "plain" and plain.parallel or
                        meissa.parallel)
  local strategy = arg[1] == "plain" and loop[2] or not ok and (err.code == "DEP" and "serial" or
    tostring(err)) or meissa.last().strategy
  print(("%d\t%s\t%s"):format(number, strategy, ok and plain.image(env) or "-"))
end
