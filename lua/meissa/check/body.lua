-- SPDX-License-Identifier: MIT
--- A loop's body as a function of its indices, made from the loop's text.
--
-- Every name that the body captures becomes a global of the function, so that an environment can
-- watch it. Loops that are taken in by `collapse` become functions that give their bounds.
-- @module meissa.check.body

local M = {}

-- Where the `do` of a numeric for's header ends that begins at `at`; nil for what this does not
-- understand (a function among the bounds).
local function find_do(text, at)
  while at <= #text do
    local equals = string.match(text, "^%-%-%[(=*)%[", at)
    local bracket = string.match(text, "^%[(=*)%[", at)
    local quote = string.match(text, "^['\"]", at)
    local word = string.match(text, "^[%a_][%w_]*", at)
    if equals or bracket then
      local _, last = string.find(text, "]" .. (equals or bracket) .. "]", at, true)
      at = last
    elseif string.find(text, "^%-%-", at) then
      at = string.find(text, "\n", at, true)
    elseif quote then
      local last = at
      repeat
        last = string.find(text, quote, last + 1, true)
      until not last or string.sub(text, last - 1, last - 1) ~= "\\"
      at = last
    elseif word == "do" then
      return at
    elseif word == "function" then
      return nil
    elseif word then
      at = at + #word - 1
    end
    if not at then return nil end
    at = at + 1
  end
end

-- Takes a perfectly nested numeric loop apart: its index, its bounds, and the places of its body.
local function peel(text)
  local at = 1
  repeat
    local before = at
    at = string.match(text, "^%s*()", at)
    if string.find(text, "^%-%-%[%[", at) then
      at = select(2, string.find(text, "]]", at, true)) + 1
    elseif string.find(text, "^%-%-", at) then
      at = string.find(text, "\n", at, true) or #text
    end
  until at == before
  local name, bounds_at = string.match(text, "^for%s+([%a_][%w_]*)%s*=()", at)
  local last = string.match(text, "()end[%s;]*$")
  local stop = name and find_do(text, bounds_at)
  if not stop or not last then return nil end
  return name, string.sub(text, bounds_at, stop - 1), stop + 2, last - 1
end

-- The names of the loop's variables, as its header has them.
local function names_of(record)
  local info, text = record.info, record.source
  local header = string.sub(text, info.begin, info.body_begin - 1)
  local list = info.closure_form and string.match(header, "function%s*%(([%w_%s,]*)%)")
    or string.match(header, "^for%s+([%a_][%w_%s,]*)%s+in[%s%p]")
  if not list then return nil end
  local names = {}
  for name in string.gmatch(list, "[%a_][%w_]*") do names[#names + 1] = name end
  return names
end

local function lines_before(text, position)
  return select(2, string.gsub(string.sub(text, 1, position - 1), "\n", "\n"))
end

local function compile(record, env, position, names, text)
  local source = string.format("%sreturn function(%s) %s\nend",
    string.rep("\n", lines_before(record.source, position)), table.concat(names, ", "), text)
  local chunk = loadstring(source, "=" .. record.file)
  if not chunk then return nil end
  setfenv(chunk, env)
  return chunk()
end

--- Makes the body of a loop.
-- @tab record the loop (see meissa.driver.record)
-- @number collapse how many nested loops are one
-- @tab env the function's globals
-- @treturn table {run = body(indices...), bounds = {[d] = a function of the outer indices that
-- gives first, last and step}}, or nil where the text cannot be taken apart
function M.make(record, collapse, env)
  local info = record.info
  local text, position = string.sub(record.source, info.body_begin, info.body_finish),
    info.body_begin
  local names = names_of(record)
  if not names then return nil end
  local made = {bounds = {}}
  for _ = 2, collapse do
    local name, bounds, first, last = peel(text)
    if not name then return nil end
    local fn = compile(record, env, position, names, "return " .. bounds)
    if not fn then return nil end
    names[#names + 1] = name
    made.bounds[#names] = fn
    text, position = string.sub(text, first, last), position + first - 1
  end
  made.run = compile(record, env, position, names, text)
  return made.run and made or nil
end

return M
