-- SPDX-License-Identifier: MIT
--
-- Readers: text files into arrays.
-- @module meissa.read

local ffi = require("ffi")
local array = require("meissa.array")
local core = require("meissa.array.core")
local make = require("meissa.array.make")
local errors = require("meissa.errors")
local meissa_ffi = require("meissa.ffi")

meissa_ffi.cdef("read", [[
typedef struct ms_triples {
  const char *separator, *comment;
  int64_t skip;
  int32_t square, type, duplicates;
  ms_array *like;
  int64_t piece;
  int32_t threads;
} ms_triples;
ms_array *ms_triples_read(const char *path, const ms_triples *options, ms_error *err);
]])

local M = {
  libsvm = require("meissa.read.libsvm"),
  docword = require("meissa.read.docword"),
  csv = require("meissa.read.csv"),
  lines = require("meissa.read.lines").read,
}

local duplicate_rules = { keep = 0, sum = 1, last = 2, error = 3 }
local triples_options = { "sep", "skip", "comment", "square", "like", "duplicates", "type" }

local function check_string(where, name, value)
  if value ~= nil and (type(value) ~= "string" or value == "") then
    errors.raise("OPT", "%s: %s must be a string of one byte or more", where, name)
  end
  return value
end

local function check_options(opts)
  local skip = opts.skip or 0
  if type(skip) ~= "number" or skip < 0 or skip ~= math.floor(skip) or skip > 2 ^ 53 then
    errors.raise("OPT", "triples: skip must be a number of lines, not %s", tostring(opts.skip))
  end
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
-- @string path
-- @tab[opt] opts `sep` (found out from the first line: "::", comma, semicolon, tab,
-- blanks), `skip` (header
-- lines), `comment` (prefix of lines to skip, default "#"; false for none), `square` (one id map
-- for rows and columns), `like` (an array whose id maps to use), `duplicates` ("keep", "sum",
-- "last", "error"), `type` (default "double")
-- @return a sparse array; raises FIL with file and line
-- @usage local ratings = meissa.read.triples("ratings.csv", {skip = 1})
function M.triples(path, opts)
  if type(path) ~= "string" or path:find("\0", 1, true) then
    errors.raise("OPT", "triples: the path must be a string, not a %s", type(path))
  end
  opts = errors.check_options("triples", opts, triples_options)
  local skip, rule = check_options(opts)
  local comment = opts.comment
  if comment == nil then comment = "#" end
  local options = ffi.new("ms_triples")
  options.separator = check_string("triples", "sep", opts.sep)
  options.comment = check_string("triples", "comment", comment or nil)
  options.skip = skip
  options.square = opts.square and 1 or 0
  options.type = make.type_number("triples", opts.type)
  options.duplicates = rule
  if opts.like then options.like = array.checked(opts.like) end
  make.collect_if_much(0) -- how much it takes shows only at the end
  return array.wrap(core.call(core.lib.ms_triples_read, path, options))
end

return M
