-- SPDX-License-Identifier: MIT
--- Topologies: which replica hears which in an exchange, with what weight.
--
-- csrc/sync/topology.h says what they are; there replicas count from 0, here from 1.
-- @module meissa.sync.topology

local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local tables = require "meissa.base.tables"

local M = {}

local lib = c_api.lib

--- Names, in the order of ms_topology_kind.
M.NAMES = {"all", "tree-allreduce", "ring-allreduce", "server", "ring", "ring-both", "chain",
           "root-expander", "one-peer-exponential"}

local REGULAR, MATRIX = 9, 10

local kinds = {}
for k, name in ipairs(M.NAMES) do kinds[name] = k - 1 end

-- The metatable of topologies, by whose name they travel: they are plain data.
local Topology = {}
Topology.__index = Topology
M.Topology = Topology

-- What the core has of topologies that were asked for something in this process.
local cores = setmetatable({}, {__mode = "k"})

function Topology.__tostring(self)
  return string.format("topology %s of %d replicas", self.name, self.count)
end

--- Whether a value is a topology.
function M.is(value)
  return type(value) == "table" and getmetatable(value) == Topology
end

local function whole(value, least, what)
  return errors.check_whole(value, what, least, 2 ^ 31)
end

-- A matrix of numbers as doubles.
local function matrix_of(rows, n)
  local numbers = ffi.new("double[?]", n * n)
  if type(rows) ~= "table" or #rows ~= n then
    errors.raise("OPT", "the matrix of a topology of %d replicas has %d rows, one for each " ..
                 "receiver, of as many numbers", n, n)
  end
  for i = 1, n do
    if type(rows[i]) ~= "table" or #rows[i] ~= n then
      errors.raise("OPT", "row %d of a topology's matrix must have %d numbers", i, n)
    end
    for j = 1, n do
      if type(rows[i][j]) ~= "number" then
        errors.raise("OPT", "row %d of a topology's matrix: element %d is %s, not a number", i, j,
                     tostring(rows[i][j]))
      end
      numbers[(i - 1) * n + j - 1] = rows[i][j]
    end
  end
  return numbers
end

-- Name, kind, degree, seed and matrix of what was asked for.
local function parse(what, n)
  if type(what) == "string" then
    if kinds[what] then return what, kinds[what], 0, 0, nil end
    local near = errors.nearest(what, M.NAMES)
    errors.raise("OPT", "there is no topology '%s'%s: they are %s, {regular = d, seed = s} and " ..
                 "{matrix = M}", what, near and string.format(" (did you mean '%s'?)", near) or "",
                 table.concat(M.NAMES, ", "))
  end
  if type(what) ~= "table" then
    errors.raise("OPT", "a topology is a name, {regular = d, seed = s} or {matrix = M}, not %s",
                 tostring(what))
  end
  errors.check_options("meissa.topology", what, {"regular", "seed", "matrix"})
  if what.matrix ~= nil then
    if what.regular ~= nil or what.seed ~= nil then
      errors.raise("OPT", "a topology is regular or has a matrix, not both")
    end
    return "of a matrix", MATRIX, 0, 0, matrix_of(what.matrix, n)
  end
  local degree = whole(what.regular, 1, "the degree of a topology ({regular = d})")
  local seed = whole(what.seed == nil and 1 or what.seed, 0, "the seed of a topology")
  return string.format("{regular = %d, seed = %d}", degree, seed), REGULAR, degree, seed, nil
end

-- A copy of a description of a topology, which the program cannot change any more.
local function copy_of(what)
  if array.is(what) then return what:totable() end
  if type(what) ~= "table" then return what end
  local copy = {}
  for key, value in tables.each(what) do copy[key] = copy_of(value) end
  return copy
end

-- Name and core of what was asked for. Errors: OPT ARR.
local function make_core(what, n)
  local name, kind, degree, seed, matrix = parse(what, n)
  return name, ffi.gc(c_api.call(lib.ms_topology_new, kind, n, degree, seed, matrix),
                      lib.ms_topology_free)
end

--- What the core has of a topology: ms_topology.
function M.core(self)
  if not cores[self] then
    local _, core = make_core(self.what, self.count)
    cores[self] = core
  end
  return cores[self]
end

--- Makes a topology.
-- @param what one of NAMES, {regular = d, seed = s} (everyone hears d others, drawn at random) or
-- {matrix = M}: a row for each receiver, of weights that sum to 1, or of 1 for each edge
-- @number n how many replicas
-- @return the topology: `name`, `count`, `period`, `what` (plain data), and the methods below
-- @usage print(meissa.topology("root-expander", 25):spectral_gap())
-- Errors: OPT.
function M.topology(what, n)
  whole(n, 1, "the number of replicas of a topology")
  if M.is(what) then
    if what.count == n then return what end
    errors.raise("OPT", "this topology is of %d replicas, not of %d", what.count, n)
  end
  local plain = copy_of(what)
  local name, core = make_core(plain, n)
  local self = setmetatable({name = name, count = n, period = core.period, what = plain}, Topology)
  cores[self] = core
  return self
end

local first, last = ffi.new "uint32_t[1]", ffi.new "uint32_t[1]"

-- Phase of a round; rounds are whole numbers from 0.
local function phase_of(self, round)
  if round == nil then return 1 % self.period end
  return whole(round, 0, "a round") % self.period
end

--- Who receiver `i` hears in round `t`, itself left out: their numbers, ascending, and weights.
function M.senders(self, i, t)
  local core = M.core(self)
  lib.ms_topology_senders(core, t % self.period, i - 1, first, last)
  local list, weights = {}, {}
  for k = first[0], last[0] - 1 do
    list[#list + 1], weights[#weights + 1] = core.from[k] + 1, core.weight[k]
  end
  return list, weights
end

--- Whether all hear all others in each round, by edges or by a reduction.
function M.is_complete(self)
  if self.complete == nil then
    local core, rows = M.core(self), self.period * self.count
    self.complete = core.reduces == 1 or core.start[rows] == rows * (self.count - 1)
  end
  return self.complete
end

--- Whether it is a reduction: the exact mean, whatever the edges.
function M.reduces(self)
  return M.core(self).reduces == 1
end

--- The bytes of a reduction of so many numbers, by all replicas together.
function M.reduction_bytes(self, count)
  local n = self.count
  if self.name == "tree-allreduce" then return 2 * (n - 1) * lib.ms_filter_bytes(count, count) end
  return 2 * (n - 1) * (16 * n + 8 * count)
end

--- Whether a receiver gives equal weights to all that it hears, itself included.
function M.is_uniform(self)
  local weighting = M.core(self).weighting
  return weighting == 0 or weighting == 3
end

--- The edges: a list of {from, to}, sorted, without those of replicas to themselves.
-- @number[opt] t the round, of a topology whose edges depend on it; nil: those of all rounds
function Topology:edges(t)
  local list, seen = {}, {}
  local from, to = 0, self.period - 1
  if t ~= nil then from, to = phase_of(self, t), phase_of(self, t) end
  for phase = from, to do
    for i = 1, self.count do
      for _, sender in ipairs((M.senders(self, i, phase))) do
        local key = sender * (self.count + 1) + i
        if not seen[key] then list[#list + 1] = {sender, i} end
        seen[key] = true
      end
    end
  end
  table.sort(list, function(a, b)
    if a[1] ~= b[1] then return a[1] < b[1] end
    return a[2] < b[2]
  end)
  return list
end

--- The weights: a list of rows, one for each receiver; row[j] is the weight of replica j.
-- @number[opt] t the round (1)
function Topology:weights(t)
  local n, rows = self.count, {}
  local numbers = ffi.new("double[?]", n * n)
  lib.ms_topology_matrix(M.core(self), phase_of(self, t), numbers)
  for i = 1, n do
    rows[i] = {}
    for j = 1, n do rows[i][j] = numbers[(i - 1) * n + j - 1] end
  end
  return rows
end

--- The spectral gap: 1 - s, where each exchange takes replicas at least s times as near to their
-- mean; s is the second singular value of the weights (of a period's, its root).
-- Errors: ARR.
function Topology:spectral_gap()
  local gap = lib.ms_topology_gap(M.core(self))
  if gap < 0 then errors.raise("ARR", "out of memory for the gap of a topology") end
  return gap
end

-- In the order of the bits of ms_topology_faults.
local FAULTS = {
  "the weights of a receiver do not sum to 1",
  "the weights that a sender is given do not sum to 1: replicas would agree on another value " ..
    "than their mean",
  "a weight is negative",
  "a replica does not hear itself",
  "a replica never hears of another one",
}

--- Whether averaging over the topology gives the mean of all replicas: the weights are doubly
-- stochastic, everyone hears itself, and of everyone in the end.
-- @return true, or nil, "OPT: what is wrong" and "OPT"
function Topology:check()
  local faults = lib.ms_topology_faults(M.core(self))
  if faults < 0 then errors.raise("ARR", "out of memory for the check of a topology") end
  if faults == 0 then return true end
  local list = {}
  for k, text in ipairs(FAULTS) do
    if math.floor(faults / 2 ^ (k - 1)) % 2 == 1 then list[#list + 1] = text end
  end
  return nil, "OPT: " .. table.concat(list, "; "), "OPT"
end

return M
