-- SPDX-License-Identifier: MIT
-- What scripts of the specs begin with whose workers die, hang and are interrupted.
local M = {}

--- The first lines of a script. `die` and `sleep` are for bodies with impure = true, too.
M.HEAD = [[
local meissa = require "meissa"
local parallel = meissa.parallel
local ffi = require "ffi"
ffi.cdef "int kill(int pid, int signal); int getpid(void); int usleep(unsigned);"
local function alive(pid) return ffi.C.kill(pid, 0) == 0 end
local function die()
  local f = require "ffi"
  f.cdef "int kill(int pid, int signal); int getpid(void);"
  f.C.kill(f.C.getpid(), 9)
end
local function sleep(seconds)
  local f = require "ffi"
  f.cdef "int usleep(unsigned);"
  f.C.usleep(seconds * 1e6)
end
local function exists(name)
  local file = io.open(name)
  if file then file:close() end
  return file ~= nil
end
local function make(name) io.open(name, "w"):close() end
-- Ends the worker that is the first to call this, by this name.
local function die_once(name)
  name = name or "died"
  if exists(name) then return end
  make(name)
  die()
end
]]

--- Lines after HEAD in a script start here.
M.FIRST = select(2, M.HEAD:gsub("\n", "")) + 1

return M
