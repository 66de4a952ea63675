-- SPDX-License-Identifier: MIT
--- Data-parallel training steps over a tree of replicas: sums of gradients, and elastic averaging
-- (Zhang, Choromanska, LeCun, "Deep learning with elastic averaging SGD", 2015). Method names and
-- what they do are those of Torch's distlearn, so that programs may take either.
-- @module meissa.sync.steps

local errors = require "meissa.base.errors"

local M = {}

local function plus(a, b)
  if type(a) == "number" then return a + b end
  return a:add(b)
end

local function zero(a)
  if type(a) == "number" then return 0 end
  return a:fill(0)
end

local function check_tree(where, tree)
  if type(tree) ~= "table" or type(tree.allReduce) ~= "function" then
    errors.raise("OPT", "%s takes a replica, as meissa.replicas gives it, or a tree like it",
                 where)
  end
end

-- Raises OPT where a function of what meissa.sgd and meissa.ea give was called with a colon.
local function check_dot(self, name, value)
  if value == self then
    errors.raise("OPT", "%s is called with a dot: s.%s(...), not s:%s(...)", name, name, name)
  end
end

-- The replica with the most steps, the last one of several.
local function longest(steps)
  local best = 1
  for k, count in ipairs(steps) do
    if count >= steps[best] then best = k end
  end
  return best
end

local function table_of(values)
  return type(values) == "table" and values or {values}
end

--- Synchronous SGD: gradients are summed over the replicas that still take steps.
-- @param tree a replica of meissa.replicas
-- @treturn table sumGradients(grads), sumAndNormalizeGradients(grads),
-- synchronizeParameters(params)
-- Errors: OPT.
function M.sgd(tree)
  check_tree("meissa.sgd", tree)
  local steps = {}
  for k = 1, tree.numNodes do steps[k] = 0 end
  local function count() steps[tree.nodeIndex] = steps[tree.nodeIndex] + 1 end
  local self = {}

  --- The sum over all replicas, in place.
  function self.sumGradients(grads)
    check_dot(self, "sumGradients", grads)
    tree.allReduce(grads, plus)
    count()
  end

  --- The mean over those replicas that still take steps, in place.
  function self.sumAndNormalizeGradients(grads)
    check_dot(self, "sumAndNormalizeGradients", grads)
    local _, contributors = tree.allReduce(grads, plus)
    if contributors > 1 then
      tree.walkTable(table_of(grads), function(grad)
        if type(grad) == "number" then return grad / contributors end
        return grad:mul(1 / contributors)
      end)
    end
    count()
  end

  --- The same parameters everywhere: those of the replica that took most steps.
  function self.synchronizeParameters(params)
    check_dot(self, "synchronizeParameters", params)
    if steps[tree.nodeIndex] == 0 then
      tree.scatter(params)
      return
    end
    tree.allReduce(nil, plus, zero)
    tree.allReduce(steps, plus)
    if tree.nodeIndex ~= longest(steps) then tree.walkTable(table_of(params), zero) end
    tree.allReduce(params, plus)
    for k in ipairs(steps) do steps[k] = 0 end
  end

  return self
end

-- Moves a replica's parameters towards the centers: its elastic differences are in `delta`.
local function pull(state, e, alpha)
  local param, center, delta = state.params[e], state.center[e], state.delta[e]
  delta:copy(param)
  delta:add(-1, center)
  delta:mul(alpha)
  param:add(-1, delta)
end

--- Elastic averaging: every tau steps a replica and a center that all share move towards each
-- other by alpha of their distance.
-- @param tree a replica of meissa.replicas @number tau steps @number alpha
-- @treturn table averageParameters(params), synchronizeCenter(params),
-- synchronizeParameters(params), center()
-- Errors: OPT.
function M.ea(tree, tau, alpha)
  check_tree("meissa.ea", tree)
  if type(tau) ~= "number" or tau < 1 or tau ~= math.floor(tau) or type(alpha) ~= "number" then
    errors.raise("OPT", "meissa.ea(r, tau, alpha): tau is a whole number of steps, and alpha a " ..
                 "number")
  end
  local step, state, self = 0, nil, {}

  local function check_param(param)
    local kind = type(param)
    if kind == "number" or kind == "string" or kind == "boolean" or kind == "function" then
      errors.raise("OPT", "meissa.ea moves arrays and tensors, and tables of these, in place: " ..
                   "not a %s", kind)
    end
  end

  local function open(params)
    tree.walkTable(table_of(params), check_param)
    state = {center = {}, delta = {}, params = {}}
    tree.walkTable(table_of(params), function(param)
      table.insert(state.center, param:clone())
      table.insert(state.delta, param:clone())
      table.insert(state.params, param)
    end)
  end

  --- Counts a step; after each tau steps the parameters and the center move.
  function self.averageParameters(params)
    check_dot(self, "averageParameters", params)
    if not state then open(params) end
    step = step + 1
    if step % tau ~= 0 then return end
    for e in ipairs(state.params) do pull(state, e, alpha) end
    tree.allReduce(state.delta, plus)
    for e, center in ipairs(state.center) do center:add(state.delta[e]) end
  end

  -- Answers the others' steps until all have taken theirs. One that took some moves once more.
  local function finish(params)
    if not state then open(params) end
    for _, delta in ipairs(state.delta) do delta:fill(0) end
    tree.allReduce(state.delta, plus, function(_, e)
      state.center[e]:add(state.delta[e])
      if step > 0 then pull(state, e, alpha) else state.delta[e]:fill(0) end
      return state.delta[e]
    end)
    step = 0
  end

  --- Waits until all replicas have taken their steps; then all have the center of the first.
  function self.synchronizeCenter(params)
    check_dot(self, "synchronizeCenter", params)
    finish(params)
    tree.scatter(state.center)
  end

  --- The same, and all have its parameters, too: they are the center.
  function self.synchronizeParameters(params)
    check_dot(self, "synchronizeParameters", params)
    finish(params)
    tree.scatter(params)
    for e, param in ipairs(state.params) do state.center[e]:copy(param) end
  end

  --- Copies of what the center is, one of each parameter in their order; empty before the first
  -- step.
  function self.center()
    local list = {}
    for e, center in ipairs(state and state.center or {}) do list[e] = center:clone() end
    return list
  end

  return self
end

return M
