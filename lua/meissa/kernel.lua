-- SPDX-License-Identifier: MIT
--- Kernels: plan and body go in on the driver, a block function comes out on a worker.
--
-- The driver packs a loop once for each execution: `kernel bytes` are the body's text and what is
-- known about it, the same for every execution with the same text, shapes and types (their first
-- 32 bytes are a key); `run bytes` are the captured values of this execution. A worker prepares
-- both into an instance and runs blocks with it. The driver combines what blocks return.
-- @module meissa.kernel
local buffer = require("string.buffer")
local ffi = require("ffi")
local bulk = require("meissa.kernel.bulk")
local compiler = require("meissa.kernel.compiler")
local core = require("meissa.core")
local errors = require("meissa.errors")
local failure = require("meissa.kernel.failure")
local helpers = require("meissa.kernel.helpers")
local memory = require("meissa.kernel.memory")
local native_engine = require("meissa.kernel.native")
local results_of = require("meissa.kernel.result")
local random = require("meissa.random")
local row = require("meissa.kernel.row")
local strict = require("meissa.strict")
local system = require("meissa.system")
local unpack_values = require("meissa.kernel.unpack")
local tables = require("meissa.tables")

local M = {}

--- Bytes of the key that kernel bytes begin with.
M.KEY = 32

local pointer_types = {
  float = ffi.typeof("float *"), double = ffi.typeof("double *"),
  int32 = ffi.typeof("int32_t *"), int64 = ffi.typeof("int64_t *"),
}
-- Captured values that are passed as locals of the block function (LuaJIT allows it 200).
local MOST_LOCALS = 40

local coord_type = ffi.typeof("const int32_t *")

-- What is known about each capture that is an array.
local function find_arrays(values, count)
  local arrays = {}
  for c = 1, count do
    if memory.is_array(values[c]) then arrays[c] = memory.describe(values[c]) end
  end
  return arrays
end

-- The captured values that an execution needs; the object alone needs fewer than the Lua text. The
-- first execution sends what both need: whether a value can travel must not depend on a cache.
local function carried(values, static, bindings, native)
  local info = static.info
  local alone = native and native.object and static.travelled
  local sent, count = {}, 0
  for _, source in ipairs { alone and {} or info, native and native.info } do
    for _, param in ipairs(source and source.params or {}) do
      if param.kind == "value" or param.kind == "inner" then
        sent[param.at] = values[param.at]
      end
    end
  end
  if not alone then
    for _, c in ipairs(info.spilled) do sent[c] = values[c] end
  end
  for c in tables.each(sent) do count = math.max(count, c) end
  local bytes, apart = bulk.encode(sent, count, {
    path = function(c) return info.captures[c].path end,
    find_array = memory.finder(values, #bindings),
    code = "BDY",
    remedy = "Read what the loop needs from it into a number, string or table before the loop",
  }, static)
  static.travelled = true
  return bytes, apart
end

-- All that distinguishes one kernel from another, as a string.
local function signature(info)
  local parts = { info.chunkname, info.text, info.entry_type or "" }
  for _, capture in ipairs(info.captures) do parts[#parts + 1] = capture.path end
  for _, result in ipairs(info.results) do
    parts[#parts + 1] = result.capture .. result.role .. (result.op or "") .. (result.wins or "")
  end
  for _, each in ipairs(info.arrays) do
    parts[#parts + 1] = each.capture .. each.type .. table.concat(each.dims, "x")
  end
  return table.concat(parts, "\0")
end

-- Emits the text; a body that leaves LuaJIT too few locals or upvalues reads its captured values
-- from a table. Texts in `known` are not tried again.
local function emit(loop, plan, bindings, space, arrays, entry_type, known, general)
  local text, info
  for _, locals in ipairs { MOST_LOCALS, 0 } do
    text, info = core.emit(loop, plan, bindings, space, arrays, entry_type, locals, general)
    if not text then errors.raise_core(info) end
    if known[text] then return { text = text } end
    local chunk, message = loadstring(text, info.chunkname)
    if chunk then
      info.text = text
      return info
    end
    info.message = message
  end
  errors.raise("BDY", "the loop's body is too large for one function: %s", info.message)
end

--- The body as C text: {text =, info =, fast =}, or nil and why it has none: {line =, message =}.
-- @param loop the loop's handle @param plan the plan's handle
-- @tab bindings what each capture is @tab space the iteration space; `numeric`
-- @tab arrays by capture: {type =, strides =}
-- @string[opt] entry_type of the array that is the space
function M.emit_native(loop, plan, bindings, space, arrays, entry_type)
  if not core.emit_native then return nil end
  local fast = space.numeric == "fast"
  local text, info = core.emit_native(loop, plan, bindings, space, arrays, entry_type, fast)
  if not text and info.code then errors.raise_core(info) end
  if not text then return nil, info end
  for _, param in ipairs(info.params) do
    if not native_engine.takes(param) then
      errors.raise("BUG", "a native kernel asks for a '%s'", param.kind)
    end
  end
  return {text = text, info = info, fast = fast}
end

-- The kernel's part that is the same for every execution: {info =, signature =, packed = {}}, and
-- `native` or `refusal`. What the numbers and ranges of a plan change is at most the Lua text,
-- where checks are left out: plans of one kind and layout with equal Lua texts have one (`known`,
-- by text). With `first`, a kernel of that kind and layout, the text is made that suits them all.
local function make_static(loop, plan, bindings, space, arrays, entry_type, known, first)
  local info = emit(loop, plan, bindings, space, arrays, entry_type, known, first ~= nil)
  if known[info.text] then return known[info.text] end
  info.entry_type, info.arrays = entry_type, {}
  for c = 1, #bindings do
    local about = arrays[c]
    if about then
      info.arrays[#info.arrays + 1] = { capture = c, type = about.type, dims = about.dims }
    end
  end
  local native, refusal = first and first.native, nil
  if not first then
    native, refusal = M.emit_native(loop, plan, bindings, space, arrays, entry_type)
  end
  local static = { info = info, signature = signature(info), packed = {}, native = native,
    refusal = refusal }
  known[info.text] = static
  return static
end

-- Kinds of plans of one loop whose kernels are kept.
local MOST_KINDS = 20

-- The kernels of plans of this kind and layout: `texts`, by Lua text; the `first` one that has a C
-- text, and the `general` one.
local function family_of(shared, kind, layout)
  if not shared or not kind then return { texts = {} } end
  local key = layout .. "|" .. kind
  if not shared[key] then
    shared.count = (shared.count or 0) + 1
    if shared.count > MOST_KINDS then
      for old in tables.each(shared) do shared[old] = nil end
      shared.count = 1
    end
    shared[key] = { texts = {} }
  end
  return shared[key]
end

-- The kernel of one plan. From the second plan of a kind on, those that the native engine runs
-- share one that suits all: then nothing is left to be made for further ones.
local function find_static(family, native, loop, plan, bindings, space, arrays, entry_type)
  if native and family.general then return family.general end
  local first = native and family.first or nil
  local static = make_static(loop, plan, bindings, space, arrays, entry_type, family.texts, first)
  if first then
    family.general = static
  elseif static.native then
    family.first = static
  end
  return static
end

-- Kernel bytes and their key: of the Lua text alone, or with what there is of the native kernel.
local function packed(static, native)
  local name = not native and "lua" or native.object and "native" or "waiting"
  local found = static.packed[name]
  if not found then
    local key = core.digest(static.signature .. "\0" .. name .. (native and native.key or ""))
    local content = { info = static.info }
    if native then
      content.native = { key = native.key, info = native.info, object = native.object,
        directory = native.directory }
    end
    found = { key = key, bytes = key .. buffer.encode(content) }
    static.packed[name] = found
  end
  return found
end

-- What decides about the text beside the plan: how each array lies in memory.
local function layout_of(arrays, count, entry_type, positions)
  local parts = { entry_type or "", positions and "positions" or "" }
  for c = 1, count do
    local about = arrays[c]
    if about then
      parts[#parts + 1] = c .. about.type .. table.concat(about.strides, ",")
    end
  end
  return table.concat(parts, " ")
end

--- The kernel of a loop, as far as it is the same for its executions.
-- @param loop the loop's handle
-- @param plan the plan's handle
-- @tab bindings what each capture is, as for the analysis
-- @tab values the captured values, by capture
-- @tab space the iteration space, as for the analysis; `array`: the DistArray whose entries it is;
-- `numeric`
-- @tab cache belongs to the plan, and keeps kernels
-- @tab[opt] shared belongs to the loop, and keeps kernels that several of its plans have
-- @bool[opt] native whether the native engine is to run the loop if it can
-- @treturn table `native` {text =, info =, fast =} if the body has a C text, else `refusal`
function M.find(loop, plan, bindings, values, space, cache, shared, native)
  local arrays = find_arrays(values, #bindings)
  local entry_type = space.array and memory.describe(space.array).type or nil
  local layout = layout_of(arrays, #bindings, entry_type, space.positions)
  local static = cache[layout]
  if not static then
    static = find_static(family_of(shared, plan.kind, layout), native, loop, plan, bindings, space,
      arrays, entry_type)
    cache[layout] = static
  end
  return static
end

--- Packs a loop for one execution.
-- @tab static what find gave
-- @tab bindings what each capture is @tab values the captured values, by capture
-- @tab[opt] native what meissa.engine chose
-- @treturn string kernel bytes
-- @treturn string run bytes
-- @treturn string the kernel's key
-- @treturn table captured tables that travel apart: see kernel/bulk.lua
-- @treturn table what is known of captures beyond its limit
-- Errors: BDY for a captured value that cannot travel, naming its path.
function M.pack(static, bindings, values, native)
  local run_bytes, apart = carried(values, static, bindings, native)
  local kernel = packed(static, native)
  return kernel.bytes, run_bytes, kernel.key, apart, static.large
end

-- Loaded kernels by key: their text is compiled once in a process. When there are too many, all are
-- forgotten; those that are used again are loaded again.
local loaded, loaded_count = {}, 0
local MOST_LOADED = 256

local function load_kernel(bytes)
  local key = bytes:sub(1, M.KEY)
  local kernel = loaded[key]
  if kernel then return kernel end
  local content = buffer.decode(bytes:sub(M.KEY + 1))
  kernel = { info = content.info, native = content.native, memory = {} }
  if loaded_count == MOST_LOADED then loaded, loaded_count = {}, 0 end
  loaded[key], loaded_count = kernel, loaded_count + 1
  return kernel
end

-- The block function of the Lua text, made when first needed.
local function block_of(kernel)
  if kernel.block then return kernel.block end
  local chunk, message = loadstring(kernel.info.text, kernel.info.chunkname)
  if not chunk then errors.raise("BUG", "a kernel does not compile: %s", message) end
  kernel.block = chunk(setmetatable({}, { __index = function(_, name)
    return helpers[name] or row[name]
  end }))
  return kernel.block
end

-- The world that carried functions and names find: the process's own, with strict arithmetic, and
-- `print` going to the driver.
local function make_globals(print_line)
  local own = { math = strict.math, bit = strict.bit, pairs = strict.pairs, print = print_line }
  own._G = setmetatable(own, { __index = _G })
  return own
end

local function cast(item, kind)
  return ffi.cast(pointer_types[kind], item.pointer)
end

-- The value of one parameter of the block function.
local arguments_by_kind = {
  coord = function(param, _, items) return ffi.cast(coord_type, items.space.coords[param.at]) end,
  entries = function(_, info, items) return cast(items.space, info.entry_type) end,
  step = function(param, _, items) return tonumber(items.space.strides[param.dim]) end,
  pointer = function(param, _, items) return cast(items[param.at], items[param.at].type) end,
  stride = function(param, _, items) return tonumber(items[param.at].strides[param.dim]) end,
  value = function(param, _, _, values) return values[param.at] end,
  table = function(_, _, _, values) return values end,
}

-- The items by capture, with their types, checked to be what the text was written for.
local function items_by_capture(info, items)
  local found = { space = items.space }
  for n, about in ipairs(info.arrays) do
    local item = items[n]
    local same = item and #item.dims == #about.dims
    for d = 1, same and #about.dims or 0 do
      same = same and tonumber(item.dims[d]) == about.dims[d]
    end
    if not same then errors.raise("BUG", "item %d is another array than the kernel's", n) end
    found[about.capture] = { pointer = item.pointer, type = about.type, dims = about.dims,
      strides = item.strides, coords = item.coords, count = item.count, id = item.id,
      rows = item.rows }
  end
  return found
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
  helpers.enter(self.object)
  local before = self.draws and random.open(self.draws)
  local ok, results = xpcall(call, self.handler, self.kernel.block,
    unpack(arguments, 1, self.argument_count))
  if before then random.close(before) end
  if not ok then return nil, failure.finish(results, self.kernel.info) end
  if #self.kernel.info.results == 0 then return "" end
  local encoded, bytes = pcall(results_of.encode, self, results)
  if not encoded then return nil, failure.plain(bytes) end
  return bytes
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
-- @tab items the arrays in this process, in the order of the captures that are arrays: {pointer =,
-- dims =, strides =} (sparse ones: `coords`, vectors of 0-based int32, and `count`). For spaces
-- that are the entries of an array also `space`: {coords = vectors of 1-based int32 subscripts,
-- pointer = values of the entries}, or for a dense array {pointer =, strides =}. `bulk`: tables
-- that travelled apart, {{capture =, pointer =, length =, digest =}, ...}. Their memory must
-- outlive the instance.
-- @tab[opt] host `print`: what `print` means in the body; `draws`: what the random numbers of the
-- body belong to (see meissa.random)
-- @treturn table an instance with methods `run(block)` and `native()`
function M.prepare(kernel_bytes, run_bytes, items, host)
  local kernel = load_kernel(kernel_bytes)
  local info = kernel.info
  local found = items_by_capture(info, items)
  local object = memory.object_maker(found)
  local print_line = host and host.print or print
  -- Functions kept from the last run print where that run printed.
  if kernel.memory.print ~= print_line then kernel.memory = { print = print_line } end
  local values = unpack_values.decode(run_bytes,
    { globals = make_globals(print_line), array = object, memory = kernel.memory })
  for _, each in ipairs(items.bulk or {}) do
    values[each.capture] = bulk.decode(each.pointer, each.length, each.digest, each.capture)
  end
  local self = setmetatable({ kernel = kernel, object = object, items = items }, Instance)
  if kernel.native then
    self.make_native = function(loaded_object)
      return native_engine.instance(loaded_object, kernel.native.info, found, values, { info = info,
        object = object, draws = host and host.draws,
        encode = function(results) return results_of.encode(self, results) end })
    end
    if kernel.native.object then return self.make_native(load_object(kernel.native)) end
    self.look = native_engine.watch(kernel.native, system.clock)
  end
  block_of(kernel)
  local bounds = info.entries and 2 or 2 * info.dim_count + (info.row and 2 or 0)
  local arguments = {}
  for n, param in ipairs(info.params) do
    arguments[bounds + n] = arguments_by_kind[param.kind](param, info, found, values)
  end
  self.arguments, self.argument_count = arguments, bounds + #info.params
  self.handler, self.draws = failure.handler(kernel, items), host and host.draws
  return self
end

--- The scalars after the loop: of a reduction the old value, then the blocks' contributions in plan
-- order; of a private one what its last iteration in loop order gave it. Tables that blocks have
-- formed parts of are filled.
-- @string kernel_bytes from pack
-- @tab values the captured values before the loop, by capture
-- @tab results what `run` returned for each block, in plan order
-- @treturn table list of {capture =, value =}: what to assign
function M.combine(kernel_bytes, values, results)
  return results_of.combine(load_kernel(kernel_bytes).info, values, results)
end

M.identity, M.combine_one = results_of.identity, results_of.combine_one

M.error_of = failure.error_of

return M
