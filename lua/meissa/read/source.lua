-- SPDX-License-Identifier: MIT
--
-- Sources: what readers are told to read, checked, and the core's records for it.
-- @module meissa.read.source

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"

local lib = c_api.lib
local M = {}

--- Checks the path of one file and returns it.
function M.path(where, path)
  if type(path) ~= "string" or path == "" or string.find(path, "\0", 1, true) then
    errors.raise("OPT", "%s: the path must be a string, not %s", where,
      type(path) == "string" and "an empty or binary one" or "a " .. type(path))
  end
  return path
end

--- The files that a path, a directory, a pattern ("logs/*.gz") or a list of these stands for: those
-- of a directory or pattern in the order of their names.
-- @treturn table list of paths
function M.files(where, what)
  if type(what) ~= "table" then what = { M.path(where, what) } end
  for _, each in ipairs(what) do M.path(where, each) end
  if #what == 0 then errors.raise("OPT", "%s: the list of files is empty", where) end
  local files = {}
  for _, each in ipairs(what) do
    local found = ffi.gc(c_api.call(lib.ms_paths_find, each), lib.ms_paths_free)
    for k = 0, tonumber(found.count) - 1 do files[#files + 1] = ffi.string(found.paths[k]) end
  end
  return files
end

--- A record for the c_api. `keep` must be held as long as it is used.
-- @tab files list of paths
-- @tab[opt] options `comment`, `skip`, checked
function M.record(files, options)
  local paths = ffi.new("const char *[?]", #files)
  for k, path in ipairs(files) do paths[k - 1] = path end
  local sources = ffi.new("ms_files")
  sources.paths, sources.count = paths, #files
  sources.comment = options and options.comment or nil
  sources.skip = options and options.skip or 0
  return sources, { files, paths, options }
end

--- Checks an option that is a number of lines.
function M.skip(where, skip)
  if skip == nil then return 0 end
  if type(skip) ~= "number" or skip < 0 or skip ~= math.floor(skip) or skip > 2 ^ 53 then
    errors.raise("OPT", "%s: skip must be a number of lines, not %s", where, tostring(skip))
  end
  return skip
end

--- Checks an option that is a string which is not empty, or nil.
function M.text(where, name, value)
  if value ~= nil and (type(value) ~= "string" or value == "") then
    errors.raise("OPT", "%s: %s must be a string of one byte or more", where, name)
  end
  return value
end

return M
