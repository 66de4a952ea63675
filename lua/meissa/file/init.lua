-- SPDX-License-Identifier: MIT
--
-- Files: saving and loading arrays and models. Formats are described in docs/formats.md.
-- @module meissa.file

local element = require "meissa.array.element"
local arity = require "meissa.array.arity"
local subscript = require "meissa.array.subscript"
local errors = require "meissa.base.errors"
local objects = require "meissa.array.objects"
local model = require "meissa.file.model"
local npy = require "meissa.file.npy"
local section = require "meissa.file.section"
local stream = require "meissa.file.stream"

local M = {}

-- Of a file with one array section.
local ARRAY_MAGIC, ARRAY_VERSION = "\147MEISSAS", 1

local function check_path(where, path)
  if type(path) ~= "string" or path == "" or string.find(path, "\0", 1, true) then
    errors.raise("OPT", "%s: the path must be a string, not a %s", where, type(path))
  end
end

local function check_own_format(path, what)
  if string.find(path, "%.npy$") then
    errors.raise("FIL", "%s: NumPy's format has no %s; give the file another ending", path, what)
  end
end

local function write_array(path, array)
  stream.write(path, function(writer)
    writer:bytes(ARRAY_MAGIC)
    writer:uint32(ARRAY_VERSION)
    writer:uint32(0)
    section.write(writer, array)
    writer:footer()
  end)
end

local function read_array(reader)
  local version = reader:uint32()
  if version ~= ARRAY_VERSION then
    reader:fail("the array is of version %d; this Meissa reads version %d", version,
      ARRAY_VERSION)
  end
  reader:uint32()
  local A = section.read(reader)
  reader:footer()
  section.finish(reader, A)
  return A
end

--- Saves an array (dense: NumPy's .npy; sparse and objects: our own format), or a table of arrays
-- and plain values. The file is complete or not there: it is written under another name first.
-- @string path
-- @param value an array or a table
-- @usage meissa.save("model.meissa", {W = W, H = H, rank = 16})
function M.save(path, value)
  check_path("save", path)
  if objects.is(value) then
    check_own_format(path, "arrays of objects")
    return write_array(path, value)
  end
  if type(value) == "table" then return model.write(path, value) end
  if not element.kind(value) then
    errors.raise("OPT", "save: expected an array or a table, not a %s", type(value))
  end
  local handle = subscript.to_handle(value)
  if handle.array.sparse ~= 0 then
    check_own_format(path, "sparse arrays")
    write_array(path, handle.array)
  else
    npy.write(path, handle.array)
  end
end

--- Loads what `save` wrote, or a .npy file of NumPy's.
-- @string path
-- @return an array or a table; raises FIL for files that are truncated, damaged or foreign
function M.load(path)
  check_path("load", path)
  return stream.read(path, function(reader)
    if reader:left() == 0 then reader:fail("the file is empty") end
    local magic = reader:string(math.min(reader:left(), #npy.MAGIC))
    if magic == npy.MAGIC then return npy.read(reader) end
    magic = magic .. reader:string(math.min(reader:left(), #model.MAGIC - #magic))
    if magic == model.MAGIC then return model.read(reader) end
    if magic == ARRAY_MAGIC then return read_array(reader) end
    reader:fail("not a file of Meissa's or NumPy's")
  end)
end

--- A:save(path)
subscript.methods.save = arity.limit("save", function(self, path) M.save(path, self) end)
objects.methods.save = subscript.methods.save

return M
