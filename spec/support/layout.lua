-- SPDX-License-Identifier: MIT
--- Layout of Lua files: what a formatter would see to. Reads tokens, not lines: texts in strings
-- and comments may look as they like.
local M = {}

local MOST_COLUMNS, MOST_LINES, STEP = 100, 400, 2

local KEYWORDS = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
    return then true until while]]):gmatch "%a+" do
  KEYWORDS[word] = true
end

-- Binary operators that have blanks on both sides. `-` may be a sign, `<` and `>` are seldom
-- anything else, `=` also stands in tables.
local SPACED = {}
for operator in ("= == ~= <= >= < > .. + * / %"):gmatch "%S+" do SPACED[operator] = true end

local OPEN = {["("] = ")", ["{"] = "}", ["["] = "]"}
local CLOSE = {[")"] = true, ["}"] = true, ["]"] = true}

-- Where a long string or comment that begins at `at` ends; nil if none does.
local function long_end(text, at)
  local level = text:match("^%[(=*)%[", at)
  if not level then return nil end
  local _, last = text:find("]" .. level .. "]", at, true)
  return last or #text
end

-- Where a quoted string that begins at `at` ends.
local function quoted_end(text, at)
  local quote, k = text:sub(at, at), at + 1
  while k <= #text and text:sub(k, k) ~= quote do
    k = k + (text:sub(k, k) == "\\" and 2 or 1)
  end
  return k
end

-- The token at `at`: its kind, its last place.
local function token_at(text, at)
  if text:find("^%-%-", at) then
    return "comment", long_end(text, at + 2) or (text:find("\n", at, true) or #text + 1) - 1
  end
  local long = long_end(text, at)
  if long then return "string", long end
  if text:find("^[\"']", at) then return "string", quoted_end(text, at) end
  local _, last = text:find("^[%a_][%w_]*", at)
  if last then return KEYWORDS[text:sub(at, last)] and "keyword" or "name", last end
  _, last = text:find("^0[xX][%w.]+", at)
  if not last then _, last = text:find("^%.?%d[%w.]*", at) end
  if last then
    -- An exponent's sign.
    if text:find("^[eE]$", last) or text:sub(last, last):find "[eE]" and
       not text:find("^0[xX]", at) then
      local _, exponent = text:find("^[+-]%d+", last + 1)
      last = exponent or last
    end
    return "number", last
  end
  _, last = text:find("^%.%.%.?", at)
  if not last then _, last = text:find("^[=~<>]=", at) end
  if not last then _, last = text:find("^::", at) end
  return "symbol", last or at
end

--- The tokens of a text: {kind =, text =, line =, column = (from 1), first = (whether it is its
-- line's), at =, last = (places in the text)}, without comments.
function M.tokens(text)
  local tokens, line, line_at, at, fresh = {}, 1, 1, 1, true
  if text:sub(1, 2) == "#!" then at = text:find("\n", 1, true) or #text + 1 end
  while at <= #text do
    local letter = text:sub(at, at)
    if letter == "\n" then
      line, line_at, fresh, at = line + 1, at + 1, true, at + 1
    elseif letter:find "%s" then
      at = at + 1
    else
      local kind, last = token_at(text, at)
      local own = text:sub(at, last)
      if kind ~= "comment" then
        tokens[#tokens + 1] = {kind = kind, text = own, line = line, column = at - line_at + 1,
                               first = fresh, at = at, last = last}
      end
      fresh = false
      for place in own:gmatch "\n()" do line, line_at = line + 1, at + place - 1 end
      at = last + 1
    end
  end
  return tokens
end

-- Whether an expression or statement may end with this token.
local function may_end(token)
  if not token then return true end
  if token.kind == "keyword" then
    return not ({["and"] = 1, ["or"] = 1, ["not"] = 1, ["return"] = 1, ["local"] = 1, ["in"] = 1,
                 ["until"] = 1, ["if"] = 1, ["elseif"] = 1, ["while"] = 1, ["for"] = 1,
                 ["function"] = 1, ["goto"] = 1})[token.text]
  end
  if token.kind ~= "symbol" then return true end
  return CLOSE[token.text] or token.text == ";" or token.text == "..." or token.text == "::"
end

local INSIDE = {["and"] = true, ["or"] = true, ["not"] = true, ["then"] = true, ["do"] = true,
                ["in"] = true, ["nil"] = true, ["true"] = true, ["false"] = true}

-- Whether a token that is the first of its line begins a statement, outside of brackets.
local function begins(token, before)
  local word = token.kind == "name" or token.text == "::" or
    token.kind == "keyword" and not INSIDE[token.text]
  return word and may_end(before)
end

local HEADS = {["if"] = true, ["for"] = true, ["while"] = true, ["function"] = true,
               ["repeat"] = true}
local MIDDLES = {["else"] = true, ["elseif"] = true, ["until"] = true, ["end"] = true}

-- Opens and closes blocks and brackets. A block's `outer` column is that of the line that its head
-- is on; of a function on a further line of a statement perhaps that of the statement.
local function step(blocks, token, column)
  local block, word = blocks[#blocks], token.kind == "keyword" and token.text
  if word == "do" and block.waits_for_do then
    block.waits_for_do = false
  elseif word and (HEADS[word] or word == "do") then
    blocks[#blocks + 1] = {outer = column, other = block.statement, brackets = 0,
                           waits_for_do = word == "for" or word == "while"}
  elseif word == "end" or word == "until" then
    blocks[#blocks] = nil
  elseif token.kind == "symbol" and OPEN[token.text] then
    block.brackets = block.brackets + 1
  elseif token.kind == "symbol" and CLOSE[token.text] then
    block.brackets = block.brackets - 1
  end
end

-- Indentation: a statement stands STEP behind its block's head; `else`, `end` and their like stand
-- below the head.
local function check_blocks(tokens, fault)
  local blocks, columns = {{outer = 1 - STEP, brackets = 0}}, {}
  for k, token in ipairs(tokens) do
    local block, before = blocks[#blocks], tokens[k - 1]
    -- A line that begins inside of a string belongs to the one where that begins.
    local above = before and before.text:find "\n" and columns[before.line]
    columns[token.line] = columns[token.line] or above or token.column
    if token.first and block.brackets == 0 and begins(token, before) then
      local inner = token.kind == "keyword" and MIDDLES[token.text] and 0 or STEP
      if not block.statement and block.other and token.column == block.other + inner then
        block.outer = block.other
      end
      block.statement = block.outer + inner
      if token.column ~= block.statement then
        fault(token.line, "'%s' is indented by %d, not by %d", token.text, token.column - 1,
              block.statement - 1)
      end
    end
    step(blocks, token, columns[token.line])
  end
end

-- Blanks around operators, but for sums and products in subscripts (A[i+1]), and behind commas;
-- none inside of parentheses.
local function check_blanks(tokens, fault)
  local brackets = {}
  for k, token in ipairs(tokens) do
    if OPEN[token.text] then brackets[#brackets + 1] = token.text end
    if CLOSE[token.text] then brackets[#brackets] = nil end
    local subscript = brackets[#brackets] == "[" and token.text:find "^[+*/%%]$"
    local before, after = tokens[k - 1], tokens[k + 1]
    local left = before and before.line == token.line and token.at - before.last - 1
    local right = after and after.line == token.line and after.at - token.last - 1
    if token.kind == "symbol" and SPACED[token.text] and not subscript then
      if left == 0 or right == 0 then fault(token.line, "no blanks around '%s'", token.text) end
    elseif token.text == "," or token.text == ";" then
      if left and left > 0 then fault(token.line, "a blank before '%s'", token.text) end
      if right == 0 then fault(token.line, "no blank behind '%s'", token.text) end
    elseif token.text == "(" and right and right > 0 then
      fault(token.line, "a blank behind '('")
    elseif token.text == ")" and left and left > 0 and not token.first then
      fault(token.line, "a blank before ')'")
    end
  end
end

-- What may follow a module's name where the module is used at once.
local USED = {["."] = true, [":"] = true, ["["] = true, ["("] = true}

-- `require "name"`, and with parentheses where the module is used in the same expression.
local function check_requires(tokens, fault)
  for k, token in ipairs(tokens) do
    local before, first, second, behind = tokens[k - 1], tokens[k + 1], tokens[k + 2], tokens[k + 4]
    local call = token.text == "require" and token.kind == "name" and first and second
      and not (before and (before.text == "." or before.text == ":"))
    if call and first.text == "(" and second.kind == "string" and tokens[k + 3].text == ")" and
       not (behind and (USED[behind.text] or behind.kind == "string")) then
      fault(token.line, "parentheses around the name of a required module")
    elseif call and first.kind == "string" and USED[second.text] then
      fault(token.line, "no parentheses around the name of a module that is used at once")
    end
  end
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n?" do lines[#lines + 1] = line end
  lines[#lines] = nil -- behind the last newline
  return lines
end

-- Which lines begin inside a long string.
local function inside_strings(tokens)
  local inside = {}
  for _, token in ipairs(tokens) do
    local line = token.line
    for _ in token.text:gmatch "\n" do
      line = line + 1
      inside[line] = true
    end
  end
  return inside
end

local function check_lines(lines, inside, fault)
  local empty = 0
  for k, line in ipairs(lines) do
    if #line > MOST_COLUMNS then fault(k, "%d columns", #line) end
    if line:find "\r" then fault(k, "a carriage return") end
    if not inside[k] then
      if line:find "\t" then fault(k, "a tab") end
      if line:find "%s$" then fault(k, "blanks at the end") end
      empty = line == "" and empty + 1 or 0
      if empty > 1 then fault(k, "two empty lines") end
    end
  end
end

-- Functions of several lines at the left edge: an empty line between them and the next function, or
-- what is said of it.
local function check_functions(lines, inside, fault)
  local open = false
  for k, line in ipairs(lines) do
    local head = not inside[k] and (line:find "^local function" or line:find "^function")
    if head and not line:find "%f[%w]end%)*$" then open = true end
    if open and not inside[k] and line:find "^end" then
      open = false
      local following = lines[k + 1] or ""
      if following:find "^%-%-" or following:find "^local function" or
         following:find "^function" then
        fault(k + 1, "no empty line behind a function")
      end
    end
  end
end

--- What is wrong with the layout of a file's text: {"12: a tab", ...}.
function M.faults(text)
  local faults = {}
  local function fault(line, ...)
    faults[#faults + 1] = line .. ": " .. string.format(...)
  end
  local lines, tokens = lines_of(text), M.tokens(text)
  local inside = inside_strings(tokens)
  local licence = lines[1] and lines[1]:find "^#!" and lines[2] or lines[1]
  if licence ~= "-- SPDX-License-Identifier: MIT" then fault(1, "no licence") end
  if #lines > MOST_LINES then fault(#lines, "more than %d lines", MOST_LINES) end
  if text:sub(-1) ~= "\n" then fault(#lines, "no newline at the end") end
  if lines[#lines] == "" then fault(#lines, "an empty line at the end") end
  check_lines(lines, inside, fault)
  check_functions(lines, inside, fault)
  check_blocks(tokens, fault)
  check_blanks(tokens, fault)
  check_requires(tokens, fault)
  return faults
end

return M
