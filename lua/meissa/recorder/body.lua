-- SPDX-License-Identifier: MIT
--- A loop's body as a function of its indices, made from the loop's text.
--
-- Every name that the body captures becomes a global of the function, so that an environment can
-- watch it. Loops that are taken in by `collapse` become functions that give their bounds.
-- @module meissa.recorder.body

local M = {}

-- Where the `do` of a numeric for's header ends that begins at `at`; nil for what this does not
-- understand (a function among the bounds).
local function find_do(text, at)
  while at <= #text do
    local equals = text:match("^%-%-%[(=*)%[", at)
    local bracket = text:match("^%[(=*)%[", at)
    local quote = text:match("^['\"]", at)
    local word = text:match("^[%a_][%w_]*", at)
    if equals or bracket then
      local _, last = text:find("]" .. (equals or bracket) .. "]", at, true)
      at = last
    elseif text:find("^%-%-", at) then
      at = text:find("\n", at, true)
    elseif quote then
      local last = at
      repeat
        last = text:find(quote, last + 1, true)
      until not last or text:sub(last - 1, last - 1) ~= "\\"
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
    at = text:match("^%s*()", at)
    if text:find("^%-%-%[%[", at) then
      at = select(2, text:find("]]", at, true)) + 1
    elseif text:find("^%-%-", at) then
      at = text:find("\n", at, true) or #text
    end
  until at == before
  local name, bounds_at = text:match("^for%s+([%a_][%w_]*)%s*=()", at)
  local last = text:match("()end[%s;]*$")
  local stop = name and find_do(text, bounds_at)
  if not stop or not last then return nil end
  return name, text:sub(bounds_at, stop - 1), stop + 2, last - 1
end

-- The names of the loop's variables, as its header has them.
local function names_of(record)
  local info, text = record.info, record.source
  local header = text:sub(info.begin, info.body_begin - 1)
  local list = info.closure_form and header:match("function%s*%(([%w_%s,]*)%)")
    or header:match("^for%s+([%a_][%w_%s,]*)%s+in[%s%p]")
  if not list then return nil end
  local names = {}
  for name in list:gmatch("[%a_][%w_]*") do names[#names + 1] = name end
  return names
end

local function lines_before(text, position)
  return select(2, text:sub(1, position - 1):gsub("\n", "\n"))
end

local function compile(record, env, position, names, text)
  local source = ("%sreturn function(%s) %s\nend"):format(
    ("\n"):rep(lines_before(record.source, position)), table.concat(names, ", "), text)
  local chunk = loadstring(source, "=" .. record.file)
  if not chunk then return nil end
  setfenv(chunk, env)
  return chunk()
end

--- Makes the body of a loop.
-- @tab record the loop (see meissa.loop)
-- @number collapse how many nested loops are one
-- @tab env the function's globals
-- @treturn table {run = body(indices...), bounds = {[d] = a function of the outer indices that
-- gives first, last and step}}, or nil where the text cannot be taken apart
function M.make(record, collapse, env)
  local info = record.info
  local text, position = record.source:sub(info.body_begin, info.body_finish), info.body_begin
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
    text, position = text:sub(first, last), position + first - 1
  end
  made.run = compile(record, env, position, names, text)
  return made.run and made or nil
end

return M
