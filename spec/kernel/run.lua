-- SPDX-License-Identifier: MIT
-- Runs a loop in this process twice: as the plain Lua that it is, and as the Lua engine's kernel
-- in blocks, on equal copies of its world. Used by the kernel specs.
local ffi = require "ffi"
local jit_util = require "jit.util"
local array = require "meissa.array"
local core = require "meissa.core"
local families = require "meissa.kernel.family"
local kernel = require "meissa.kernel"
local packing = require "meissa.kernel.pack"
local memory = require "meissa.kernel.memory"
local random = require "meissa.kernel.random"
local scratch = require "meissa.array.scratch"
local strict = require "meissa.base.strict"

local M = {}

-- All index tuples of ranges {{lo, hi, step}, ...}, first index outermost.
local function tuples(ranges, visit, depth, index)
  depth, index = depth or 1, index or {}
  if depth > #ranges then
    visit(unpack(index, 1, #ranges))
    return
  end
  local range = ranges[depth]
  for value = range[1], range[2], range[3] or 1 do
    index[depth] = value
    tuples(ranges, visit, depth + 1, index)
  end
end

-- An iterator over the iterations as the plain loop has them.
local function iterator(space)
  return coroutine.wrap(function()
    if space.entries then
      local list = space.entries
      for e = 1, #list.values do
        local index = {}
        for d = 1, #list.coords do index[d] = list.coords[d][e] end
        index[#index + 1] = list.values[e]
        coroutine.yield(unpack(index))
      end
    elseif space.array then
      tuples(space.ranges, function(...)
        local value, index = space.array, { ... }
        for d = 1, #index do value = value[index[d]] end
        index[#index + 1] = value
        coroutine.yield(unpack(index))
      end)
    else
      tuples(space.ranges, coroutine.yield)
    end
  end)
end

-- Runs the text as plain Lua with strict arithmetic, on request never compiled; `parallel` and
-- `each` iterate over space.
function M.plain(text, env, space, interpreted)
  local chunk = assert(loadstring(text, "@body.lua"))
  if interpreted then jit.off(chunk, true) end
  env.parallel = function() return iterator(space) end
  env.each = function(...)
    local body = select(select("#", ...), ...)
    for a, b, c, d in iterator(space) do body(a, b, c, d) end
  end
  local functions = setmetatable({ math = strict.math }, { __index = _G })
  setfenv(chunk, setmetatable(env, { __index = functions }))
  chunk()
end

local builtins = {}
for _, module in ipairs { "_G", "math", "string", "table", "bit" } do
  for name, value in pairs(module == "_G" and _G or _G[module]) do
    if type(value) == "function" then
      builtins[value] = module == "_G" and name or module .. "." .. name
    end
  end
end

builtins[random.random], builtins[random.normal] = "meissa.random", "meissa.normal"

-- What a value is for the analysis; nil if the path goes on.
local function classify(value)
  if memory.is_array(value) then
    local about = memory.describe(value)
    return { kind = "array", dims = about.dims, scratch = scratch.is(value), sparse = about.sparse,
      array = tonumber(about.id),
      storage = tonumber(value.array.store ~= nil and value.array.store.id or about.id),
      integer = about.type:find("^int") ~= nil }
  end
  local kind = type(value)
  if kind == "number" then return { kind = kind, number = value } end
  if kind == "nil" or kind == "boolean" or kind == "string" or kind == "table" then
    return { kind = kind }
  end
  if kind == "function" then
    local name = builtins[value]
    local draws = name == "meissa.random" or name == "meissa.normal"
    return { kind = name and "builtin" or "function", name = name, draws = draws }
  end
  return { kind = "unknown" }
end

local function follow(capture, env)
  local value, depth = env[capture.root], 0
  while type(value) == "table" and depth < #capture.fields do
    depth = depth + 1
    value = value[capture.fields[depth]]
  end
  local binding = classify(value)
  binding.depth = depth
  return value, binding
end

--- First and last line of the first function in a text.
function M.function_lines(text)
  local chunk = assert(loadstring(text))
  for n = -1, -jit_util.funcinfo(chunk).gcconsts, -1 do
    local constant = jit_util.funck(chunk, n)
    if type(constant) == "proto" then
      local info = jit_util.funcinfo(constant)
      return info.linedefined, info.lastlinedefined
    end
  end
end

-- Loop, values, bindings, plan and captures of a text in an environment.
local function study(text, env, space, options)
  local name = options.name or "@body.lua"
  local loop, failed
  if options.closure then
    loop, failed = core.loop(text, name, M.function_lines(text))
  else
    loop, failed = core.loop(text, name)
  end
  if not loop then error(failed.message, 0) end
  local captures = loop:captures()
  local values, bindings = {}, {}
  for c, capture in ipairs(captures) do values[c], bindings[c] = follow(capture, env) end
  local plan
  plan, failed = core.plan(loop, bindings, space)
  if not plan then error(failed.message, 0) end
  return loop, values, bindings, plan, captures
end

local function operand_of(value)
  local about = memory.describe(value)
  local operand = { pointer = value.array.data, type = about.type, dims = about.dims,
    strides = about.strides, count = tonumber(value.array.count) }
  if about.sparse then
    operand.coords = {}
    for d = 1, #about.dims do operand.coords[d] = value.array.coords[d - 1] end
    local rows = array.rows(value)
    if rows then
      operand.rows = { start = rows.start, values = rows.values, columns = {} }
      for d = 2, #about.dims do operand.rows.columns[d - 1] = rows.columns[d - 1] end
    end
  end
  return operand
end

local function entries_operand(space)
  local operand, count = { coords = {}, dims = {}, type = space.entries.type or "double" },
    #space.entries.values
  for d, range in ipairs(space.ranges) do operand.dims[d] = range[2] end
  for d, coords in ipairs(space.entries.coords) do
    operand.coords[d] = ffi.new("int32_t[?]", count, coords)
  end
  local ctype = operand.type == "int32" and "int32_t[?]" or operand.type == "int64" and "int64_t[?]"
    or operand.type .. "[?]"
  operand.pointer = ffi.new(ctype, count, space.entries.values)
  return operand
end

-- Blocks of a space: `pieces` ranges of the entries or of the first dimension; collapsed loops
-- run over the plan's extents.
local function blocks_of(space, pieces, extents)
  local blocks = {}
  local range = space.ranges[1]
  local step = range[3] or 1
  local count = space.entries and #space.entries.values
    or math.max(0, math.floor((range[2] - range[1]) / step) + 1)
  for p = 0, pieces - 1 do
    local first, last = math.floor(count * p / pieces), math.floor(count * (p + 1) / pieces) - 1
    if last >= first then
      local block = { first = first + 1, last = last + 1, lo = {}, hi = {} }
      for d, each in ipairs(extents) do block.lo[d], block.hi[d] = each[1], each[2] end
      block.lo[1], block.hi[1] = range[1] + first * step, range[1] + last * step
      blocks[#blocks + 1] = block
    end
  end
  return blocks
end

local function space_for_core(space, options)
  local source = (space.entries or space.array) and 0 or nil
  local ranges = {}
  for d, range in ipairs(space.ranges) do ranges[d] = { range[1], range[2], range[3] or 1 } end
  return { source = source, sparse = space.entries ~= nil, ranges = ranges,
    ordered = options.ordered, collapse = options.collapse or 1, array = space.array
      or space.entries and array.zeros({ 1 }, { type = space.entries.type or "double" }) or nil }
end

-- Packs and prepares: an instance, the packed kernel, the captured values. `options.native` gives
-- what the kernel's bytes are to hold of the native engine.
function M.prepare(text, env, space, options)
  options = options or {}
  local core_space = space_for_core(space, options)
  local loop, values, bindings, plan, captures = study(text, env, core_space, options)
  local static = families.find(loop, plan, bindings, values, core_space, {})
  local kernel_bytes, run_bytes = packing.pack(static, bindings, values,
    options.native and options.native(static))
  local operands = {}
  for c = 1, #bindings do
    if memory.is_array(values[c]) then operands[#operands + 1] = operand_of(values[c]) end
  end
  if space.entries then operands.space = entries_operand(space) end
  if space.array then operands.space = operand_of(space.array) end
  local instance = kernel.prepare(kernel_bytes, run_bytes, operands, options.host)
  return instance, kernel_bytes, values, captures, plan
end

local function assign(env, capture, value)
  local holder, key = env, capture.root
  for _, field in ipairs(capture.fields) do holder, key = holder[key], field end
  holder[key] = value
end

-- Runs the text's loop as a kernel. Returns true, or nil and the error table.
function M.kernel(text, env, space, options)
  options = options or {}
  setmetatable(env, { __index = _G })
  local instance, kernel_bytes, values, captures, plan = M.prepare(text, env, space, options)
  local results = {}
  for _, block in ipairs(blocks_of(space, options.pieces or 3, plan.extents)) do
    local bytes, failed = instance:run(block)
    if not bytes then return nil, failed end
    results[#results + 1] = bytes
  end
  for _, final in ipairs(kernel.combine(kernel_bytes, values, results)) do
    assign(env, captures[final.capture], final.value)
  end
  return true
end

-- A transposed view of a matrix.
function M.transposed(A)
  local array_core = require "meissa.array.c_api"
  return array.wrap(array_core.call(array_core.lib.ms_array_transpose, A.array, 0, 1))
end

local function number_bits(value)
  return ffi.string(ffi.new("double[1]", value), 8)
end

-- A string with every bit of a value's contents.
local function image(value, seen)
  if memory.is_array(value) then
    local raw = value.array
    local about = memory.describe(value)
    local size = ({ float = 4, double = 8, int32 = 4, int64 = 8 })[about.type]
    return about.type .. ffi.string(raw.data, tonumber(raw.count) * size)
  end
  if type(value) == "number" then return number_bits(value) end
  if type(value) ~= "table" then return tostring(value) end
  if seen[value] then return "again" end
  seen[value] = true
  local keys, parts = {}, {}
  for key in pairs(value) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
  for _, key in ipairs(keys) do
    parts[#parts + 1] = tostring(key) .. "=" .. image(value[key], seen)
  end
  return table.concat(parts, ";")
end

-- What differs between two values of one name.
local function explain(left, right)
  if memory.is_array(left) and memory.is_array(right) then
    for e = 0, tonumber(left.array.count) - 1 do
      local a, b = tonumber(left:data()[e]), tonumber(right:data()[e])
      if number_bits(a) ~= number_bits(b) then
        return ("element %d is %.17g, not %.17g"):format(e, b, a)
      end
    end
  end
  return ("%s, not %s"):format(tostring(right), tostring(left))
end

--- A native kernel's text behind what it has of the prelude.
function M.behind_prelude(text)
  return assert(text:match "\f([^\f]*)$", "a kernel begins with the prelude")
end

M.study, M.blocks_of = study, blocks_of
M.operand_of, M.entries_operand = operand_of, entries_operand
M.space_for_core, M.assign = space_for_core, assign

local ignored = { parallel = true, each = true }

-- The first name whose contents differ, and how, or nil.
function M.difference(left, right)
  for name in pairs(left) do
    if not ignored[name] and type(left[name]) ~= "function"
      and image(left[name], {}) ~= image(right[name], {}) then
      return name .. ": " .. explain(left[name], right[name])
    end
  end
  for name in pairs(right) do
    if left[name] == nil and not ignored[name] then return name .. ": appeared" end
  end
end

-- How the compiler is set while a kernel runs: never, or as soon as it can.
local modes = {
  { name = "interpreted", set = function() jit.off() end, reset = function() jit.on() end },
  { name = "compiled", set = function() jit.opt.start("hotloop=2", "hotexit=2") end,
    reset = function() jit.opt.start("hotloop=56", "hotexit=10") end },
}

-- Runs plain and as a kernel, compiled and interpreted, on worlds made by `world()`. Returns nil
-- if all agree, else what differs.
function M.compare(text, world, space_of, options)
  local expected = world()
  M.plain(text, expected, space_of(expected))
  for _, mode in ipairs(modes) do
    local env = world()
    jit.flush()
    mode.set()
    local called, ok, failed = pcall(M.kernel, text, env, space_of(env), options)
    mode.reset()
    if not called then return mode.name .. ": " .. tostring(ok) end
    if not ok then return ("%s: %s:%d"):format(mode.name, failed.message, failed.line) end
    local difference = M.difference(expected, env)
    if difference then return mode.name .. ": " .. difference end
  end
end

return M
