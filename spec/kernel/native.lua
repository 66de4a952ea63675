-- SPDX-License-Identifier: MIT
-- Runs a loop in this process as native kernels: C text from the core, compiled by the machine's
-- compiler and called through FFI, without the engine's cache and workers. Used by the specs.
local ffi = require "ffi"
local bit = require "bit"
local serialize = require "meissa.kernel.serialize"
local core = require "meissa.core"
local c_core = require "meissa.base.c_core"
local kernel = require "meissa.kernel"
local memory = require "meissa.kernel.memory"
local run = dofile("spec/kernel/run.lua")

local M = {}

ffi.cdef [[
typedef union spec_slot { void *pointer; double number; int64_t whole; } spec_slot;
typedef struct spec_fault {
  int32_t stop, line, capture, dim, file;
  double value, other;
  double index[8];
} spec_fault;
typedef int32_t spec_block(const int64_t *bounds, const spec_slot *slots, spec_slot *results,
  spec_fault *fault);
]]

local FLAGS = "-O3 -march=native -ffp-contract=off -fno-tree-slp-vectorize -fPIC -shared -std=gnu11"
local FAST = " -ffp-contract=fast -fassociative-math -fno-signed-zeros -fno-trapping-math " ..
  "-fno-math-errno"

local directory = os.tmpname()
os.remove(directory)
assert(os.execute("mkdir " .. directory) == 0)
local made = 0
local loaded = {}

--- What M.load adds where it is given no flags.
M.usual = "-O1 -Wall -Wno-unknown-pragmas -Wno-unused -Werror"

--- Compiles C text; gives its block function. `flags` are added.
function M.load(text, fast, flags)
  flags = FLAGS .. (fast and FAST or "") .. " " .. (flags or M.usual)
  local key = flags .. text
  if loaded[key] then return loaded[key].block end
  made = made + 1
  local base = directory .. "/k" .. made
  local file = assert(io.open(base .. ".c", "w"))
  file:write(text)
  file:close()
  local command = ("cc %s -o %s.so %s.c -lm 2>%s.err"):format(flags, base, base, base)
  if os.execute(command) ~= 0 then
    error(io.open(base .. ".err"):read("*a"):sub(1, 2000) .. "\n" .. text, 0)
  end
  local library = ffi.load(base .. ".so")
  os.remove(base .. ".so")
  ffi.cdef(("int32_t spec_%d(const int64_t *, const spec_slot *, spec_slot *, spec_fault *) " ..
    "__asm__(\"ms_native_run\");"):format(made))
  loaded[key] = { library = library, block = library["spec_" .. made] }
  return loaded[key].block
end

--- Compiles many kernels at a time, for M.load of the same texts and flags.
-- @tab texts C texts @bool fast whether in fast mode @string flags the same flags
function M.load_all(texts, fast, flags)
  local parts = { ffi.string(c_core.lib.ms_native_prelude(fast or false)) }
  for n, text in ipairs(texts) do
    local own = run.behind_prelude(text)
    parts[n + 1] = own:gsub("ms_native_run", "ms_run_" .. n)
      :gsub("ms_(%l+)%(const int64_t %*bounds", "ms_%1_" .. n .. "(const int64_t *bounds")
      :gsub("return ms_(%l+)%(bounds", "return ms_%1_" .. n .. "(bounds")
      :gsub("ms_c_recursive%d+", "%0_" .. n)
  end
  made = made + 1
  local base, given = directory .. "/k" .. made, flags
  flags = FLAGS .. (fast and FAST or "") .. " " .. flags
  local file = assert(io.open(base .. ".c", "w"))
  file:write(table.concat(parts))
  file:close()
  assert(os.execute(("cc %s -o %s.so %s.c -lm"):format(flags, base, base)) == 0, given)
  local library = ffi.load(base .. ".so")
  os.remove(base .. ".so")
  for n, text in ipairs(texts) do
    ffi.cdef(("int32_t spec_%d_%d(const int64_t *, const spec_slot *, spec_slot *, " ..
      "spec_fault *) __asm__(\"ms_run_%d\");"):format(made, n, n))
    loaded[flags .. text] = { library = library, block = library[("spec_%d_%d"):format(made, n)] }
  end
end

function M.finish()
  os.execute("rm -rf " .. directory)
end

local function prepare(text, env, space, options)
  local core_space = run.space_for_core(space, options)
  local loop, values, bindings, plan, captures = run.study(text, env, core_space, options)
  local arrays = {}
  for c = 1, #bindings do
    if memory.is_array(values[c]) then arrays[c] = memory.describe(values[c]) end
  end
  local entry_type = core_space.array and memory.describe(core_space.array).type or nil
  local source, info = core.emit_native(loop, plan, bindings, core_space, arrays, entry_type,
    options.fast, options.general)
  return source, info, values, captures, plan
end

--- The C text of a loop, or nil and why there is none.
function M.emit(text, env, space, options)
  local source, info = prepare(text, setmetatable(env, { __index = _G }), space, options or {})
  if not source then return nil, ("%s:%s"):format(info.line, info.message) end
  return source, info
end

-- The slots of a kernel's parameters, and what they point to.
local function slots_of(info, values, operands, space_operand)
  local slots, keep = ffi.new("spec_slot[?]", #info.params + 1), {}
  for n, param in ipairs(info.params) do
    local slot = slots[n - 1]
    if param.kind == "coord" then
      slot.pointer = ffi.cast("void *", space_operand.coords[param.at])
    elseif param.kind == "entries" then
      slot.pointer = ffi.cast("void *", space_operand.pointer)
    elseif param.kind == "step" then
      slot.whole = space_operand.strides[param.dim]
    elseif param.kind == "pointer" then
      slot.pointer = ffi.cast("void *", operands[param.at].pointer)
    elseif param.kind == "stride" then
      slot.whole = operands[param.at].strides[param.dim]
    elseif param.kind == "extent" then
      slot.whole = operands[param.at].dims[param.dim]
    elseif param.kind == "limit" then
      slot.whole = space_operand.dims[param.dim]
    elseif param.kind == "stack" then
      slot.whole = c_core.lib.ms_stack_end()
    elseif param.kind == "rows" then
      local rows, part = operands[param.at].rows, param.dim
      slot.pointer = ffi.cast("void *", part == 1 and rows.start or part == 2 and rows.values
        or rows.columns[part - 2])
    elseif type(values[param.at]) == "boolean" then
      slot.whole = values[param.at] and 1 or 0
    else
      slot.number = values[param.at]
    end
  end
  return slots, keep
end

local function bounds_of(info, block)
  local list = info.entries and { block.first, block.last } or {}
  for d = 1, info.entries and 0 or info.dim_count do
    list[2 * d - 1], list[2 * d] = block.lo[d], block.hi[d]
  end
  if info.row then
    list[#list + 1], list[#list + 2] = block.row_lo, block.row_hi
  end
  return ffi.new("int64_t[?]", #list, list)
end

local function position_of(info, results, at, space_operand)
  local parts = {}
  for d = 1, info.dim_count do
    if info.entries then
      parts[d] = tonumber(space_operand.coords[d][tonumber(results[at].whole) - 1])
    else
      local value = tonumber(results[at + d - 1].whole)
      parts[d] = info.steps[d] > 0 and value or -value
    end
  end
  return table.concat(parts, ",")
end

-- Results as the Lua engine's blocks send them.
local function encode(info, results, space_operand)
  local sent, set, positions, count = {}, {}, {}, #info.results
  local at = 2 * count
  for n, result in ipairs(info.results) do
    local tag = tonumber(results[2 * n - 1].whole)
    if tag == 1 then sent[n] = results[2 * n - 2].number end
    if tag == 2 or tag == 3 then sent[n] = tag == 2 end
    set[n] = tag ~= 0 and "1" or "0"
    if info.positions > 0 and result.role == "private" then
      positions[#positions + 1] = tag ~= 0 and position_of(info, results, at, space_operand) or "-"
      at = at + info.positions
    end
  end
  sent[count + 1], sent[count + 2] = table.concat(set), table.concat(positions, ";")
  return serialize.encode(sent, count + 3, { path = tostring, find_array = memory.refuse,
    code = "BDY", remedy = "" })
end

--- Runs the text's loop as a native kernel. True; or nil and {line =, message =} when it stays on
-- the Lua engine; or false and {line =, iteration =, stop =, value =, dim =, message =}. The text
-- is that for the world `options.written_for()` if there is one, whose extents may be others.
function M.kernel(text, env, space, options)
  options = options or {}
  setmetatable(env, { __index = _G })
  local source, info, values, captures, plan = prepare(text, env, space, options)
  if not source then return nil, info end
  if options.written_for then
    source = prepare(text, setmetatable(options.written_for(), { __index = _G }), space, options)
  end
  local block = M.load(source, options.fast, options.flags)
  local operands, space_operand = {}, nil
  for c = 1, #captures do
    if memory.is_array(values[c]) then operands[c] = run.operand_of(values[c]) end
  end
  if space.entries then space_operand = run.entries_operand(space) end
  if space.array then space_operand = run.operand_of(space.array) end
  local slots = slots_of(info, values, operands, space_operand)
  local results = ffi.new("spec_slot[?]", 64)
  local fault = ffi.new("spec_fault")
  local bytes = {}
  for _, each in ipairs(run.blocks_of(space, options.pieces or 3, plan.extents)) do
    if options.prospects then -- what each block says of itself (csrc/kernel/native/native.h)
      table.insert(options.prospects, block(bounds_of(info, each), slots, nil, fault))
    end
    local stop = block(bounds_of(info, each), slots, results, fault)
    if stop ~= 0 then
      local iteration = {}
      for d = 1, info.dim_count do iteration[d] = fault.index[d - 1] end
      return false, { stop = stop, line = fault.line, value = fault.value, dim = fault.dim + 1,
        capture = info.captures[fault.capture + 1], iteration = iteration,
        message = info.messages[tonumber(fault.value) + 1] }
    end
    if #info.results > 0 then bytes[#bytes + 1] = encode(info, results, space_operand) end
  end
  local _, kernel_bytes = run.prepare(text, env, space, options)
  for _, final in ipairs(kernel.combine(kernel_bytes, values, bytes)) do
    run.assign(env, captures[final.capture], final.value)
  end
  return true
end

--- Runs the text on the Lua engine and natively, on worlds made by `world()`. Nil if all agree,
-- else what differs; "refused: ..." if it stays on the Lua engine.
function M.compare(text, world, space_of, options)
  local expected, env = world(), world()
  local ok, failed = run.kernel(text, expected, space_of(expected), options)
  local native, fault = M.kernel(text, env, space_of(env), options)
  if native == nil then return ("refused: %d: %s"):format(fault.line, fault.message) end
  if native == false then
    if ok then return ("stopped in line %d: %s"):format(fault.line, fault.message or "") end
    if fault.line ~= failed.line then
      return ("line %d, not %d: %s"):format(fault.line, failed.line, failed.message)
    end
    local message = fault.message and fault.message:gsub("^ARR: ", "")
    if message and message ~= failed.message then
      return ("%s, not %s"):format(fault.message, failed.message)
    end
    local there, here = table.concat(failed.iteration, ","), table.concat(fault.iteration, ",")
    if there ~= here then return ("iteration %s, not %s"):format(here, there) end
  elseif not ok then
    return ("did not stop: %s:%d"):format(failed.message, failed.line)
  end
  return run.difference(expected, env)
end

M.bit = bit
return M
