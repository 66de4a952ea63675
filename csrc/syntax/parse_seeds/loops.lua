local meissa = require "meissa"
local parallel = meissa.parallel
for i, j, r in parallel(ratings, {grid = {4, 4}}) do
  local w, h = W[i], H[j]
  local e = r - mu - w:dot(h)
  sse = sse + e * e
  for k = 1, K do w[k], h[k] = w[k] + lr * (e * h[k] - reg * w[k]), h[k] end
  if e > worst then worst = e elseif e < -worst then goto continue end
  t[i] = -e
  ::continue::
end
meissa.each(n, function(i) A[2 * i - 1] = B[n - i] % 3 end)
for i in
  meissa.parallel {1, 9, 2}
do local f = function() sum = sum + i end f() end
