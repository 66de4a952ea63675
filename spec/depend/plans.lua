-- SPDX-License-Identifier: MIT
--
-- Plans of bodies, and what specs ask of them, as texts.

local analyze = require "meissa.analyze"

local M = {}

--- The plan of a body over 1 to 9.
function M.plan(body, bindings, opts)
  return analyze.analyze("for i in parallel(9) do\n" .. body .. "\nend", bindings, opts)
end

--- The same over two indices, 1 to 6 each.
function M.plan2(body, bindings, opts)
  return analyze.analyze("for i, j in parallel(6, 6) do\n" .. body .. "\nend", bindings, opts)
end

--- The codes of its reasons.
function M.codes(p)
  local list = {}
  for k, reason in ipairs(p.reasons) do list[k] = reason.code end
  return table.concat(list, " ")
end

--- Its distances, "(1) (0,+)".
function M.distances(p)
  local list = {}
  for k, d in ipairs(p.distances) do
    local parts = {}
    for c, component in ipairs(d) do parts[c] = tostring(component) end
    list[k] = "(" .. table.concat(parts, ",") .. ")"
  end
  return table.concat(list, " ")
end

return M
