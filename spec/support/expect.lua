-- SPDX-License-Identifier: MIT
--
-- What specs share: expecting error objects, and files that go away.

local child = require "spec.support.child"
local errors = require "meissa.base.errors"
local files = require "tools.files"

local M = {}

--- Runs fn, which must raise an error object with this code whose text has `text` in it; returns
-- the error.
function M.raises(code, text, fn)
  local ok, err = pcall(fn)
  assert(not ok, "no error was raised")
  assert(errors.is(err), "not an error object: " .. tostring(err))
  assert(err.code == code, ("expected %s, got %s"):format(code, tostring(err)))
  assert(tostring(err):find(text, 1, true), ("expected '%s' in: %s"):format(text, tostring(err)))
  return err
end

--- Fails unless each of the texts stands in an output.
function M.has(output, ...)
  for _, text in ipairs { ... } do
    if not output:find(text, 1, true) then
      error(("no '%s' in:\n%s"):format(text, output), 2)
    end
  end
end

--- What a function raises, as text; fails where it raises nothing.
function M.refusal(fn, ...)
  local ok, err = pcall(fn, ...)
  assert(not ok, "no error was raised")
  return tostring(err)
end

--- Calls fn with the path of a new directory, which is removed afterwards.
function M.with_directory(fn)
  local path = child.directory()
  local ok, err = pcall(fn, path)
  child.remove(path)
  if not ok then error(err, 0) end
end

M.put, M.get = files.write, files.read

--- What a reader gives for a file with this text: its two results.
-- @func read of meissa.read @tab[opt] opts its options
function M.reading(read, text, opts)
  local first, second
  M.with_directory(function(directory)
    M.put(directory .. "/data", text)
    first, second = read(directory .. "/data", opts)
  end)
  return first, second
end

return M
