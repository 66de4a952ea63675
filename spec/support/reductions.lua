-- SPDX-License-Identifier: MIT
--- Reductions of every form, from every kind of start, held against the plain serial loop, bit by
-- bit: prints each difference, and last how many loops agreed.
--   MEISSA_WORKERS=n luajit reductions.lua [one of so many bodies [beginning with which]]
local meissa = require "meissa"

local strict = require "meissa.base.strict"

local N, M = 300, 17

-- Values with ties, zeros of both signs, nan in front, behind and in between.
local function values()
  local A = meissa.randn({N}, {seed = 7})
  for i = 1, N do
    local whole = math.floor(A[i] * 3)
    A[i] = whole == 0 and (i % 2 == 0 and 0 or -0) or whole
    if i <= 9 or i % 13 == 0 or i > N - 5 then A[i] = 0 / 0 end
  end
  return A
end

local A, Z = values(), meissa.zeros(N)
for i = 1, N do Z[i] = i * 7 % 13 < 6 and 0 or -0 end
local W = meissa.zeros(N)
for i = 1, N do W[i] = N - i end
local B = meissa.zeros(N)
B:copy(W)
B[1] = 5e5
local Q, R = meissa.zeros(N, M), meissa.zeros(N + 1, M + 1)
for i = 1, N do for j = 1, M do Q[i][j] = A[(i * 3 + j * 41) % N + 1] end end

-- Zeros of which blocks of columns meet the first and the last in another order than the loop.
local P = meissa.zeros(N, M)
P:fill(-5)
P[2][M], P[3][1], P[N - 1][M], P[N][1] = 0, -0, 0, -0

local NUMBERS = {"0", "-0", "2", "math.huge", "-math.huge", "0 / 0"}

-- Bodies over one index; what they may start from.
local ONE = {
  bits = {starts = {"0", "5", "-1", "2^33 + 5"},
          "s = bit.bor(s, i % 64)", "s = bit.band(i, s)", "s = bit.bxor(s, i, 3)",
          "if A[i] > 2 then s = bit.bxor(s, i) end", "if A[i] > 99 then s = bit.bor(s, i) end",
          "if A[i] > 99 then s = bit.band(s, i) end", "if A[i] > 99 then s = bit.bxor(s, i) end"},
  tuples = {starts = NUMBERS,
            "if A[i] > s then s, p = A[i], i end", "if A[i] >= s then s = A[i] p = i end",
            "if s > A[i] then p, s = i, A[i] end", "if s >= A[i] then p, s = -i, A[i] end",
            "if A[i] <= s then s, p = A[i], 'no ' .. i end",
            "if A[i] < s then s, p, q = A[i], i, A[i] > 0 end",
            "if math.abs(A[i]) < s then s, p = math.abs(A[i]), nil end",
            "if A[i] < s then s, p = A[i], i end if Z[i] < s then s, p = Z[i], -i end",
            "for k = 1, 3 do if A[i] % k > s then s, p, q = A[i] % k, i, k end end"},
  both = {starts = {"math.huge", "-math.huge", "0", "2", "0 / 0"},
          "if A[i] < s then s = A[i] elseif A[i] > t then t = A[i] end",
          "if A[i] < s then s, p = A[i], i elseif A[i] > t then t, q = A[i], -i end",
          "if A[i] > s then s, p = A[i], i elseif t > A[i] then q = i t = A[i] end",
          "local x = A[i] * i if x < s then s, p = x, i elseif x > t then t, q = x, i * x end"},
  unset = {starts = {"nil", "0", "math.huge"},
           "if not s or A[i] > s then s = A[i] end", "if s == nil or A[i] <= s then s = A[i] end",
           "if not s or A[i] < s then s, p = A[i], i end",
           "if not s or s <= A[i] then p = i q = -i s = A[i] end",
           "if not p or A[i] < s then s, p = A[i], i end",
           "if not s or A[i] < s or A[i] == s and i > p then s, p, q = A[i], i, -i end",
           "if not p or A[i] > s or (s == A[i] and p >= i) then s, p = A[i], i end",
           "if i > 200 and A[i] > 0 then if not s or A[i] > s then s, p = A[i], i end end"},
  last = {starts = {"nil", "7"}, ordered = true,
          "if A[i] > 2 then s = i end", "if A[i] > 99 then s = i end",
          "if A[i] > 2 then s, p = i, -i elseif A[i] < -2 then p = A[i] end",
          "for k = 1, 3 do if A[i] == k then s = i + k / 10 end end",
          "if A[i] > 2 then s = nil elseif A[i] < 0 then s = i end"},
  logic = {starts = {"true", "false", "nil", "5"},
           "s = s and A[i] > -99", "if A[i] > 99 then s = s and i end",
           "if A[i] > 2 then s = s and i end", "s = A[i] > 2 and i or s", "s = s or A[i] > 2 and i",
           "s = A[i] > 99 and i or s", "if i < 3 then s = s or nil end",
           "if A[i] > 99 then s = s or i end", "s = s or A[i] > 99 or nil"},
}

-- Bodies over two indices, alone and beside a dependence that cuts both.
local TWO = {
  "if Q[i][j] > s then s, p, q = Q[i][j], i, j end",
  "if Q[i][j] >= s then s, p, q = Q[i][j], i, j end",
  "if s > Q[i][j] then p = i s = Q[i][j] q = j end",
  "if Q[i][j] <= s then q, s, p = j, Q[i][j], i end",
  "if Q[i][j] > 1 then p, q = i, j end",
  "if not s or Q[i][j] < s then s, p, q = Q[i][j], i, j end",
  "if Q[i][j] > s or Q[i][j] == s and j < t then s, t, p = Q[i][j], j, i end",
  "if s > Q[i][j] or (s == Q[i][j] and t >= -j) then s, t, p = Q[i][j], -j, i end",
  "if P[i][j] > s then s = P[i][j] end if -P[i][j] <= t then t = -P[i][j] end",
  "if s <= P[i][j] then s = P[i][j] end if t > -P[i][j] then t = -P[i][j] end",
}
local BESIDE = {"", "R[i + 1][j + 1] = R[i][j + 1] + R[i + 1][j] ", "R[i + 1][j] = R[i][j] + 1 ",
                "R[i + 1][j] = R[i][j + 1] + 1 "}

local compared, refused, failed, native = 0, 0, 0, 0

-- Of `sparing` bodies one is run: compiling them takes time.
local sparing, seen = tonumber(arg[1] or 1), tonumber(arg[2] or 0)

local function is_taken()
  seen = seen + 1
  return seen % sparing == 0
end

local function text_of(value)
  if value ~= value then return "nan" end
  if value == 0 then return 1 / value > 0 and "0" or "-0" end
  return type(value) == "number" and ("%.17g"):format(value) or tostring(value)
end

-- What the variables are in the end, as text; or false and the error.
local function run(start, t, head, body, tail, plain)
  local env = setmetatable({A = A, Z = Z, P = P, Q = Q, R = R, n = N, m = M,
                            parallel = meissa.parallel, math = plain and strict.math or math,
                            bit = plain and strict.bit or bit}, {__index = _G})
  local text = ("local s, p, q, t = %s, nil, nil, %s\n%s\n%s\n%s\nreturn s, p, q, t"):format(
    start, t, head, body, tail)
  local got = {pcall(setfenv(assert(loadstring(text)), env))}
  if not got[1] then return false, tostring(got[2]) end
  local words = {}
  for k = 2, 5 do words[k - 1] = text_of(got[k]) end
  return table.concat(words, " "), text
end

local function compare(expected, start, t, head, body, tail)
  local got, about = run(start, t, head, body, tail)
  if got == expected then
    compared = compared + 1
    if meissa.last().engine == "native" then native = native + 1 end
  elseif not got and (about:find("DEP10", 1, true) or about:find("starts from a number", 1, true))
  then
    refused = refused + 1
  else
    failed = failed + 1
    print(("%s\n  is %s, not %s"):format(about, tostring(got), expected))
  end
end

local function compare_one(body, start, t, ordered)
  local expected = run(start, t, "for i = 1, n do", body, "end", true)
  if not expected then return end
  compare(expected, start, t, "for i in parallel(n) do", body, "end")
  compare(expected, start, t, "for i in parallel(n, {grid = {61}}) do", body, "end")
  if ordered then return end
  compare(expected, start, t, "for i in parallel(n, {ordered = false}) do", body, "end")
end

local function compare_two(body, start)
  if body == "" then return end
  local expected = run(start, 7, "for i = 1, n do for j = 1, m do", body, "end end", true)
  if not expected then return end
  for _, beside in ipairs(BESIDE) do
    compare(expected, start, 7, "for i, j in parallel(n, m) do", beside .. body, "end")
    compare(expected, start, 7, "for i in parallel(n, {collapse = 2}) do\nfor j = 1, m do",
            beside .. body, "end end")
  end
end

for _, kind in ipairs {"bits", "tuples", "both", "unset", "last", "logic"} do
  local each = ONE[kind]
  for _, body in ipairs(each) do
    local taken = is_taken()
    for _, start in ipairs(taken and each.starts or {}) do
      for _, array in ipairs(each == ONE.both and {A, W, B} or {A, Z}) do
        A, array = array, A
        compare_one(body, start, "-math.huge", each.ordered)
        if each == ONE.both then compare_one(body, start, "math.huge") end
        A = array
      end
    end
  end
end
for _, body in ipairs(TWO) do
  if not is_taken() then body = "" end
  for _, start in ipairs {"0", "math.huge", "-math.huge", "nil"} do compare_two(body, start) end
end
for _, body in ipairs {unpack(TWO, #TWO - 1)} do -- always
  compare_two(body, "-math.huge")
end
print(("%d agree, %d native, %d refused, %d differ"):format(compared, native, refused, failed))
