-- SPDX-License-Identifier: MIT
--- Packing kernels on the driver: what is the same for all executions of a loop, and what an
-- execution adds. See meissa.kernel; which kernel it is says meissa.kernel.family.
--
-- What is kept, and what it saves of a job of 64 iterations that takes 50 to 100 us:
-- - bytes of captured tables and functions that are known not to have changed: 45 us (200 numbers);
-- - plain values apart from these: 15 us (24 numbers, one of which changes);
-- - captures that machine code does not need: 48 us (a function that is made anew each time);
-- - the bytes of the kernel: 3 to 7 us.
-- @module meissa.kernel.pack
local buffer = require "string.buffer"
local large_values = require "meissa.kernel.large_values"
local core = require "meissa.core"
local memory = require "meissa.kernel.memory"
local merge = require "meissa.kernel.merge"
local system = require "meissa.base.system"
local tables = require "meissa.base.tables"

local M = {}

-- Kinds of parameters that are made of captured values.
local CAPTURED = { value = true, inner = true, list = true, length = true }

-- The numbers of the captures whose values an execution sends, in their order; the object alone
-- needs fewer than the Lua text.
local function find_needed(info, native, alone)
  local needed, list = {}, {}
  for _, source in ipairs { alone and {} or info, native and native.info } do
    for _, param in ipairs(source and source.params or {}) do
      if CAPTURED[param.kind] then needed[param.at] = true end
    end
  end
  if not alone then
    for _, c in ipairs(info.spilled) do needed[c] = true end
  end
  for c in tables.each(needed) do list[#list + 1] = c end
  table.sort(list)
  return list
end

-- Strings up to this length are not looked at twice.
local SHORT = 4096

local function is_simple(value)
  local kind = type(value)
  return kind == "number" or kind == "boolean" or kind == "nil" or
    kind == "string" and #value <= SHORT
end

-- The captures whose values are no numbers, booleans and short strings, and those that are, by
-- capture.
local function sort_out(values, needed)
  local others, roots = {}, {}
  for _, c in ipairs(needed) do
    local value = values[c]
    if is_simple(value) then roots[c] = value else others[#others + 1] = c end
  end
  return others, roots
end

-- Any values that can travel, large tables apart.
local function encode_any(values, needed, static, bindings, part, basics)
  local info, sent = static.info, {}
  for _, c in ipairs(needed) do sent[c] = values[c] end
  return large_values.encode(sent, needed[#needed] or 0, {
    path = function(c) return info.captures[c].path end,
    find_array = memory.finder(values, bindings),
    code = "BDY", modules = bindings.requires and bindings.modules,
    remedy = "Read what the loop needs from it into a number, string or table before the loop",
  }, static, basics, part == "lua")
end

-- The same. What was encoded is used again as long as all that captured functions and tables lead
-- to is known to be the same, numbers included (see meissa.capture.reached).
local function encode_again(values, others, static, bindings, part)
  local reached, kept = bindings.reached, bindings.encoded
  local version = reached and reached:version()
  if kept and kept.static == static and kept.part == part and kept.version == version and
     not system.new_search_paths() then
    static.large = kept.large
    return kept.bytes, kept.apart, kept.known
  end
  local bytes, apart, known, lasting = encode_any(values, others, static, bindings, part)
  bindings.encoded = version and lasting and {
    static = static, part = part, version = version, bytes = bytes, apart = apart, known = known,
    large = static.large} or nil
  return bytes, apart, known
end

local NOTHING = {}

-- The captured values that an execution needs. The first one sends what both engines need: whether
-- a value can travel must not depend on a cache.
local function carried(values, static, bindings, native, basics)
  local alone = native and native.object and static.travelled and not native.info.declines
  local part = alone and "alone" or native and "both" or "lua"
  local needed = static.needed[part] or find_needed(static.info, native, alone)
  static.needed[part] = needed
  basics = not alone and basics or nil -- machine code asks for none
  if basics then
    local bytes, apart, known = encode_any(values, needed, static, bindings, part, basics)
    static.travelled = true
    return bytes, apart, known
  end
  local others, roots = sort_out(values, needed)
  if #others == 0 then
    static.travelled, static.large, static.held = true, nil, nil
    return buffer.encode { roots = roots, nodes = {} }, NOTHING
  end
  local bytes, apart, known = encode_again(values, others, static, bindings, part)
  static.travelled = true
  return buffer.encode { roots = roots, nodes = {}, within = bytes }, apart, known
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

--- Packs a loop for one execution.
-- @tab static what find gave
-- @tab bindings what each capture is @tab values the captured values, by capture
-- @tab[opt] native what meissa.kernel.engine chose
-- @tab[opt] basics the program's basic metatables, as for carry.encode
-- @treturn string kernel bytes
-- @treturn string run bytes
-- @treturn string the kernel's key
-- @treturn table captured tables that travel apart: see kernel/large_values.lua
-- @treturn table|nil what is known of captures beyond its limit
-- @treturn func|nil known(number, capture): what is sent, for M.combine
-- Errors: BDY for a captured value that cannot travel, naming its path.
function M.pack(static, bindings, values, native, basics)
  local given = merge.given(static.info, values)
  local run_bytes, apart, known = carried(given, static, bindings, native, basics)
  local kernel = packed(static, native)
  return kernel.bytes, run_bytes, kernel.key, apart, static.large, known
end

return M
