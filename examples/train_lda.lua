#!/usr/bin/env luajit
-- SPDX-License-Identifier: MIT
-- Latent Dirichlet allocation by collapsed Gibbs sampling (Griffiths and Steyvers, 2004): every
-- token of every document draws its topic anew, given all others. With --data it reads a bag of
-- words (UCI's docword files, gz); without, it plants topics and finds them again.
-- Documents and words are exact: the plan rotates them. The totals of topics, which every token
-- changes, go through a buffer and are exact at the end of every stage.
local here = (arg[0] or ""):match("^(.*/)") or "./"
package.path = here .. "support/?.lua;" .. package.path
local meissa = require "meissa"
local parallel = meissa.parallel

local M = {} -- the model, for other scripts too: require "train_lda"

-- Each token is an entry of its own: document, word, place in the document.
local function tokens_of(counts)
  local i, j, place, length, longest = {}, {}, {}, {}, 0
  for d, w, count in counts:each() do
    for _ = 1, count do
      length[d] = (length[d] or 0) + 1
      i[#i + 1], j[#j + 1], place[#place + 1] = d, w, length[d]
    end
    longest = math.max(longest, length[d])
  end
  local dims = {counts:size(1), counts:size(2)}
  return meissa.sparse(dims, {i = i, j = j, v = place}, {type = "int32"}), longest
end

--- A model of so many topics for documents by words, before its tokens have topics. `prior` has
-- alpha, the weight of each topic in a document, and beta, that of each word in a topic; `delay` is
-- the most tokens between two looks at the totals (default: a 16th of them).
function M.new(counts, topics, prior, delay)
  local tokens, longest = tokens_of(counts)
  local documents, words = counts:size(1), counts:size(2)
  local totals = meissa.zeros {topics}
  return {
    K = topics, V = words, alpha = prior.alpha, beta = prior.beta, tokens = tokens, totals = totals,
    documents = meissa.zeros({documents, topics}, {type = "int32"}),
    words = meissa.zeros({words, topics}, {type = "int32"}), lengths = meissa.zeros {documents},
    topic = meissa.zeros({documents, longest}, {type = "int32"}), -- of each token
    sums = meissa.scratch(topics),
    changes = meissa.buffer(totals, {max_delay = delay or math.ceil(tokens:nnz() / 16)}),
  }
end

--- Gives every token a topic at random.
function M.start(model, how)
  local documents, words, topic, K = model.documents, model.words, model.topic, model.K
  local lengths, changes = model.lengths, model.changes
  for d, w, t in parallel(model.tokens, how) do
    local z = meissa.random(K)
    topic[d][t] = z
    documents[d][z] = documents[d][z] + 1
    words[w][z] = words[w][z] + 1
    changes[z] = changes[z] + 1
    lengths[d] = lengths[d] + 1
  end
end

--- Draws the topic of every token anew.
function M.sweep(model, how)
  local documents, words, topic, K, V = model.documents, model.words, model.topic, model.K, model.V
  local totals, changes, sums = model.totals, model.changes, model.sums
  local alpha, beta = model.alpha, model.beta
  for d, w, t in parallel(model.tokens, how) do
    local document, word = documents[d], words[w]
    local old = topic[d][t]
    document[old], word[old] = document[old] - 1, word[old] - 1
    changes[old] = changes[old] - 1
    local sum = 0
    for k = 1, K do
      sum = sum + (document[k] + alpha) * (word[k] + beta) / (totals[k] + changes[k] + V * beta)
      sums[k] = sum
    end
    local target, new = meissa.random() * sum, 1
    while sums[new] < target and new < K do new = new + 1 end
    document[new], word[new] = document[new] + 1, word[new] + 1
    changes[new] = changes[new] + 1
    topic[d][t] = new
  end
end

--- Mean logarithm of the probability that the model gives a token.
function M.log_likelihood(model, how)
  local documents, words, totals, K = model.documents, model.words, model.totals, model.K
  local lengths, alpha, beta, V, sum = model.lengths, model.alpha, model.beta, model.V, 0
  for d, w, _ in parallel(model.tokens, how) do
    local document, word, p = documents[d], words[w], 0
    for k = 1, K do
      p = p + (document[k] + alpha) * (word[k] + beta) / (totals[k] + V * beta)
    end
    sum = sum + math.log(p / (lengths[d] + K * alpha))
  end
  return sum / model.tokens:nnz()
end

if ... == "train_lda" then return M end

local run = require "run"
local parser = run.parser("train_lda.lua", "Topics of documents.", {test = true})
parser:option("--vocab", "A file with one word a line.")
parser:option("--alpha", "Weight of each topic in a document."):convert(tonumber):default "0.1"
parser:option("--beta", "Weight of each word in a topic."):convert(tonumber):default "0.01"
parser:option("--delay", "Most tokens between two looks at the totals (default: a 16th).")
  :convert(tonumber)
parser:option("--save", "Save the counts to this file.")
local options = run.options(parser)
local K, seed, how = options.rank or 20, options.seed, {engine = options.engine}

-- Documents of 100 tokens from two of ten topics each; a topic is a tenth of the words.
local function generate(documents, words)
  local draws, i, j, v = meissa.rand({documents, 102}, {seed = seed}), {}, {}, {}
  for d = 1, documents do
    local row = draws[d]
    for t = 1, 100 do
      local topic = math.floor(10 * row[101 + t % 2])
      i[#i + 1], j[#j + 1] = d, 1 + math.floor((topic + row[t]) * words / 10)
      v[#v + 1] = 1
    end
  end
  return meissa.sparse({documents, words}, {i = i, j = j, v = v})
end

local counts, vocab
if options.data then
  counts, vocab = run.read(meissa.read.docword, options.data, {vocab = options.vocab})
else
  counts = generate(2000, 1000)
end

local model = M.new(counts, K, {alpha = options.alpha, beta = options.beta}, options.delay)
local words, n = model.words, model.tokens:nnz()
meissa.seed(seed)
M.start(model, how)

local report = run.report(options, {
  {key = "epoch", title = "sweep", format = "%d"},
  {key = "log_likelihood", title = "log-likelihood", format = "%.4f"},
  {key = "seconds", title = "seconds", format = "%.3f"},
})
if not options.json then
  print(("%d topics for %d tokens of %d documents and %d words"):format(K, n, counts:size(1),
                                                                       counts:size(2)))
end
local sweeps, total, likelihood, plan = options.epochs or 50, 0, nil, nil
for epoch = 1, sweeps do
  report:progress(epoch - 1, sweeps, "sampling")
  local started = meissa.clock()
  M.sweep(model, how)
  plan = meissa.last()
  local seconds = meissa.clock() - started
  total = total + seconds
  likelihood = M.log_likelihood(model, how)
  report:row {epoch = epoch, log_likelihood = likelihood, seconds = seconds}
end

if options.save then
  meissa.save(options.save, {documents = model.documents, words = words, totals = model.totals})
end
report:summary({
  log_likelihood = likelihood, seconds = total, updates_per_second = sweeps * n / total,
}, plan)
if not options.json then
  print "\nThe commonest words of each topic:"
  for k = 1, K do
    local order, names = {}, {}
    for w = 1, model.V do order[w] = w end
    table.sort(order, function(a, b)
      if words[a][k] ~= words[b][k] then return words[a][k] > words[b][k] end
      return a < b
    end)
    for place = 1, 8 do names[place] = vocab and vocab[order[place]] or order[place] end
    print("  " .. table.concat(names, " "))
  end
  print "\nThe plan of a sweep:\n"
  print(plan)
end
