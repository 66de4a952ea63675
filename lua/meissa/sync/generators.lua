-- SPDX-License-Identifier: MIT
--- Generators of random numbers that belong to the program: Torch's, which replicas have to
-- themselves, and that of LuaJIT's library. State of every process; one thread.
-- @module meissa.sync.generators

local builtin = require "meissa.base.builtin"

local M = {}

-- Torch, where the program has loaded it.
local function loaded_torch()
  local torch = package.loaded.torch
  return type(torch) == "table" and type(torch.getRNGState) == "function" and torch or nil
end

--- The state of Torch's generator, nil where there is none.
function M.torch_state()
  local torch = loaded_torch()
  return torch and torch.getRNGState()
end

--- Puts Torch's generator into a state that it had; nil: leaves it.
function M.set_torch_state(state)
  if state then loaded_torch().setRNGState(state) end
end

--- Seeds Torch's generator, if there is one.
function M.seed_torch(k)
  local torch = loaded_torch()
  if torch then torch.manualSeed(k) end
end

--- Seeds all. Functions of bodies draw from LuaJIT's library as Meissa has it, all others from the
-- program's: each has a generator of its own.
function M.seed(k)
  math.randomseed(k)
  local theirs = package.loaded.math and package.loaded.math.randomseed
  if theirs and builtin.same(theirs, math.randomseed) then theirs(k) end
  M.seed_torch(k)
end

return M
