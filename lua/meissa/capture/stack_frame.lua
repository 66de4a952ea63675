-- SPDX-License-Identifier: MIT
--- Reading and writing a loop's captured variables in the frame of the running function.
--
-- A capture is a root variable (a local of the calling function, an upvalue, or a global) and the
-- constant fields read from it (`opts.rate`). The slot of a local is looked up once a loop: at one
-- call site the order of the active locals never changes.
-- @module meissa.capture.stack_frame

local M = {}

-- The slot of the innermost active local of that name, or nil.
local function local_slot(level, name)
  local slot, n = nil, 1
  while true do
    local found = debug.getlocal(level + 1, n)
    if not found then return slot end
    if found == name then slot = n end
    n = n + 1
  end
end

local function upvalue_slot(func, name)
  local n = 1
  while true do
    local found = debug.getupvalue(func, n)
    if not found then return nil end
    if found == name then return n end
    n = n + 1
  end
end

--- The slots of captures: for each {reach=, slot=}, found in the frame at `level` (or, when
-- `level` is nil, among the upvalues of the closure `func`).
function M.slots(captures, func, level)
  local slots = {}
  for c, capture in ipairs(captures) do
    local slot
    if level and capture.reach == "local" then
      slot = local_slot(level + 1, capture.root)
    elseif capture.reach ~= "global" then
      slot = upvalue_slot(func, capture.root)
    end
    slots[c] = {slot = slot, name = capture.root,
                frame = level ~= nil and capture.reach == "local",
                global = capture.reach == "global"}
  end
  return slots
end

--- The values of the captures' root variables, by capture; nil values are left out.
-- @param slots from M.slots
-- @param func the running function (or the closure)
-- @param level its stack level seen from the caller of this function; nil for a closure
function M.read(slots, func, level)
  local values, env = {}, getfenv(func)
  for c, slot in ipairs(slots) do
    if slot.global then
      values[c] = env[slot.name]
    elseif slot.slot then
      local _
      if slot.frame then
        _, values[c] = debug.getlocal(level + 1, slot.slot)
      else
        _, values[c] = debug.getupvalue(func, slot.slot)
      end
    end
  end
  return values
end

--- Writes a captured variable, or the field at the end of its path.
-- @param capture the capture; @param slot its slot; @param value the new value
function M.write(capture, slot, func, level, value)
  local fields = capture.fields
  if #fields > 0 then
    local holder = M.read({slot}, func, level and level + 1)[1]
    for f = 1, #fields - 1 do holder = holder[fields[f]] end
    holder[fields[#fields]] = value
  elseif slot.global then
    getfenv(func)[slot.name] = value
  elseif slot.frame then
    debug.setlocal(level + 1, slot.slot, value)
  else
    debug.setupvalue(func, slot.slot, value)
  end
end

--- The value at the end of a capture's path, or nil.
function M.follow(capture, root)
  local value = root
  for _, field in ipairs(capture.fields) do
    if type(value) ~= "table" then return nil end
    value = value[field]
  end
  return value
end

return M
