-- SPDX-License-Identifier: MIT
--
-- Chunks: the module's own files as bytecode, which the build keeps beside the shared object.
--
-- Loading bytecode takes a twentieth of the time of compiling text, and every worker loads these
-- files. The text still counts: bytecode is used where its text is, byte for byte, that of the
-- file which package.path leads to; a file that was changed, and all of them where there is no
-- bytecode or LuaJIT does not take it, are compiled as usual. Either way they get globals that no
-- program changes, see meissa.base.globals. Loaded first; any thread's state has its own.
-- @module meissa.base.chunks

local globals = require "meissa.base.globals"

local environment, libraries = globals.environment, globals.libraries
local string, table, package = libraries.string, libraries.table, environment.package
local floor, open = libraries.math.floor, libraries.io.open
local loadstring, pcall, type = environment.loadstring, environment.pcall, environment.type
local setfenv = environment.setfenv

local M = {}

--- The globals that the module's files have.
M.environment = environment

--- How many files were loaded as bytecode.
M.used = 0

local FILE = "chunks"

-- All of a file. Its size first: "*a" reads a large one into ever larger memory.
local function read(path)
  local file = open(path, "rb")
  if not file then return nil end
  local size = file:seek("end")
  local bytes = size and file:seek("set") and file:read(size)
  file:close()
  return bytes
end

-- An unsigned LEB128 number.
local function uleb(number)
  local bytes = {}
  while number >= 128 do
    bytes[#bytes + 1] = string.char(number % 128 + 128)
    number = floor(number / 128)
  end
  bytes[#bytes + 1] = string.char(number)
  return table.concat(bytes)
end

--- A dump of a chunk by another name. Only the header holds the name: "\27LJ", version, flags, then
-- its length and the name itself (LuaJIT 2.1, lj_bcdump.h).
-- @string code what string.dump gave for a chunk whose name is shorter than 128 bytes
-- @string name
function M.renamed(code, name)
  local rest = 7 + string.byte(code, 6)
  return string.sub(code, 1, 5) .. uleb(#name) .. name .. string.sub(code, rest)
end

-- {[module] = {text =, code =}} from the build; empty if there is none.
local function find_chunks()
  local core = package.searchpath("meissa.core", package.cpath)
  local bytes = core and read(string.match(core, "^.*/") .. FILE)
  local ok, chunks = pcall(libraries["string.buffer"].decode, bytes)
  return ok and type(chunks) == "table" and chunks or {}
end

-- A module's chunk: from bytecode if that is the file's, else of this module's from its text.
local function load_chunk(module, path, chunk)
  local text = read(path)
  local loaded = chunk and text == chunk.text and loadstring(M.renamed(chunk.code, "@" .. path))
  if loaded then
    M.used = M.used + 1
  elseif text and string.match(module, "^meissa%f[%z.]") then
    loaded = loadstring(text, "@" .. path)
  end
  return loaded or nil
end

--- Makes a function for package.loaders.
-- @tab chunks {[module] = {text =, code =}}; what was used is removed
function M.searcher(chunks)
  local function search(module)
    local chunk = chunks[module]
    local ours = chunk or string.match(module, "^meissa%f[%z.]")
    local path = ours and package.searchpath(module, package.path)
    local loaded = path and load_chunk(module, path, chunk)
    if not loaded then return nil end
    chunks[module] = nil
    return setfenv(loaded, environment)
  end
  environment.jit.off(search)
  return search
end

-- What runs while modules are loaded is not worth compiling.
for _, each in environment.ipairs {read, M.renamed, load_chunk} do environment.jit.off(each) end

-- Once in a state, behind package.preload.
local registry = libraries.debug.getregistry()
if not registry["meissa.chunks"] then
  registry["meissa.chunks"] = true
  table.insert(package.loaders, 2, M.searcher(find_chunks()))
end

return M
