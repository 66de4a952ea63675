-- SPDX-License-Identifier: MIT
--
-- Pictures of schedules: exact text, and the plan's serial order read back from a picture.
local core = require "meissa.core"
local meissa = require "meissa"
local picture = require "meissa.plan.picture"

local function lines(...)
  return table.concat({...}, "\n")
end

local function ratings()
  local i, j = {}, {}
  for a = 1, 40 do
    for b = 1, 20 do i[#i + 1], j[#j + 1] = a, b end
  end
  return meissa.sparse({40, 20}, {i = i, j = j})
end

-- The plan of a rotation with this grid.
local function rotation(grid)
  local S, W, H = ratings(), meissa.zeros(40), meissa.zeros(20)
  return meissa.plan(S, {grid = grid}, function(i, j)
    W[i] = W[i] + H[j]
    H[j] = H[j] + W[i]
  end)
end

describe("a picture", function()
  it("of a rotation is a latin square", function()
    assert.equal(lines(
      "rotate: 4 ranges of i stay, 4 of j move; 4 steps, the blocks of a step run together",
      "  step     1 2 3 4",
      "  i 1..10  1 2 3 4",
      "  i 11..20 2 3 4 1",
      "  i 21..30 3 4 1 2",
      "  i 31..40 4 1 2 3"), rotation({4, 4}):picture())
  end)

  it("of a rotation shows who waits", function()
    assert.equal(lines(
      "rotate: 4 ranges of i stay, 2 of j move; 4 steps, the blocks of a step run together",
      "  step     1 2 3 4",
      "  i 1..10  1 2 - -",
      "  i 11..20 2 - - 1",
      "  i 21..30 - - 1 2",
      "  i 31..40 - 1 2 -"), rotation({4, 2}):picture())
  end)

  it("has at most 16 rows and columns", function()
    local text = rotation({20, 20}):picture()
    local rows = 0
    for line in text:gmatch("\n([^\n]*)") do
      rows = rows + 1
      local _, cells = line:gsub("%S+", "")
      assert.is_true(cells <= 18, line)
    end
    assert.equal(17, rows) -- with the line of steps
    assert.truthy(text:find("\n  i 39..40 20  1  2  3  4  5  6  7  8  9 10 11 12 13 .. 19$"), text)
  end)

  it("tells the serial order of the plan", function()
    for _, ranges in ipairs {{4, 4}, {5, 3}, {3, 5}, {7, 7}, {1, 4}} do
      local steps, count = picture.steps("rotate", ranges)
      local order = {}
      for block in core.serial_order("rotate", ranges) do order[#order + 1] = block end
      assert.equal(math.max(ranges[1], ranges[2]), count)
      local seen = {}
      for position, block in ipairs(order) do
        local before = order[position - 1]
        assert.is_true(not before or steps[before] <= steps[block])
        local a, b = math.floor(block / ranges[2]), block % ranges[2]
        local step = steps[block]
        assert.is_nil(seen[step .. "a" .. a]) -- blocks of a step share no range
        assert.is_nil(seen[step .. "b" .. b])
        seen[step .. "a" .. a], seen[step .. "b" .. b] = true, true
      end
    end
  end)

  it("of ranges shows their shares of the work", function()
    local i, j = {}, {}
    for k = 1, 8 do i[k], j[k] = k <= 6 and 1 or k - 5, k end -- row 1 has six entries, 2 and 3 one
    local S, W = meissa.sparse({3, 8}, {i = i, j = j}), meissa.zeros(3)
    local plan = meissa.plan(S, {grid = {3}}, function(a, _, v) W[a] = W[a] + v end)
    assert.equal(lines(
      "partition: 3 ranges of a, all at once; shares of the iterations",
      "  a 1 75.0 % ################################",
      "  a 2 12.5 % #####",
      "  a 3 12.5 % #####"), plan:picture())
    for a in meissa.plan({9, 1, -4}) do W[1] = a end
    assert.equal("serial: one iteration after the other, as written", meissa.last():picture())
    local U = meissa.zeros(9)
    for a in meissa.plan({9, 1, -4}, {grid = {2}}) do U[a] = 1 end
    assert.equal(lines(
      "independent: 2 ranges of a, all at once; shares of the iterations",
      "  a 9..5 step -4 66.7 % ################################",
      "  a 1            33.3 % ################"), meissa.last():picture())
  end)

  -- The picture of a loop given as text over A, grid and ranges being in it.
  local function picture_of(text)
    return meissa.run("local A = ...\n" .. text .. "\nreturn meissa.last():picture()",
      meissa.ones(12, 12))
  end

  it("of a wavefront is a pipeline", function()
    assert.equal(lines(
      "wavefront: 3 ranges of i, 2 of j; 4 steps, the blocks of a step run together",
      "  step     1 2 3 4",
      "  i 2..5   1 2 - -",
      "  i 6..9   - 1 2 -",
      "  i 10..12 - - 1 2"), picture_of(
      "for i, j in meissa.plan({2, 12}, {2, 12}, {grid = {3, 2}}) do" ..
      " A[i][j] = A[i-1][j] + A[i][j-1] end"))
  end)

  it("of a sweep shows who takes part in each step", function()
    assert.equal(lines(
      "hyperplane: 3 steps, one for each value of t; 2 ranges of i run together",
      "  step    1 2 3",
      "  i 2..6  * * *",
      "  i 7..11 * * *"), picture_of(
      "for t, i in meissa.plan({2, 4}, {2, 11}, {grid = {2}}) do" ..
      " A[t][i] = A[t-1][i-1] + A[t-1][i+1] end"))
    assert.equal(lines(
      "hyperplane: 9 steps, one for each value of 2*i + j; 3 ranges of i run together",
      "  step 1 2 3 4 5 6 7 8 9",
      "  i 2  * * * * * - - - -",
      "  i 3  - - * * * * * - -",
      "  i 4  - - - - * * * * *"), picture_of(
      "for i, j in meissa.plan({2, 4}, {2, 6}, {grid = {3}}) do" ..
      " A[i][j] = A[i-1][j+1] + A[i][j-1] end"))
  end)

  it("of a skewed cut names the sum", function()
    assert.equal(lines(
      "skew: 3 ranges of i - j, all at once; shares of the iterations",
      "  (i - j) -3..-2 33.3 % ###################",
      "  (i - j) -1..0  55.6 % ################################",
      "  (i - j) 1      11.1 % ######"), picture_of(
      "for i, j in meissa.plan({2, 4}, {3, 5}, {grid = {3}}) do A[i][j] = A[i-1][j-1] end"))
  end)

  it("and reports are there without workers, too", function()
    local n = 6
    local F, rows, columns = meissa.zeros(n, n), meissa.zeros(n), meissa.zeros(n)
    meissa.init {workers = 0}
    for i, j in meissa.parallel({2, n}, {2, n}) do
      F[i][j] = F[i-1][j] + F[i][j-1] + rows[i] + columns[j]
    end
    meissa.init {}
    local report = tostring(meissa.last())
    assert.truthy(report:find("columns[j]  read  moves with j", 1, true), report)
  end)

  it("of a loop without blocks says so", function()
    local U = meissa.zeros(9)
    local none = "independent: no blocks; the loop is empty, or runs in this process as written"
    for a in meissa.plan({2, 1}) do U[a] = 1 end
    assert.equal(none, meissa.last():picture())
    for a in meissa.parallel(9, {serial = true}) do U[a] = 1 end
    assert.equal("serial: one iteration after the other, as written", meissa.last():picture())
    meissa.init {workers = 0}
    for a in meissa.parallel(9) do U[a] = 1 end
    meissa.init {}
    assert.equal(none, meissa.last():picture())
  end)
end)
