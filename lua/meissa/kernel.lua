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
local array = require("meissa.array")
local carry = require("meissa.kernel.carry")
local core = require("meissa.core")
local errors = require("meissa.errors")
local failure = require("meissa.kernel.failure")
local helpers = require("meissa.kernel.helpers")
local row = require("meissa.kernel.row")
local strict = require("meissa.strict")

local M = {}

--- The engine's name in reports.
M.engine = "lua"

--- Bytes of the key that kernel bytes begin with.
M.KEY = 32

local pointer_types = {
  float = ffi.typeof("float *"), double = ffi.typeof("double *"),
  int32 = ffi.typeof("int32_t *"), int64 = ffi.typeof("int64_t *"),
}
local coord_type = ffi.typeof("const int32_t *")

local identities = { ["+"] = 0, ["*"] = 1, min = math.huge, max = -math.huge, ["and"] = true,
  ["or"] = false }

--- The value that leaves a combination by `op` ("+" "*" "min" "max" "and" "or") unchanged.
function M.identity(op)
  return identities[op]
end

--- An old value combined with what one block has formed from the identity.
function M.combine_one(op, old, new)
  if op == "+" then return old + new end
  if op == "*" then return old * new end
  if op == "min" then return new < old and new or old end
  if op == "max" then return new > old and new or old end
  if op == "and" then return old and new end
  return old or new
end

-- {type, strides} of each capture that is an array, and {[array's identity] = capture}.
local function find_arrays(values, count)
  local elements, numbers = {}, {}
  for c = 1, count do
    if array.is(values[c]) then
      local about = array.describe(values[c])
      elements[c] = { type = about.type, strides = about.strides }
      numbers[about.id] = numbers[about.id] or c
    end
  end
  return elements, numbers
end

local function carried(values, info, numbers)
  local sent, count = {}, 0
  for _, param in ipairs(info.params) do
    if param.kind == "value" then sent[param.at] = values[param.at] end
  end
  for _, c in ipairs(info.spilled) do sent[c] = values[c] end
  for c in pairs(sent) do count = math.max(count, c) end
  return carry.encode(sent, count, {
    path = function(c) return info.captures[c].path end,
    find_array = function(value)
      if not array.is(value) then return nil end
      return numbers[array.describe(value).id] or false
    end,
    code = "BDY",
    remedy = "Read what the loop needs from it into a number, string or table before the loop",
  })
end

--- Packs a loop for one execution.
-- @param loop the loop's handle
-- @param plan the plan's handle
-- @tab bindings what each capture is, as for the analysis
-- @tab values the captured values, by capture
-- @tab space the iteration space, as for the analysis; `array`: the DistArray whose entries it is
-- @treturn string kernel bytes
-- @treturn string run bytes
-- @treturn string the kernel's key
-- Errors: BDY for a captured value that cannot travel, naming its path.
function M.pack(loop, plan, bindings, values, space)
  local elements, numbers = find_arrays(values, #bindings)
  local entries
  if space.array then
    local about = array.describe(space.array)
    entries = { type = about.type, strides = about.strides }
  end
  local text, info = core.emit(loop, plan, bindings, space, elements, entries)
  if not text then errors.raise_core(info) end
  local dims = {}
  for c in pairs(elements) do dims[c] = array.describe(values[c]).dims end
  info.text, info.elements, info.dims, info.entry_type = text, elements, dims, entries and entries.type
  local kernel_bytes = buffer.encode(info)
  local key = core.digest(kernel_bytes)
  return key .. kernel_bytes, carried(values, info, numbers), key
end

-- Loaded kernels by key: their text is compiled once in a process.
local loaded = {}

local function load_kernel(bytes)
  local key = bytes:sub(1, M.KEY)
  local kernel = loaded[key]
  if kernel then return kernel end
  local info = buffer.decode(bytes:sub(M.KEY + 1))
  local chunk, message = loadstring(info.text, info.chunkname)
  if not chunk then errors.raise("BUG", "a kernel does not compile: %s", message) end
  kernel = { info = info, block = chunk(setmetatable({}, { __index = function(_, name)
    return helpers[name] or row[name]
  end })) }
  loaded[key] = kernel
  return kernel
end

-- The order of arrays among the items: captures that are arrays, ascending.
local function array_numbers(info)
  local order = {}
  for c in pairs(info.elements) do order[#order + 1] = c end
  table.sort(order)
  local number = {}
  for n, c in ipairs(order) do number[c] = n end
  return number
end

local function check_item(item, info, c)
  local same = item.type == info.elements[c].type and #item.dims == #info.dims[c]
  for d = 1, same and #item.dims or 0 do same = same and item.dims[d] == info.dims[c][d] end
  if not same then errors.raise("BUG", "item of capture %d is another array than packed", c) end
end

-- Array objects of an instance, made when first asked for.
local function object_maker(info, items, number)
  local objects = {}
  return function(c)
    if not objects[c] then objects[c] = array.wrap_foreign(items[number[c]]) end
    return objects[c]
  end
end

-- The world that carried functions and names find: the process's own, with strict arithmetic, and
-- `print` going to the driver.
local function make_globals(host)
  local own = { math = strict.math, print = host and host.print or print }
  own._G = setmetatable(own, { __index = _G })
  return own
end

local function argument_of(param, kernel, items, number, values)
  local info, at = kernel.info, param.at
  if param.kind == "coord" then return ffi.cast(coord_type, items.space.coords[at]) end
  if param.kind == "entries" then
    return ffi.cast(pointer_types[info.entry_type], items.space.pointer)
  end
  if param.kind == "pointer" then
    check_item(items[number[at]], info, at)
    return ffi.cast(pointer_types[info.elements[at].type], items[number[at]].pointer)
  end
  if param.kind == "stride" then return tonumber(items[number[at]].strides[param.dim]) end
  if param.kind == "table" then return values end
  return values[at]
end

local Instance = {}
Instance.__index = Instance

-- What a block returned: results by number; a private scalar that was not assigned is left out.
local function encode_results(self, results)
  local info, sent, set = self.kernel.info, {}, {}
  for n = 1, #info.results do
    if results[n] ~= helpers.none then sent[n], set[n] = results[n], true end
  end
  local count = #info.results
  sent[count + 1] = set
  return carry.encode(sent, count + 1, {
    path = function(n) return info.results[n] and info.results[n].path or "results" end,
    find_array = function(value) if array.is(value) then return false end end,
    code = "BDY", whither = "the driver",
    remedy = "Declare it local in the body if it is not needed after the loop",
  })
end

local function gather(ok, ...)
  return ok, { ... }
end

--- Runs one block.
-- @tab block {first =, last =} for entries (counted from 1, last included), else {lo = {...}, hi =
-- {...}}: the first and last index value of each dimension in loop direction
-- @treturn string|nil the block's results; nil when the body failed
-- @treturn table the error {code, message, file, line, iteration}
function Instance:run(block)
  local arguments = self.arguments
  if self.kernel.info.entries then
    arguments[1], arguments[2] = block.first, block.last
  else
    for d = 1, #block.lo do arguments[2 * d - 1], arguments[2 * d] = block.lo[d], block.hi[d] end
  end
  helpers.enter(self.object)
  local ok, results = gather(xpcall(self.kernel.block, self.handler,
    unpack(arguments, 1, self.argument_count)))
  if not ok then return nil, results[1] end
  if #self.kernel.info.results == 0 then return "" end
  local encoded, bytes = pcall(encode_results, self, results)
  if not encoded then return nil, failure.plain(bytes) end
  return bytes
end

--- Makes a kernel ready to run blocks.
-- @string kernel_bytes @string run_bytes from pack
-- @tab items the arrays in this process, in the order of the captures that are arrays: {pointer =,
-- dims =, strides =, type = "float"...}; and `space`: {coords = {vectors of 1-based int32
-- subscripts}, pointer = values of the entries (dense arrays: element [1]...[1])} for spaces that
-- are the entries of an array
-- @tab[opt] host `print`: what `print` means in the body
-- @treturn table an instance with a method `run(block)`
function M.prepare(kernel_bytes, run_bytes, items, host)
  local kernel = load_kernel(kernel_bytes)
  local info = kernel.info
  local number = array_numbers(info)
  local object = object_maker(info, items, number)
  local values = carry.decode(run_bytes, { globals = make_globals(host), array = object })
  local dims = info.entries and 1 or info.dim_count
  local arguments = {}
  for n, param in ipairs(info.params) do
    arguments[2 * dims + n] = argument_of(param, kernel, items, number, values)
  end
  return setmetatable({
    kernel = kernel, arguments = arguments, argument_count = 2 * dims + #info.params,
    object = object, items = items,
    handler = failure.handler(kernel, items),
  }, Instance)
end

--- The scalars after the loop: old value, then the blocks' contributions in plan order.
-- @string kernel_bytes from pack
-- @tab values the captured values before the loop, by capture
-- @tab results what `run` returned for each block, in plan order
-- @treturn table list of {capture =, value =}: what to assign
function M.combine(kernel_bytes, values, results)
  local info = load_kernel(kernel_bytes).info
  local final = {}
  for n, scalar in ipairs(info.results) do
    final[n] = { capture = scalar.capture, value = values[scalar.capture], set = false }
  end
  for _, bytes in ipairs(results) do
    local count = #info.results
    local block = count > 0 and carry.decode(bytes, { globals = _G }) or {}
    for n, scalar in ipairs(info.results) do
      local out = final[n]
      if scalar.role == "reduction" then
        out.value, out.set = M.combine_one(scalar.op, out.value, block[n]), true
      elseif block[count + 1][n] then
        out.value, out.set = block[n], true
      end
    end
  end
  local assigned = {}
  for _, each in ipairs(final) do
    if each.set then assigned[#assigned + 1] = { capture = each.capture, value = each.value } end
  end
  return assigned
end

M.error_of = failure.error_of

return M
