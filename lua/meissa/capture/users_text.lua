-- SPDX-License-Identifier: MIT
--- Users' texts behind kernels' texts: what is said of a loop that runs in the body of another one,
-- whose text is a kernel's, is said in the words that the user has written.
--
-- A kernel's text has the user's lines, copied but for what had to change (see
-- csrc/kernel/emit/emit.h): so a line's tokens are those of the user's line with some put in, taken
-- out or replaced, and the longest sequence that both have tells where a place is in the other.
-- @module meissa.capture.users_text

local source_text = require "meissa.capture.source_text"
local tables = require "meissa.base.tables"

local M = {}

-- Longer lines are not compared.
local MOST_TOKENS = 600

local Users = {}
Users.__index = Users

--- What the user has written in the place of a kernel's text; nil if that is not known.
-- @tab info of the kernel: `prefix` of generated names, `captures`, `lines`, `line`
function M.of(info)
  if not info.lines then return nil end
  return setmetatable({info = info}, Users)
end

--- Words in which captured values, and the elements of captured arrays, have the names that the
-- user has for them.
function M.words(info, words)
  return (string.gsub(words, "%f[%w_]" .. info.prefix .. "[cp](%d+)%f[^%w_]", function(number)
    local capture = info.captures[tonumber(number)]
    return capture and capture.path
  end))
end

-- A line of the user's text, or nil.
local function line_here(self, number)
  return source_text.line(self.info.lines, number - self.info.line + 1)
end

-- The tokens of a line: {text =, first = column, last = column}.
local function tokens_of(line)
  local list, at = {}, 1
  while true do
    local first, last = string.find(line, "^[%w_]+", at)
    if not first then first, last = string.find(line, "^%S", at) end
    if first then
      list[#list + 1] = {text = string.sub(line, first, last), first = first, last = last}
      at = last + 1
    else
      at = string.find(line, "%S", at)
      if not at then return list end
    end
  end
end

-- For each token of one list the number of the one that is the same in the other: the longest
-- common subsequence; nil for those that are not in it.
local function match(a, b)
  local longest = {}
  for i = #a + 1, 1, -1 do
    longest[i] = {}
    for j = #b + 1, 1, -1 do
      if i > #a or j > #b then
        longest[i][j] = 0
      elseif a[i].text == b[j].text then
        longest[i][j] = longest[i + 1][j + 1] + 1
      else
        longest[i][j] = math.max(longest[i + 1][j], longest[i][j + 1])
      end
    end
  end
  local found, i, j = {}, 1, 1
  while i <= #a and j <= #b do
    if a[i].text == b[j].text then
      found[i], i, j = j, i + 1, j + 1
    elseif longest[i + 1][j] >= longest[i][j + 1] then
      i = i + 1
    else
      j = j + 1
    end
  end
  return found
end

-- The numbers of the user's tokens that stand for tokens first..last of the text's.
local function range_of(found, first, last, count, most)
  local from, to = first, last
  while from > 0 and not found[from] do from = from - 1 end
  while to <= count and not found[to] do to = to + 1 end
  local begin = from == first and found[from] or (found[from] or 0) + 1
  local finish = to == last and found[to] or (found[to] or most + 1) - 1
  begin = math.max(1, math.min(begin, most))
  return begin, math.max(begin, math.min(finish, most))
end

-- A place of the kernel's text, {line =, column =, end_column =, text =}, as one of the user's,
-- with the columns there.
local function users_place(self, text, place)
  if not place then return nil end
  local made, own = source_text.line(text, place.line), line_here(self, place.line)
  if not (made and own) then return place end
  local a, b = tokens_of(made), tokens_of(own)
  if #a > MOST_TOKENS or #b > MOST_TOKENS or #b == 0 then return place end
  local first, last
  for i, token in ipairs(a) do
    if token.last >= place.column and token.first < place.end_column then
      first, last = first or i, i
    end
  end
  if not first then return place end
  local begin, finish = range_of(match(a, b), first, last, #a, #b)
  return {line = place.line, column = b[begin].first, end_column = b[finish].last + 1,
          does = place.does, text = string.sub(own, b[begin].first, b[finish].last)}
end

-- A plan whose reasons are where the user's text has them.
local function users_plan(self, plan, context)
  local reasons = {}
  for r, reason in ipairs(plan.reasons) do
    reasons[r] = tables.copy(reason)
    reasons[r].first = users_place(self, context.source, reason.first)
    reasons[r].second = users_place(self, context.source, reason.second)
  end
  return setmetatable({reasons = reasons}, {__index = plan})
end

--- A report of a plan in the user's words.
-- @func write gives its lines @tab plan of the kernel's text
-- @tab context of meissa.plan.report, for that
function Users:report(write, plan, context)
  local own = tables.copy(context)
  function own.source(number) return line_here(self, number) end
  local lines = write(users_plan(self, plan, context), own)
  return M.words(self.info, table.concat(lines, "\n"))
end

return M
