-- SPDX-License-Identifier: MIT
--
-- Compiles the module's Lua files into one file, for lua/meissa/base/chunks.lua.
--
--   luajit tools/chunks.lua OUT DIRECTORY FILE...     files by their names under DIRECTORY
local buffer = require "string.buffer"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local out, directory = arg[1], arg[2]
local chunks = {}
for k = 3, #arg do
  local text = read(directory .. "/" .. arg[k])
  -- Any name will do: it is replaced when the chunk is loaded.
  local name = arg[k]:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  chunks[name] = {text = text, code = string.dump(assert(loadstring(text, "=" .. arg[k])))}
end
local file = assert(io.open(out, "wb"))
assert(file:write(buffer.encode(chunks)))
assert(file:close())
