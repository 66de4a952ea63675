-- SPDX-License-Identifier: MIT
-- What generators of random bodies share: draws, fresh names, scopes, and some statements. A
-- generator has lists of the names that may be used, by what they are; `kept` says which.
local draws = require "spec.support.draws"
local entries_of = require("meissa.base.tables").each
local row_methods = require "spec.support.row_methods"

local M = {}

--- A class of generators. Its objects have a method `block` of their own, `made` and `depth` from
-- 0, `kept` (a list of field names) and these fields, each a list of names.
function M.class()
  local Body = draws.class()

  function Body:fresh(prefix)
    self.made = self.made + 1
    return prefix .. self.made
  end

  --- Statements that see more names than the rest of the body.
  function Body:scope(more, depth, most)
    local saved = {}
    for _, field in ipairs(self.kept) do
      saved[field] = self[field]
      self[field] = {}
      for _, name in ipairs(saved[field]) do table.insert(self[field], name) end
      for _, name in ipairs(more[field] or {}) do table.insert(self[field], name) end
    end
    local text = self:block(depth, most)
    for field, list in entries_of(saved) do self[field] = list end
    return text
  end

  --- A method of rows that changes `y`.
  function Body:on_rows(y, x, number)
    return row_methods.draw(draws.whole(self.draw), y, x, number)
  end

  --- All of a body, which may leave an iteration for its end.
  function Body:whole_body(text)
    if not self.continues then return text end
    return "do\n" .. text .. "\nend\n::continue::"
  end

  return Body
end

--- Statements that all generators have, by name.
M.statements = {}

function M.statements.assign(self, depth)
  if #self.locals == 0 then return self.statements.declare(self, depth) end
  return ("%s = %s"):format(self:pick(self.locals), self:number(depth))
end

function M.statements.leave(self)
  if self.depth > 1 then return "do end" end
  self.continues = true
  return ("if %s then goto continue end"):format(self:condition(1))
end

return M
