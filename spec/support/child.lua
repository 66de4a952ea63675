-- SPDX-License-Identifier: MIT
--- Child processes for specs: a script in a temporary directory, run by LuaJIT under a time limit.
local ffi = require "ffi"
local files = require "tools.files"
local M = {}

ffi.cdef [[char *spec_make_directory(char *template) __asm__("mkdtemp");]]

M.quote, M.write = files.quote, files.write

--- A fresh directory; the caller removes it with M.remove.
function M.directory()
  local template = (os.getenv "TMPDIR" or "/tmp") .. "/tmp.XXXXXX"
  local path = ffi.new("char[?]", #template + 1, template)
  assert(ffi.C.spec_make_directory(path) ~= nil, template)
  return ffi.string(path)
end

function M.remove(path)
  if os.remove(path) then return end -- a file, or nothing is in it
  os.execute("rm -rf " .. M.quote(path))
end

--- Reads a file, or nil.
function M.read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read("*a")
  file:close()
  return text
end

-- Limits only end what hangs: a loaded machine takes many times what a command takes by itself.
local LIMIT = 120

--- Runs a shell command under a limit of seconds: its output (stdout and stderr), exit status.
function M.shell(command, seconds)
  local slowdown = tonumber(os.getenv "MEISSA_TEST_SLOWDOWN") or 1
  local pipe = io.popen(("timeout -k 2 %d sh -c %s 2>&1; echo \"/$?\"")
    :format((seconds or LIMIT) * slowdown, M.quote(command)))
  local output = pipe:read("*a")
  pipe:close()
  local text, status = output:match("^(.*)/(%d+)\n$")
  return text, tonumber(status)
end

--- Runs a script text with LuaJIT; `options.arguments`, `options.env` and `options.seconds`.
-- @return output, exit status
function M.script(text, options)
  options = options or {}
  local directory = M.directory()
  M.write(directory .. "/script.lua", text)
  local output, status = M.shell(("cd %s && %s luajit %s script.lua %s"):format(
    directory, options.env or "", options.flags or "", options.arguments or ""), options.seconds)
  os.remove(directory .. "/script.lua")
  M.remove(directory)
  return output, status
end

--- Runs a script text as `script` does and interrupts it (SIGINT) `options.after` seconds after it
-- has made the file `options.once` in its directory.
-- @return output
function M.interrupted(text, options)
  local directory = M.directory()
  M.write(directory .. "/script.lua", text)
  local output = M.shell(([[
    cd %s
    %s luajit script.lua & pid=$!
    i=0; while [ ! -e %s ] && [ $i -lt 1000 ]; do sleep 0.01; i=$((i+1)); done
    sleep %g; kill -INT $pid; wait $pid]]):format(directory, options.env or "", options.once,
      options.after or 0))
  M.remove(directory)
  return output
end

return M
