-- SPDX-License-Identifier: MIT
-- examples/lasso_cocoa.lua on a9a, against coordinate descent in plain Lua.
local examples = require "spec.face.examples"
local meissa = require "meissa"

local DATA, LAMBDA = "spec/data/a9a.gz", 100

-- The least value by cyclic coordinate descent, until it stays.
local function serial()
  local X, y = meissa.read.libsvm(DATA)
  local columns, v, alpha, target = {}, {}, {}, y:totable()
  for j = 1, X:size(2) do columns[j], alpha[j] = {}, 0 end
  for e = 1, X:size(1) do v[e] = 0 end
  for e, j, x in X:each() do
    assert(x == 1) -- all features are
    table.insert(columns[j], e)
  end
  local last, value = math.huge, 1e300
  while value < last * (1 - 1e-7) do
    last = value
    for j, column in ipairs(columns) do
      local slope, square = 0, #column
      for _, e in ipairs(column) do slope = slope + target[e] - v[e] end
      if square > 0 then
        local new = alpha[j] + slope / square
        local sign = new < 0 and -1 or 1
        new = sign * math.max(math.abs(new) - LAMBDA / square, 0)
        for _, e in ipairs(column) do v[e] = v[e] + new - alpha[j] end
        alpha[j] = new
      end
    end
    value = 0
    for e = 1, #v do value = value + 0.5 * (v[e] - target[e]) ^ 2 end
    for j = 1, #alpha do value = value + LAMBDA * math.abs(alpha[j]) end
  end
  return value
end

describe("lasso_cocoa.lua", function()
  local best = serial()

  local function objective(arguments, environment)
    local rows, _, saved = examples.run("lasso_cocoa.lua",
      ("--data %s --lambda %d %s"):format(DATA, LAMBDA, arguments), environment)
    for _, row in ipairs(rows) do assert.is_true(row.drift < 1e-9) end
    return rows[#rows].objective, saved, rows
  end

  it("comes to the least value, from above", function()
    for how, above in pairs {["--epochs 30 --replicas 3 --every 0.25"] = 1.03,
                             ["--epochs 30 --replicas 1"] = 1.005} do
      local value = objective(how)
      assert.is_true(value > best * (1 - 1e-6) and value < best * above,
                     how .. ": " .. value .. " is not " .. best)
    end
  end)

  it("averages more slowly than it adds", function()
    local added = objective "--epochs 6 --replicas 6"
    local averaged = objective "--epochs 6 --replicas 6 --gamma 0.1666 --sigma 1"
    assert.is_true(added < averaged)
  end)

  it("has the same bits for any number of workers", function()
    local _, one = objective("--epochs 3", "MEISSA_WORKERS=1")
    for _, environment in ipairs {"MEISSA_WORKERS=3", "MEISSA_WORKERS=2 MEISSA_SHM=0"} do
      local _, other = objective("--epochs 3", environment)
      assert.same(one.alpha:totable(), other.alpha:totable())
    end
  end)
end)
