-- SPDX-License-Identifier: MIT
--- What hand-overs by messages cost where blocks are light: two workers in a pipeline, each block
-- of the first handed over to one of the second, with rows of an array. A pass could take the time
-- of one worker's blocks, and one block more; what it takes beyond that is said for each block.
-- Prints a table, then one JSON object.
--   luajit bench/bundle.lua [blocks]
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local arguments = require "arguments"
local buffer = require "string.buffer"
local core = require "meissa.core"
local ffi = require "ffi"
local json = require "dkjson"
local meissa = require "meissa"
local system = require "meissa.base.system"
local interpreter = require "meissa.base.interpreter"

local blocks = arguments("bundle.lua", "What hand-overs by messages cost where blocks are light.",
  {"blocks", "Blocks of each of two workers.", 400})
local ROUNDS, ROW = 15, 64

-- Blocks that take a while.
local BUSY = [[
local buffer, system = require "string.buffer", require "meissa.base.system"
require("meissa.worker").prepare = function(_, run)
  local seconds = buffer.decode(run)
  return function()
    local finish = system.clock() + seconds
    while system.clock() < finish do end
    return ""
  end
end
require("meissa.worker").main(3)
]]

local array = meissa.zeros(blocks, ROW)
local memory = require("meissa.array").core(array)
local bounds = {ffi.new("int64_t[3]", 1, 2, 3), ffi.new("int64_t[?]", blocks + 1)}
for b = 0, blocks do bounds[2][b] = b + 1 end

local function pass(session, seconds)
  local before = system.clock()
  local outcome, err = session:run {
    key = "busy", kernel = "", run = buffer.encode(seconds), strategy = "wavefront",
    ranges = {2, blocks},
    bounds = {ffi.cast("int64_t *", bounds[1]), ffi.cast("int64_t *", bounds[2])},
    items = {{id = 1, version = 0, pointer = memory.data, element = 8, dims = {blocks, ROW},
              movement = "rotated", written = true, along = 1, cut = 2}},
  }
  if not outcome then error(err.message) end
  return system.clock() - before
end

local session = assert(core.session {workers = 2, transport = "ipc", shm = false,
                                     command = interpreter.command(BUSY)})
local figures = {blocks = blocks}
print(("%-24s %12s %12s %16s"):format("a block", "a pass", "its blocks", "more, a block"))
for _, us in ipairs {0, 10, 30, 100, 1000} do
  local best = math.huge
  for _ = 1, us < 1000 and ROUNDS or 3 do best = math.min(best, pass(session, us * 1e-6)) end
  local own = us * 1e-6 * (blocks + 1)
  local more = (best - own) / blocks * 1e6
  figures["more_us_" .. us] = more
  print(("%-24s %9.2f ms %9.2f ms %13.2f us"):format(us .. " us", best * 1e3, own * 1e3, more))
end
session:stop()
print(json.encode(figures))
