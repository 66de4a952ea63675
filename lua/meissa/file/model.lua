-- SPDX-License-Identifier: MIT
--
-- Models: a table of arrays and plain values in one file.
-- @module meissa.file.model

local buffer = require "string.buffer"
local element = require "meissa.array.element"
local encoded = require "meissa.base.encoded"
local errors = require "meissa.base.errors"
local objects = require "meissa.array.objects"
local section = require "meissa.file.section"
local stream = require "meissa.file.stream"
local subscript = require "meissa.array.subscript"
local tables = require "meissa.base.tables"

local M = { MAGIC = "\147MEISSAM", VERSION = 1 }

-- Stands in the encoded table where an array was: {[MARK] = its number}.
local MARK = "\0array"
-- string.buffer encodes so deep and no deeper.
local DEEPEST = 60

local plain = { ["nil"] = true, boolean = true, number = true, string = true }

-- A copy of a table with arrays replaced by marks; `arrays` collects them: a list of handles, and
-- `number_of` by id.
local function flatten(value, path, arrays, inside)
  if #path > DEEPEST then
    errors.raise("OPT", "save: %s is nested more than %d deep", path[1], DEEPEST)
  end
  local copy = {}
  inside[value] = true
  for key, each in tables.each(value) do
    path[#path + 1] = tostring(key)
    if not plain[type(key)] or key == MARK then
      errors.raise("OPT", "save: a key of %s is a %s", table.concat(path, "."), type(key))
    end
    if element.kind(each) or objects.is(each) then
      local handle = objects.is(each) and each or subscript.to_handle(each)
      local id = objects.is(each) and each or tonumber(handle.array.id)
      if not arrays.number_of[id] then
        arrays[#arrays + 1] = handle
        arrays.number_of[id] = #arrays
      end
      copy[key] = { [MARK] = arrays.number_of[id] }
    elseif plain[type(each)] then
      copy[key] = each
    elseif type(each) ~= "table" then
      errors.raise("OPT", "save: %s is a %s; arrays, numbers, strings, booleans and tables of "
        .. "them can be saved", table.concat(path, "."), type(each))
    elseif inside[each] then
      errors.raise("OPT", "save: %s contains itself", table.concat(path, "."))
    else
      copy[key] = flatten(each, path, arrays, inside)
    end
    path[#path] = nil
  end
  inside[value] = nil
  return copy
end

--- Writes a table.
function M.write(path, value)
  local arrays = { number_of = {} }
  local body = buffer.encode(flatten(value, {}, arrays, {}))
  stream.write(path, function(writer)
    writer:bytes(M.MAGIC)
    writer:uint32(M.VERSION)
    writer:uint32(#arrays)
    writer:uint64(#body)
    writer:bytes(body)
    for _, handle in ipairs(arrays) do
      section.write(writer, objects.is(handle) and handle or handle.array)
    end
    writer:footer()
  end)
end

local function restore(reader, value, arrays)
  for key, each in tables.each(value) do
    if type(each) == "table" then
      local number = each[MARK]
      if number == nil then
        restore(reader, each, arrays)
      else
        value[key] = arrays[number] or reader:fail("array %s is missing", tostring(number))
      end
    end
  end
end

--- Reads what follows the magic bytes. The checksum at the end is compared before anything of it
-- is decoded.
function M.read(reader)
  local version = reader:uint32()
  if version ~= M.VERSION then
    reader:fail("the model is of version %d; this Meissa reads version %d", version, M.VERSION)
  end
  local array_count, size = reader:uint32(), reader:count()
  local body = reader:string(reader:expect(size))
  local arrays = {}
  for k = 1, array_count do arrays[k] = section.read(reader) end
  reader:footer()
  for _, array in ipairs(arrays) do section.finish(reader, array) end
  local value, fault = encoded.from_file(body)
  if fault then reader:fail("the encoding of the values %s", fault) end
  if type(value) ~= "table" then reader:fail("the values are no table") end
  restore(reader, value, arrays)
  return value
end

return M
