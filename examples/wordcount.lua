#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Word count: how often each word occurs in a directory of text files. The lines of all files are
-- taken apart on the workers; objects hold the words. With --data it reads a file, a directory or a
-- pattern such as "logs/*.txt" (gz too); without, this project's own manual.
local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"

local parser = run.parser("wordcount.lua", "The commonest words of text files.",
  {test = true, epochs = true, rank = true, seed = true})
parser:option("--top", "How many words to show."):convert(tonumber):default "20"
parser:option("--least", "Least letters of a word."):convert(tonumber):default "4"
parser:option("--save", "Save words and counts to this file.")
local options = run.options(parser)
local least = options.least

local started = meissa.clock()
local words = run.read(meissa.read.lines, options.data or here .. "../docs/*.md", function(line)
  local found = {}
  for word in line:lower():gmatch("%a+") do
    if #word >= least then found[#found + 1] = word end
  end
  return found
end, {flatten = true, type = "object"})

local groups, names = words:group_by(function(word) return word end)
local counts = groups:map(function(list) return #list end)
local seconds, plan = meissa.clock() - started, meissa.last()

local order = {}
for k = 1, #names do order[k] = k end
table.sort(order, function(a, b)
  if counts[a] ~= counts[b] then return counts[a] > counts[b] end
  return names[a] < names[b]
end)

local report = run.report(options, {
  {key = "word", title = "word", format = "%s"},
  {key = "count", title = "count", format = "%d"},
})
for k = 1, math.min(options.top, #order) do
  report:row {word = names[order[k]], count = counts[order[k]]}
end
if options.save then meissa.save(options.save, {names = names, counts = counts}) end
report:summary({
  words = words:size(1), distinct = #names, seconds = seconds,
  updates_per_second = words:size(1) / seconds,
}, plan)
if not options.json then
  print(("\n%d words, %d different ones, in %.2f s on %d workers"):format(words:size(1), #names,
    seconds, meissa.workers().workers))
end
