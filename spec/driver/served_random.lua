-- SPDX-License-Identifier: MIT
-- Random loops that gather: bodies that read arrays at subscripts which depend on other arrays, on
-- conditions, inner loops, views and functions. Every subscript is in its range whatever is read.
local draws = require "spec.support.draws"

local M = {}

local Program = draws.class()

function Program:fresh(prefix)
  self.names = self.names + 1
  return prefix .. self.names
end

-- An expression with a whole value from 0 on.
function Program:whole(depth)
  local kind = self:random(depth > 0 and 9 or 3)
  if kind == 1 then return "i" end
  if kind == 2 then return tostring(self:random(40)) end
  if kind == 3 then return #self.ints > 0 and self:pick(self.ints) or "i" end
  if kind == 4 then return ("idx[%s]"):format(self:place("n", depth - 1)) end
  if kind == 5 then return ("jdx[%s]"):format(self:place("n", depth - 1)) end
  if kind == 6 then return ("(%s + %s)"):format(self:whole(depth - 1), self:whole(depth - 1)) end
  if kind == 7 then return ("f(%s)"):format(self:whole(depth - 1)) end
  if kind == 8 then return ("math.floor(%s / 3)"):format(self:whole(depth - 1)) end
  return ("pairs_of[%s][%d]"):format(self:place("10", depth - 1), self:random(2))
end

-- A subscript from 1 to what `extent` means.
function Program:place(extent, depth)
  return ("(%s) %% %s + 1"):format(self:whole(depth), extent)
end

-- An expression that reads arrays.
function Program:value(depth)
  local kind = self:random(depth > 0 and (self.exact and 7 or 9) or 4)
  if kind == 1 then return ("w[%s]"):format(self:place("m", 2)) end
  if kind == 2 then return ("v[%s]"):format(self:place("m", 2)) end
  if kind == 3 then return ("W[%s][%s]"):format(self:place("r", 2), self:place("c", 1)) end
  if kind == 4 and #self.rows > 0 then
    return ("%s[%s]"):format(self:pick(self.rows), self:place("c", 1))
  elseif kind == 4 then
    return ("W[{%s, %s}]"):format(self:place("r", 1), self:place("c", 1))
  end
  if kind == 5 then return ("(%s + %s)"):format(self:value(depth - 1), self:value(depth - 1)) end
  if kind == 6 then return ("(%s * 0.5)"):format(self:value(depth - 1)) end
  if kind == 7 then return ("W[%s]:sum()"):format(self:place("r", 1)) end
  if kind == 8 then
    return ("(%s and %s or %s)"):format(self:condition(), self:value(depth - 1),
                                        self:value(depth - 1))
  end
  return ("math.abs(%s)"):format(self:value(depth - 1))
end

function Program:condition()
  local kind = self.exact and 2 or self:random(3)
  if kind == 1 then return ("%s > %s"):format(self:value(1), "0.5") end
  if kind == 2 then return ("%s %% 3 == 0"):format(self:whole(1)) end
  return ("%s < %s"):format(self:whole(1), self:whole(1))
end

function Program:add(format, ...)
  self.lines[#self.lines + 1] = ("  "):rep(self.depth) .. format:format(...)
end

-- Statements in a scope of their own.
function Program:block(budget)
  local ints, rows = #self.ints, #self.rows
  self.depth = self.depth + 1
  for _ = 1, self:random(3) do self:statement(budget - 1) end
  self.depth = self.depth - 1
  while #self.ints > ints do table.remove(self.ints) end
  while #self.rows > rows do table.remove(self.rows) end
end

local statements = {
  function(self) self:add("z = z + %s", self:value(2)) end,
  function(self) self:add("z = z + %s", self:value(1)) end,
  function(self)
    local name, value = self:fresh "j", self:whole(2)
    self:add("local %s = %s", name, value)
    self.ints[#self.ints + 1] = name
    self.own[name] = true
  end,
  function(self)
    local name, value = self:fresh "row", self:place("r", 2)
    self:add("local %s = W[%s]", name, value)
    self.rows[#self.rows + 1] = name
  end,
  function(self)
    local name = #self.ints > 0 and self:pick(self.ints)
    if name and self.own[name] then self:add("%s = %s", name, self:whole(2)) end
  end,
  function(self, budget)
    self:add("if %s then", self:condition())
    self:block(budget)
    if self:random(2) == 1 then
      self:add("elseif %s then", self:condition())
      self:block(budget)
    end
    if self:random(2) == 1 then
      self:add("else")
      self:block(budget)
    end
    self:add("end")
  end,
  function(self, budget)
    local name = self:fresh "k"
    self:add("for %s = 1, %s do", name, self:random(3) == 1 and self:place("3", 1) or "3")
    self.ints[#self.ints + 1] = name
    self:block(budget)
    if self:random(3) == 1 then self:add("  if %s then break end", self:condition()) end
    table.remove(self.ints)
    self:add("end")
  end,
  function(self, budget)
    local f, x = self:fresh "f", self:fresh "x"
    self:add("for %s, %s in X[%s]:nonzeros() do", f, x, self:place("n", 1))
    self.ints[#self.ints + 1] = f
    self:add("  z = z + w[%s] * %s", f, x)
    self:block(budget)
    table.remove(self.ints)
    self:add("end")
  end,
  function(self, budget)
    local name = self:fresh "t"
    self:add("local %s = %s %% 4", name, self:whole(1))
    self:add("while %s > 0 do", name)
    self.ints[#self.ints + 1] = name
    self:block(budget)
    table.remove(self.ints)
    self:add("  %s = %s - 1", name, name)
    self:add("end")
  end,
  function(self) self:add("if %s then goto continue end", self:condition()) end,
  function(self)
    self:add("for _, q in ipairs(pairs_of[%s]) do z = z + v[q] end", self:place("10", 1))
  end,
}

function Program:statement(budget)
  local number = self:random(#statements)
  local nested = number >= 6 and number <= 9
  if nested and budget <= 0 then number = 1 end
  statements[number](self, budget)
end

--- A loop over parallel(n) as text, whose body ends by storing `z` into A[i].
-- @number seed
-- @bool[opt] exact no condition depends on what may be served, and everything is read by name
function M.loop(seed, exact)
  local self = setmetatable({draw = draws.of_number(seed), names = 0, lines = {}, depth = 2,
                             ints = {}, rows = {}, own = {}, exact = exact}, Program)
  for _ = 1, 2 + self:random(3) do self:statement(2) end
  return ([[
for i in parallel(n, options) do
  local z = 0
  do
%s
  end
  ::continue::
  A[i] = z
end]]):format(table.concat(self.lines, "\n"))
end

-- Extents: of the loop, of the vectors, and of the matrix.
local n, m, r, c = 60, 400, 50, 6

--- What the loops read, all of it chosen by the seed; and the generator, for M.change.
function M.world(meissa, seed)
  local draw = draws.whole(draws.of_number(seed + 12345))
  local function whole(count, most)
    local A = meissa.zeros({count}, {type = "int32"})
    for k = 1, count do A[k] = draw(most) end
    return A
  end
  local lists, e = {}, {i = {}, j = {}, v = {}}
  for k = 1, 10 do lists[k] = {draw(m), draw(m)} end
  for k = 1, 150 do e.i[k], e.j[k], e.v[k] = draw(n), draw(m), draw(9) end
  return {
    n = n, m = m, r = r, c = c, idx = whole(n, 500), jdx = whole(n, 500),
    w = meissa.rand({m}, {seed = seed}), v = meissa.rand({m}, {seed = seed + 1}),
    W = meissa.rand({r, c}, {seed = seed + 2}), X = meissa.sparse({n, m}, e),
    A = meissa.zeros {n}, pairs_of = lists, f = function(j) return j * 3 + 1 end,
  }, draw
end

--- Changes what the loops read, after the first pass more than after others.
function M.change(env, pass, draw)
  if pass == 1 then
    env.w[draw(m)] = draw(100)
    env.v:fill(draw(50))
    env.W[draw(r)]:fill(draw(8))
  else
    for _ = 1, 10 do env.idx[draw(n)] = draw(500) end
    env.f = function(j) return j * 5 + 2 end
  end
end

return M
