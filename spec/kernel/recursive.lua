-- SPDX-License-Identifier: MIT
-- Random functions that call themselves and each other, and a loop that calls them. Used by
-- spec/kernel/recursion_spec.lua.
local M = {}

-- What a function of each kind gives.
local KINDS = { "number", "number", "pair", "boolean", "maybe" }

local Generator = {}
Generator.__index = Generator

function Generator:pick(list) return list[self.random(#list)] end

function Generator:chance(percent) return self.random(100) <= percent end

-- A call of a function of this kind, one step further down; nil if there has been enough.
function Generator:call(kind)
  local fits = {}
  for _, fn in ipairs(self.functions) do
    if fn.kind == kind then fits[#fits + 1] = fn end
  end
  if self.calls <= 0 or #fits == 0 then return nil end
  self.calls = self.calls - 1
  local fn = self:pick(fits)
  local less = self:chance(80) and "n - 1" or "n - 2"
  if self:chance(5) then return ("%s(%s, %s)"):format(fn.name, less, self:number(1)) end
  return ("%s(%s, %s, %s)"):format(fn.name, less, self:number(1), self:number(1))
end

local function place(limit, text) return ("%s %% %d + 1"):format(text, limit) end

-- `y` is nil where a call left it out.
function Generator:leaf()
  local n = self.random(9)
  if n == 1 then return self:pick { "0", "1", "-0.5", "3.25", "7", "1e-3", "2^31" } end
  if n <= 3 then return "n" end
  if n == 4 then return ("W[%s]"):format(place(20, "n")) end
  if n == 5 then return ("K[%s]"):format(place(9, self:chance(70) and "n" or "n * n")) end
  if n == 6 then return "rate" end
  if n == 7 then return self.faulty and "y" or "(y or 2)" end
  if n == 8 and #self.inner > 0 then
    return ("%s(%s)"):format(self:pick(self.inner), self:pick { "n % 4", "n % 3", "x % 2" })
  end
  return self:pick(self.locals)
end

function Generator:number(depth)
  if depth <= 0 then return self:leaf() end
  local kind = self.random(14)
  local function sub() return self:number(depth - 1) end
  if kind <= 4 then return ("(%s %s %s)"):format(sub(), self:pick { "+", "-", "*" }, sub()) end
  if kind == 5 then return ("(%s / %s)"):format(sub(), self:pick { "4", "3", "(n * n + 1)" }) end
  if kind == 6 then return ("(%s %% %s)"):format(sub(), self:pick { "7", "-3", "2.5" }) end
  if kind == 7 then return ("-(%s)"):format(self:leaf()) end
  if kind == 8 then
    return ("math.%s(%s)"):format(self:pick { "floor", "abs", "ceil" }, sub())
  end
  if kind == 9 then return ("math.%s(%s, %s)"):format(self:pick { "max", "min" }, sub(), sub()) end
  if kind == 10 then
    return ("bit.%s((%s) %% 4096, %s)"):format(self:pick { "band", "bxor", "lshift", "bor" },
      sub(), self:pick { "n", "5", "255" })
  end
  if kind == 11 then return ("(%s and %s or %s)"):format(self:boolean(depth - 1), sub(), sub()) end
  if kind == 12 then
    local maybe = self:call("maybe")
    return maybe and ("(%s or %s)"):format(maybe, sub()) or sub()
  end
  return self:call("number") or sub()
end

function Generator:boolean(depth)
  local kind = self.random(depth <= 0 and 3 or 7)
  if kind == 1 then return "flag" end
  if kind <= 3 then
    return ("%s %s %s"):format(self:leaf(), self:pick { "<", ">", "<=", ">=", "==", "~=" },
      self:leaf())
  end
  if kind == 4 then return ("not (%s)"):format(self:boolean(depth - 1)) end
  if kind == 5 then
    return ("(%s %s %s)"):format(self:boolean(depth - 1), self:pick { "and", "or" },
      self:boolean(depth - 1))
  end
  return self:call("boolean") or self:boolean(depth - 1)
end

-- `return` of a kind; often with a call at its end.
function Generator:give(kind)
  local call = self:chance(40) and self:call(kind)
  if call then return "return " .. call end
  if kind == "number" then return "return " .. self:number(3) end
  if kind == "boolean" then return "return " .. self:boolean(2) end
  if kind == "maybe" then
    return self:pick { "return", "return nil", "return " .. self:number(2) }
  end
  local pair = self:chance(40) and self:call("number")
  return ("return %s, %s"):format(self:number(2), pair or self:number(1))
end

-- A function of the function, which sees its variables, and may call itself.
function Generator:inside()
  local calls, name = self.calls, "h" .. #self.inner
  self.calls = 0
  local text = ("local function %s(a) return a * %s end"):format(name, self:number(1))
  if self:chance(60) then
    text = ("local function %s(a) if not (a > 0) then return %s end " ..
      "return %s(a - 1) %s %s end"):format(name, self:number(1), name, self:pick { "+", "-", "/" },
      self:number(2))
  end
  self.calls = calls
  self.inner[#self.inner + 1] = name
  return text
end

function Generator:statement(kind)
  local choice = self.random(9)
  if choice == 9 then return self:inside() end
  if choice <= 2 then
    local name = "v" .. #self.locals
    local line = ("local %s = %s"):format(name, self:number(2))
    self.locals[#self.locals + 1] = name
    return line
  end
  if choice == 3 then
    local pair = self:call("pair")
    if not pair then return ("x = %s"):format(self:number(2)) end
    local p, q = "p" .. #self.locals, "q" .. #self.locals
    self.locals[#self.locals + 1], self.locals[#self.locals + 2] = p, q
    return ("local %s, %s = %s"):format(p, q, pair)
  end
  if choice == 4 then return ("x = %s"):format(self:number(2)) end
  if choice == 5 then
    return ("for k = 1, n %% 3 do x = x + k * %s end"):format(self:number(2))
  end
  if choice == 6 and self.faulty and self:chance(50) then
    return self:pick { "if n == 1 then error(\"down here\") end",
      "x = x + W[n * 7]", "assert(n ~= 2, \"no two\")" }
  end
  return ("if %s then %s else x = %s end"):format(self:boolean(2), self:give(kind),
    self:number(1))
end

function Generator:define(fn)
  self.locals, self.inner, self.calls = { "x" }, {}, 3
  local lines = { ("function %s(n, x, y)"):format(fn.name) }
  local base = { number = "x", boolean = "flag", pair = "x, n", maybe = "x > 0 and n or nil" }
  lines[2] = ("if n <= 0 then return %s end"):format(base[fn.kind])
  for _ = 1, self.random(0, 4) do lines[#lines + 1] = self:statement(fn.kind) end
  lines[#lines + 1] = self:give(fn.kind)
  lines[#lines + 1] = "end"
  return table.concat(lines, "\n")
end

-- Functions of the loop's body that assign its variables.
function Generator:define_in_body(lines)
  self.locals, self.inner, self.calls = { "x", "sum", "v" }, {}, 2
  lines[#lines + 1] = "local n, x, y, sum, v = i % 4, W[i], i, 0, i / 4"
  lines[#lines + 1] = ("local function helper(a) %s = %s return a + sum end"):format(
    self:pick(self.locals), self:number(2))
  lines[#lines + 1] = ("local function own(a, b)\nsum = sum + %s\nif not (a > 0) then " ..
    "return %s end"):format(self:number(2), self:number(1))
  lines[#lines + 1] = ("if %s then v = b end\nreturn %s(own(a - 1, v) %s own(a - 2, sum))\n" ..
    "end"):format(self:boolean(1), self:pick { "", "helper", "-" }, self:pick { "+", "-" })
  lines[#lines + 1] = "out[i][8] = own(n, x) + v - sum + own(1, sum) * x"
end

--- The text of a chunk that gives a function of meissa, which gives the names of the functions and
-- a function that runs the loop with its options, and gives the array that it fills.
-- @bool faulty whether bodies may fail
function M.generate(seed, faulty)
  math.randomseed(seed)
  local self = setmetatable({ random = math.random, functions = {}, faulty = faulty }, Generator)
  local lines = { "local meissa = ...",
    "local parallel, M = meissa.parallel, {}",
    "local W = meissa.rand({20}, {seed = 3})",
    "local K = meissa.zeros({9}, {type = \"int32\"})",
    "for k = 1, 9 do K[k] = k * 7 % 5 - 2 end",
    ("local rate, flag = %s, %s"):format(self:pick { "0.37", "2", "-1.5" },
      self:pick { "true", "false" }) }
  local before = {}
  for n = 1, self.random(2, 4) do
    local name = self:chance(25) and "M.f" .. n or "f" .. n
    if not name:find("%.") then before[#before + 1] = name end
    self.functions[n] = { name = name, kind = KINDS[n == 1 and 1 or self.random(#KINDS)] }
  end
  if #before > 0 then lines[#lines + 1] = "local " .. table.concat(before, ", ") end
  for _, fn in ipairs(self.functions) do lines[#lines + 1] = self:define(fn) end
  lines[#lines + 1] = "return function(options)\nlocal out = meissa.zeros({8, 8})\n" ..
    "for i in parallel(8, options) do"
  for n, fn in ipairs(self.functions) do
    local call = ("%s(i %% 6, W[i], i)"):format(fn.name)
    if fn.kind == "number" then
      lines[#lines + 1] = ("out[i][%d] = %s"):format(n, call)
    elseif fn.kind == "pair" then
      lines[#lines + 1] = ("do local p, q = %s out[i][%d] = p out[i][%d] = q end"):format(call, n,
        n + 4)
    elseif fn.kind == "boolean" then
      lines[#lines + 1] = ("out[i][%d] = %s and 1 or 2"):format(n, call)
    else
      lines[#lines + 1] = ("out[i][%d] = %s or -1"):format(n, call)
    end
  end
  self:define_in_body(lines)
  lines[#lines + 1] = "end\nreturn out\nend"
  return table.concat(lines, "\n") .. "\n"
end

return M
