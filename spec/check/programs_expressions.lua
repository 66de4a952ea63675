-- SPDX-License-Identifier: MIT
--
-- Expressions of the random programs in programs_random.lua: subscripts that stay in range,
-- elements, rows, numbers, conditions. A maker has draws, lists of the names that may be used, by
-- what they are, and how alike its subscripts are to be (`tidy`, `stencil`).

local Maker = {}
Maker.__index = Maker

local function plus(text, offset)
  if offset == 0 then return text end
  return ("%s %s %d"):format(text, offset > 0 and "+" or "-", math.abs(offset))
end

-- The first subscript of an array: in a tidy program the same one everywhere, so that more loops
-- are parallel.
function Maker:leading(name, deep)
  if self.stencil then return self:neighbour(1) end
  if not self.tidy or self.rng:chance(5) then return self:subscript(deep) end
  local leading = self.tidy[name]
  if not leading then
    leading = self.rng:pick(self.outer)
    if self.rng:chance(30) then leading = plus(leading, self.rng:int(-2, 2)) end
    if self.opaque and not deep and self.rng:chance(50) then leading = ("p[%s]"):format(leading) end
    self.tidy[name] = leading
  end
  return leading
end

-- The subscript of a stencil: dimension d goes with index d.
function Maker:neighbour(d)
  return plus(self.outer[math.min(d, #self.outer)], self.rng:pick { 0, 0, -1, -1, 1, -2 })
end

-- A subscript; in `deep` arrays only an index with a small offset.
function Maker:subscript(deep)
  local rng, index = self.rng, self.rng:pick(self.indices)
  if deep then return plus(index, rng:int(-2, 2)) end
  local roll = rng:int(1, 100)
  if roll <= 44 then return plus(index, rng:pick { 0, 0, 0, 1, -1, 1, -1, 2, -3, 4 }) end
  if roll <= 58 then return plus("2 * " .. index, rng:int(-2, 4)) end
  if roll <= 64 then return ("%d - %s"):format(rng:int(30, 34), index) end
  if roll <= 74 then
    return plus(("%s + %s"):format(index, rng:pick(self.indices)), rng:int(-3, 3))
  end
  if roll <= 80 then return ("%s %% %d + 1"):format(index, rng:int(2, 5)) end
  if roll <= 85 then return ("math.floor(%s / %d) + 2"):format(index, rng:int(2, 3)) end
  if roll <= 90 and self.opaque then return ("p[%s]"):format(index) end
  if roll <= 94 and self.helpers.at then return ("at(%s)"):format(index) end
  return tostring(rng:int(2, 20))
end

-- An array element, or an element of a local view.
function Maker:element()
  local rng = self.rng
  if #self.views > 0 and rng:chance(40) then
    return ("%s[%s]"):format(rng:pick(self.views), self:subscript())
  end
  local about, subscripts = rng:pick(self.arrays), {}
  subscripts[1] = self:leading(about.name, about.deep)
  for d = 2, about.dims do
    subscripts[d] = self.stencil and self:neighbour(d) or self:subscript(about.deep)
  end
  if about.dims > 1 and rng:chance(30) then
    return ("%s[{%s}]"):format(about.name, table.concat(subscripts, ", "))
  end
  return ("%s[%s]"):format(about.name, table.concat(subscripts, "]["))
end

-- A row: of a matrix, of a range, or a local view.
function Maker:row()
  local rng, matrices = self.rng, {}
  for _, about in ipairs(self.arrays) do
    if about.dims == 2 and about.name ~= "Q" then matrices[#matrices + 1] = about.name end
  end
  if #matrices == 0 or rng:chance(self.tidy and 3 or 15) then
    return #self.rows > 0 and rng:pick(self.rows) or "B"
  end
  local name = rng:pick(matrices)
  local choice = self.tidy and 10 or rng:int(1, 10)
  if choice == 1 then return ("%s[{{1, 36}, %s}]"):format(name, self:subscript()), 36 end
  if choice == 2 then return ("%s:select(2, %s)"):format(name, self:subscript()) end
  return ("%s[%s]"):format(name, self:leading(name))
end

function Maker:number(depth)
  local rng = self.rng
  local roll = rng:int(1, 100)
  if depth <= 0 or roll <= 40 then return self:element() end
  if roll <= 50 then return rng:pick(self.indices) end
  if roll <= 58 and #self.locals > 0 then return rng:pick(self.locals) end
  if roll <= 62 then return tostring(rng:int(1, 9)) end
  if roll <= 66 and self.helpers.get then return ("get(%s)"):format(self:subscript()) end
  if roll <= 67 and self.helpers.near then return ("near(%s)"):format(self:subscript()) end
  if roll <= 69 and self.helpers.model then
    return ("model:%s(%s)"):format(rng:pick { "read", "pick" }, self:subscript())
  end
  if roll <= 70 and self.helpers.mine then return ("mine(%s)"):format(self:number(depth - 1)) end
  if roll <= 74 then return ("%s:sum()"):format((self:row())) end
  if roll <= 76 then
    local row, extent = self:row()
    return ("%s:%s"):format(row, extent and "sum()" or "dot(B)")
  end
  return ("(%s %s %s)"):format(self:number(depth - 1), rng:pick { "+", "-", "+" },
    self:number(depth - 1))
end

-- A number that stays small whatever is stored again and again.
function Maker:value()
  return ("(%s) %% 31"):format(self:number(2))
end

function Maker:condition()
  return ("%s %s %s"):format(self:number(1), self.rng:pick { "<", ">", "==", "~=", "<=" },
    self:number(0))
end

return Maker
