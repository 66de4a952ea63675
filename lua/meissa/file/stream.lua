-- SPDX-License-Identifier: MIT
--
-- Streams: the core's file writer and reader with little-endian numbers and the checksum that ends
-- every file of ours.
-- @module meissa.file.stream

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"

local lib = c_api.lib
local M = {}

-- What stands before the checksum at the end of a file.
local FOOTER = "MEISSACR"
M.FOOTER_SIZE = #FOOTER + 8

local uint32_t, uint64_t = ffi.typeof("uint32_t[1]"), ffi.typeof("uint64_t[1]")

local Writer, Reader = {}, {}
Writer.__index, Reader.__index = Writer, Reader

--- Writes a file: calls fn(writer), then makes the file durable; on any error the old file stays.
function M.write(path, fn)
  local writer = setmetatable({ raw = c_api.call(lib.ms_file_writer_open, path) }, Writer)
  local ok, failure = pcall(fn, writer)
  if not ok then
    lib.ms_file_writer_abort(writer.raw)
    error(failure, 0)
  end
  c_api.call(lib.ms_file_writer_commit, writer.raw)
end

function Writer:bytes(data, size)
  c_api.call(lib.ms_file_writer_write, self.raw, data, size or #data)
end

function Writer:uint32(value)
  self:bytes(uint32_t(value), 4)
end

function Writer:uint64(value)
  self:bytes(uint64_t(value), 8)
end

function Writer:elements(array)
  c_api.call(lib.ms_file_writer_elements, self.raw, array)
end

--- Ends the file with the checksum of everything before, and its complement.
function Writer:footer()
  local crc = self.raw.crc
  self:bytes(FOOTER)
  self:uint32(crc)
  self:uint32(bit.bnot(crc) % 2 ^ 32)
end

--- Reads a file: returns fn(reader).
function M.read(path, fn)
  local raw = c_api.call(lib.ms_file_reader_open, path)
  local reader = setmetatable({ path = path, raw = raw }, Reader)
  local ok, result = pcall(fn, reader)
  lib.ms_file_reader_close(reader.raw)
  if not ok then
    -- Whatever is wrong with the contents is said of this file.
    if errors.is(result) and result.code == "FIL" then result.file, result.line = path, nil end
    error(result, 0)
  end
  return result
end

--- Raises FIL placed at the file.
function Reader:fail(format, ...)
  local message = select("#", ...) > 0 and string.format(format, ...) or format
  error(errors.new { code = "FIL", message = message, file = self.path }, 0)
end

--- Bytes not read yet.
function Reader:left()
  return tonumber(self.raw.size - self.raw.position)
end

--- Checks that so many bytes are left, before memory is taken for them.
function Reader:expect(size)
  if size > self:left() then self:fail("the file is truncated") end
  return size
end

function Reader:into(memory, size)
  c_api.call(lib.ms_file_reader_read, self.raw, memory, size)
end

--- Reads the elements of an array (an ms_array) that lie one after the other, the values of a
-- sparse one. Whatever their bits, each is a number: see csrc/array/type.h.
function Reader:elements(array)
  c_api.call(lib.ms_file_reader_elements, self.raw, array)
end

function Reader:string(size)
  self:expect(size)
  local buffer = ffi.new("char[?]", size)
  self:into(buffer, size)
  return ffi.string(buffer, size)
end

function Reader:uint32()
  local value = uint32_t()
  self:into(value, 4)
  return value[0]
end

--- A count: a uint64 that must be below 2^53.
function Reader:count()
  local value = uint64_t()
  self:into(value, 8)
  if value[0] > 2 ^ 53 then self:fail("a count of %s is out of range", tostring(value[0])) end
  return tonumber(value[0])
end

--- Memory from C, filled from the file; the caller hands it on or frees it.
function Reader:memory(size)
  self:expect(size)
  local memory = c_api.call(lib.ms_file_memory, size)
  local ok, failure = pcall(self.into, self, memory, size)
  if not ok then
    lib.ms_file_forget(memory)
    error(failure, 0)
  end
  return memory
end

--- Checks the checksum, which must end the file.
function Reader:footer()
  local crc = self.raw.crc
  if self:left() < M.FOOTER_SIZE then self:fail("the file is truncated") end
  if self:left() > M.FOOTER_SIZE then self:fail("the file goes on after its end") end
  local name, stored, complement = self:string(#FOOTER), self:uint32(), self:uint32()
  if name ~= FOOTER or stored ~= crc or complement ~= bit.bnot(crc) % 2 ^ 32 then
    self:fail("the checksum does not match: the file is damaged")
  end
end

return M
