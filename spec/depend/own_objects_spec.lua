-- SPDX-License-Identifier: MIT
--
-- Objects that a loop's body makes of captured classes: what their methods store into them is the
-- iteration's own, and whatever their methods store elsewhere would be lost on a worker, so the
-- loop is refused. Compared with the plain loop.
local kept_workers = require "spec.support.kept_workers"
local meissa = require "meissa"
local plain = require "spec.support.plain"

local N = 12

-- Around a body that uses `i` and `A`: classes, tables, and what they hold after the loop.
local HEAD = [[
local parallel, A, N = ...
local count, log = 0, {n = 0, list = {}}
local function note(t) t.n = t.n + 1 return t end
local function shared() return log end
local C = {total = 0} C.__index = C
function C.new(n) return setmetatable({n = n, list = {}}, C) end
function C:add(i) self.n = (self.n or 0) + i return self end
function C:push(x) self.list[#self.list + 1] = x return #self.list end
function C:attach(t) self.t = t return self end
function C:mark(i) self.t.n = self.t.n + i return i end
function C:peak(x)
  for k = 1, #self.list do if self.list[k] > x then x = self.list[k] end end
  self.n = x
  return x
end
]]

local TAIL = [[
for i in parallel(N) do local o = setmetatable({}, C) BODY end
return count, log.n, #log.list, C.total, rawget(C, "n"), rawget(C, "other")
]]

-- Runs a program, as it is and by meissa: results and what is in the array; or the error.
local function run(class, body, parallel)
  local A = meissa.zeros(N)
  local text = HEAD .. class .. "\n" .. TAIL:gsub("BODY", function() return body end)
  local chunk = assert(loadstring(text))
  local ok, err = pcall(function() return { chunk(parallel, A, N) } end)
  return ok and { err, A:totable() } or err
end

-- What loses a store: a class's part, and a body.
local LOST = {
  ["a variable"] = {
    "function C:put(i) count = count + i self.x = i return i end", "A[i] = o:put(i)" },
  ["a variable's table"] = { "function C:put(i) log.n = log.n + i self.x = i return i end",
    "A[i] = o:put(i)" },
  ["the class"] = { "function C:put(i) C.total = C.total + i self.x = i return i end",
    "A[i] = o:put(i)" },
  ["the class, by a literal"] = { "function C:put(i) C.total = C.total + i self.x = i end",
    "setmetatable({}, {__index = C}):put(i)" },
  ["a table of the class"] = { "C.log = {n = 0} function C:put(i) self.log.n = i return i end",
    "A[i] = o:put(i)" },
  ["a list of the class"] = { "C.all = {} function C:put(i) self.all[#self.all + 1] = i end",
    "o:put(i)" },
  ["an object of the class"] = { "C.one = C.new(1)", "A[i] = o.one:add(i).n" },
  ["the class by __index"] = {
    "function C:put(i) self.__index.total = i self.x = i end", "o:put(i)" },
  ["the class by its metatable"] = {
    "function C:put(i) getmetatable(self).total = i self.x = i end", "o:put(i)" },
  ["an upvalue or the object"] = {
    "function C:put(i) local t = i > 3 and log or self t.n = i end", "o:put(i)" },
  ["an upvalue after the object"] = { "function C:put(i) local t = self " ..
    "for k = 1, 2 do t.n = i t = log end end", "o:put(i)" },
  ["an upvalue by a condition"] = {
    "function C:put(i) local t if i > 3 then t = log else t = self end t.n = i end", "o:put(i)" },
  ["an argument of a function"] = { "function C:put(i) note(log) self.x = i end", "o:put(i)" },
  ["an element of pairs"] = {
    "local all = {log} function C:put(i) for _, t in pairs(all) do t.n = i end self.x = i end",
    "o:put(i)" },
  ["an element of next"] = {
    "local all = {log} function C:put(i) for _, t in next, all do t.n = i end self.x = i end",
    "o:put(i)" },
  ["what a function gives"] = { "function C:put(i) shared().n = i self.x = i end", "o:put(i)" },
  ["what a function gives on"] = { "function C:put(i) note(shared()) end", "o:put(i)" },
  ["what was kept"] = { "function C:put(i) self.t = log self.t.n = i end", "o:put(i)" },
  ["what a table holds"] = { "function C:put(i) local t = {log} t[1].n = i self.x = i end",
    "o:put(i)" },
  ["what a closure holds"] = {
    "function C:put(i) local t = log local function f() t.n = i end f() self.x = i end",
    "o:put(i)" },
  ["what a closure gets later"] = {
    "function C:put(i) local t local function f() t.n = i end t = log f() self.x = i end",
    "o:put(i)" },
  ["what insert gets"] = {
    "function C:put(i) table.insert(log.list, i) self.x = i end", "o:put(i)" },
  ["what rawset gets"] = { "function C:put(i) rawset(log, 'n', i) self.x = i end", "o:put(i)" },
  ["what assert gives"] = { "function C:put(i) assert(log).n = i self.x = i end", "o:put(i)" },
  ["what is given"] = { "function C:put(t) t.n = 7 self.x = 1 end", "o:put(log)" },
  ["what was given before"] = { "", "o:attach(log) o:mark(i)" },
  ["what was given to a function"] = { "", "o.attach(o, log) A[i] = o:mark(i)" },
  ["what pcall gives"] = { "", "pcall(o.attach, o, log) A[i] = o:mark(i)" },
  ["what the body puts there"] = { "", "o.t = log A[i] = o:mark(i)" },
  ["what the body puts in a table"] = { "", "local t = {t = log} A[i] = C.mark(t, i)" },
  ["the class, in the body"] = { "", "o.__index.total = i" },
  ["the class, by getmetatable in the body"] = { "", "getmetatable(o).total = i" },
  ["another class's table"] = { [[
    local D = {log = {n = 0}} D.__index = D
    function D:put(i) self.log.n = i self.x = i end
    function C:part(i) self.part = setmetatable({}, D) self.part:put(i) return D.log.n end]],
    "A[i] = o:part(i)" },
  ["a base class's table"] = { [[
    local B = {log = log} B.__index = B
    function B:put(i) self.log.n = i self.x = i end
    setmetatable(C, B)]], "o:put(i)" },
}

-- What is the iteration's own.
local OWN = {
  ["fields"] = { "", "A[i] = o:add(i):add(2).n" },
  ["fields that the body stores"] = { "", "o.n = 3 o:add(i) A[i] = o.n" },
  ["a constructor"] = { "", "A[i] = C.new(i):add(2).n" },
  ["its own lists"] = { "", "local s = C.new(0) s:push(i) A[i] = s:push(2) + s.list[1]" },
  ["a literal with __index"] = { "", "A[i] = setmetatable({n = 2}, {__index = C}):add(i).n" },
  ["a derived class"] = { [[
    local D = setmetatable({}, {__index = C}) D.__index = D
    function D:twice(i) self:add(i) self:add(i) return self.n end]],
    "A[i] = setmetatable({n = 1}, D):twice(i)" },
  ["loops in methods"] = { "",
    "local s = C.new(0) for k = 1, i do s:push(k) end A[i] = s:peak(2)" },
  ["objects in objects"] = { [[
    local D = {} D.__index = D
    function D.new(n) return setmetatable({n = n, inner = C.new(n)}, D) end
    function D:step(i) self.inner:add(i) self.n = self.inner.n return self.n end]],
    "local d = D.new(i) d:step(2) A[i] = d:step(3)" },
  ["a search tree"] = { [[
    local T = {} T.__index = T
    function T.new(key) return setmetatable({key = key, size = 1}, T) end
    function T:insert(key)
      self.size = self.size + 1
      local side = key < self.key and "left" or "right"
      if self[side] then self[side]:insert(key) else self[side] = T.new(key) end
    end
    function T:depth()
      local l, r = self.left and self.left:depth() or 0, self.right and self.right:depth() or 0
      return 1 + math.max(l, r)
    end]],
    "local t = T.new(50) for k = 1, i do t:insert(k * 37 % 101) end " ..
    "A[i] = t:depth() * 100 + t.size" },
  ["a linked list"] = { [[
    local L = {} L.__index = L
    function L:push(v) local node = {value = v, next = self.head} self.head = node self.n = v end
    function L:sum() local s, at = 0, self.head while at do s = s + at.value at = at.next end
      self.last = s return s end]],
    "local l = setmetatable({}, L) for k = 1, i do l:push(k) end A[i] = l:sum()" },
  ["settings that methods read"] = { [[
    local settings = {rate = 0.5, steps = {1, 2, 3}}
    function C:step(i) self.n = (self.n or 0) + settings.rate * i
      for k = 1, #settings.steps do self.n = self.n + settings.steps[k] end return self.n end]],
    "A[i] = o:step(i)" },
  ["table.insert into its own"] = {
    "function C:put(x) table.insert(self.list, x) return #self.list end",
    "local s = C.new(0) s:put(i) A[i] = s:put(i)" },
}

-- What makes a class lose a store between two executions of one loop: the class's part, and the
-- change, which `on` asks for.
local CHANGED = {
  ["a method"] = { "local own, outer = function(self, i) self.x = i return i end, " ..
    "function(self, i) log.n = i self.x = i return i end",
    "C.put = on and outer or own" },
  ["a variable"] = { "local t function C:put(i) local at = t or self at.n = i return i end",
    "t = on and log" },
  ["a function"] = { "local function make() return {} end local find = make " ..
    "function C:put(i) find().n = i self.x = i return i end",
    "find = on and shared or make" },
  ["a global"] = { "function C:put(i) local at = own_objects_t or self at.n = i return i end",
    "own_objects_t = on and log" },
  ["the globals"] = { "local env = setmetatable({t = log}, {__index = _G}) " ..
    "function C:put(i) local at = t or self at.n = i return i end",
    "setfenv(C.put, on and env or _G)" },
  ["a field"] = {
    "local s = {} function C:put(i) local at = s.t or self at.n = i return i end",
    "s.t = on and log" },
  ["a field by __index"] = { "local base = {} local s = setmetatable({}, {__index = base}) " ..
    "function C:put(i) local at = s.t or self at.n = i return i end", "base.t = on and log" },
  ["what pairs finds"] = { "local s = {5} function C:put(i) self.n = i for _, at in pairs(s) do " ..
    "if at ~= 5 then at.n = i end end return i end", "s[1] = on and log or 5" },
  ["the class"] = { "function C:put(i) local at = self.t or self at.n = i return i end",
    "C.t = on and log" },
  ["the class's metatable"] = { "function C:put(i) local at = self.t or self at.n = i return i end",
    "setmetatable(C, on and {__index = {t = log}} or nil)" },
  ["another class"] = { "local D = {} D.__index = D " ..
    "function D:put(i) local at = self.t or self at.n = i return i end " ..
    "function C:put(i) self.part = setmetatable({}, D) return self.part:put(i) end",
    "D.t = on and log" },
}

local LOOP = [[
local function pass()
  for i in parallel(N) do local o = setmetatable({}, C) A[i] = o:put(i) end
end
return pass, function(on) CHANGE end
]]

describe("an object that the body makes of a captured class", function()
  teardown(kept_workers.stop)
  after_each(function() kept_workers.init {} end)

  for name, case in pairs(LOST) do
    it("may not store into " .. name, function()
      for _, workers in ipairs { 0, 2 } do
        kept_workers.init { workers = workers }
        local err = run(case[1], case[2], meissa.parallel)
        assert.equal("DEP", err.code or "accepted", tostring(err))
      end
    end)
  end

  for name, case in pairs(OWN) do
    it("keeps " .. name, function()
      local expected = run(case[1], case[2], plain.parallel)
      assert.equal("table", type(expected), tostring(expected))
      assert.is_nil(expected.code)
      for _, workers in ipairs { 0, 1, 2 } do
        kept_workers.init { workers = workers }
        local got = run(case[1], case[2], meissa.parallel)
        assert.is_nil(got.code, tostring(got))
        assert.same(expected, got)
      end
    end)
  end

  for name, case in pairs(CHANGED) do
    it("is judged anew after a change of " .. name, function()
      local text = HEAD .. case[1] .. "\n" .. LOOP:gsub("CHANGE", function() return case[2] end)
      for _, workers in ipairs { 0, 1 } do
        kept_workers.init { workers = workers }
        local A = meissa.zeros(N)
        local pass, change = assert(loadstring(text))(meissa.parallel, A, N)
        for _, on in ipairs { false, false, true, true, false } do
          change(on)
          local ok, err = pcall(pass)
          assert.equal(on and "DEP" or "accepted", ok and "accepted" or err.code, tostring(err))
        end
        assert.equal(N * (N + 1) / 2, A:sum())
      end
    end)
  end
end)
