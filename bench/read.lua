-- SPDX-License-Identifier: MIT
--- How fast text files are read, and what the arrays hold in memory.
--
-- "many ids" and "far ids" are triples of 250,000 rows and columns whose ids follow each other, or
-- do not.
-- Files are made up in a temporary directory, uncompressed. "a core" is bytes by processor seconds
-- of all threads; memory is what the resident set grew by, over the bytes of indices and values.
-- Prints a table and then the same figures as one JSON object.
--   luajit bench/read.lua [entries]
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local arguments = require "arguments"
local json = require "dkjson"
local meissa = require "meissa"

local entries = arguments("read.lua", "How fast text files are read.",
  {"entries", "Entries of each file.", 3000000})
local ROUNDS = 3

local function line_of_pipe(command)
  local pipe = io.popen(command)
  local line = pipe:read "*l"
  pipe:close()
  return line
end

local directory = line_of_pipe "mktemp -d"

-- Random numbers that are the same everywhere.
local state = 1
local function draw(below)
  state = (state * 16807) % 2147483647
  return state % below + 1
end

local function write_lines(name, head, count, line)
  local path = directory .. "/" .. name
  local file = assert(io.open(path, "w"))
  file:write(head)
  for k = 1, count do file:write(line(k), "\n") end
  local bytes = file:seek()
  file:close()
  return path, bytes
end

local WORDS = 20
local files = {
  {"libsvm", meissa.read.libsvm, write_lines("a.libsvm", "", entries / WORDS, function(k)
    local parts, id = {k % 2 == 0 and "+1" or "-1"}, 0
    for w = 1, WORDS do
      id = id + draw(50)
      parts[w + 1] = ("%d:0.%06d"):format(id, draw(999999))
    end
    return table.concat(parts, " ")
  end)},
  {"triples", meissa.read.triples, write_lines("a.csv", "", entries, function()
    return ("%d,%d,%d.5"):format(draw(6040), draw(3706), draw(5))
  end)},
  {"many ids", meissa.read.triples, write_lines("b.csv", "", entries, function()
    return ("%d,%d,%d.5"):format(draw(250000), draw(250000), draw(5))
  end)},
  {"far ids", meissa.read.triples, write_lines("c.csv", "", entries, function()
    return ("%d,%d,%d.5"):format(1000003 * draw(250000), 7919000 + 11 * draw(250000), draw(5))
  end)},
  {"docword", meissa.read.docword, write_lines("a.docword",
    ("10000\n50000\n%d\n"):format(entries), entries, function(k)
      return ("%d %d %d"):format(math.ceil(k * 10000 / entries), draw(50000), draw(9))
    end)},
}

local function resident()
  collectgarbage()
  collectgarbage()
  for line in io.lines "/proc/self/status" do
    local kilobytes = line:match "^VmRSS:%s+(%d+)"
    if kilobytes then return tonumber(kilobytes) * 1024 end
  end
end

local function measure(read, path, bytes)
  local before = resident()
  local X = read(path)
  local memory = (resident() - before) / (X:nnz() * 16)
  local best, best_core = math.huge, math.huge
  for _ = 1, ROUNDS do
    X:free()
    local started, used = meissa.clock(), os.clock()
    X = read(path)
    best = math.min(best, meissa.clock() - started)
    best_core = math.min(best_core, os.clock() - used)
  end
  X:free()
  return {megabytes_per_second = bytes / best / 1e6,
          megabytes_per_second_a_core = bytes / best_core / 1e6, memory = memory}
end

local figures = {entries = entries}
print(("%-10s %10s %12s %18s"):format("", "MB/s", "a core", "memory / data"))
for _, file in ipairs(files) do
  local name, read, path, bytes = unpack(file)
  local found = measure(read, path, bytes)
  figures[name] = found
  print(("%-10s %10.0f %12.0f %18.2f"):format(name, found.megabytes_per_second,
    found.megabytes_per_second_a_core, found.memory))
end
os.execute("rm -r " .. directory)
print(json.encode(figures))
