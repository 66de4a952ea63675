-- SPDX-License-Identifier: MIT
--- A small training run on real ratings for specs that compare bits: prints the squared error of
-- each pass exactly, and saves W and H into a directory.
--   luajit mf.lua RATINGS DIRECTORY
local meissa = require "meissa"
local parallel = meissa.parallel

local ratings = meissa.read.triples(arg[1], {sep = ",", skip = 1})
local K, lr, reg, mu = 8, 0.02, 0.05, ratings:mean()
local W = meissa.randn({ratings:size(1), K}, {scale = 0.1, seed = 1})
local H = meissa.randn({ratings:size(2), K}, {scale = 0.1, seed = 2, type = "float"})

for _ = 1, 2 do
  local sse, worst = 0, 0
  for i, j, r in parallel(ratings) do
    local w, h = W[i], H[j]
    local e = r - mu
    for k = 1, K do e = e - w[k] * h[k] end
    sse = sse + e * e
    if e > worst then worst = e end
    for k = 1, K do
      local wk = w[k]
      w[k] = wk + lr * (e * h[k] - reg * wk)
      h[k] = h[k] + lr * (e * wk - reg * h[k])
    end
  end
  print(("%a %a"):format(sse, worst))
end

-- An ordered loop over a range, and an independent one that reads what the first one wrote.
local norms, scaled = meissa.zeros(W:size(1)), meissa.zeros({W:size(1), K})
for i in parallel(W:size(1)) do norms[i] = W[i]:norm() end
for i, k in parallel(W:size(1), K) do scaled[i][k] = W[i][k] / norms[i] end
W:save(arg[2] .. "/W.npy")
H:save(arg[2] .. "/H.npy")
scaled:save(arg[2] .. "/scaled.npy")
