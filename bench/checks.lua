-- SPDX-License-Identifier: MIT
--- What checked subscripts cost: the loops of kernels.lua, lda.lua and slr.lua as they are, and
-- with the checks taken out of the C text that bodies become.
--
-- A wrapper of the compiler takes them out, in a process and a kernel cache of its own: nothing
-- else ever runs such kernels. With and without take turns; the best pass of each counts.
-- Prints a table and then the same figures as JSON, one object a line.
--   luajit bench/checks.lua [rounds] [--loop stencil] [--rank 1500]
local directory = arg[0]:match("^(.*/)") or "./"
local argparse = require "argparse"
local json = require "dkjson"

local parser = argparse("checks.lua", "What checked subscripts cost.")
parser:argument("rounds", "Runs of each kind, in turn (default: 3)."):args("?"):convert(tonumber)
parser:option("--loop", "Only this loop (a C function).")
parser:option("--rank", "Only this rank."):convert(tonumber)
local asked = parser:parse()

-- Meissa gives the compiler a file of its own to compile, and removes it.
local WRAPPER = [[
#!/bin/sh
for file in "$@"; do
  case $file in
    *.c) sed -i 's/^#define MS_UNLIKELY.*/#define MS_UNLIKELY(condition) 0/' "$file" ;;
  esac
done
exec %s "$@"
]]

local function shell(command)
  local pipe = assert(io.popen(command))
  local output = pipe:read("*a")
  pipe:close()
  return output
end

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local compiler = os.getenv "CC" or "cc"
local scratch = shell("mktemp -d"):gsub("\n", "")
local wrapper = scratch .. "/cc"
local file = assert(io.open(wrapper, "w"))
file:write(WRAPPER:format(compiler))
file:close()
os.execute("chmod +x " .. quoted(wrapper))

local chosen = ""
if asked.loop then chosen = " --loop " .. quoted(asked.loop) end
if asked.rank then chosen = chosen .. " --rank " .. asked.rank end

-- Runs a benchmark of the native engine; calls `each` with what it says of every loop.
local function run(bench, cc, cache, each)
  local output = shell(("CC=%s XDG_CACHE_HOME=%s luajit %s --engine auto%s 2>/dev/null"):format(
    quoted(cc), quoted(scratch .. cache), quoted(directory .. bench), chosen))
  for line in output:gmatch("[^\n]+") do
    local result = json.decode(line)
    if result and result.meissa then each(result) end
  end
end

io.stderr:write(("%-15s %5s %-6s %9s %9s %8s\n"):format("M updates/s", "rank", "mode", "checked",
  "bare", "cost"))
for _, bench in ipairs {"kernels.lua", "lda.lua", "slr.lua"} do
  local order, best = {}, {}
  local function keep(kind)
    return function(result)
      local key = ("%-15s %5d %-6s"):format(result.title, result.rank, result.numeric)
      if not best[key] then
        best[key] = {checked = 0, bare = 0, result = result}
        order[#order + 1] = key
      end
      best[key][kind] = math.max(best[key][kind], result.meissa)
    end
  end
  for _ = 1, asked.rounds or 3 do
    run(bench, compiler, "/checked", keep "checked")
    run(bench, wrapper, "/bare", keep "bare")
  end
  for _, key in ipairs(order) do
    local it = best[key]
    local cost = it.bare / it.checked - 1
    io.stderr:write(("%s %9.2f %9.2f %7.1f%%\n"):format(key, it.checked, it.bare, 100 * cost))
    print(json.encode({loop = it.result.loop, rank = it.result.rank, numeric = it.result.numeric,
                       checked = it.checked, bare = it.bare, cost = cost},
                      {keyorder = {"loop", "rank", "numeric"}}))
  end
end
os.execute("rm -r " .. quoted(scratch))
