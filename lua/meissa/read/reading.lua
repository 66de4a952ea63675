-- SPDX-License-Identifier: MIT
--- Reading: runs one of the core's readers, shows how far it is, and stops it on Ctrl-C.
--
-- The reader works in a thread of its own. This one waits in turns and does nothing else that could
-- make or release arrays: it collects no garbage meanwhile.
-- @module meissa.read.reading

local array_core = require "meissa.array.c_api"
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"
local interrupt = require "meissa.base.interrupt"
local make = require "meissa.array.make"
local progress = require "meissa.base.progress"
local source = require "meissa.read.source"

local lib = c_core.lib
local M = {}

--- Seconds between two looks at the reader.
M.turn = 0.1

--- What a bar says of files that are read: `what`, `total`, `unit`.
-- @tab files list of paths
function M.about(files)
  local what = #files == 1 and errors.last_part(files[1], "/") or #files .. " files"
  local record, keep = source.record(files)
  local total = tonumber(lib.ms_reading_size(record))
  keep.total = total -- holds the paths until here
  return { what = "reading " .. what, unit = "bytes", total = total }
end

-- Waits until the reader has ended, and tells it to when an interrupt comes.
local function wait(reading, bar)
  while not lib.ms_reading_wait(reading, M.turn) do
    if interrupt.seen() then
      lib.ms_reading_stop(reading)
    elseif bar then
      bar:show(tonumber(lib.ms_reading_done(reading)))
    end
  end
  if bar then bar:clear() end
end

-- Runs the reader while no garbage is collected; the array or nil, and whether it was interrupted.
local function watch(reader, files, request, bar)
  local collects = collectgarbage("isrunning")
  collectgarbage("stop")
  interrupt.begin()
  local result
  local reading = lib.ms_reading_start(reader, files, request.options, request.also,
    array_core.err)
  if reading ~= nil then
    wait(reading, bar)
    result = lib.ms_reading_end(reading, array_core.err)
  end
  local interrupted = interrupt.seen()
  interrupt.finish(interrupted)
  if collects then collectgarbage("restart") end
  return result, interrupted
end

-- Frees the result of a reading that nobody wants any more.
local function drop(result, request)
  lib.ms_array_release(result)
  if request.drop then request.drop(request.also) end
end

--- Runs a reader.
-- @param reader one of the core's ms_reader_*
-- @tab request `files` (list of paths), `lines` (`comment` and `skip`, checked), `options` (the
-- reader's record), `also` (where further results go), `drop` (what frees these), `keep` (whatever
-- all that points into)
-- @return the array, a pointer with one reference
-- Errors: those of the reader; INT.
function M.run(reader, request)
  local files, keep = source.record(request.files, request.lines)
  local about = M.about(request.files)
  local bar = not make.in_body() and progress.bar(about.what, about.total, about.unit) or nil
  local result, interrupted = watch(reader, files, request, bar)
  keep.request = request -- until here it may be pointed into
  if interrupted then
    if result ~= nil then drop(result, request) end
    local err = array_core.err
    err.code, err.line, err.file[0] = 0, 0, 0
    errors.raise("INT", "interrupted while %s was read", #request.files == 1 and request.files[1]
      or #request.files .. " files")
  end
  if result == nil then array_core.raise_pending() end
  return result
end

return M
