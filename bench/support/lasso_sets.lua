-- SPDX-License-Identifier: MIT
--- Two problems of the lasso that differ as those of the thesis do (its table 5.1): few features,
-- all there and correlated, as epsilon's are, and many features of which each point has a few, as
-- URL's are.
local lasso = require "lasso_cocoa"
local meissa = require "meissa"

local M = {
  --- How many points and features a set has, and the weight of the sum of absolutes.
  sizes = {dense = {800, 200, 20}, sparse = {1000, 1000, 5}, planted = {2000, 400, 10},
           wide = {1600, 1600, 40}},
  --- The example's own: a tenth of the entries is there.
  planted = lasso.generate,
}

--- Points of which each feature is there: a sum of five hidden factors beside what it
-- has of its own.
function M.dense(points, features, seed)
  local own = meissa.randn({points, features}, {seed = seed})
  local hidden = meissa.randn({points, 5}, {seed = seed + 1, scale = 0.2})
  local load = meissa.randn({5, features}, {seed = seed + 2})
  local noise = meissa.randn({points}, {seed = seed + 3, scale = 0.1})
  local i, j, v, y = {}, {}, {}, meissa.zeros(points)
  for p = 1, points do
    y[p] = noise[p]
    for f = 1, features do
      local x = own[p][f]
      for h = 1, 5 do x = x + hidden[p][h] * load[h][f] end
      i[#i + 1], j[#j + 1], v[#v + 1] = p, f, x
      if f % math.ceil(features / 20) == 0 then y[p] = y[p] + (f % 2 * 2 - 1) * x end
    end
  end
  return meissa.sparse({points, features}, {i = i, j = j, v = v}), y
end

--- The same, of so many features that a pass takes longer than an exchange.
M.wide = M.dense

--- Points that have a hundredth of the features.
function M.sparse(points, features, seed)
  local draws = meissa.rand({points, features}, {seed = seed})
  local noise = meissa.randn({points}, {seed = seed + 1, scale = 0.1})
  local i, j, v, y = {}, {}, {}, meissa.zeros(points)
  for p = 1, points do
    y[p] = noise[p]
    for f = 1, features do
      if draws[p][f] < 0.01 then
        i[#i + 1], j[#j + 1], v[#v + 1] = p, f, 1 + 100 * draws[p][f]
        if f % 7 == 0 then y[p] = y[p] + (f % 2 * 2 - 1) * v[#v] end
      end
    end
  end
  return meissa.sparse({points, features}, {i = i, j = j, v = v}), y
end

--- Columns and what they are to give, of a set by name.
function M.take(name, points, features, seed)
  local X, y = M[name](points, features, seed)
  return lasso.transpose(X), y
end

return M
