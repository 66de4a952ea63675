-- SPDX-License-Identifier: MIT
--- Failures of loop bodies: what went wrong, at which line of the user, in which iteration.
--
-- The iteration comes from the hidden "(for index)" variables of the block function's own loops:
-- the named ones may be dead where a compiled trace is left, the hidden ones never are.
-- @module meissa.kernel.body_failure
local errors = require "meissa.base.errors"
local thrown = require "meissa.base.thrown"
local users_text = require "meissa.capture.users_text"
local interrupt = require "meissa.base.interrupt"

local M = {}

-- Levels of the stack that are searched for the block function.
local DEEPEST = 250

-- How many levels the stack has, seen from the caller.
local function depth()
  local least, most = 1, 2
  while debug.getinfo(most, "l") do least, most = most, 2 * most end
  while most - least > 1 do
    local middle = math.floor((least + most) / 2)
    if debug.getinfo(middle, "l") then least = middle else most = middle end
  end
  return least - 1
end

-- The stack level, seen from the caller, of a running function. A runaway recursion has it near
-- the bottom.
local function level_of(fn)
  for level = 2, DEEPEST do
    local info = debug.getinfo(level, "f")
    if not info then return nil end
    if info.func == fn then return level - 1 end
  end
  local bottom = depth()
  for level = bottom, bottom - DEEPEST, -1 do
    if debug.getinfo(level, "f").func == fn then return level - 1 end
  end
end

-- The first `count` hidden loop indices of the function at `level`.
local function loop_indices(level, count)
  local indices, n = {}, 1
  while #indices < count do
    local name, value = debug.getlocal(level + 1, n)
    if not name then return nil end
    if name == "(for index)" then indices[#indices + 1] = value end
    n = n + 1
  end
  return indices
end

local function iteration_at(level, kernel, operands)
  local info = kernel.info
  local indices = loop_indices(level + 1, info.entries and 1 or info.dim_count)
  if not indices or not info.entries then return indices end
  local entry, iteration = indices[1], {}
  for d = 1, info.dim_count do iteration[d] = tonumber(operands.space.coords[d][entry - 1]) end
  return iteration
end

-- Splits "file:line: text" if the place is a function on the stack; gives the file's full name.
-- What called the block function is Meissa's own, which error(text, 2) in the body names: no place.
local function split(message, block)
  local below = false
  for level = 3, DEEPEST do
    local info = debug.getinfo(level, "Slf")
    if not info then break end
    local prefix = info.short_src .. ":"
    if string.sub(message, 1, #prefix) == prefix then
      local line, text = string.match(message, "^(%d+): (.*)$", #prefix + 1)
      if line then
        local source = info.source
        local file = string.match(source, "^[@=](.*)") or info.short_src
        if below and errors.is_own(file) then return nil, nil, text end
        return file, tonumber(line), text
      end
    end
    below = below or info.func == block
  end
end

-- Generated names become the user's: "local '_mc3'" is "field 'rate'", and an argument "to
-- '_mc4'" one "to 'floor'", as Lua has it.
local function readable(message, info)
  local pattern = "%f[%a](%a+) '" .. info.prefix .. "c(%d+)'"
  return (string.gsub(message, pattern, function(kind, number)
    local capture = info.captures[tonumber(number)]
    if capture and kind == "to" then
      return string.format("to '%s'", errors.last_part(capture.path, "."))
    end
    if not capture then return nil end
    local name = errors.last_part(capture.path, ".")
    return string.format("%s '%s'", name == capture.path and capture.reach or "field", name)
  end))
end

--- What a table or message that a body raised means, as a plain table that can be encoded.
-- @param err an error object, message or other value
function M.plain(err)
  if errors.is(err) then
    return { code = err.code, message = thrown.message(err.message), file = err.file,
      line = err.line, iteration = err.iteration, worker = err.worker,
      value = thrown.portable(err.value) }
  end
  return { code = interrupt.is(err) and "INT" or "BDY", message = thrown.message(err),
    value = thrown.value(err) }
end

--- The error table for a value raised in a body. Called by the handler of xpcall, while the
-- stack still stands.
-- @param err what was raised
-- @tab kernel the loaded kernel
-- @tab operands the instance's operands
-- @treturn table {code, message, value, file, line, iteration}
function M.error_of(err, kernel, operands)
  local found = M.plain(err)
  local level = level_of(kernel.block)
  if not errors.is(err) and type(err) == "string" then
    local file, line, text = split(found.message, kernel.block)
    if text and errors.is_own(file) then -- LuaJIT's error in a method of an array
      found.message = "a method of an array was called with something else than an array " ..
        "(A:sum() is written with a colon): " .. text
    elseif text then
      found.file, found.line, found.message = file, line, text
    end
    found.message = readable(found.message, kernel.info)
  end
  found.message = users_text.words(kernel.info, found.message)
  if level then
    if not found.line then
      local info = debug.getinfo(level, "Sl")
      found.file = string.match(info.source, "^[@=](.*)") or info.short_src
      found.line = info.currentline
    end
    found.iteration = found.iteration or iteration_at(level, kernel, operands)
  end
  return found
end

--- A handler for xpcall around a kernel's block function.
function M.handler(kernel, operands)
  return function(err)
    -- A stack that has overflowed leaves little room to look around.
    local ok, found = pcall(M.error_of, err, kernel, operands)
    if ok then return found end
    local info = debug.getinfo(2, "Sl")
    return { code = "BDY", message = thrown.message(err), file = info.source,
      line = info.currentline }
  end
end

--- The error table for what xpcall gave. LuaJIT does not call the handler for every overflow of the
-- stack; then the place is the loop's.
function M.finish(err, info)
  local found = type(err) == "table" and err or M.plain(err)
  found.message = tostring(found.message)
  found.file = string.gsub(found.file or info.chunkname, "^[@=]", "")
  local place, line, text = string.match(found.message, "^([^\n]-):(%d+): (.*)$")
  local tail = place and string.match(place, "^%.%.%.(.+)") -- as Lua shortens long names
  if place and (place == found.file or tail and string.sub(found.file, -#tail) == tail) then
    found.line, found.message = tonumber(line), text
  end
  if not found.line or found.line < 1 then found.line = info.line end
  return found
end

--- The error table for results of a block that cannot be sent: its place is the loop.
-- @param err an error object @tab info of the kernel
function M.of_results(err, info)
  local found = M.plain(err)
  found.file, found.line = nil, nil
  return M.finish(found, info)
end

return M
