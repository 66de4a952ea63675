-- SPDX-License-Identifier: MIT
-- The examples as their users run them, for specs.
local child = require "spec.support.child"
local json = require "dkjson"
local meissa = require "meissa"

local M = {}

--- Runs an example: its rows and its summary.
function M.run_only(name, arguments, environment)
  local output, status = child.shell(("%s luajit examples/%s %s --json"):format(
    environment or "MEISSA_WORKERS=2", name, arguments), 200)
  assert(status == 0, output)
  local rows = {}
  for line in output:gmatch("[^\n]+") do rows[#rows + 1] = assert(json.decode(line), line) end
  local summary = table.remove(rows)
  assert(summary.summary)
  return rows, summary
end

--- The same, and what it saved.
function M.run(name, arguments, environment)
  local path = os.tmpname()
  local rows, summary = M.run_only(name, ("%s --save %s"):format(arguments, path), environment)
  local saved = meissa.load(path)
  os.remove(path)
  return rows, summary, saved
end

return M
