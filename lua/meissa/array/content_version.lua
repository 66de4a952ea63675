-- SPDX-License-Identifier: MIT
--- Versions of dense arrays: numbers that change when their contents do.
--
-- Elements are written through pointers, which nothing counts. Where arrays travel by value, their
-- contents are hashed before a job, and what a worker still holds need not be sent again. Numbers
-- are never used twice, so what was forgotten is at worst sent once more.
-- @module meissa.array.content_version

local c_core = require "meissa.base.c_core"
local ffi = require "ffi"

local M = {}

local MOST_KNOWN = 10000

local known, known_count, last = {}, 0, 0
local print_of = ffi.new "uint64_t[2]"
local dims, strides = ffi.new "int64_t[8]", ffi.new "int64_t[8]"

--- A number that no contents have had.
function M.fresh()
  last = last + 1
  return last
end

-- The version of what has the fingerprint `print_of`.
local function version_of(id, size)
  local about = known[id]
  if about and about.first == print_of[0] and about.second == print_of[1] and
     about.size == size then
    return about.version
  end
  if not about then
    if known_count == MOST_KNOWN then known, known_count = {}, 0 end
    about, known_count = {}, known_count + 1
    known[id] = about
  end
  about.first, about.second, about.size = print_of[0], print_of[1], size
  about.version = M.fresh()
  return about.version
end

--- The version of contents with this fingerprint.
-- @param id of the memory, or a string that says which elements of it these are
-- @param print two words @number size in bytes, 0 where elements lie apart
function M.of_print(id, print, size)
  print_of[0], print_of[1] = print[0], print[1]
  return version_of(id, size)
end

--- The version of the contents of `size` bytes.
-- @number id of the memory @param pointer to it @number size in bytes
function M.of(id, pointer, size)
  c_core.lib.ms_fingerprint(pointer, size, print_of)
  return version_of(id, size)
end

--- The version of elements that lie apart.
-- @param id of the memory, or a string that says which elements of it these are
-- @tab boxes each with `pointer`, `dims`, `strides` @number element bytes of one
function M.of_boxes(id, boxes, element)
  print_of[0], print_of[1] = 0, 0
  for _, box in ipairs(boxes) do
    for d, extent in ipairs(box.dims) do dims[d - 1], strides[d - 1] = extent, box.strides[d] end
    c_core.lib.ms_strided_fingerprint(box.pointer, element, #box.dims, dims, strides, print_of)
  end
  return version_of(id, 0)
end

return M
