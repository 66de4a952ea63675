-- SPDX-License-Identifier: MIT
--
-- The Lua text of random loops' bodies.

local affines = require "spec.depend.affine"

local affine_text = affines.text

local M = {}

local function subscript_text(s)
  if s.kind == "opaque" then return ("p[%s]"):format(s.of) end
  if s.kind == "kept" then return s.name end
  if s.kind == "modulo" then return ("(%s) %% %d + %d"):format(affine_text(s.e), s.by, s.plus) end
  if s.kind == "floor" then
    return ("math.floor((%s) / %d) + %d"):format(affine_text(s.e), s.by, s.plus)
  end
  if s.kind == "either" then
    return ("(%s) and %s or %s"):format(s.test.text, affine_text(s.e), affine_text(s.other))
  end
  if s.other then
    return ("math.%s(%s, %s)"):format(s.kind, affine_text(s.e), affine_text(s.other))
  end
  return affine_text(s.e)
end

local function access_text(a)
  local parts = {}
  for k, s in ipairs(a.subscripts) do parts[k] = subscript_text(s) end
  if a.range then
    local lo = affine_text(a.range[1])
    parts[#parts + 1] = ("{%s %+d, %s %+d}"):format(lo, a.range[3], lo, a.range[4])
  end
  if a.range or (a.style == 1 and #parts > 1 and not a.row_of) then
    return a.name .. "[{" .. table.concat(parts, ", ") .. "}]"
  end
  if a.row_of then table.remove(parts, 1) end
  return (a.row_of or a.name) .. "[" .. table.concat(parts, "][") .. "]"
end

local function read_text(a)
  local text = access_text(a) .. (a.row and ":sum()" or "")
  return a.when and ("((%s) and %s or 0)"):format(a.when.text, text) or text
end

-- A numeric loop's head; a band goes no further than another affine end, a wide loop as far as
-- either.
local function head_text(name, range, more)
  local lo = affine_text(range.lo)
  local hi = range.hi and affine_text(range.hi) or ("%s + %d"):format(lo, more)
  local begins, ends = "max", "min"
  if (range.step < 0) ~= (range.wide or false) then begins, ends = ends, begins end
  if range.first then lo = ("math.%s(%s, %s)"):format(begins, lo, affine_text(range.first)) end
  if range.last then hi = ("math.%s(%s, %s)"):format(ends, hi, affine_text(range.last)) end
  return ("for %s = %s, %s%s do"):format(name, lo, hi,
    range.step ~= 1 and ", " .. range.step or "")
end

local write_body -- recursive

-- How each kind of statement is written: writer(statement, add, inner, labels).
local writers = {}

writers["for"] = function(s, add, inner)
  add(head_text(s.name, s, s.step > 0 and s.more or -s.more))
  inner(s.body)
  add "end"
end

writers["if"] = function(s, add, inner)
  add("if " .. s.test.text .. " then")
  inner(s.body)
  while true do
    if s.second then
      add("elseif " .. s.second.text .. " then")
      inner(s.middle)
    end
    local only = s.other and #s.other == 1 and s.other[1]
    if not only or only.kind ~= "if" then break end
    s = only
    add("elseif " .. s.test.text .. " then")
    inner(s.body)
  end
  if s.other then
    add "else"
    inner(s.other)
  end
  add "end"
end

function writers.section(s, add, inner)
  add(s.called and ("local function %s()"):format(s.called) or "do")
  inner(s.body)
  add "end"
  if s.called then add(s.called .. "()") end
end

function writers.skip(s, add, _, labels)
  if s.returns then return add(("if %s then return end"):format(s.test.text)) end
  add(("if %s then goto %s end"):format(s.test.text, s.label))
  labels[#labels + 1] = s.label
end

function writers.stop(s, add) add(("if %s then break end"):format(s.test.text)) end

function writers.choice(s, add)
  add(("local %s = %s"):format(s.name, affine_text(s.e)))
  local between = s.between and (" elseif %s then %s = %s"):format(s.between.text, s.name,
    affine_text(s.third)) or ""
  add(("if %s then %s = %s%s%s end"):format(s.choice.text, s.name, affine_text(s.second), between,
    s.other and (" else %s = %s"):format(s.name, affine_text(s.other)) or ""))
end

local FLAGS = { "local %s = %s", "local %s = false if %s then %s = true end",
  "local %s = true if not (%s) then %s = false end", "local %s %s = %s" }

function writers.flag(s, add)
  local text = FLAGS[s.style]
  add(text:format(s.name, s.style == 4 and s.name or s.test.text, s.style == 4 and s.test.text or
    s.name))
end

function writers.row(s, add)
  local array, of = s.array .. "[%s]", s.of
  local text = array:format(subscript_text(of))
  if of.kind == "either" and s.style == 1 then
    text = ("(%s) and %s or %s"):format(of.test.text, array:format(affine_text(of.e)),
      array:format(affine_text(of.other)))
  end
  add(("local %s = %s"):format(s.name, text))
end

function writers.reset(s, add) add(("%s = %s"):format(s.name, affine_text(s.e))) end

writers["local"] = function(s, add) add(("local %s = %s"):format(s.name, affine_text(s.e))) end
writers.counter = writers["local"]

function writers.step(s, add)
  local text = ("%s %s %d"):format(s.name, s.by > 0 and "+" or "-", math.abs(s.by))
  if s.style == 2 and s.by > 0 then text = ("%d + %s"):format(s.by, s.name) end
  add(s.name .. " = " .. text)
end

function writers.assign(s, add)
  local reads = {}
  for k, a in ipairs(s.from) do reads[k] = read_text(a) end
  local value = #reads > 0 and table.concat(reads, " + ") or "1"
  add(s.read_only and "local unused = " .. value
    or s.to.row and ("%s:fill(%s)"):format(access_text(s.to), value)
    or ("%s = %s"):format(access_text(s.to), value))
end

function write_body(body, lines, indent)
  local labels = {}
  local function add(text) lines[#lines + 1] = ("  "):rep(indent) .. text end
  local function inner(block) write_body(block, lines, indent + 1) end
  for _, s in ipairs(body) do writers[s.kind](s, add, inner, labels) end
  for _, label in ipairs(labels) do add("::" .. label .. "::") end
end

--- Adds a body's lines to `lines`.
M.body = write_body

--- The head of a collapsed inner loop.
function M.collapsed(name, range) return head_text(name, range, range.step * range.more) end

return M
