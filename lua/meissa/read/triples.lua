-- SPDX-License-Identifier: MIT
--
-- The reader of tables of row id, column id and value.
-- @module meissa.read.triples

local ffi = require "ffi"
local array = require "meissa.array"
local c_api = require "meissa.array.c_api"
local make = require "meissa.array.make"
local errors = require "meissa.base.errors"
local reading = require "meissa.read.reading"
local source = require "meissa.read.source"

local duplicate_rules = { keep = 0, sum = 1, last = 2, error = 3 }
local triples_options = { "sep", "skip", "comment", "square", "like", "duplicates", "type" }

local function check_options(opts)
  local skip = source.skip("triples", opts.skip)
  if opts.like ~= nil and not array.is_handle(opts.like) then
    errors.raise("OPT", "triples: like must be an array, not a %s", type(opts.like))
  end
  local rule = opts.duplicates == nil and "keep" or opts.duplicates
  if not duplicate_rules[rule] then
    errors.raise("OPT", 'triples: duplicates must be "keep", "sum", "last" or "error", not %s',
      tostring(rule))
  end
  return skip, duplicate_rules[rule]
end

--- Reads a table with two or three columns, row id, column id and value, into a sparse array.
--
-- Ids are remapped to 1..n: in ascending order if all of them are integers (then labels are
-- numbers), else in the order of first appearance (labels are strings). Two columns mean the value
-- 1; columns after the third are ignored. Files may be gzipped, lines may end in CRLF.
-- @param path a file, a directory, a pattern such as "part-*.gz", or a list of these: their lines
-- follow each other
-- @tab[opt] opts `sep` (found out from the first line: "::", comma, semicolon, tab, blanks), `skip`
-- (header lines of each file; where it is not given, two names over a column of integers are
-- refused), `comment` (prefix of lines to skip, default "#"; false for none), `square` (one id map
-- for rows and columns), `like` (an array whose id maps to use), `duplicates` ("keep", "sum",
-- "last", "error"), `type` (default "double")
-- @return a sparse array; raises FIL with file and line
-- @usage local ratings = meissa.read.triples("ratings.csv", {skip = 1})
return function(path, opts)
  opts = errors.check_options("triples", opts, triples_options)
  local skip, rule = check_options(opts)
  local comment = opts.comment
  if comment == nil then comment = "#" end
  local options = ffi.new("ms_triples")
  options.separator = source.text("triples", "sep", opts.sep)
  options.comment = source.text("triples", "comment", comment or nil)
  options.skip = skip
  options.no_header = opts.skip == 0 and 1 or 0
  options.square = opts.square and 1 or 0
  options.type = make.type_number("triples", opts.type)
  options.duplicates = rule
  if opts.like then options.like = array.checked(opts.like) end
  make.collect_if_much(0) -- how much it takes shows only at the end
  local files = source.files("triples", path)
  return array.wrap(reading.run(c_api.lib.ms_reader_triples, {
    files = files, options = options, keep = opts,
  }))
end
