-- SPDX-License-Identifier: MIT
--
-- Chunks: the module's own files as bytecode, which the build keeps beside the shared object.
--
-- Loading bytecode takes a twentieth of the time of compiling text, and every worker loads these
-- files. The text still counts: bytecode is used where its text is, byte for byte, that of the
-- file which package.path leads to (csrc/binding/chunks.c); a file that was changed, and all of
-- them where there is no bytecode or LuaJIT does not take it, are compiled as usual. Either way
-- they get globals that no program changes, see meissa.base.globals. Loaded first; any thread's
-- state has its own.
-- @module meissa.base.chunks

local globals = require "meissa.base.globals"
local core = require "meissa.core"

local environment, libraries = globals.environment, globals.libraries
local string, table, package = libraries.string, libraries.table, environment.package
local open, loadstring, setfenv = libraries.io.open, environment.loadstring, environment.setfenv

local M = {}

--- The globals that the module's files have.
M.environment = environment

--- How many files were loaded as bytecode.
M.used = 0

--- Where files are looked for instead of in package.path; see meissa.base.late.
M.path = nil

local FILE = "chunks"

-- All of a file.
local function read(path)
  local file = open(path, "rb")
  if not file then return nil end
  local bytes = file:read "*a"
  file:close()
  return bytes
end

-- What the build made of all files, which lies beside the core; nil if there is none.
local function find_chunks()
  local path = package.searchpath("meissa.core", package.cpath)
  return path and core.chunks(string.match(path, "^.*/") .. FILE)
end

--- Makes a function for package.loaders.
-- @param[opt] chunks what core.chunks gave
function M.searcher(chunks)
  local function search(module)
    if not string.match(module, "^meissa%f[%z.]") then return nil end
    local templates = M.path or package.path
    local loaded = chunks and chunks:load(module, templates)
    if loaded then
      M.used = M.used + 1
    else
      local path = package.searchpath(module, templates)
      local text = path and read(path)
      loaded = text and loadstring(text, "@" .. path)
    end
    return loaded and setfenv(loaded, environment) or nil
  end
  environment.jit.off(search) -- what runs while modules are loaded is not worth compiling
  return search
end

environment.jit.off(read)

-- Once in a state, behind package.preload.
local registry = libraries.debug.getregistry()
if not registry["meissa.chunks"] then
  registry["meissa.chunks"] = true
  table.insert(package.loaders, 2, M.searcher(find_chunks()))
end

return M
