-- SPDX-License-Identifier: MIT
--
-- The reader of lines: a function of the user's for every line, on the workers.
-- @module meissa.read.lines

local ffi = require "ffi"
local capture = require "meissa.capture"
local c_api = require "meissa.array.c_api"
local errors = require "meissa.base.errors"
local gather = require "meissa.array.gather"
local make = require "meissa.array.make"
local progress = require "meissa.base.progress"
local reading = require "meissa.read.reading"
local source = require "meissa.read.source"
local spread = require "meissa.base.spread"
local thrown = require "meissa.base.thrown"

local lib = c_api.lib
local M = {}

-- Bytes of a range: few enough that workers share a file, enough that handing one out is nothing.
M.RANGE_BYTES = 2 ^ 20

-- The ranges of all files: {path =, first =, last =, line =}.
local function cut(files)
  local ranges = {}
  for _, path in ipairs(files) do
    local cuts = ffi.gc(c_api.call(lib.ms_cuts_make, path, M.RANGE_BYTES), lib.ms_cuts_free)
    for k = 0, tonumber(cuts.count) - 1 do
      ranges[#ranges + 1] = { path = path, first = tonumber(cuts.offset[k]),
        last = tonumber(cuts.offset[k + 1]), line = tonumber(cuts.line[k]) }
    end
  end
  return ranges
end

-- Raises what is wrong with a line's call; if the file is a damaged gzip file, that instead.
local function raise_at(path, number, text, value)
  c_api.call(lib.ms_source_check, path)
  error(errors.new { code = "BDY", message = "lines: " .. text, value = value, file = path,
    line = number }, 0)
end

-- Hands the lines of a range to the function; state.number is the line that it has.
local function walk(state, range, path, fn, bunch)
  local line, length, number = ffi.new("const char *[1]"), ffi.new("size_t[1]"),
    ffi.new("int64_t[1]")
  while true do
    local got = lib.ms_line_range_next(range, line, length, number, c_api.err)
    if got < 0 then c_api.raise_pending() end
    if got == 0 then return end
    state.number = tonumber(number[0])
    bunch:take(state.number, fn(ffi.string(line[0], length[0]), path, state.number))
  end
end

--- On a worker: what the lines of a range gave, packed.
-- @tab task {path =, first =, last =, line =}
-- @func fn the user's
-- @tab about `rank`, `flatten`
function M.run(task, fn, about)
  local path, state = task.path, {}
  local bunch = gather.bunch(function(number, format, ...)
    raise_at(path, number, string.format(format, ...))
  end, about.rank, about.flatten)
  local range = ffi.gc(c_api.call(lib.ms_line_range_open, path, task.first, task.last, task.line),
    lib.ms_line_range_close)
  local ok, err = pcall(walk, state, range, path, fn, bunch)
  if ok then return bunch:pack() end
  if errors.is(err) and err.file == path then error(err, 0) end
  if errors.is(err) then raise_at(path, state.number, err.message, err.value) end
  raise_at(path, state.number, thrown.message(err), thrown.value(err))
end

-- The analyser looks at what the user's function does, not at how it is called.
capture.register(M.run, "meissa.read.run")

local function check_dims(dims)
  if dims == nil then return nil end
  local rank = type(dims) == "table" and #dims or dims
  local good = type(rank) == "number" and rank >= 1 and rank <= 8 and rank == math.floor(rank)
  for d = 1, good and type(dims) == "table" and rank or 0 do
    local extent = dims[d]
    good = good and type(extent) == "number" and extent >= 0 and extent == math.floor(extent)
      and extent < 2 ^ 31
  end
  if not good then
    errors.raise("OPT", "lines: dims must be a number of dimensions from 1 to 8, or a table of "
      .. "extents")
  end
  return rank, type(dims) == "table" and dims or nil
end

local function check_options(opts)
  opts = errors.check_options("lines", opts, { "flatten", "dims", "type", "serial" })
  local rank, extents = check_dims(opts.dims)
  if opts.type ~= nil and opts.type ~= "object" then make.type_number("lines", opts.type) end
  for _, name in ipairs { "flatten", "serial" } do
    if opts[name] ~= nil and type(opts[name]) ~= "boolean" then
      errors.raise("OPT", "lines: %s must be true or false, not %s", name, tostring(opts[name]))
    end
  end
  if rank and opts.type == "object" then
    errors.raise("OPT", "lines: a sparse array has no elements of type object")
  end
  return { rank = rank, extents = extents, type = opts.type, flatten = opts.flatten }, opts.serial
end

--- Calls a function for every line of text files and makes an array of what it returns. It runs
-- on the workers, for several parts of a file at a time; in this process if it changes variables
-- from outside, reads arrays, or holds what cannot be sent, or with serial = true. The result is
-- the same: its order is that of files and lines.
--
-- fn(line, file, number) returns nothing for a line to leave out; one value: the result is a
-- vector, of doubles if all values are numbers, else of objects; subscripts and a value,
-- `return i, j, v`: the result is a sparse array. Lines have no end of line; "\r" before it is
-- dropped.
-- @param path a file, a directory, a pattern such as "logs/*.gz", or a list of these; gz too
-- @func fn fn(line, file, number)
-- @tab[opt] opts `flatten` (fn returns a list of values instead of one; with `dims` a list of
-- {subscripts..., value}), `dims` (a number of dimensions, or a table of extents: the result is
-- sparse), `type` (of the elements), `serial`
-- @return an array
-- Errors: FIL; BDY with file and line for what fn raises or returns; ARR, OPT.
-- @usage local lengths = meissa.read.lines("books/", function(line) return #line end)
function M.read(path, fn, opts)
  if type(fn) ~= "function" then
    errors.raise("OPT", "lines: expected a function of a line, not a %s", type(fn))
  end
  local about, serial = check_options(opts)
  local files = source.files("lines", path)
  local tasks, results, run = cut(files), {}, M.run
  progress.called(reading.about(files), function()
    spread.run(#tasks, serial, function(k) results[k] = run(tasks[k], fn, about) end)
  end)
  return gather.array(results, about, function(k, place, format, ...)
    raise_at(tasks[k].path, place, string.format(format, ...))
  end)
end

return M
