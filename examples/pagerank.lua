#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- PageRank by power iteration: a page's rank is what its readers' ranks give it. With --data it
-- reads a list of edges "from to" (SNAP's files, gz); without, it grows a graph.
package.path = (arg[0]:match("^(.*/)") or "./") .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local parser = run.parser("pagerank.lua", "PageRank of a directed graph.",
  {test = true, rank = true})
parser:option("--damping", "Chance to follow a link."):convert(tonumber):default "0.85"
parser:option("--method", "Loops over pages and edges, or rounds over pages.")
  :choices {"loops", "rounds"}:default "loops"
parser:option("--nodes", "Nodes of the graph to grow."):convert(tonumber):default "20000"
parser:option("--save", "Save the ranks to this file.")
local options = run.options(parser)
local d, engine = options.damping, options.engine

-- Every node links to ten older ones, the oldest the most.
local function grow(nodes)
  local draws, from, to = meissa.rand({nodes, 10}, {seed = options.seed}), {}, {}
  for node = 2, nodes do
    for k = 1, 10 do
      from[#from + 1], to[#to + 1] = node, 1 + math.floor((node - 1) * draws[node][k] ^ 2)
    end
  end
  return meissa.sparse({nodes, nodes}, {i = from, j = to})
end

-- square: the same numbers for rows and columns.
local edges = options.data and run.read(meissa.read.triples, options.data, {square = true}) or
  grow(options.nodes)
local n = edges:size(1)
local links, rank, fresh = meissa.zeros(n), meissa.full(n, 1 / n), meissa.zeros(n)
for i, _ in parallel(edges, {engine = engine}) do links[i] = links[i] + 1 end

local function pass()
  local lost, change = 0, 0
  for i in parallel(n, {engine = engine}) do
    if links[i] == 0 then lost = lost + rank[i] end
  end
  fresh:fill((1 - d + d * lost) / n)
  for i, j in parallel(edges, {engine = engine}) do fresh[j] = fresh[j] + d * rank[i] / links[i] end
  local plan = meissa.last()
  for i in parallel(n, {engine = engine}) do change = change + math.abs(fresh[i] - rank[i]) end
  rank, fresh = fresh, rank
  return change, plan
end

-- The same in rounds: each range of pages takes what is lost, then its own pages' readers.
local function iterate(epochs, report_row)
  local at, change = {i = {}, j = {}}, 0
  for i, j in edges:each() do
    at.i[#at.i + 1], at.j[#at.j + 1] = j, i
  end
  local into = meissa.sparse({n, n}, at)
  for _, lo, hi in meissa.iterate(rank, epochs, {by = "range", engine = engine,
      stop = function(t, _, sums) return report_row(t, sums.change) end}) do
    local lost = 0
    for i = 1, n do
      if links[i] == 0 then lost = lost + rank[i] end
    end
    for j = lo, hi do
      local new = (1 - d + d * lost) / n
      for i in into[j]:nonzeros() do new = new + d * rank[i] / links[i] end
      change = change + math.abs(new - rank[j])
      rank[j] = new
    end
  end
  return meissa.last()
end

local report = run.report(options, {
  {key = "epoch", title = "pass", format = "%d"},
  {key = "change", title = "change", format = "%.3g"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then print("ranking " .. tostring(edges)) end
local total, epoch, change, plan = 0, 0, math.huge, nil
if options.method == "rounds" then
  local started = meissa.clock()
  plan = iterate(options.epochs or 100, function(t, by)
    epoch, change = t, by
    report:row {epoch = t, change = by, seconds = meissa.clock() - started - total}
    total = meissa.clock() - started
    return by <= 1e-10
  end)
  total = meissa.clock() - started
end
while options.method == "loops" and epoch < (options.epochs or 100) and change > 1e-10 do
  epoch = epoch + 1
  local started = meissa.clock()
  change, plan = pass()
  local seconds = meissa.clock() - started
  total = total + seconds
  report:row {epoch = epoch, change = change, seconds = seconds}
end

if options.save then meissa.save(options.save, {rank = rank}) end
report:summary({
  change = change, passes = epoch, seconds = total,
  updates_per_second = epoch * edges:nnz() / total,
}, plan)
if not options.json then
  local order = {}
  for i = 1, n do order[i] = i end
  table.sort(order, function(a, b) return rank[a] > rank[b] end)
  print("\nThe ten first:")
  for k = 1, math.min(10, n) do
    print(("  %-12s %.6f"):format(edges:label(1, order[k]), rank[order[k]]))
  end
  print("\nThe plan of the loop over the edges:\n")
  print(plan)
end
