-- SPDX-License-Identifier: MIT
-- Keys of all kinds, a table among them, which is a range or several subscripts: elements, rows and
-- ranges are what the plain loop gets, on both engines, or the same kind of error.
local meissa = require "meissa"

local A, V = meissa.zeros(6, 6), meissa.zeros(9)
for i = 1, 6 do
  for j = 1, 6 do A[i][j] = 10 * i + j end
end
for i = 1, 9 do V[i] = i end

local names = {
  parallel = meissa.parallel, A = A, V = V, pair = {2, 3},
  at = function() return {{2, 5}} end, rows = function() return {{2, 4}, {1, 3}} end,
  place = function() return {2} end, one = function(i) return i end,
  mixed = function(i) return i > 2 and {{2, 3}} or i end,
  numbers = {2, 3, 1}, lists = {{{1, 2}}, {{3, 4}}, {{1, 3}}}, several = {{{1, 2}}, 2, {{2, 3}}},
  deep = {{{{1, 2}}}, {{{3, 4}}}, {{{1, 3}}}}, named = {a = {{1, 2}}, b = {c = {{2, 3}}}},
}
setmetatable(names, {__index = _G})

local KEYS = {"at()", "rows()", "place()", "one(i)", "mixed(i)", "numbers[i]", "lists[i]",
              "several[i]", "deep[i][1]", "named.b.c", "i > 2 and at() or one(i)", "{at()[1]}",
              "{pair, one(i)}", "{one(i), lists[i][1]}", "{{i, 3}}", "{}", "{{}}",
              "math.floor(i)", "V[i]"}

local BODIES = {
  "B[i] = X[K][1]", "B[i] = X[K]:sum()", "B[i] = X[1][K]",
  "B[i] = X[1][K]:sum()", "B[i] = #X[K]", "B[i] = #X[1][K]", "local r = X[K] B[i] = r[1]",
  "local r = X[K] B[i] = r:sum()", "local k = K B[i] = X[k][1]",
  "local k = 1 for n = 1, 2 do k = n > 1 and K or k end local r = X[k] B[i] = r[1]",
  "local row = X[2] B[i] = row[K]:sum()", "local row = X[2] B[i] = row[K] + 1",
  "local f = function(k) return X[k] end B[i] = f(K):sum()", "B[i] = X[K]:size(1)",
  "B[i] = X[2][K]:dim()",
}

-- What a text leaves in B; the code of an error.
local function run(text, options)
  local B = meissa.zeros(3)
  local env = setmetatable({B = B, options = options}, {__index = names})
  local ok, err = pcall(setfenv(assert(loadstring(text)), env))
  if ok then return ("%g %g %g"):format(B[1], B[2], B[3]) end
  local code = type(err) == "table" and err.code
  return code == "OPT" and "OPT" or tostring(err):match "DEP1%d%d" or "an error"
end

describe("keys", function()
  setup(function() meissa.init {workers = 2} end)
  teardown(function() meissa.init {} end)

  for _, array in ipairs {"V", "A"} do
    it("of " .. array .. " are what they are in the plain loop", function()
      local right, native = 0, 0
      for _, body in ipairs(BODIES) do
        for _, key in ipairs(KEYS) do
          local text = body:gsub("X", array):gsub("K", function() return key end)
          local expected = run("for i = 1, 3 do " .. text .. " end")
          for _, engine in ipairs {"lua", "native"} do
            local head = "for i in parallel(3, options) do "
            local found = run(head .. text .. " end", {engine = engine, grid = {1}})
            if engine == "lua" or found ~= "OPT" then assert.equal(expected, found, text) end
            if found ~= "OPT" then native = native + (engine == "native" and 1 or 0) end
          end
          right = right + (expected ~= "an error" and 1 or 0)
        end
      end
      assert.is_true(right > 60, right)
      assert.is_true(native > 2 or array == "V", native)
    end)
  end
end)
