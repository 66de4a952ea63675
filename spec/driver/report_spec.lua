-- SPDX-License-Identifier: MIT
--
-- What blocks report arrives whole and in its place, however much it is: in a frame, on the shelf,
-- or in pieces (csrc/job/status_page.h); and what the worker before left on the shelf is not met.

local buffer = require "string.buffer"
local ffi = require "ffi"
local support = require "spec.driver.support"

-- Block b leaves sizes[b + 1] bytes that say which block and which job they are of.
local KERNEL = [[
local _, given = ...
return function(block)
  local size = given.sizes[block + 1]
  return (("%d,%d;"):format(given.job, block)):rep(math.ceil(size / 4)):sub(1, size)
end]]

local function expected(job, block, size)
  return (("%d,%d;"):format(job, block)):rep(math.ceil(size / 4)):sub(1, size)
end

-- Bytes of blocks, so that reports lie around the sizes of a frame and of a shelf.
local CASES = {
  {10, 0, 30}, {3500, 20, 30}, {3600, 3600, 3600}, {2 ^ 18 - 16, 0, 0}, {2 ^ 18 - 15, 5, 1},
  {2 ^ 17, 2 ^ 17, 2 ^ 17}, {2 ^ 20, 3, 2 ^ 16}, {0, 0, 0}, {5, 5, 5},
  {2 ^ 17 - 20, 2 ^ 17 - 20, 7}, {2 ^ 25 - 16, 0, 0}, {2 ^ 25 - 15, 5, 1}, {2 ^ 24, 2 ^ 24, 2 ^ 24},
  {30, 20, 10},
}

local ROADS = {
  {workers = 1}, {workers = 2}, {workers = 3}, {workers = 2, shm = false},
  {workers = 2, transport = "tcp"},
}

local function name_of(road)
  return ("%d workers%s%s"):format(road.workers, road.shm == false and ", by value" or "",
                                   road.transport and ", " .. road.transport or "")
end

describe("reports of any size", function()
  for _, road in ipairs(ROADS) do
    it("arrive with " .. name_of(road), function()
      local session = assert(support.session {workers = road.workers, shm = road.shm,
                                              transport = road.transport})
      for job, sizes in ipairs(CASES) do
        local outcome = assert(session:run {
          key = "report", kernel = KERNEL, run = buffer.encode {sizes = sizes, job = job},
          strategy = "independent", ranges = {#sizes},
        })
        for block, size in ipairs(sizes) do
          local got = outcome.results[block - 1] or ""
          assert.is_true(expected(job, block - 1, size) == got,
                         ("job %d, block %d: %d bytes"):format(job, block - 1, #got))
        end
      end
      session:stop()
    end)
  end
end)

-- A block takes as long as its range says; block b is range b here.
local BUSY = [[
local system = require("meissa.base.system")
local _, seconds = ...
return function(block)
  local finish = system.clock() + seconds[block + 1]
  repeat until system.clock() >= finish
end]]

it("what ranges took is known of all workers, however brief some were", function()
  local session = assert(support.session {workers = 2})
  local function spent(seconds)
    local outcome = assert(session:run {key = "busy", kernel = BUSY, run = buffer.encode(seconds),
                                        strategy = "independent", ranges = {#seconds}})
    assert.are.equal(2, outcome.workers[1].blocks)
    local list, vector = {}, ffi.new("uint64_t[4]")
    ffi.copy(vector, outcome.spent, 32)
    for r = 1, 4 do list[r] = tonumber(vector[r - 1]) / 1e9 end
    return list
  end
  local seconds = {1e-4, 2e-5, 2e-3, 4e-3} -- the first worker is too brief to say on what
  local list = spent(seconds)
  assert.is_true(list[1] > 0 and list[2] > 0 and list[1] + list[2] > 1.19e-4)
  assert.is_true(list[3] >= seconds[3] and list[4] >= seconds[4])
  session:stop()
end)
