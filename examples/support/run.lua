-- SPDX-License-Identifier: MIT
--- What the examples share: options, a table of epochs, JSON lines, a progress bar.
--
-- Results go to stdout (a table, or one JSON object a line with --json), progress to stderr and
-- only on a terminal.
local argparse = require "argparse"
local ffi = require "ffi"
local json = require "dkjson"
local meissa = require "meissa"

ffi.cdef "int isatty(int);"

local M = {}

-- What examples may take, in the order of --help: name, text, converter, default.
local OPTIONS = {
  {"data", "The data file; without it the example generates its own."},
  {"test", "A separate file to test on."},
  {"epochs", "Passes over the data.", tonumber},
  {"rank", "Width of the model.", tonumber},
  {"workers", "Worker processes (default: one a core).", tonumber},
  {"seed", "Seed of everything random.", tonumber, "1"},
}

--- A parser with the options that examples take; each adds its own to it.
-- @tab[opt] without names of the options that mean nothing here: {test = true}
function M.parser(name, about, without)
  local parser = argparse(name, about)
  for _, each in ipairs(OPTIONS) do
    if not (without and without[each[1]]) then
      local option = parser:option("--" .. each[1], each[2])
      if each[3] then option:convert(each[3]) end
      if each[4] then option:default(each[4]) end
    end
  end
  parser:option("--engine", "What executes bodies."):choices {"auto", "native", "lua"}
    :default "auto"
  parser:flag("--quiet", "No progress bars.")
  parser:flag("--json", "Print one JSON object a line and nothing else.")
  return parser
end

--- Parses the command line and starts the workers that were asked for.
function M.options(parser)
  local options = parser:parse()
  local ok, err = pcall(meissa.init, {workers = options.workers,
                                      quiet = options.quiet or options.json or false})
  if not ok then parser:error(err.message or tostring(err)) end
  return options
end

--- What a reader gives for the user's file: run.read(meissa.read.csv, path, ..). A file that cannot
-- be read ends the example with a line that says why.
function M.read(read, ...)
  local results = {pcall(read, ...)}
  if results[1] then return unpack(results, 2) end
  local err = results[2]
  if type(err) ~= "table" or err.code ~= "FIL" then error(err, 0) end
  io.stderr:write(tostring(err), "\n")
  os.exit(1, true)
end

local Report = {}
Report.__index = Report

--- A report with these columns: {{key=, title=, format=, width= (12)}, ...}.
function M.report(options, columns)
  return setmetatable({
    json = options.json, columns = columns, rows = 0, started = meissa.clock(),
    terminal = ffi.C.isatty(2) == 1 and not options.json and not options.quiet,
  }, Report)
end

local function print_json(object, order)
  io.stdout:write(json.encode(object, {keyorder = order}), "\n")
  io.stdout:flush()
end

--- Shows how far a run is: on a terminal, on stderr, overwritten by the next line.
function Report:progress(done, total, what)
  if not self.terminal then return end
  local width = 30
  local full = math.floor(width * done / total)
  local passed = meissa.clock() - self.started
  local left = done > 0 and passed / done * (total - done) or 0
  io.stderr:write(("\r%s [%s%s] %d/%d  %.1f s left \27[K"):format(
    what, ("#"):rep(full), ("."):rep(width - full), done, total, left))
end

function Report:clear()
  if self.terminal then io.stderr:write("\r\27[K") end
end

--- Adds a row: the values by column key, of which some may be missing.
function Report:row(values)
  self:clear()
  local keys, titles, cells = {}, {}, {}
  for c, column in ipairs(self.columns) do
    local width, value = ("%%%ds"):format(column.width or 12), values[column.key]
    keys[c] = column.key
    titles[c] = width:format(column.title)
    cells[c] = width:format(value == nil and "-" or column.format:format(value))
  end
  if self.json then return print_json(values, keys) end
  if self.rows == 0 then print(table.concat(titles)) end
  self.rows = self.rows + 1
  print(table.concat(cells))
end

--- The last line of a --json run: what is given, how many workers there were and, of the plan of
-- what was done, if there is one, engine and strategy.
function Report:summary(values, plan)
  if self.json then
    values.summary, values.workers = true, meissa.workers().workers
    if plan then values.engine, values.strategy = plan.engine, plan.strategy end
    local order = {}
    for key in pairs(values) do order[#order + 1] = key end
    table.sort(order, function(a, b) return a == "summary" or b ~= "summary" and a < b end)
    print_json(values, order)
  end
end

return M
