-- SPDX-License-Identifier: MIT
--- Kernels: plan and body go in on the driver, a block function comes out on a worker.
--
-- The driver packs a loop once for each execution: `kernel bytes` are the body's text and what is
-- known about it, the same for every execution with the same text, shapes and types (their first
-- 32 bytes are a key); `run bytes` are the captured values of this execution. A worker prepares
-- both into an instance and runs blocks with it. The driver combines what blocks return. Packing is
-- in kernel/pack.lua, and which kernel a plan has in kernel/family.lua.
-- @module meissa.kernel
local encoded = require "meissa.base.encoded"
local ffi = require "ffi"
local basics = require "meissa.base.basics"
local large_values = require "meissa.kernel.large_values"
local compiler = require "meissa.kernel.compiler"
local errors = require "meissa.base.errors"
local body_failure = require "meissa.kernel.body_failure"
local helpers = require "meissa.kernel.helpers"
local libraries = require "meissa.base.libraries"
local memory = require "meissa.kernel.memory"
local merge = require "meissa.kernel.merge"
local native_engine = require "meissa.kernel.native"
local results_of = require "meissa.kernel.result"
local random = require "meissa.kernel.random"
local row = require "meissa.kernel.row"
local source_text = require "meissa.capture.source_text"
local strict = require "meissa.base.strict"
local tables = require "meissa.base.tables"
local system = require "meissa.base.system"
local unpack_values = require "meissa.kernel.unpack"
local users_text = require "meissa.capture.users_text"
local interrupt = require "meissa.base.interrupt"

local M = {}

local pointer_types = {
  float = ffi.typeof("float *"), double = ffi.typeof("double *"),
  int32 = ffi.typeof("int32_t *"), int64 = ffi.typeof("int64_t *"),
}

local marks_type = ffi.typeof("uint8_t *")

local coord_type = ffi.typeof("const int32_t *")

-- Loaded kernels by key: their text is compiled once in a process. When there are too many, all are
-- forgotten; those that are used again are loaded again.
local loaded, loaded_count, loaded_bytes = {}, 0, 0
local MOST_LOADED, MOST_BYTES = 256, 2 ^ 21

-- Bytes of the key that kernel bytes begin with.
local KEY = 32

local function load_kernel(bytes)
  local key = string.sub(bytes, 1, KEY)
  local kernel = loaded[key]
  if kernel then return kernel end
  local content = encoded.from_message(string.sub(bytes, KEY + 1))
  kernel = { info = content.info, native = content.native, memory = {} }
  if loaded_count == MOST_LOADED or loaded_bytes + #bytes > MOST_BYTES then
    loaded, loaded_count, loaded_bytes = {}, 0, 0
  end
  loaded[key], loaded_count, loaded_bytes = kernel, loaded_count + 1, loaded_bytes + #bytes
  return kernel
end

-- The block function of the Lua text, made when first needed.
local function block_of(kernel)
  if kernel.block then return kernel.block end
  local chunk, message = loadstring(kernel.info.text, kernel.info.chunkname)
  if not chunk then errors.raise("BUG", "a kernel does not compile: %s", message) end
  source_text.carry(kernel.info.chunkname, kernel.info.text, users_text.of(kernel.info))
  kernel.block = chunk(setmetatable({}, { __index = function(_, name)
    return helpers[name] or row[name]
  end }))
  return kernel.block
end

-- The world that carried functions and names find: the process's own, with strict arithmetic, and
-- `print` going to the driver, and `require` giving what it gives there.
local function make_globals(print_line, modules, missing)
  local own = { math = strict.math, bit = strict.bit, pairs = strict.pairs, next = strict.next,
    table = libraries.own.table, print = print_line }
  function own.require(name)
    local module = modules[name]
    if module ~= nil then return module end
    if missing[name] then error(missing[name], 2) end
    return _G.require(name)
  end
  own._G = setmetatable(own, { __index = _G })
  return own
end

local function cast(operand, kind)
  return ffi.cast(pointer_types[kind], operand.pointer)
end

-- The value of one parameter of the block function.
local arguments_by_kind = {
  coord = function(param, _, operands)
    return ffi.cast(coord_type, operands.space.coords[param.at])
  end,
  entries = function(_, info, operands) return cast(operands.space, info.entry_type) end,
  step = function(param, _, operands) return tonumber(operands.space.strides[param.dim]) end,
  pointer = function(param, _, operands)
    return cast(operands[param.at], operands[param.at].type)
  end,
  touched = function(param, _, operands)
    return ffi.cast(marks_type, operands[param.at].touched)
  end,
  stride = function(param, _, operands) return tonumber(operands[param.at].strides[param.dim]) end,
  extent = function(param, _, operands) return tonumber(operands[param.at].dims[param.dim]) end,
  value = function(param, _, _, values) return values[param.at] end,
  table = function(_, _, _, values) return values end,
}

-- The operands by capture, with their types, checked to be of the kind that the text was written
-- for.
local function operands_by_capture(info, operands)
  local found = { space = operands.space }
  for n, about in ipairs(info.arrays) do
    local operand = operands[n]
    if not operand or #operand.dims ~= about.dims then
      errors.raise("BUG", "operand %d is another array than the kernel's", n)
    end
    local dims = {}
    for d, extent in ipairs(operand.dims) do dims[d] = tonumber(extent) end
    found[about.capture] = { pointer = operand.pointer, type = about.type, dims = dims,
      strides = operand.strides, coords = operand.coords, count = operand.count, id = operand.id,
      rows = operand.rows, frozen = operand.frozen, labels = operand.labels,
      touched = operand.touched, pending = operand.pending }
    -- The kernel's texts mark what they store there.
    if about.touched then operand.pending.touched = operand.touched end
  end
  return found
end

-- What is stored through an array's object is marked nowhere: where the Lua text, or a function
-- that it calls, has the object of a buffer, all of the buffer is looked at.
local function distrust(found, taken)
  for capture in tables.each(taken) do
    if found[capture].pending then found[capture].pending.touched = nil end
  end
end

local Instance = {}
Instance.__index = Instance

local function gather(...)
  return { ... }
end

-- Calls the block function and gathers what it returns. Never compiled, and no tail call: a trace
-- that leaves the block's loop ends here, where LuaJIT would try in vain to follow it into xpcall.
local function call(block, ...)
  local results = gather(block(...))
  return results
end
jit.off(call)

--- Runs one block.
-- @tab block {first =, last =} for entries (counted from 1, last included), else {lo = {...}, hi =
-- {...}}: the first and last index value of each dimension in loop direction; with a row also
-- row_lo and row_hi
-- @treturn string|nil the block's results; nil when the body failed
-- @treturn table the error {code, message, file, line, iteration}
-- @treturn bool whether tables are not among the results that come with those of a later block
function Instance:run(block)
  local arguments = self.arguments
  if self.kernel.info.entries then
    arguments[1], arguments[2] = block.first, block.last
  else
    local dims = #block.lo
    for d = 1, dims do arguments[2 * d - 1], arguments[2 * d] = block.lo[d], block.hi[d] end
    if block.row_lo then
      arguments[2 * dims + 1], arguments[2 * dims + 2] = block.row_lo, block.row_hi
    end
  end
  return self:run_placed()
end

local NOTHING = {}

-- Runs the block whose bounds stand first in the arguments. Keys that may be refused are told of
-- with their own block, so that the error is this one's, whatever later blocks do.
function Instance:run_placed()
  if self.versions then self.versions:enter(self) end
  local arguments = self.arguments
  helpers.enter(self.object, self.kept or self.may_defer and NOTHING)
  local before = self.draws and random.open(self.draws)
  local ok, results = xpcall(call, self.handler, self.kernel.block,
    unpack(arguments, 1, self.argument_count))
  if before then random.close(before) end
  if not ok then return nil, body_failure.finish(results, self.kernel.info) end
  if #self.kernel.info.results == 0 then return "" end
  local defers = self.may_defer and not helpers.has_other_keys() and self.may_defer() or false
  self.kept = defers and results_of.joinable(self.kernel.info, results) or nil
  if defers and self.leaves == 0 then return "", nil, true end
  local fits, bytes = interrupt.pcall(results_of.encode, self, results, defers)
  if not fits then return nil, body_failure.of_results(bytes, self.kernel.info) end
  return bytes, nil, defers
end

--- Has the next block go on with tables that blocks leave, where that is the same, as often as
-- may_defer() is true; then these are not among the block's results.
function Instance:defer(may_defer)
  local joinable, leaves = results_of.count_joinable(self.kernel.info)
  if self.kernel.native or joinable == 0 then return end
  self.may_defer, self.leaves = may_defer, leaves
end

--- Makes the instance follow the loop: the next block gets what variables that `and` and `or`
-- reduce have become in the blocks up to now. Only of instances that are not native.
-- @string bytes results of the last block
function Instance:follow(bytes)
  local info, given, arguments = self.kernel.info, {}, self.arguments
  if #info.results == 0 then return end
  merge.decide(info, given, unpack_values.decode(bytes, { globals = _G,
    known = function(id, c) return self.sent[c or 0][id] end }))
  for n, param in ipairs(info.params) do
    local value = given[param.at]
    if param.kind == "value" and value ~= nil then arguments[self.bound_count + n] = value end
  end
end

--- The native instance that blocks may be run with from now on, or nil: it looks whether the
-- kernel's object has appeared, at most once a millisecond. Native instances are their own.
function Instance:native()
  local object = self.look and self.look()
  if object then self.look, self.made = nil, self.make_native(object) end
  return self.made
end

local function load_object(native)
  local object, message = compiler.load(native.key, native.object)
  if not object then errors.raise("WRK", "%s; MEISSA_ENGINE=lua runs loops without it", message) end
  return object
end

--- Makes a kernel ready to run blocks.
-- @string kernel_bytes @string run_bytes from pack
-- @tab operands the arrays in this process, in the order of the captures that are arrays:
-- {pointer =, dims =, strides =} (sparse ones: `coords`, vectors of 0-based int32, and `count`).
-- For spaces that are the entries of an array also `space`: {coords = vectors of 1-based int32
-- subscripts, pointer = values of the entries, dims = the array's}, or for a dense array
-- {pointer =, strides =}. `bulk`: tables that travelled apart, {{capture =, pointer =, length =,
-- digest =}, ...}. Their memory must outlive the instance.
-- @tab[opt] host `print`: what `print` means in the body; `draws`: what the random numbers of the
-- body belong to (see meissa.kernel.random); `versions`: of rounds, see
-- meissa.kernel.version_places
-- @treturn table an instance with methods `run(block)` and `native()`
function M.prepare(kernel_bytes, run_bytes, operands, host)
  local kernel = load_kernel(kernel_bytes)
  local info = kernel.info
  local found = operands_by_capture(info, operands)
  local make_object, taken = memory.object_maker(found), {}
  local function object(capture)
    taken[capture] = true
    return make_object(capture)
  end
  local print_line = host and host.print or print
  -- Functions kept from the last run print where that run printed.
  if kernel.memory.print ~= print_line then kernel.memory = { print = print_line } end
  local modules, missing, named, sent, again = {}, {}, {}, { [0] = {} }, {}
  local values, metas, paths = unpack_values.decode(run_bytes, {
    modules = modules, missing = missing, named = named, array = object, objects = sent[0],
    again = again, globals = make_globals(print_line, modules, missing), memory = kernel.memory })
  if basics.on_worker then system.search_in(paths) end
  basics.wear(metas)
  for _, each in ipairs(operands.bulk or {}) do
    values[each.capture], sent[each.capture] =
      large_values.decode(each.pointer, each.length, each.digest, each.capture)
  end
  local self = { kernel = kernel, object = object, operands = operands, named = named,
    sent = sent, found = found, taken = taken, versions = host and host.versions }
  setmetatable(self, Instance)
  -- What only the Lua text needs.
  local function open()
    block_of(kernel)
    distrust(found, taken)
    local bounds = info.entries and 2 or 2 * info.dim_count + (info.row and 2 or 0)
    local arguments = {}
    for n, param in ipairs(info.params) do
      arguments[bounds + n] = arguments_by_kind[param.kind](param, info, found, values)
    end
    self.arguments, self.bound_count = arguments, bounds
    self.argument_count = bounds + #info.params
    self.handler, self.draws = body_failure.handler(kernel, operands), host and host.draws
  end
  if kernel.native then
    self.make_native = function(loaded_object)
      return native_engine.instance(loaded_object, kernel.native.info, found, values, { info = info,
        object = object, draws = host and host.draws, versions = self.versions,
        encode = function(results) return results_of.encode(self, results) end,
        run = function(bounds)
          if not self.arguments then open() end
          for n = 1, self.bound_count do self.arguments[n] = tonumber(bounds[n - 1]) end
          return self:run_placed()
        end })
    end
    if kernel.native.object then
      local made = self.make_native(load_object(kernel.native))
      made.again = again
      return made
    end
    self.look = native_engine.watch(kernel.native, system.clock)
  end
  open()
  return self
end

--- Makes an instance of prepare ready for another execution, with the same kernel and operands.
-- @tab instance
-- @string run_bytes from pack
-- @tab[opt] draws what the random numbers of the body belong to
-- @treturn boolean whether it is ready: only native ones are, where captured functions and tables
-- are those that it was made with, encoded alike
function M.renew(instance, run_bytes, draws)
  local fills = instance.fill and not instance.info.declines
  local values = fills and unpack_values.decode_again(run_bytes, instance.again)
  if not values then return false end
  basics.wear(nil)
  instance:fill(values, draws)
  return true
end

--- The scalars after the loop: of a reduction the old value, then the blocks' contributions in plan
-- order; of a private one what its last iteration in loop order gave it. Tables that blocks have
-- formed parts of are filled.
-- @string kernel_bytes from pack
-- @tab values the captured values before the loop, by capture
-- @tab results what `run` returned for each block, in plan order; or, where M.combines_flat says
-- so, {flat = all of them one after the other, blocks = how many}
-- @func[opt] known what pack gave: values that were sent, and may return
-- @treturn table list of {capture =, value =}: what to assign
function M.combine(kernel_bytes, values, results, known)
  return results_of.combine(load_kernel(kernel_bytes).info, values, results, known)
end

--- Whether the results of a kernel's blocks are best had as one string.
-- @tab static what find gave
function M.combines_flat(static)
  return static.native ~= nil and results_of.combines_flat(static.info)
end

--- Whether a loop's blocks can be run by C alone: what they leave is nothing, or numbers that it
-- can combine.
-- @tab static what find gave
function M.runs_alone(static)
  local native = static.native
  if not native or native.info.declines or native.info.positions > 0 then return false end
  return #static.info.results == 0 or results_of.combines_flat(static.info)
end

--- Whether blocks may raise what is no error of the loop: see meissa.driver.speculate.
-- @tab static what find gave
function M.speculates(static)
  return merge.speculates(static.info)
end

M.given, M.anew = merge.given, merge.anew

M.known, M.refusal = results_of.known, results_of.refusal
M.is_logic, M.counts_before = results_of.is_logic, results_of.counts_before
M.depends_on_blocks = merge.depends_on_blocks
M.identity, M.combine_one = merge.identity, merge.combine_one

M.error_of = body_failure.error_of

return M
