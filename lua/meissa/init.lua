-- SPDX-License-Identifier: MIT
--- Meissa: plain `for`-loops on many workers.
--
--     local meissa = require "meissa"
--     for i, j, r in meissa.parallel(ratings) do ... end
--
-- This file only gathers the public names; each is documented where it is made.
-- @module meissa

require "meissa.base.requires"
local environment = require("meissa.base.chunks").environment
local require, type = environment.require, environment.type
local analyze = require "meissa.analyze"
local array = require "meissa.array"
local buffer = require "meissa.array.buffer"
local capture = require "meissa.capture"
local file = require "meissa.file"
local iterate = require "meissa.driver.iterate"
local late = require "meissa.base.late"
local loop = require "meissa.driver.loop"
local list_map = require "meissa.driver.list_map"
local pool = require "meissa.driver.pool"
local public = require "meissa.base.public"
local random = require "meissa.kernel.random"
local read = require "meissa.read"
local release = require "meissa.base.release"
local replica_groups = require "meissa.sync.replica_group"
local scratch = require "meissa.array.scratch"
local steps = require "meissa.sync.steps"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"
local topology = require "meissa.sync.topology"
local trace = require "meissa.base.trace"

local check = late(function() return require "meissa.check" end)
local replica_functions = late(function() return require "meissa.driver.replica_functions" end)

-- Loops know nothing of the checker.
function loop.examine(record, plan, space, ...)
  if space.check then check.loop(record, plan, space, ...) end
end

local M = {
  -- loops
  parallel = loop.parallel,
  each = loop.each,
  iterate = iterate.iterate,
  map = list_map.map,
  run = loop.run,
  plan = loop.plan,
  last = loop.last,
  -- workers
  init = pool.init,
  workers = pool.describe,
  -- analysis
  analyze = analyze.analyze,
  shape = analyze.shape,
  opaque = analyze.opaque,
  -- random numbers
  random = random.random,
  normal = random.normal,
  seed = random.seed,
  -- arrays
  zeros = array.zeros,
  ones = array.ones,
  rand = array.rand,
  randn = array.randn,
  full = array.full,
  from = array.from,
  sparse = array.sparse,
  objects = array.objects,
  cat = array.cat,
  abs = array.abs,
  exp = array.exp,
  log = array.log,
  pow = array.pow,
  sqrt = array.sqrt,
  tanh = array.tanh,
  is_array = array.is_any,
  scratch = scratch.scratch,
  buffer = buffer.buffer,
  -- replicas
  replicate = replica_groups.replicate,
  replicas = function(...) return replica_functions.replicas(...) end,
  sgd = steps.sgd,
  ea = steps.ea,
  topology = topology.topology,
  -- files
  read = read,
  save = file.save,
  load = file.load,
  --- The version, as the changelog has it: "0.1.0".
  VERSION = release,
  --- Seconds on a clock that only goes forward, for timing.
  clock = system.clock,
}

-- Tells the capture that these functions are Meissa's own: bodies may call them, and what is inside
-- of them is not looked at.
for name, value in tables.each(M) do
  if type(value) == "function" then capture.register(value, "meissa." .. name) end
end
capture.register_library(M, true)
public.names = M
trace.open()

return M
