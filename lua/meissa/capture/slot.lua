-- SPDX-License-Identifier: MIT
--
-- Slots: the variables in tables that a body assigns, whatever names lead to them.
--
-- A global is a key of its environment, a field one of its table: a slot is such a table and key,
-- after `__index` and `__newindex` tables are followed. Where another name may lead to a slot that
-- the body assigns, the binding that assigns it is `aliased`, and `alias` that name, if there is
-- one: a worker would see the value of before the loop there. Nothing here calls user code.
-- @module meissa.capture.slot

local tables = require "meissa.base.tables"

local M = {}

-- Metatables are followed that far.
local MOST_LINKS = 100

local Slots = {}
Slots.__index = Slots

--- Slots of one loop; none yet.
function M.new()
  return setmetatable({ by_table = {}, open = {} }, Slots)
end

--- Whether the body assigns none.
function Slots:is_empty()
  return tables.next(self.by_table) == nil
end

-- The table of a metatable's event; the second result is what there is instead.
local function linked(value, event)
  local meta = debug.getmetatable(value)
  local link = type(meta) == "table" and rawget(meta, event) or nil
  if type(link) == "table" then return link end
  return nil, link
end

-- Calls visit(table) for the tables that an access by a key goes through; returns the function that
-- it ends in, if there is one: where is not known then.
local function walk(holder, key, event, visit)
  for _ = 1, MOST_LINKS do
    visit(holder)
    if rawget(holder, key) ~= nil then return nil end
    local link, open = linked(holder, event)
    if not link then return open end
    holder = link
  end
  return true
end

--- Whether assigning a key that a table has not does more than that: by `__newindex`.
function M.goes_on(holder)
  local link, open = linked(holder, "__newindex")
  return link ~= nil or open ~= nil
end

--- Adds to a set the tables in which a key is looked for; without a key, in which any may be.
function M.note_holders(set, holder, key)
  walk(holder, key, "__index", function(at) set[at] = true end)
end

--- The function that is called for a key that a table has not; nil if there is none.
function M.called_for(holder, key)
  local open = walk(holder, key, "__index", function() end)
  return type(open) == "function" and open or nil
end

-- Marks the bindings that assign a slot, but for this one.
local function mark(slot, binding, name)
  for _, each in ipairs(slot or {}) do
    if each.binding ~= binding then
      each.binding.aliased, each.binding.alias = true, each.binding.alias or name
      each.binding.receiver = 0
    end
  end
end

-- Marks the bindings that assign a slot of a table that this capture is, which leads there no other
-- way.
local function mark_receiver(slot, capture)
  for _, each in ipairs(slot) do
    local binding = each.binding
    binding.aliased = true
    if binding.receiver ~= capture then binding.receiver = binding.receiver and 0 or capture end
  end
end

local function add(slots, key, assigned)
  local slot = slots[key] or {}
  slots[key] = slot
  slot[#slot + 1] = assigned
end

--- The body assigns a key of a table by a capture with this binding. Where a function is called for
-- it, the binding counts as aliased.
-- @string name the capture as the body has it
function Slots:assign(holder, key, binding, name)
  local assigned, last = { binding = binding, name = name }, nil
  local function note(at) last = at end
  if walk(holder, key, "__newindex", note) then
    add(self.open, key, assigned)
    binding.aliased, binding.alias = true, binding.alias or "what __newindex assigns"
  end
  local slots = self.by_table[last] or {}
  self.by_table[last] = slots
  add(slots, key, assigned)
end

--- Something may read and assign any key of these tables: `seen`, a set; nil means all tables.
-- @tab[opt] keys a set: these keys only
-- @tab[opt] receiver {table =, capture =}: the table that the capture of that number holds; nothing
-- in it leads back to it
function Slots:reach(seen, keys, receiver)
  for at, slots in tables.each(self.by_table) do
    for key, slot in tables.each((not seen or seen[at]) and slots or {}) do
      if receiver and at == receiver.table then
        mark_receiver(slot, receiver.capture)
      elseif not keys or keys[key] then
        mark(slot)
      end
    end
  end
end

-- The tables that a function which is called for keys (`function(_, key) return all[key] end`) has
-- at hand, as a set.
local function upvalues(fn)
  local found = {}
  for n = 1, type(fn) == "function" and 255 or 0 do
    local name, value = debug.getupvalue(fn, n)
    if not name then break end
    if type(value) == "table" then found[value] = true end
  end
  return found
end

--- The body reads a key of a table by a capture with this binding, or a function does: nil.
-- @string[opt] name of the capture as the body has it
function Slots:read(holder, key, binding, name)
  local open = walk(holder, key, "__index", function(at)
    mark((self.by_table[at] or {})[key], binding, name)
  end)
  if not open then return end
  mark(self.open[key], binding, name)
  for _, slots in tables.each(self.by_table) do mark(slots[key], binding, name) end
  self:reach(upvalues(open))
end

return M
