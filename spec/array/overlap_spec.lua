-- SPDX-License-Identifier: MIT
-- Which views of one memory have elements in common, against writing through one and reading
-- through the other.
local array = require "meissa.array"
local meissa = require "meissa"

local SEED = tonumber(os.getenv "MEISSA_TEST_SEED") or os.time() % 10000
print("MEISSA_TEST_SEED=" .. SEED)

-- A random view of a matrix: parts, rows, columns.
local function view_of(A)
  local view = A
  for d = 1, 2 do
    local size = view:size(d)
    local first = math.random(size)
    view = view:narrow(d, first, math.random(size - first + 1))
  end
  local kind = math.random(4)
  if kind == 2 then return view:select(2, math.random(view:size(2))) end
  if kind == 3 then return view:select(1, math.random(view:size(1))) end
  return view
end

describe("array.overlap", function()
  it("is whether what is written by one view is seen by the other", function()
    math.randomseed(SEED)
    local A, seen = meissa.zeros(5, 6), {}
    for _ = 1, 400 do
      local one, other = view_of(A), view_of(A)
      A:fill(0)
      one:fill(1)
      local common = other:sum() > 0
      assert.equal(common, array.overlap(one, other))
      assert.equal(common, array.overlap(other, one))
      seen[common] = true
    end
    assert.same({[true] = true, [false] = true}, seen)
    assert.is_false(array.overlap(meissa.zeros(3), meissa.zeros(3)))
  end)
end)
