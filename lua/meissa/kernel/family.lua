-- SPDX-License-Identifier: MIT
--- Families: which kernel a plan runs, and which plans share one. On the driver.
--
-- A kernel is made from a plan's texts: the Lua text, and the C text if there is one. Plans of a
-- loop that differ in numbers, in where ranges end and in extents are of one kind; they are a
-- family, which shares what texts it can: 500 ranges at random take 0.17 ms each in place of 0.35,
-- and 60 shapes need the C compiler once, not 60 times.
-- @module meissa.kernel.family
local core = require "meissa.core"
local errors = require "meissa.base.errors"
local memory = require "meissa.kernel.memory"
local native_engine = require "meissa.kernel.native"
local tables = require "meissa.base.tables"

local M = {}

-- Captured values that are passed as locals of the block function (LuaJIT allows it 200).
local MOST_LOCALS = 40

-- Iterations for each row of a buffer up to which blocks mark what they store there: with 64 blocks
-- (csrc/plan/cutting.c) each has a thirtieth as many iterations as there are rows, and to look at
-- all of them would take longer. Beyond so many elements bit operations do not count them.
local MOST_A_ROW, MOST_MARKED = 2, 2 ^ 31

local function is_marked(binding, about, space)
  local dims = about.dims
  local rows = #dims > 1 and about.count / dims[#dims] or about.count
  return binding.buffers and not binding.replica and about.count < MOST_MARKED and
    space.count <= MOST_A_ROW * rows
end

-- What is known about each capture that is an array; `touched` of buffers that are marked.
-- @func touches touches(capture, what is known)
local function find_arrays(values, count, touches)
  local arrays = {}
  for c = 1, count do
    if memory.is_array(values[c]) then
      local about = memory.describe(values[c])
      if touches(c, about) then
        about = { type = about.type, dims = about.dims, strides = about.strides, touched = true }
      end
      arrays[c] = about
    end
  end
  return arrays
end

-- The same as a kernel has it.
local function arrays_of(static, values, count)
  local touched = {}
  for _, each in ipairs(static.info.arrays) do touched[each.capture] = each.touched end
  return find_arrays(values, count, function(c) return touched[c] end)
end

-- All that distinguishes one kernel from another, as a string.
local function signature(info)
  local parts = { info.chunkname, info.text, info.entry_type or "" }
  for _, capture in ipairs(info.captures) do parts[#parts + 1] = capture.path end
  for _, result in ipairs(info.results) do
    parts[#parts + 1] = result.capture .. result.role .. (result.op or "") .. (result.wins or "") ..
      tostring(result.unset) .. (result.leader or "") .. (result.gate or "") ..
      (result.tie or "") .. (result.tie_op or "")
  end
  for _, each in ipairs(info.arrays) do
    parts[#parts + 1] = each.capture .. each.type .. each.dims .. tostring(each.touched)
  end
  return table.concat(parts, "\0")
end

-- The user's own lines are for reports of loops in the body (see meissa.capture.users_text).
local function drop_lines(info)
  local body = string.sub(info.lines, info.before + 1)
  local may_loop = string.find(body, "%f[%w_]in%f[^%w_]") or string.find(body, "function", 1, true)
  if not may_loop then info.lines = nil end
  info.before = nil
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
      drop_lines(info)
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
-- @bool[opt] general whether it is to be as quick for any extents as for those of now
function M.emit_native(loop, plan, bindings, space, arrays, entry_type, general)
  if not core.emit_native then return nil end
  local fast = space.numeric == "fast"
  local text, info = core.emit_native(loop, plan, bindings, space, arrays, entry_type, fast,
    general)
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
-- `native` or `refusal`. The numbers and ranges of a plan change the Lua text at most, where checks
-- are left out: plans of one kind and layout with equal Lua texts share a part (`known`, by text).
-- With `first`, a part for that kind and layout, the text is the one that suits all such plans.
local function make_static(loop, plan, bindings, space, arrays, entry_type, known, first)
  local info = emit(loop, plan, bindings, space, arrays, entry_type, known, first ~= nil)
  if known[info.text] then return known[info.text] end
  info.entry_type, info.arrays = entry_type, {}
  for c = 1, #bindings do
    local about = arrays[c]
    if about then
      info.arrays[#info.arrays + 1] = { capture = c, type = about.type, dims = #about.dims,
        touched = about.touched }
    end
  end
  local native, refusal = first and first.native, nil
  if not first then
    native, refusal = M.emit_native(loop, plan, bindings, space, arrays, entry_type)
  end
  local static = { info = info, signature = signature(info), packed = {}, needed = {},
    native = native, refusal = refusal }
  known[info.text] = static
  return static
end

-- Kinds of plans of one loop whose kernels are kept.
local MOST_KINDS = 20

-- The kernels of plans of this kind and layout: `texts`, by Lua text; the `first` one that has a C
-- text, whose arrays' extents are `shape`; the `general` one, and the `own` one of plans whose
-- extents are those of the first; and `special` ones, by extents.
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

-- The same kernel with another C text.
local function with_native(static, native)
  return { info = static.info, signature = static.signature, packed = {}, needed = {},
    native = native }
end

-- From the second plan of a kind on, those that the native engine runs share a kernel that suits
-- all: then nothing is left to be made for further ones. Where the C text of the first one is quick
-- for its extents alone, one for any others is made as soon as there are others.
local function find_shared(family, loop, plan, bindings, space, arrays, entry_type)
  if not family.own then
    family.own = make_static(loop, plan, bindings, space, arrays, entry_type, family.texts,
      family.first)
  end
  if plan.shape == family.shape then return family.own end
  if not family.general then
    local native = family.own.native
    if native.info.shaped then
      native = M.emit_native(loop, plan, bindings, space, arrays, entry_type, true)
    end
    family.general = with_native(family.own, native)
    family.general.family, family.seen, family.special = family, {}, {}
  end
  return family.general
end

-- The kernel of one plan.
local function find_static(family, native, loop, plan, bindings, space, arrays, entry_type)
  if native and family.first then
    return find_shared(family, loop, plan, bindings, space, arrays, entry_type)
  end
  local static = make_static(loop, plan, bindings, space, arrays, entry_type, family.texts)
  if static.native then
    family.first, family.shape = static, plan.shape
  end
  return static
end

-- Whether an array's strides are those of elements that lie one after the other, the last subscript
-- fastest: of dimensions with one position, too, as texts have them as numbers.
local function is_row_major(about)
  local stride = 1
  for d = #about.dims, 1, -1 do
    if about.strides[d] ~= stride then return false end
    stride = stride * about.dims[d]
  end
  return true
end

-- What decides about the text beside the plan: how each array lies in memory.
local function layout_of(arrays, count, entry_type, positions)
  local parts = { entry_type or "", positions and "positions" or "" }
  for c = 1, count do
    local about = arrays[c]
    if about then
      if not about.layout then
        about.layout = string.format("%s %s %s%s", about.type, is_row_major(about) and
          "rows" or "strides", about.rows and "listed" or "", about.touched and "touched" or "")
      end
      parts[#parts + 1] = c .. about.layout
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
  local arrays = find_arrays(values, #bindings, function(c, about)
    return is_marked(bindings[c], about, space)
  end)
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

-- Extents that are met again have a C text of their own: for whom so many iterations are run in as
-- many executions at most; and so many of a kind of plans. In fast mode texts differ in how they
-- round, so nothing but executions counts: how long one takes would not be the same the next time.
local ITERATIONS, MOST_TIMES, MOST_SPECIAL = 50000, 64, 20

-- Whether extents are to be constants of a C text; nil while they are not known well enough.
local function deserves_own(family, shape, iterations)
  local seen = family.seen[shape]
  if not seen then
    family.count = (family.count or 0) + 1
    if family.count > MOST_SPECIAL then return false end
    seen = { times = 0, iterations = 0 }
    family.seen[shape] = seen
  end
  seen.times, seen.iterations = seen.times + 1, seen.iterations + iterations
  if seen.times > 1 and seen.iterations >= ITERATIONS then return true end
  if seen.times < MOST_TIMES and iterations * MOST_TIMES >= ITERATIONS then return nil end
  return false
end

--- A kernel in whose C text the extents that the arrays have now are constants, once these were met
-- again. To be asked once an execution.
--
-- What it is for: short rows, whose loops the compiler then unrolls. An update of two rows of
-- doubles takes 73 us in place of 127 for 30,000 rows of 5, 190 in place of 242 for rows of 16; in
-- fast mode, of floats, half the time.
-- @tab static what find gave; the other parameters are those of find
-- @treturn table|nil the kernel; nil where the one at hand is as good, or before
-- @treturn bool whether later executions may get another answer
function M.specialise(static, loop, plan, bindings, values, space)
  local family = static.family
  if not family or plan.shape == family.shape then return nil, false end
  local special = family.special[plan.shape]
  if special == nil then
    local deserves = deserves_own(family, plan.shape, space.count)
    if not deserves then return nil, deserves == nil end
    local entry_type = space.array and memory.describe(space.array).type or nil
    local native = M.emit_native(loop, plan, bindings, space,
      arrays_of(static, values, #bindings), entry_type)
    special = native.text ~= family.first.native.text and with_native(static, native)
    if special then special.special = true end
    family.special[plan.shape] = special
  end
  return special or nil, false
end

return M
