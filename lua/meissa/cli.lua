-- SPDX-License-Identifier: MIT
--- The command `meissa`: what bin/meissa does.
--
-- `explain` becomes the script's own interpreter (execvp), so that the script sees the arguments,
-- streams, signals and exit status that it would see without this command.
-- @module meissa.cli

local errors = require "meissa.base.errors"
local ffi = require "ffi"
local interpreter = require "meissa.base.interpreter"
local release = require "meissa.base.release"

ffi.cdef [[
int meissa_setenv(const char *name, const char *value, int overwrite) __asm__("setenv");
int meissa_execvp(const char *file, char *const *argv) __asm__("execvp");
]]

local M = {}

local USAGE = [[
usage: meissa explain SCRIPT [ARGUMENT...]
       meissa check-history FILE...
       meissa --help | --version

  explain    run a script and show on stderr, once for each loop, what was decided: strategy,
             blocks, where every array is, reductions, or why the loop may not run in parallel.
             The script's own output is untouched.
  check-history
             judge recorded histories, by rules that share no code with what made them. The status
             is 0 when all are accepted, 1 when one is not.

MEISSA_WORKERS=N chooses how many workers run it (0: none, loops run in the script's process).
]]

-- Status of a command line that is not understood, as shells and GNU tools have it.
local MISUSE = 2

local HELP = {["--help"] = true, ["-h"] = true}

local function complain(format, ...)
  io.stderr:write("meissa: ", string.format(format, ...), "\n")
  return MISUSE
end

local function print_usage()
  io.stdout:write(USAGE)
  return 0
end

local function print_version()
  io.stdout:write(string.format("meissa %s, %s\n", release, jit.version))
  return 0
end

-- Replaces this process by a command with these words; returns only on failure.
local function become(words)
  local argv = ffi.new("const char *[?]", #words + 1)
  for k, word in ipairs(words) do argv[k - 1] = word end
  ffi.C.meissa_execvp(words[1], ffi.cast("char *const *", argv))
end

local function explain(arguments)
  local script = arguments[2]
  if HELP[script] then return print_usage() end
  if not script then return complain("explain: which script? meissa explain script.lua") end
  if string.sub(script, 1, 1) == "-" then
    return complain("explain has no option '%s': the script comes first, then its arguments",
      script)
  end
  local file, problem = io.open(script)
  if not file then return complain("explain: %s", problem) end
  file:close()
  ffi.C.meissa_setenv("MEISSA_EXPLAIN", "1", 1)
  ffi.C.meissa_setenv("LUA_PATH", package.path, 1)
  ffi.C.meissa_setenv("LUA_CPATH", package.cpath, 1)
  local program = interpreter.program()
  local words = {program, script}
  for k = 3, #arguments do words[k] = arguments[k] end
  become(words)
  return complain("explain: cannot start '%s'", program)
end

local function check_history(arguments)
  local history = require "meissa.check.history"
  local status = 0
  if HELP[arguments[2]] then return print_usage() end
  if not arguments[2] then
    return complain("check-history: which file? meissa check-history run.history")
  end
  for k = 2, #arguments do
    local path = arguments[k]
    local verdict, problem = history.judge_file(path)
    if not verdict then return complain("check-history: %s", problem) end
    for _, each in ipairs(verdict.problems) do
      io.stdout:write(string.format("%s:%d: [%s] %s\n", path, each.line, each.rule, each.text))
      status = 1
    end
    io.stdout:write(string.format("%s: %s: %d events of %d job%s\n", path,
      #verdict.problems == 0 and "accepted" or "refused", verdict.events, verdict.jobs,
      verdict.jobs == 1 and "" or "s"))
  end
  return status
end

local commands = {
  explain = explain, ["check-history"] = check_history,
  ["--help"] = print_usage, ["-h"] = print_usage, help = print_usage,
  ["--version"] = print_version, ["-v"] = print_version, version = print_version,
}
local NAMES = {"explain", "check-history", "--help", "--version", "help", "version"}

--- Runs the command with these arguments.
-- @tab arguments the words after the command's name
-- @treturn number the exit status
function M.main(arguments)
  local name = arguments[1]
  if not name then
    io.stderr:write(USAGE)
    return MISUSE
  end
  local command = commands[name]
  if command then return command(arguments) end
  local near = errors.nearest(name, NAMES)
  return complain("unknown command '%s'%s; see meissa --help", name,
    near and string.format(" (did you mean '%s'?)", near) or "")
end

return M
