-- SPDX-License-Identifier: MIT
--
-- Compiles the module's Lua files into one file, for csrc/binding/chunks.c, which tells its form.
--
--   luajit tools/chunks.lua OUT DIRECTORY FILE...     files by their names under DIRECTORY
local ffi = require "ffi"

local MAGIC = "meissa\nchunks 1\n"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

-- Numbers as this machine has them.
local function words(...)
  return ffi.string(ffi.new("uint32_t[?]", select("#", ...), ...), 4 * select("#", ...))
end

local out, directory = arg[1], arg[2]
local chunks = {}
for k = 3, #arg do
  local text = read(directory .. "/" .. arg[k])
  -- Any name will do: it is replaced when the chunk is loaded.
  local code = string.dump(assert(loadstring(text, "=" .. arg[k])))
  local name = arg[k]:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  chunks[#chunks + 1] = {name, text, code}
end
table.sort(chunks, function(a, b) return a[1] < b[1] end)

local records, bytes = {}, {}
local place = #MAGIC + 4 + 24 * #chunks
for _, chunk in ipairs(chunks) do
  for _, each in ipairs(chunk) do
    records[#records + 1] = words(place, #each)
    bytes[#bytes + 1] = each
    place = place + #each
  end
end

-- A file of its own until it is whole: a program that runs may have the one before mapped.
local file = assert(io.open(out .. ".new", "wb"))
assert(file:write(MAGIC, words(#chunks), table.concat(records), table.concat(bytes)))
assert(file:close())
assert(os.rename(out .. ".new", out))
