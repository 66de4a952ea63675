-- SPDX-License-Identifier: MIT
--
-- Random programs whose loop makes objects of captured classes: methods that store into the object,
-- what it holds, what they are given, and, now and then, into tables and variables outside of the
-- loop, by one way or another; classes with bases and parts. A program is a text, made from its
-- number alone; it is given `parallel`, `each`, `zeros` and `list`, and returns lists of numbers.

local random_text = require "spec.support.random_text"

local M = {}

local N = 10 -- iterations, and the extent of the array

local Gen = random_text.class()

-- What methods do with the object alone.
local OWN = {
  "self.n = (self.n or 0) + i", "self.n = i * 2", "self[1] = (self[1] or 0) + i",
  "self.list = self.list or {} self.list[#self.list + 1] = i",
  "self.list = self.list or {} table.insert(self.list, i)",
  "self.t = self.t or {n = 0} self.t.n = self.t.n + i", "self.t = {n = i}",
  "for k = 1, 3 do self.n = (self.n or 0) + k end",
  "local t = {n = i} t.n = t.n + 1 self.n = t.n", "local t = self t.n = i",
  "local t = i > 4 and self or {} t.n = i", "self.n = settings.rate * i",
  "for k = 1, #settings.steps do self.n = (self.n or 0) + settings.steps[k] end",
  "self.part = self.part or Part.new(i) self.part:step(i)",
  "self.next = {next = self.next, n = i}", "note(self)", "self.t = note({n = i})",
  "local at = self.next while at do self.n = at.n at = at.next end",
  "if i > 5 then self.n = 5 else self.n = i end", "rawset(self, 'n', i)",
  "local function f(v) self.n = v end f(i)", "for _, v in ipairs({i, 2}) do self.n = v end",
}

-- What leaves the object, or brings something from outside into it.
local OUTER = {
  "log.n = log.n + i", "count = count + i", "Class.total = Class.total + i", "note(log)",
  "shared().n = i", "note(shared())", "self.t = log", "self.t = all", "local t = log t.n = i",
  "local t = i > 4 and log or self t.n = i", "local t = self for k = 1, 2 do t.n = i t = log end",
  "local t if i > 4 then t = log else t = self end t.n = i", "table.insert(log.list, i)",
  "local t = {log} t[1].n = i", "for _, v in pairs(all) do v.n = i end", "rawset(log, 'n', i)",
  "self.__index.total = i", "getmetatable(self).total = i", "if self.log then self.log.n = i end",
  "do return log end",
  "do return self end", "local t local function f() t.n = i end t = log f()", "assert(log).n = i",
  "self.part = setmetatable({}, Bad) self.part:step(i)", "Class.keep(log, {n = i})",
}

-- What the body does with an object.
local USES = {
  "o:m1(i)", "o:m2(i)", "o:m3(i)", "o:m2(i) o:m1(i)", "o.m1(o, i)", "o:base(i)",
  "pcall(o.m2, o, i)",
  "local f = o.m1 f(o, i)", "o.n = i", "o.t = {n = 1}", "o:m1(2) o.n = i",
  "local p = {o} p[1]:m1(i)",
}
local OUTER_USES = {
  "o.t = log", "o:keep(log)", "o:keep(all)", "local r = o:m1(i) if r then r.n = i end",
  "o.__index.total = i", "getmetatable(o).total = i", "o.keep(o, log)",
  "pcall(o.keep, o, log)",
}

local MAKES = {
  "setmetatable({}, Class)", "setmetatable({n = i}, {__index = Class})", "Class.new(i)",
  "setmetatable({}, Class)", "Class.new(2)",
}

function Gen:method(class, name, rare)
  local body = {}
  for _ = 1, self:random(2) do
    body[#body + 1] = self:chance(rare) and self:pick(OUTER) or self:pick(OWN)
  end
  self:add("function %s:%s(i) %s end", class, name, table.concat(body, " "))
end

--- The text of a program.
-- @number number of the program
function M.text(number)
  local self = random_text.new(Gen, number, {})
  local rare = self:pick { 0, 0, 6, 20 } -- percent of statements that reach outside
  self:add("-- program %d", number)
  self:add("local parallel, each, zeros, list = ...")
  self:add("local A, count, log = zeros(%d), 0, {n = 0, list = {}}", N)
  self:add("local all, settings = {log}, {rate = 2, steps = {1, 2}}")
  self:add("local function note(t) t.n = (t.n or 0) + 1 return t end")
  self:add("local function shared() return log end")
  self:add("local Part = {} Part.__index = Part")
  self:add("function Part.new(n) return setmetatable({n = n}, Part) end")
  self:add("function Part:step(i) self.n = self.n + i end")
  self:add("local Bad = {log = {n = 0}} Bad.__index = Bad")
  self:add("function Bad:step(i) self.log.n = i self.n = 1 end")
  self:add("local Class, Base = nil, {} Base.__index = Base")
  self:method("Base", "base", rare)
  self:add("Class = %s", self:chance(50) and "setmetatable({total = 0}, {__index = Base})"
    or "setmetatable({total = 0}, Base)")
  self:add("Class.__index = Class")
  if self:chance(rare) then self:add("Class.log = {n = 0}") end
  self:add("function Class.new(n) return setmetatable({n = n}, Class) end")
  self:add("function Class:keep(t) self.t = t end")
  for k = 1, 3 do self:method("Class", "m" .. k, rare) end
  self:add("for i in parallel(%d) do", N)
  self:add("  local o = %s", self:pick(MAKES))
  for _ = 1, self:random(3) do
    self:add("  do %s end", self:chance(rare) and self:pick(OUTER_USES) or self:pick(USES))
  end
  self:add("  A[i] = (o.n or -1) + (o.t and o.t.n or 0) * 100 + (o.list and #o.list or 0) * 10000")
  self:add("end")
  self:add("return {{count, log.n, Class.total, Bad.log.n, rawget(Class, 'n') or 0,")
  self:add("  Class.log and Class.log.n or 0, #log.list}, list(A), list(log.list)}")
  return table.concat(self.lines, "\n")
end

return M
