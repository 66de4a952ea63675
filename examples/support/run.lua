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

--- A parser with the options that every example takes; examples add their own to it.
function M.parser(name, about)
  local parser = argparse(name, about)
  parser:option("--data", "The data file; without it the example generates its own.")
  parser:option("--test", "A separate file to test on.")
  parser:option("--epochs", "Passes over the data."):convert(tonumber)
  parser:option("--rank", "Width of the model."):convert(tonumber)
  parser:option("--workers", "Worker processes (default: one a core)."):convert(tonumber)
  parser:option("--seed", "Seed of everything random."):default "1":convert(tonumber)
  parser:option("--engine", "How bodies are executed."):choices {"auto", "lua"}:default "auto"
  parser:flag("--json", "Print one JSON object a line and nothing else.")
  return parser
end

--- Parses the command line and starts the workers that were asked for.
function M.options(parser)
  local options = parser:parse()
  if options.workers then meissa.init {workers = options.workers} end
  return options
end

local Report = {}
Report.__index = Report

--- A report with these columns: {{key=, title=, format=}, ...}.
function M.report(options, columns)
  return setmetatable({
    json = options.json, columns = columns, rows = 0, started = meissa.clock(),
    terminal = ffi.C.isatty(2) == 1 and not options.json,
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

--- Adds a row: the values by column key.
function Report:row(values)
  self:clear()
  local keys, titles, cells = {}, {}, {}
  for c, column in ipairs(self.columns) do
    keys[c] = column.key
    titles[c] = ("%12s"):format(column.title)
    cells[c] = ("%12s"):format(column.format:format(values[column.key]))
  end
  if self.json then return print_json(values, keys) end
  if self.rows == 0 then print(table.concat(titles)) end
  self.rows = self.rows + 1
  print(table.concat(cells))
end

--- The last line of a --json run.
function Report:summary(values)
  if self.json then
    values.summary = true
    print_json(values, {"summary"})
  end
end

return M
