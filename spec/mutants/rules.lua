-- SPDX-License-Identifier: MIT
--- The rules by which Meissa promises what it promises, and for each some mutants: changes of one
-- place that break it, with the specs that must find them out. tools/mutants.lua tries them
-- (`make mutants`); spec/project/mutants_spec.lua sees to it that they fit the sources.
--
-- A rule is {rule = in words, finders = specs, mutants = list} or {rule =, within = specs that have
-- mutants of their own for it}. A finder is {spec =}, which may be a C test's source, or {spec =,
-- draws = the variable that says how many random programs it draws, most = within how many the
-- mutants must be found}. A mutant is {name =, file =, old = text that the file has once, new =
-- what stands there instead, finders = others than the rule's}.
local M = {list = {}}

local FILES = {"input", "process", "plans", "conditions", "bounds", "counters", "packed", "bodies",
               "names", "buffers", "rounds", "reductions", "tables", "regions", "gate", "history",
               "replicas", "replica_options", "replica_values", "recursion",
               "replica_copies", "small", "pace", "lists", "together", "loading"}

local function named(mutant)
  return {name = mutant[1], file = mutant[2], old = mutant[3], new = mutant[4],
          finders = mutant.finders}
end

for _, file in ipairs(FILES) do
  for _, rule in ipairs(require("spec.mutants." .. file)) do
    for k, mutant in ipairs(rule.mutants or {}) do rule.mutants[k] = named(mutant) end
    M.list[#M.list + 1] = rule
  end
end

--- How often a text has another in it.
function M.count(text, part)
  local count, at = 0, 1
  while true do
    local first, last = text:find(part, at, true)
    if not first then return count end
    count, at = count + 1, last + 1
  end
end

--- A file's text with the mutant's change.
function M.apply(mutant, text)
  if M.count(text, mutant.old) ~= 1 then
    error(("%s: %s does not have this once: %s"):format(mutant.name, mutant.file, mutant.old), 0)
  end
  local first, last = text:find(mutant.old, 1, true)
  return text:sub(1, first - 1) .. mutant.new .. text:sub(last + 1)
end

return M
