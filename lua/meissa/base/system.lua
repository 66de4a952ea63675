-- SPDX-License-Identifier: MIT
--- The few things that Meissa asks the operating system from Lua.
-- @module meissa.base.system

local ffi = require "ffi"

-- By names of our own, as every name that is not the core's: see meissa.base.c_core.
ffi.cdef [[
int meissa_get_nprocs(void) __asm__("get_nprocs");
char *meissa_getcwd(char *buffer, size_t size) __asm__("getcwd");
typedef struct meissa_timespec { long tv_sec; long tv_nsec; } meissa_timespec;
int meissa_clock_gettime(int clock, meissa_timespec *time) __asm__("clock_gettime");
int meissa_mkdir(const char *path, unsigned mode) __asm__("mkdir");
]]

local M = {}

local PATH_SIZE = 4096
local CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID = 1, 3

--- The cores that this process may run on.
function M.cores()
  return math.max(1, ffi.C.meissa_get_nprocs())
end

local buffer = ffi.new("char[?]", PATH_SIZE)

--- The current directory, or "." if it is gone.
function M.directory()
  local path = ffi.C.meissa_getcwd(buffer, PATH_SIZE)
  return path ~= nil and ffi.string(path) or "."
end

--- Makes a directory and those around it, as far as they are not there and may be made.
function M.make_directory(path)
  local at = 1
  repeat
    at = string.find(path, "/", at + 1, true) or #path + 1
    ffi.C.meissa_mkdir(string.sub(path, 1, at - 1), 511) -- 0777: the user's mask decides
  until at > #path
end

local time = ffi.new("meissa_timespec")

local function seconds(clock)
  ffi.C.meissa_clock_gettime(clock, time)
  return tonumber(time.tv_sec) + tonumber(time.tv_nsec) * 1e-9
end

--- Seconds on a clock that only goes forward.
function M.clock() return seconds(CLOCK_MONOTONIC) end

--- Seconds for which this thread has had a core.
function M.cpu_clock() return seconds(CLOCK_THREAD_CPUTIME_ID) end

-- Directories of the search paths made absolute: a worker may start elsewhere.
local function absolute(search_path)
  local base = M.directory()
  return (string.gsub(search_path, "[^;]+", function(entry)
    return string.sub(entry, 1, 1) == "/" and entry or base .. "/" .. entry
  end))
end

-- The search paths as they were when the module was loaded, when it was found through them.
local first_path, first_cpath = package.path, package.cpath
local path, cpath = absolute(first_path), absolute(first_cpath)

--- package.path and package.cpath as they were when the module was found through them.
function M.search_paths()
  return path, cpath
end

--- Both as they are now, {path, cpath}, if they are others; nil else.
function M.new_search_paths()
  local now = package.loaded.package
  if now.path == first_path and now.cpath == first_cpath then return nil end
  return {absolute(tostring(now.path)), absolute(tostring(now.cpath))}
end

--- Lets this process search where another one does, and behind that where it searched at first.
-- @tab[opt] paths what new_search_paths gave there
function M.search_in(paths)
  local now = package.loaded.package
  now.path = paths and paths[1] .. ";" .. first_path or first_path
  now.cpath = paths and paths[2] .. ";" .. first_cpath or first_cpath
end

return M
