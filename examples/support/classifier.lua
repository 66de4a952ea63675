-- SPDX-License-Identifier: MIT
--- What examples share that train a classifier of pictures on replicas: options, points to learn
-- from and to test on, the epochs.
local meissa = require "meissa"
local run = require "run"
local parallel = meissa.parallel

local M = {}

--- A parser with the options of such an example.
-- @tab defaults of `every`, `rate`
function M.parser(name, about, defaults)
  local parser = run.parser(name, about, {rank = true})
  parser:epilog [[
UCI's optdigits:        --data optdigits.tra --test optdigits.tes]]
  parser:option("--replicas", "How many copies of the network learn."):convert(
    tonumber):default "4"
  parser:option("--every", "Batches of a replica from one exchange to the next."):convert(
    tonumber):default(defaults.every)
  parser:option("--topology", "Who hears whom (meissa.topology)."):default "all"
  parser:option("--staleness", "Rounds by which what is merged may be old."):convert(
    tonumber):default "0"
  parser:option("--batch", "Points of a batch."):convert(tonumber):default "16"
  parser:option("--rate", "Step size."):convert(tonumber):default(defaults.rate)
  parser:option("--momentum", "How much of the last step goes into the next."):convert(
    tonumber):default "0.9"
  parser:option("--points", "How many points to generate."):convert(tonumber):default "4000"
  parser:option("--save", "Save the weights to this file.")
  return parser
end

-- Points around the centers of ten classes.
local function generate(points, seed)
  local X, y = meissa.randn({points, 64}, {seed = seed}), meissa.zeros(points)
  local centers = meissa.randn({10, 64}, {seed = 1})
  for p in parallel(points) do
    y[p] = (p - 1) % 10 + 1
    for f = 1, 64 do X[p][f] = (X[p][f] + centers[(p - 1) % 10 + 1][f]) / 2 end
  end
  return X, y
end

-- Features scaled by the largest one, and classes from 1.
local function read(path, scale)
  local table_of = run.read(meissa.read.csv, path)
  local n, columns = table_of:size(1), table_of:size(2)
  local X, y = meissa.zeros(n, columns - 1), meissa.zeros(n)
  scale = scale or 1 / table_of:narrow(2, 1, columns - 1):max()
  for p in parallel(n) do
    for f = 1, columns - 1 do X[p][f] = table_of[p][f] * scale end
    y[p] = table_of[p][columns] + 1
  end
  return X, y, scale
end

--- The points: {X =, y =, T =, ty =, classes =}, the second pair to test on.
function M.data(options)
  local data = {}
  if options.data then
    local scale
    data.X, data.y, scale = read(options.data)
    data.T, data.ty = data.X, data.y
    if options.test then data.T, data.ty = read(options.test, scale) end
  else
    data.X, data.y = generate(options.points, options.seed + 1)
    data.T, data.ty = generate(math.ceil(options.points / 4), options.seed + 2)
  end
  data.classes = data.y:max()
  return data
end

--- Replicas of a network, a list of arrays, and of its momentum.
function M.replicate(net, options)
  local zeros = {}
  for k, each in ipairs(net) do zeros[k] = each:clone():fill(0) end
  local self = {meissa.replicate(net, options)}
  self.momentum = {meissa.replicate(zeros, {replicas = options.replicas, exchange = false})}
  return self
end

--- Trains a network and reports what it has learned.
-- @tab options of the command line @tab data of M.data @tab net a list of arrays
-- @tab names theirs, for --save
-- @func pass pass(replicas) goes through the points once: the mean loss
-- @func accuracy accuracy() on the points to test on
function M.train(parser, options, data, net, names, pass, accuracy)
  local made, replicas = pcall(M.replicate, net, {
    replicas = options.replicas, every = options.every, topology = options.topology,
    staleness = options.staleness, shuffle = options.seed})
  if not made then parser:error(replicas.message or tostring(replicas)) end
  local report = run.report(options, {
    {key = "epoch", title = "epoch", format = "%d"},
    {key = "loss", title = "loss", format = "%.4f"},
    {key = "accuracy", title = "accuracy", format = "%.4f"},
    {key = "exchanges", title = "exchanges", format = "%d"},
    {key = "seconds", title = "seconds", format = "%.3f"},
  })
  if not options.json then
    print(("learning from %d points of %d numbers, testing on %d"):format(
      data.X:size(1), data.X:size(2), data.T:size(1)))
  end
  local epochs, total, loss, right, plan = options.epochs or 30, 0, nil, nil, nil
  for epoch = 1, epochs do
    report:progress(epoch - 1, epochs, "learning")
    local started = meissa.clock()
    loss = pass(replicas)
    plan = meissa.last()
    local seconds = meissa.clock() - started
    total = total + seconds
    right = accuracy()
    report:row {epoch = epoch, loss = loss, accuracy = right, exchanges = plan.rounds,
                seconds = seconds}
  end
  if options.save then
    local saved = {}
    for k, name in ipairs(names) do saved[name] = net[k] end
    meissa.save(options.save, saved)
  end
  report:summary({
    loss = loss, accuracy = right, seconds = total, guarantee = plan.guarantee,
    replicas = options.replicas, updates_per_second = epochs * data.X:size(1) / total,
  }, plan)
  if not options.json then
    print "\nThe plan of a pass:\n"
    print(plan)
  end
end

return M
