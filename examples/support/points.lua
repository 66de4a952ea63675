-- SPDX-License-Identifier: MIT
--- Labelled points for linear models: read from files in LIBSVM's form, or planted.
local meissa = require "meissa"
local run = require "run"

local M = {}

-- Ten features of a thousand a point; its label says whether `is_right` holds for the planted sum
-- of these and a number drawn from (0, 1).
local function generate(points, seed, is_right)
  local draws, planted = meissa.rand({points, 11}, {seed = seed}), meissa.randn({1000}, {seed = 1})
  local i, j, v, y = {}, {}, {}, meissa.zeros(points)
  for p = 1, points do
    local sum, row = 0, draws[p]
    for k = 1, 10 do
      local feature = 100 * (k - 1) + 1 + math.floor(100 * row[k] * row[k])
      i[#i + 1], j[#j + 1], v[#v + 1] = p, feature, 1
      sum = sum + planted[feature]
    end
    y[p] = is_right(sum, row[11]) and 1 or -1
  end
  return meissa.sparse({points, 1000}, {i = i, j = j, v = v}), y
end

--- Points to learn from and points to test on.
-- @tab options `data`, `test` and `features` of files; else `points`, how many to plant, and `seed`
-- @func is_right is_right(sum, draw): which planted points are on the right side
-- @return X, a sparse matrix with a row for each point, its labels y; and those of the test
function M.take(options, is_right)
  if not options.data then
    local X, y = generate(options.points, options.seed + 1, is_right)
    return X, y, generate(math.ceil(options.points / 4), options.seed + 2, is_right)
  end
  local X, y = run.read(meissa.read.libsvm, options.data, {features = options.features})
  if not options.test then return X, y, X, y end
  return X, y, run.read(meissa.read.libsvm, options.test, {like = X})
end

--- A planted point's side where one in twenty is wrong.
function M.mostly_right(sum, draw) return (sum > 0) == (draw > 0.05) end

--- Labels as 1 and -1, whatever a file has for them.
function M.signs(y)
  local list = {}
  for p = 1, y:size(1) do list[p] = y[p] > 0 and 1 or -1 end
  return meissa.from(list)
end

return M
