-- SPDX-License-Identifier: MIT
--
-- The reader of tables of numbers.
-- @module meissa.read.csv

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local make = require "meissa.array.make"
local reading = require "meissa.read.reading"
local source = require "meissa.read.source"

local lib = c_api.lib
local headers = { [false] = 1, [true] = 2 }
local known = { "sep", "header", "skip", "comment", "missing", "columns", "type" }

-- What stands for missing values: nil when they are refused.
local function missing_value(missing, number)
  if missing == nil or missing == "error" then return nil end
  local value = missing == "nan" and 0 / 0 or missing
  if type(value) ~= "number" then
    errors.raise("OPT", 'csv: missing must be "error", "nan" or a number, not %s',
      tostring(missing))
  end
  if number > 1 and value ~= math.floor(value) then
    errors.raise("OPT", "csv: arrays of type %s have no %s for missing values",
      c_api.type_names[number], tostring(missing))
  end
  return value
end

local function wanted_columns(columns)
  if columns == nil then return nil, 0 end
  if type(columns) ~= "table" or #columns == 0 then
    errors.raise("OPT", "csv: columns must be a list of names or numbers")
  end
  local list = ffi.new("ms_column[?]", #columns)
  for k, column in ipairs(columns) do
    if type(column) == "string" then
      list[k - 1].name = column
    elseif type(column) == "number" and column >= 1 and column == math.floor(column) then
      list[k - 1].number = column
    else
      errors.raise("OPT", "csv: columns must be names or whole numbers from 1, not %s",
        tostring(column))
    end
  end
  return list, #columns
end

local function forget_names(names)
  lib.ms_file_forget(names.bytes)
  lib.ms_file_forget(names.offsets)
end

-- The names as a list; unique ones become the labels of the array's columns.
local function take_names(A, names)
  local count = tonumber(names.count)
  if count == 0 then return nil end
  local list, seen, unique = {}, {}, true
  for k = 0, count - 1 do
    local first = names.offsets[k]
    list[k + 1] = ffi.string(names.bytes + first, names.offsets[k + 1] - first)
    unique = unique and not seen[list[k + 1]]
    seen[list[k + 1]] = true
  end
  if unique then
    A.array.labels[1] = c_api.call(lib.ms_labels_strings, names.bytes, names.offsets, count)
  else
    forget_names(names)
  end
  return list
end

--- Reads a table of numbers.
-- @param path a file, a directory, a pattern such as "part-*.csv", or a list of these: their rows
-- follow each other, and if one has a header all must have the same
-- @tab[opt] opts `sep` (found out from the first line: "::", comma, tab, semicolon, blanks),
-- `header` (found out: a first line without numbers), `skip` (lines before that), `comment` (prefix
-- of lines to leave out, default "#"; false for none), `missing` (what stands for empty fields, NA,
-- N/A, nan, null and ?: "nan" or a number; default "error"), `columns` (a list of names or numbers:
-- those to read, in this order), `type` (default "double")
-- @return a dense array, rows x columns; with a header its columns have the names as labels, unless
-- one occurs twice
-- @return the list of names; nil without a header
-- Errors: FIL with file and line; ARR, OPT.
-- @usage local A, names = meissa.read.csv("houses.csv", {missing = "nan"})
-- local price = A:select(2, A:index(2, "price"))
return function(path, opts)
  opts = errors.check_options("csv", opts, known)
  local options, number = ffi.new("ms_table_options"), make.type_number("csv", opts.type)
  local missing = missing_value(opts.missing, number)
  if opts.header ~= nil and not headers[opts.header] then
    errors.raise("OPT", "csv: header must be true or false, not %s", tostring(opts.header))
  end
  local columns, column_count = wanted_columns(opts.columns)
  local comment = opts.comment
  if comment == nil then comment = "#" end
  local told = { comment = source.text("csv", "comment", comment or nil),
    skip = source.skip("csv", opts.skip) }
  options.separator = source.text("csv", "sep", opts.sep)
  options.type, options.header = number, headers[opts.header] or 0
  options.replace, options.missing = missing and 1 or 0, missing or 0
  options.columns, options.column_count = columns, column_count
  make.collect_if_much(0) -- how much it takes shows only at the end
  local names, files = ffi.new("ms_column_names"), source.files("csv", path)
  local A = element.wrap(reading.run(lib.ms_reader_table, {
    files = files, lines = told, options = options, also = names,
    drop = forget_names, keep = { opts, columns },
  }))
  return A, take_names(A, names)
end
