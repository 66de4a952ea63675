-- SPDX-License-Identifier: MIT
--- Bulk: captured tables and strings that are too large to be sent with every execution.
--
-- Such a table travels as bytes in an array of its own, which the runtime sends to each worker once
-- and, where memory is shared, not at all; a changed table is other bytes. It must hold nothing but
-- plain values and tables, and no table that another captured value leads to, so that taking it out
-- changes no identity. Anything else of that size is named too, and sent with every execution.
-- @module meissa.kernel.large_values
local array = require "meissa.array"
local buffer = require "string.buffer"
local encoded = require "meissa.base.encoded"
local late = require "meissa.base.late"
local string_lists = require "meissa.base.string_lists"
local core = require "meissa.core"
local ffi = require "ffi"
local unpack_values = require "meissa.kernel.unpack"
local tables = require "meissa.base.tables"
local interrupt = require "meissa.base.interrupt"

local serialize = late(function() return require "meissa.kernel.serialize" end)

local M = {}

--- Encoded bytes beyond which a captured value is taken out, and beyond which the user hears of it;
-- and beyond which it is where all is made anew for each execution but what was taken out.
M.LIMIT, M.NOTABLE, M.LUA_LIMIT = 262144, 8000000, 16384

-- Tables that a worker keeps decoded, whatever their size, and how many as long as they have so
-- many bytes together.
local LEAST_KEPT, MOST_KEPT, MOST_BYTES = 8, 64, 4194304

-- Arrays that hold the bytes, by digest: the same content travels once, whatever loops capture it.
local WEAK = { __mode = "v" }
local holders = setmetatable({}, WEAK)

local function holder_of(bytes)
  local digest = core.digest(bytes)
  local holder = holders[digest]
  if not holder then
    holder = { array = array.zeros(math.ceil(#bytes / 8)), digest = digest, length = #bytes }
    ffi.copy(array.core(holder.array).data, bytes, #bytes)
    holders[digest] = holder
  end
  return holder
end

local SIMPLE = { number = true, string = true, boolean = true }

local SIZEABLE = { table = true, string = true, ["function"] = true }

local PLAIN = { p = true, t = true, n = true }

local function is_plain(encoder)
  for _, node in ipairs(encoder.nodes) do
    if not PLAIN[node[1]] then return false end
  end
  return true
end

local function share(one, other)
  for value in tables.each(one.ids) do
    if type(value) == "table" and other.ids[value] then return true end
  end
  return false
end

-- Encodes one capture alone; nil if it holds more than plain tables.
local function encode_alone(c, value, options)
  local bytes, encoder = serialize.encode({ [c] = value }, c, options)
  return is_plain(encoder) and bytes or nil, encoder, #bytes
end

-- How many tables were met once one's own have been, `last` before it; nil where they are not the
-- next ones of all tables by number, or it holds anything but them and plain values.
local function count_tables(values, each, last)
  for key, item in tables.each(each) do
    local kind = type(item)
    if kind == "table" then
      last = last + 1
      if values[last] ~= item then return nil end
    elseif not SIMPLE[kind] then
      return nil
    end
    if not SIMPLE[type(key)] then return nil end
  end
  return last
end

-- Whether a table has the tables that it had, in their places, and nothing else but plain values.
-- @tab values all tables by number, as they were met
local function has_tables(values, root, count)
  if values[1] ~= root then return false end
  local last = 1
  for id = 1, count do
    local each = values[id]
    if each == nil or getmetatable(each) ~= nil then return false end
    last = encoded.is_plain(each) and last or count_tables(values, each, last)
    if not last then return false end
  end
  return last == count
end

-- What stands for the content of a table without metatables: the encoding, if nothing else does.
local function content_of(value)
  local state = string_lists.state(value)
  if state then return state end
  local ok, text = interrupt.pcall(buffer.encode, value)
  return ok and text or nil
end

-- What lets a table be recognised by the next execution, in a fraction of the time that encoding it
-- takes: nil for one that holds a table twice, or more than plain values. Keeps none of its tables.
local function note(value, encoder, holder)
  local count = #encoder.values
  if not has_tables(encoder.values, value, count) then return nil end
  return { count = count, content = content_of(value), holder = holder,
    encoder = { values = setmetatable(encoder.values, WEAK),
      ids = setmetatable(encoder.ids, { __mode = "k" }) } }
end

-- Of a table that held no others the content tells whether it does now.
local function is_unchanged(noted, value)
  if not noted or noted.content == nil then return false end
  local values = noted.encoder.values
  local kept = noted.count == 1 and values[1] == value and getmetatable(value) == nil or
    noted.count > 1 and has_tables(values, value, noted.count)
  if type(noted.content) == "table" then
    return kept and string_lists.state(value) == noted.content
  end
  return kept and encoded.is(value, noted.content)
end

-- Bytes that a value takes at least.
local function least_bytes(value)
  local kind = type(value)
  if kind == "string" then return #value end
  return (kind == "number" or kind == "table") and 2 or 1
end

-- Whether a value is beyond the limit for certain, which a part of it says.
local function is_surely_large(value, limit)
  local bytes, seen, queue = least_bytes(value), { [value] = true }, { value }
  local at = 1
  while bytes <= limit and type(queue[at]) == "table" do
    for _, item in tables.each(queue[at]) do
      bytes = bytes + least_bytes(item)
      if bytes > limit then break end
      if type(item) == "table" and not seen[item] then
        seen[item] = true
        queue[#queue + 1] = item
      end
    end
    at = at + 1
  end
  return bytes > limit
end

local Packing = {}
Packing.__index = Packing

-- A capture beyond the limit is remembered, and taken out if it can be.
function Packing:take(c)
  local bytes, encoder, size = encode_alone(c, self.rest[c], self.options)
  if size <= self.limit then
    self.memory.large[c] = nil
    return
  end
  self.memory.large[c] = { size = size, path = self.options.path(c), apart = bytes ~= nil }
  if not bytes then return end
  self.rest[c] = nil
  self.taken[#self.taken + 1] = { capture = c, bytes = bytes, encoder = encoder }
end

-- Captures beyond the limit among `rest` that are not known to stay there: all, or those of which
-- this is sure before anything is encoded.
function Packing:take_out(sure)
  for c = 1, self.count do
    local value, known = self.rest[c], self.memory.large[c]
    local stuck = known and not known.apart
    local may = not stuck and SIZEABLE[type(value)]
    if may and (not sure or is_surely_large(value, self.limit)) then self:take(c) end
  end
end

-- Whether what was taken out shares a table with the rest or with each other.
function Packing:overlaps(rest)
  for k, each in ipairs(self.taken) do
    if share(rest, each.encoder) then return true end
    for other = 1, k - 1 do
      if share(self.taken[other].encoder, each.encoder) then return true end
    end
  end
  return false
end

-- What was large last time is encoded apart at once.
function Packing:take_known()
  for c, about in tables.each(self.memory.large) do
    if about.apart and is_unchanged(about.noted, self.rest[c]) then
      self.rest[c] = nil
      self.taken[#self.taken + 1] = { capture = c, encoder = about.noted.encoder,
        holder = about.noted.holder }
    elseif about.apart and SIZEABLE[type(self.rest[c])] then
      about.noted = nil
      local bytes, encoder, size = encode_alone(c, self.rest[c], self.options)
      about.size = size
      if bytes then
        self.rest[c] = nil
        self.taken[#self.taken + 1] = { capture = c, bytes = bytes, encoder = encoder }
      end
    end
  end
end

-- A function that gives the encoded value of a number. It keeps none of the values alive.
local function knower(encoder, taken)
  local values = { [0] = setmetatable(encoder.values, WEAK) }
  for _, each in ipairs(taken) do
    values[each.capture] = setmetatable(each.encoder.values, WEAK)
  end
  return function(id, c) return values[c or 0][id] end
end

--- Encodes captured values, the large tables apart.
-- @tab values by capture @number count
-- @tab options as for serialize.encode @tab[opt] basics likewise
-- @tab memory belongs to the kernel; `large[c]` says what is known of captures beyond the limit:
-- {size =, path =, apart = whether it is sent once}
-- @bool[opt] anew whether all is made anew for each execution, but what was taken out
-- @treturn string the values without the tables apart
-- @treturn table {{capture =, holder = {array =, digest =, length =}}, ...}
-- @treturn func known(number, capture) gives the value that has this number in what is sent, or in
-- the table apart that the capture is
-- @treturn boolean whether equal contents are encoded to the same bytes: they are those of tables,
-- and of functions that assign no variables from outside
function M.encode(values, count, options, memory, basics, anew)
  memory.large = memory.large or {}
  local rest = {}
  for c, value in tables.each(values) do rest[c] = value end
  local limit = anew and math.min(M.LIMIT, M.LUA_LIMIT) or M.LIMIT
  local packing = setmetatable({ rest = rest, count = count, options = options, memory = memory,
    limit = limit, taken = {} }, Packing)
  packing:take_known()
  packing:take_out(true)
  local bytes, encoder = serialize.encode(rest, count, options, basics)
  -- Many values below the limit are looked at one by one again when there is much more of them.
  if #bytes > limit and #bytes > 2 * (memory.small or 0) then
    packing:take_out()
    if #packing.taken > 0 then bytes, encoder = serialize.encode(rest, count, options, basics) end
    memory.small = #bytes
  end
  if packing:overlaps(encoder) then
    for _, about in tables.each(memory.large) do
      about.apart, about.noted = false, nil
    end
    bytes, encoder = serialize.encode(values, count, options, basics)
    return bytes, {}, knower(encoder, {}), encoder:is_lasting()
  end
  local apart = {}
  memory.held = apart -- the arrays live as long as the next execution may use them again
  for k, each in ipairs(packing.taken) do
    local about = memory.large[each.capture]
    local holder = each.holder or holder_of(each.bytes)
    if not each.holder and type(values[each.capture]) == "table" then
      about.noted = note(values[each.capture], each.encoder, holder)
    end
    apart[k] = { capture = each.capture, holder = holder }
  end
  return bytes, apart, knower(encoder, packing.taken), encoder:is_lasting()
end

-- Decoded tables by digest, the digests in the order of their first use, and the bytes of all.
local kept, order, kept_bytes = {}, {}, 0

-- Forgets the oldest ones.
local function forget()
  while #order > MOST_KEPT or #order > LEAST_KEPT and kept_bytes > MOST_BYTES do
    local digest = table.remove(order, 1)
    kept_bytes = kept_bytes - kept[digest][3]
    kept[digest] = nil
  end
end

--- The table that travelled apart.
-- @param pointer where its bytes are @number length how many @string digest of them
-- @number c its capture
-- @return the table @treturn table what it leads to, by number
function M.decode(pointer, length, digest, c)
  if not kept[digest] then
    local bytes = ffi.string(pointer, length)
    local objects = {}
    local value = unpack_values.decode(bytes, { globals = _G, objects = objects })[c]
    kept[digest] = { value, objects, length }
    order[#order + 1], kept_bytes = digest, kept_bytes + length
    forget()
  end
  return kept[digest][1], kept[digest][2]
end

return M
