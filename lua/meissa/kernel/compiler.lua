-- SPDX-License-Identifier: MIT
--- The C compiler and the cache of compiled kernels, as the driver uses them, and the loading of
-- kernels, as workers and the driver do it.
-- @module meissa.kernel.compiler
local c_core = require "meissa.base.c_core"
local errors = require "meissa.base.errors"
local ffi = require "ffi"
local interrupt = require "meissa.base.interrupt"

local lib = c_core.lib

local M = {}

local READY = 3 -- of ms_build_state; what is less is not over
-- Seconds of a wait after which it is seen whether the user has interrupted it.
local SLICE = 0.05
-- Objects that stay loaded although nothing may use them any more.
local MOST_LOADED = 64

local found -- what the environment said when a compiler was found

--- Why there is no C compiler; nil if there is one. One that was found is not looked for again.
function M.missing()
  local where = string.format("%s\0%s", os.getenv "CC" or "", os.getenv "PATH" or "")
  if where == found then return nil end
  local words = ffi.string(lib.ms_toolchain_missing(c_core.new_error()))
  if words ~= "" then return words end
  found = where
  return nil
end

local Build = {}
Build.__index = Build

--- The making of an object from C text. Fields: `key`, its name in the cache; `directory`, the
-- cache.
-- @string text all of it @bool fast whether the flags are those of numeric = "fast"
-- @treturn table|nil the build
-- @treturn string why there is none
function M.build(text, fast)
  local err = c_core.new_error()
  local made = lib.ms_build_new(text, #text, fast and 1 or 0, err)
  if made == nil then return nil, ffi.string(err.message) end
  ffi.gc(made, lib.ms_build_release)
  return setmetatable({
    build = made, key = ffi.string(lib.ms_build_key(made)),
    directory = ffi.string(lib.ms_build_directory(made)),
  }, Build)
end

--- What is wrong with the user's cache, or nil.
function M.notice()
  local words = ffi.string(lib.ms_build_notice())
  return words ~= "" and words or nil
end

--- Has it compiled after so many seconds, unless it is postponed before.
function Build:start(delay)
  lib.ms_build_start(self.build, delay)
end

--- Takes it back if the compiler has not begun.
function Build:postpone()
  lib.ms_build_postpone(self.build)
end

--- Has it compiled now and waits for the end.
-- Errors: INT.
function Build:finish()
  interrupt.begin()
  local state, interrupted
  repeat
    lib.ms_build_start(self.build, 0)
    state = lib.ms_build_wait(self.build, SLICE)
    interrupted = interrupt.seen()
  until state >= READY or interrupted
  interrupt.finish(interrupted)
  if interrupted then errors.raise("INT", "interrupted while the C compiler ran") end
end

--- "waiting", "ready" or "failed".
function Build:state()
  local state = lib.ms_build_state_of(self.build)
  if state < READY then return "waiting" end
  return state == READY and "ready" or "failed"
end

--- The object's bytes, once ready.
function Build:object()
  local size = ffi.new("size_t[1]")
  local bytes = lib.ms_build_object(self.build, size)
  return ffi.string(bytes, size[0])
end

--- What the compiler said, once failed.
function Build:trouble()
  return ffi.string(lib.ms_build_trouble(self.build))
end

--- The bytes of an object in a cache, or nil.
-- @string directory the cache @string key the object's name
function M.find(directory, key)
  local text = ffi.new("ms_text")
  local size = lib.ms_cache_read(directory, key, text)
  if size == 0 then return nil end
  local bytes = ffi.string(text.bytes, size)
  lib.ms_cache_release(text)
  return bytes
end

-- Loaded objects by key, and the keys in the order of their loading.
local loaded, order = {}, {}

--- Loads an object, once; it is unloaded when nothing refers to it and others were loaded since.
-- @string key @string bytes
-- @treturn cdata|nil the ms_loaded_kernel
-- @treturn string why there is none
function M.load(key, bytes)
  local object = loaded[key]
  if object then return object end
  local err = c_core.new_error()
  object = lib.ms_loader_load(bytes, #bytes, err)
  if object == nil then return nil, ffi.string(err.message) end
  ffi.gc(object, lib.ms_loader_unload)
  loaded[key] = object
  order[#order + 1] = key
  if #order > MOST_LOADED then loaded[table.remove(order, 1)] = nil end
  return object
end

return M
