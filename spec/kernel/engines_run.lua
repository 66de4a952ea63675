-- SPDX-License-Identifier: MIT
-- Runs random bodies on both engines and compares: the Lua engine with LuaJIT's compiler off, with
-- it cold and eager, warm, and as it is; native kernels; the plain loop. Kernels are compiled
-- many at a time, by the compiler and flags that the engine uses.
local ffi = require "ffi"
local compiler = require "meissa.kernel.compiler"
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"
local families = require "meissa.kernel.family"
local kernel = require "meissa.kernel"
local packing = require "meissa.kernel.pack"
local memory = require "meissa.kernel.memory"
local entries_of = require("meissa.base.tables").each
local run = dofile("spec/kernel/run.lua")
local worlds = dofile("spec/kernel/engines_world.lua")

local M = {}

-- Many kernels at a time take the compiler longer than one may.
ffi.cdef [[
int setenv(const char *name, const char *value, int overwrite);
void *dlopen(const char *path, int flags);
void *dlsym(void *library, const char *name);
int dlclose(void *library);
]]
ffi.C.setenv("MEISSA_CC_LIMIT", "300", 1)

-- All the text that kernels may begin with.
local function prelude(fast)
  return ffi.string(c_core.lib.ms_native_prelude(fast or false))
end

-- --------------------------------------------------------------------------------- compiling

local made = 0

-- One kernel's text behind the prelude, with names of its own.
local function rename(text, name)
  return (text:gsub("ms_quick", "ms_quick_" .. name):gsub("ms_careful", "ms_careful_" .. name)
    :gsub("ms_wide", "ms_wide_" .. name):gsub("ms_native_run", "ms_run_" .. name))
end

-- The functions of a finished build, by their names; a function that unloads them.
local function take(build, names)
  build:finish()
  assert(build:state() == "ready", build:state() == "failed" and build:trouble())
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(build:object())
  file:close()
  local library = ffi.C.dlopen(path, 2)
  os.remove(path)
  assert(library ~= nil, "the object can be loaded")
  local functions = {}
  for n, name in ipairs(names) do
    functions[n] = ffi.cast("ms_native_block *", ffi.C.dlsym(library, "ms_run_" .. name))
  end
  return functions, function() ffi.C.dlclose(library) end
end

--- Has kernels' texts compiled into one object; the compiler works beside this process.
-- @tab texts texts of native kernels
-- @bool fast which flags
-- @func[opt] change changes the whole text before it is compiled, to a wrong one, which is no other
-- with less optimisation
-- @treturn func waits for the compiler and gives a list with a function for each text, and one that
-- unloads them
function M.compile(texts, fast, change)
  local parts, names = { prelude(fast) }, {}
  for n, text in ipairs(texts) do
    made = made + 1
    names[n] = tostring(made)
    parts[#parts + 1] = rename(run.behind_prelude(text), names[n])
  end
  -- What the loader of single kernels asks for.
  parts[#parts + 1] = "\n__attribute__((visibility(\"default\"))) int ms_native_run(void);\n"
    .. "int ms_native_run(void) { return 0; }\n"
  local whole = table.concat(parts)
  if change then whole = '#pragma GCC optimize("O1")\n' .. change(whole) end
  local build, why = compiler.build(whole, fast)
  assert(build, why)
  build:start(0)
  return function() return take(build, names) end
end

-- ---------------------------------------------------------------------------------- one loop

local sizes = { float = 4, double = 8, int32 = 4, int64 = 8 }
local ctypes = { float = "float *", double = "double *" }

-- The arrays of a world, each memory once, with their contents.
local function contents_of(env)
  local list, seen = {}, {}
  for name, value in entries_of(env) do
    if memory.is_array(value) then
      local store = value.array.store
      local id = tonumber(store.id)
      if not seen[id] then
        seen[id] = true
        local about, block = memory.describe(value), store.block
        local base = block.segment.base + block.offset
        list[#list + 1] = { name = name, type = about.type, base = base, size =
          tonumber(block.size), keep = value, before = ffi.string(base, block.size) }
      end
    end
  end
  table.sort(list, function(a, b) return a.name < b.name end)
  return list
end

local function restore(contents)
  for _, each in ipairs(contents) do ffi.copy(each.base, each.before, each.size) end
end

-- All contents as strings by name, every nan the same.
local function image(contents)
  local images = {}
  for _, each in ipairs(contents) do
    local copy = ffi.new("unsigned char[?]", each.size)
    ffi.copy(copy, each.base, each.size)
    if ctypes[each.type] then
      local numbers = ffi.cast(ctypes[each.type], copy)
      for k = 0, each.size / sizes[each.type] - 1 do
        if numbers[k] ~= numbers[k] then numbers[k] = 0 / 0 end
      end
    end
    images[each.name] = ffi.string(copy, each.size)
  end
  return images
end

local function bits(value)
  if type(value) ~= "number" then return tostring(value) end
  if value ~= value then return "nan" end
  return ("%.17g"):format(value) .. (value == 0 and 1 / value < 0 and " (-0)" or "")
end

-- Whether a contents' element says what differs.
local function explain(each, one, other)
  local element = each.type:find("^int") and each.type .. "_t" or each.type
  local a = ffi.cast("const " .. element .. " *", one)
  local b = ffi.cast("const " .. element .. " *", other)
  for k = 0, each.size / sizes[each.type] - 1 do
    local left, right = bits(tonumber(a[k])), bits(tonumber(b[k]))
    if left ~= right then
      return ("%s: element %d of its memory is %s, not %s"):format(each.name, k, right, left)
    end
  end
end

local function world_of(loop)
  if loop.world then return loop.world() end
  return worlds.world(loop.seed, loop.n, loop.positive)
end

-- A kernel whose C text is no quicker for the extents of now than for others.
local function generalise(self, handle, space)
  local static, arrays = self.static, {}
  for c = 1, #self.bindings do
    if memory.is_array(self.values[c]) then arrays[c] = memory.describe(self.values[c]) end
  end
  static.native = families.emit_native(handle, self.plan, self.bindings, space, arrays, nil, true)
end

--- Studies a loop: plan, kernels, values; nil and why if it is refused. Every second one has a
-- general C text.
-- @tab loop from engines_random @bool[opt] fast
function M.study(loop, fast)
  local self = { loop = loop, env = world_of(loop) }
  setmetatable(self.env, { __index = _G })
  local ranges = loop.ranges or { { 1, loop.n, 1 } }
  local space = { source = nil, sparse = false, ranges = ranges, collapse = 1,
    ordered = true, numeric = fast and "fast" or "strict" }
  local studied, handle, values, bindings, plan, captures =
    pcall(run.study, loop.text, self.env, space, {})
  if not studied then return nil, tostring(handle) end
  self.values, self.bindings, self.plan, self.captures = values, bindings, plan, captures
  local found, static = pcall(families.find, handle, plan, bindings, values, space, {})
  if not found then return nil, tostring(static) end
  self.static, self.space = static, { ranges = space.ranges }
  if static.native and loop.seed % 2 == 1 then generalise(self, handle, space) end
  self.contents = contents_of(self.env)
  return self
end

local function operands_of(self)
  local operands = {}
  for c = 1, #self.bindings do
    local value = self.values[c]
    if memory.is_array(value) then operands[#operands + 1] = run.operand_of(value) end
  end
  return operands
end

-- An instance of the Lua engine or, with `entry`, of the native one.
local function instance_of(self, entry)
  local about = entry and { key = "spec", info = self.static.native.info, directory = "/" }
  local kernel_bytes, run_bytes = packing.pack(self.static, self.bindings, self.values, about)
  local instance = kernel.prepare(kernel_bytes, run_bytes, operands_of(self),
    { print = print, draws = { seed = self.loop.seed, ordinal = 3 } })
  if entry then instance = instance.make_native({ block = entry }) end
  return instance, kernel_bytes
end

-- Runs all blocks from the world's beginning: {images =, scalars =}; with `failed`, in words, what
-- there was when it failed.
local function outcome(self, instance, kernel_bytes, pieces)
  restore(self.contents)
  local results = {}
  for _, block in ipairs(run.blocks_of(self.space, pieces, self.plan.extents)) do
    local bytes, failed = instance:run(block)
    if not bytes then
      return { images = image(self.contents), scalars = {},
        failed = ("%s %s:%s: %s (iteration %s)"):format(tostring(failed.code),
          tostring(failed.file), tostring(failed.line), tostring(failed.message),
          table.concat(failed.iteration or {}, ",")) }
    end
    results[#results + 1] = bytes
  end
  local scalars = {}
  for _, final in ipairs(kernel.combine(kernel_bytes, self.values, results)) do
    scalars[self.captures[final.capture].root] = bits(final.value)
  end
  return { images = image(self.contents), scalars = scalars }
end

-- What differs between two outcomes, or nil.
local function difference(self, expected, got, only_arrays)
  if expected.failed ~= got.failed then
    return ("ends with '%s', not '%s'"):format(got.failed or "success",
      expected.failed or "success")
  end
  for _, each in ipairs(self.contents) do
    if expected.images[each.name] ~= got.images[each.name] then
      local words = explain(each, expected.images[each.name], got.images[each.name])
      if words then return words .. (expected.failed and " after the same error" or "") end
    end
  end
  for name, value in entries_of(only_arrays and {} or expected.scalars) do
    if got.scalars[name] ~= value then
      return ("%s is %s, not %s"):format(name, tostring(got.scalars[name]), value)
    end
  end
end

local function with_jit(setting, fn)
  jit.flush()
  setting()
  local done, result = pcall(fn)
  jit.on()
  jit.opt.start("hotloop=56", "hotexit=10")
  if not done then error(result, 0) end
  return result
end

local function nothing() end
local function eager() jit.opt.start("hotloop=2", "hotexit=2") end

--- What the Lua engine gives with the compiler off: the reference for everything else.
function M.reference(self)
  if not self.expected then
    self.expected = with_jit(jit.off, function()
      local instance, kernel_bytes = instance_of(self)
      return outcome(self, instance, kernel_bytes, self.loop.pieces)
    end)
  end
  return self.expected
end

--- Compares the Lua engine's variants: what differs, or nil.
function M.compare_lua(self)
  local expected = M.reference(self)
  local function variant(name, setting, runs)
    local found = with_jit(setting, function()
      local instance, kernel_bytes = instance_of(self)
      for round = 1, runs do
        local got = outcome(self, instance, kernel_bytes, self.loop.pieces)
        local words = difference(self, expected, got)
        if words then return ("%s, run %d: %s"):format(name, round, words) end
      end
    end)
    return found
  end
  return variant("Lua engine, compiled early", eager, 2)
    or variant("Lua engine, compiled as usual", nothing, 3)
end

--- Compares a native kernel, also in blocks of another size: what differs, or nil.
-- @param entry its function
function M.compare_native(self, entry)
  local expected = M.reference(self)
  local instance, kernel_bytes = instance_of(self, entry)
  local words = difference(self, expected,
    outcome(self, instance, kernel_bytes, self.loop.pieces))
  if words then return "native: " .. words end
  local other = self.loop.pieces == 1 and math.min(self.loop.n, 5) or 1
  words = difference(self, expected, outcome(self, instance, kernel_bytes, other), true)
  return words and ("native in %d blocks: %s"):format(other, words)
end

--- Compares a native kernel of numeric = "fast" with the Lua engine, on a loop of engines_fast.lua:
-- the greatest relative difference between two numbers.
-- @param entry its function
function M.fast_error(self, entry)
  local expected = M.reference(self)
  local instance, kernel_bytes = instance_of(self, entry)
  local got = outcome(self, instance, kernel_bytes, self.loop.pieces)
  assert(not expected.failed and not got.failed, expected.failed or got.failed)
  local worst = 0
  for _, each in ipairs(self.contents) do
    if ctypes[each.type] then
      local a = ffi.cast("const " .. ctypes[each.type], expected.images[each.name])
      local b = ffi.cast("const " .. ctypes[each.type], got.images[each.name])
      for k = 0, each.size / sizes[each.type] - 1 do
        if a[k] ~= b[k] then worst = math.max(worst, math.abs(a[k] - b[k]) / math.abs(a[k])) end
      end
    end
  end
  local sum = tonumber(expected.scalars.sum)
  return math.max(worst, math.abs(tonumber(got.scalars.sum) - sum) / sum)
end

--- Whether the plain loop must agree: it has no operators beyond those that are promised, and no
-- random numbers.
function M.is_plain(loop)
  return not (loop.text:find("^", 1, true) or loop.text:find("random(", 1, true)
    or loop.text:find("normal(", 1, true))
end

-- An error of the plain loop as `outcome` puts it, but for the iteration, which Lua does not know,
-- and the line: of a statement on several lines it is the last, engines name the subscript's.
local function plain_failure(err)
  if errors.is(err) then return ("%s %s"):format(err.code, err.message) end
  return "BDY " .. tostring(err):gsub("^%S+:%d+: ", "")
end

local function without_place(failed)
  return failed and (failed:gsub("^(%u+) %S+:%d+: ", "%1 "):gsub(" %(iteration [%d,-]*%)$", ""))
end

--- Compares with the plain loop, which has LuaJIT's own operators: what differs, or nil. Blocks
-- form sums and products in another order, and extremes where there is a nan.
function M.compare_plain(self)
  local expected = M.reference(self)
  local env = world_of(self.loop)
  jit.off()
  local ok, err = pcall(run.plain, self.loop.text, env, self.space, true)
  jit.on()
  local failed = not ok and plain_failure(err) or nil
  local wanted = without_place(expected.failed)
  if failed ~= wanted then
    return ("the plain loop ends with '%s', the Lua engine with '%s'"):format(failed or "success",
      wanted or "success")
  end
  local got = { images = image(contents_of(env)), scalars = {}, failed = expected.failed }
  for name in entries_of(expected.scalars) do got.scalars[name] = bits(env[name]) end
  for _, name in ipairs { "sum", "product", "most", "least" } do
    got.scalars[name] = expected.scalars[name]
  end
  local words = difference(self, expected, got)
  return words and "plain loop: " .. words
end

return M
