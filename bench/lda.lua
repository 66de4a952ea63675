-- SPDX-License-Identifier: MIT
--- Topics of documents: a sweep of examples/train_lda.lua against C written by hand (buffered.c).
--
-- support/race.lua says what is compared with what. An update is a token's new topic.
-- Prints a table and then the same figures as JSON, one object a line.
--   luajit bench/lda.lua [--data docword.txt.gz] [--rank 20] [--numeric fast] [--engine lua]
local directory = arg[0]:match("^(.*/)") or "./"
package.path = directory .. "support/?.lua;" .. directory .. "../examples/?.lua;" .. package.path
local argparse = require "argparse"
local lda = require "train_lda"
local meissa = require "meissa"
local race = require "race"

local SEED = 1

local function make(topics, _, size)
  local counts = meissa.read.docword(size.data)
  local model = lda.new(counts, topics, {alpha = 0.1, beta = 0.01})
  meissa.seed(SEED)
  lda.start(model)
  local function pass(options, done)
    meissa.seed(SEED)
    lda.sweep(model, options)
    done {model.alpha, model.beta, model.V, model.topic:size(2), SEED, 1}
    return 0
  end
  local documents, words, topic, totals = model.documents, model.words, model.topic, model.totals
  return {pass = pass, arrays = {documents, words, topic, totals, model.changes},
          written = {documents, words, topic, totals}, updates = model.tokens:nnz()}
end

local parser = race.options(argparse("lda.lua", "Gibbs sampling against C written by hand."))
parser:option("--data", "A bag of words, in UCI's form."):default(
  directory .. "../spec/data/docword.kos.txt.gz")
race.run({{name = "lda", file = "buffered.c", title = "LDA", ranks = {10, 20, 100},
           element = "double", make = make}}, parser:parse())
