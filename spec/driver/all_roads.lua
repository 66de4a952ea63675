-- SPDX-License-Identifier: MIT
--- What replicas give on all roads: numbers of workers, shared memory and by value.
local assert = require "luassert"
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"

local M = {}

local ROADS = {{workers = 0}, {workers = 1}, {workers = 2}, {workers = 3},
               {workers = 2, shm = false}, {workers = 3, transport = "tcp", shm = false}}

--- What fn gives, which is the same on each road.
-- @func[opt] begin called before it
function M.on_all_roads(fn, begin)
  local expected
  for _, road in ipairs(ROADS) do
    road.quiet = true
    kept_workers.init(road)
    meissa.seed(5)
    if begin then begin() end
    local got = fn()
    expected = expected or got
    assert.same(expected, got, road.workers .. " workers")
  end
  return expected
end

--- Stops the workers.
M.stop = kept_workers.stop

--- Whether no value is in a list twice.
function M.all_differ(list)
  local known = {}
  for _, x in ipairs(list) do
    if known[x] then return false end
    known[x] = true
  end
  return true
end

return M
