-- SPDX-License-Identifier: MIT
--
-- The reader of libsvm's format: examples with a label and sparse features.
-- @module meissa.read.libsvm

local ffi = require "ffi"
local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local make = require "meissa.array.make"
local reading = require "meissa.read.reading"
local source = require "meissa.read.source"

-- How many features the options ask for; 0: the largest id.
local function feature_count(opts)
  local features, like = opts.features, opts.like
  if like ~= nil then
    if features ~= nil then errors.raise("OPT", "libsvm: give features or like, not both") end
    if not array.is_handle(like) or like:dim() ~= 2 then
      errors.raise("OPT", "libsvm: like must be an array with 2 dimensions, such as another X")
    end
    return like:size(2)
  end
  if features == nil then return 0 end
  if type(features) ~= "number" or features < 1 or features >= 2 ^ 31
    or features ~= math.floor(features) then
    errors.raise("OPT", "libsvm: features must be a whole number from 1 to 2^31-1, not %s",
      tostring(features))
  end
  return features
end

--- Reads examples in libsvm's format, one a line: "label id:value id:value ...", ids from 1, each
-- at most once in a line. "qid:n" behind the label and what follows a "#" are left out.
-- @param path a file, a directory, a pattern such as "part-*.gz", or a list of these: their
-- examples follow each other
-- @tab[opt] opts `features` (how many there are; else the largest id), `like` (an array whose
-- number of columns to take), `type` (of X, default "double")
-- @return X, a sparse array, examples x features
-- @return y, the labels, a vector of doubles
-- Errors: FIL with file and line; ARR, OPT.
-- @usage local X, y = meissa.read.libsvm("a9a.gz")
-- @usage local T, t = meissa.read.libsvm("a9a.t.gz", {like = X})
return function(path, opts)
  opts = errors.check_options("libsvm", opts, { "features", "like", "type" })
  local options = ffi.new("ms_libsvm")
  options.type, options.features = make.type_number("libsvm", opts.type), feature_count(opts)
  make.collect_if_much(0) -- how much it takes shows only at the end
  local labels = ffi.new("ms_array *[1]")
  local files = source.files("libsvm", path)
  local X = element.wrap(reading.run(c_api.lib.ms_reader_libsvm, {
    files = files, options = options, also = labels,
    drop = function() c_api.lib.ms_array_release(labels[0]) end,
  }))
  return X, element.wrap(labels[0])
end
