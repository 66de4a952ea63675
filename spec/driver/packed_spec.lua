-- SPDX-License-Identifier: MIT
-- Packed triangles and other arrays whose subscripts are quadratic in indices: the plans, and on
-- every road the bits of the loop as written.
local meissa = require "meissa"
local plain = require "spec.support.plain"

local N = 23
local LENGTH = 2 * N * N

-- By what it does: the strategy, and the program.
local PROGRAMS = {
  {"lower rows", "independent", [[
for i in parallel(n, options) do
  for j = 1, i do P[i*(i-1)/2 + j] = Q[i*(i-1)/2 + j] + i * j end
end]]},
  {"lower rows, counted", "independent", [[
for i in parallel(n, options) do
  local p = i * (i - 1) * 0.5
  for j = 1, i do
    p = p + 1
    P[p] = Q[p] * j
  end
end]]},
  {"lower rows, counted behind the loop", "independent", [[
for i in parallel(n, options) do
  local p = i * (i - 1) / 2
  for j = 1, i - 1 do
    p = p + 1
    P[p] = P[p] * 0.5 + j
  end
  P[p + 1] = i
end]]},
  {"rows from end to end", "independent", [[
for i in parallel(n, options) do
  local row = i * (i - 1) / 2
  for p = row + 1, row + i do P[p] = Q[p] * i end
  for p = i * (i + 1) / 2, row + 2, -1 do P[p] = P[p] - P[p - 1] end
end]]},
  {"every other element, counted", "independent", [[
for i in parallel(n, options) do
  local p = i * (i - 1) / 2 + 1
  for j = 1, i - 1, 2 do
    P[p] = Q[p] * j
    p = p + 2
  end
  if i % 2 == 1 then P[p] = i end
end]]},
  {"strictly lower rows, shifted", "independent", [[
for i in parallel(n, options) do
  for j = 1, i - 1 do P[bit.rshift((i - 1) * (i - 2), 1) + j] = i + j end
end]]},
  {"upper rows", "independent", [[
for i in parallel(n, options) do
  for j = i, n do P[(i-1)*n - i*(i-1)/2 + j] = Q[i] + j end
end]]},
  {"upper rows backwards", "independent", [[
for i in parallel({n, 1, -1}, options) do
  local p = math.floor(i * (2*n - i + 1) / 2) - 1
  for j = n, i, -1 do
    P[p + 1] = Q[j] - i
    p = p - 1
  end
end]]},
  {"the upper rows of another triangle", "independent", [[
for i in parallel(n, options) do
  for j = 1, n - i + 1 do P[(n-i)*(n-i+1)/2 + j] = Q[j] + i end
end]]},
  {"both indices", "independent", [[
for i, j in parallel(n, n, options) do
  if j <= i then P[at(i, j)] = P[at(i, j)] * 2 + Q[at(i, j)] end
end]]},
  {"pairs of both triangles", "independent", [[
for i, j in parallel(n, n, options) do
  if j < i then P[at(i, j)] = i - j elseif j == i then P[at(i, i)] = 0.5 end
end]]},
  {"diagonal", "independent", "for i in parallel(n, options) do P[i*(i+1)/2] = Q[i] end"},
  {"diagonals of a grid", "independent", [[
for i, j in parallel(n, n, options) do R[(i+j-2)*(i+j-1)/2 + i] = i * 100 + j end]]},
  {"the row before", "partition", [[
for i, j in parallel({2, n}, n, options) do
  if j < i then P[at(i, j)] = P[at(i-1, j)] * 0.5 + 1 end
end]]},
  {"neighbours", "wavefront", [[
for i, j in parallel({2, n}, {2, n}, options) do
  if j < i then P[at(i, j)] = P[at(i-1, j)] + P[at(i, j-1)] * 0.5 end
end]]},
  {"neighbours, collapsed", "wavefront", [[
options.collapse = 2
for i in parallel({3, n}, options) do
  for j = 2, i - 1 do P[at(i, j)] = P[at(i-1, j)] + P[at(i, j-1)] * 0.5 end
end]]},
  {"the row before the one before", "partition", [[
for i, j in parallel({3, n}, n, options) do
  if j < i - 1 then P[at(i, j)] = P[at(i-2, j)] * 0.5 + 1 end
end]]},
  {"packed Cholesky", "independent", [[
for k = 1, n do
  P[at(k, k)] = math.sqrt(P[at(k, k)])
  for i in parallel({k + 1, n}, options) do P[at(i, k)] = P[at(i, k)] / P[at(k, k)] end
  for i, j in parallel({k + 1, n}, {k + 1, n}, options) do
    if j <= i then P[at(i, j)] = P[at(i, j)] - P[at(i, k)] * P[at(j, k)] end
  end
end]]},
  {"a packed product", "independent", [[
for i in parallel(n, options) do
  local sum = 0
  for j = 1, i do sum = sum + P[at(i, j)] * Q[j] end
  for j = i + 1, n do sum = sum + P[at(j, i)] * Q[j] end
  x[i] = sum
end]]},
}

-- Programs with dependences, and what is told of them.
local REFUSED = {
  {"for i in parallel(n) do for j = 1, i + 1 do P[i*(i-1)/2 + j] = j end end",
    {"DEP101", "iteration 1 writes P[2], iteration 2 writes P[2]: distance 1, every iteration"}},
  {"for i in parallel({2, n}) do for j = 1, i do P[at(i, j)] = P[at(i-1, j)] end end",
    {"DEP101", "iteration 2 writes P[2]", "iteration 3 reads P[2]: distance 1, every iteration"}},
  {"for i in parallel(n) do P[i*i] = P[(i+1)*(i+1)] end",
    {"DEP101", "iteration 1 reads P[4]", "iteration 2 writes P[4]"}},
  {"for i in parallel(n) do P[P[i*i] % 7 + 1] = i end", {"DEP102", "may write P["}},
}

-- What no rule decides is looked at when the loop is run.
local INSPECTED = {
  {"for i in parallel(n) do P[i*i] = P[2*i + 1] end", "levels"},
  {"for i in parallel({3, 18}) do for j = 1, i do P[i*(i-1)*(i-2)/6 + j] = i end end",
    "independent"},
}

local function world(array)
  local env = {n = N, at = function(i, j) return i * (i - 1) / 2 + j end, options = {}}
  for _, name in ipairs {"P", "Q", "R", "x"} do env[name] = array() end
  for k = 1, LENGTH do
    env.P[k], env.Q[k], env.R[k], env.x[k] = k * 7919 % 13 / 4, k * k % 17 / 8, 0, 0
  end
  for k = 1, N do env.P[k * (k + 1) / 2] = 100 * N end
  return env
end

local function arrays_of(env, list)
  return plain.numbers(list(env.P), list(env.Q), list(env.R), list(env.x))
end

local function zeros() return meissa.zeros(LENGTH) end

local function run(text, options)
  local env = world(zeros)
  env.options = options
  plain.run(text, env, meissa.parallel)
  return arrays_of(env, function(array) return array:totable() end)
end

describe("packed triangles", function()
  local expected = {}

  setup(function()
    for k, program in ipairs(PROGRAMS) do
      local env = world(function() return {} end)
      plain.run(program[3], env, plain.parallel)
      expected[k] = arrays_of(env, function(table) return table end)
    end
  end)

  teardown(function() meissa.init {} end)

  for k, program in ipairs(PROGRAMS) do
    it("are planned: " .. program[1], function()
      run(program[3], {})
      assert.equal(program[2], meissa.last().strategy)
    end)

    it("do what is predicted: " .. program[1], function()
      assert.is_true(expected[k] == run(program[3], {check = true}))
    end)
  end

  for _, case in ipairs(INSPECTED) do
    it("are inspected where no rule decides: " .. case[1], function()
      local env = world(function() return {} end)
      plain.run(case[1], env, plain.parallel)
      local written = arrays_of(env, function(table) return table end)
      assert.is_true(written == run(case[1], {}))
      assert.equal(case[2], meissa.last().strategy)
    end)
  end

  for number, case in ipairs(REFUSED) do
    it(("are refused with what collides: %d"):format(number), function()
      local ok, message = pcall(run, case[1], {})
      assert.is_false(ok)
      local told = tostring(message):gsub("%s+", " ")
      for _, words in ipairs(case[2]) do
        assert.is_truthy(told:find(words, 1, true), told)
      end
    end)
  end

  -- What a text makes of a table.
  local function filled(text, parallel)
    local env = world(function() return {} end)
    env.t = {[3] = "old"}
    plain.run(text, env, parallel)
    return env.t
  end

  for number, text in ipairs {
    "for i in parallel(n) do for j = 1, i do t[i*(i-1)/2 + j] = i * 100 + j end end",
    "for i in parallel(n) do local p = at(i, 0) for j = 1, i do p = p + 1 t[p] = j .. i end end",
    "for i, j in parallel(n, n) do if j <= i then t[at(i, j)] = i - j end end",
  } do
    it(("are filled as plain tables: %d"):format(number), function()
      assert.same(filled(text, plain.parallel), filled(text, meissa.parallel))
      assert.equal("independent", meissa.last().strategy)
    end)
  end

  for shift, strategy in pairs {[0] = "independent", [5] = "serial", [300] = "independent"} do
    it(("are compared in views %d elements apart"):format(shift), function()
      local base = meissa.zeros(LENGTH)
      local env = {plan = meissa.plan, n = N, V = base:narrow(1, 1, 500),
        W = base:narrow(1, 1 + shift, 500)}
      local text = [[return plan(n, function(i)
        for j = 1, i do V[i*(i-1)/2 + j] = W[i*(i-1)/2 + j] + 1 end
      end)]]
      assert.equal(strategy, setfenv(assert(loadstring(text)), env)().strategy)
    end)
  end

  for workers = 0, 2 do
    for _, shared in ipairs {true, false} do
      for _, engine in ipairs {"lua", "native"} do
        it(("have the bits of the loop as written: %d workers, %s, %s"):format(workers,
            shared and "shared" or "by value", engine), function()
          meissa.init {workers = workers, shm = shared}
          for k, program in ipairs(PROGRAMS) do
            assert.is_true(expected[k] == run(program[3], {engine = engine}), program[1])
          end
        end)
      end
    end
  end
end)
