-- SPDX-License-Identifier: MIT
--
-- The reader of bags of words in the UCI repository's form.
-- @module meissa.read.docword

local ffi = require "ffi"
local c_api = require "meissa.array.c_api"
local element = require "meissa.array.element"
local errors = require "meissa.base.errors"
local make = require "meissa.array.make"
local reading = require "meissa.read.reading"
local source = require "meissa.read.source"

--- Reads a bag of words: three lines with the numbers of documents, words and entries, then
-- "document word count" a line.
-- @string path a file
-- @tab[opt] opts `vocab` (a file with one word a line), `type` (default "double")
-- @return counts, a sparse array, documents x words; with a vocabulary its labels are the words
-- @return vocab, the list of words; nil without the option
-- Errors: FIL with file and line; ARR, OPT.
-- @usage local counts, vocab = meissa.read.docword("docword.kos.txt.gz", {vocab = "vocab.kos.txt"})
return function(path, opts)
  opts = errors.check_options("docword", opts, { "vocab", "type" })
  source.path("docword", path)
  local vocabulary = opts.vocab ~= nil and source.path("docword: vocab", opts.vocab) or nil
  local number = make.type_number("docword", opts.type)
  make.collect_if_much(0) -- how much it takes shows only at the end
  local options = ffi.new("ms_docword", vocabulary, number)
  local counts = element.wrap(reading.run(c_api.lib.ms_reader_docword, {
    files = { path }, options = options, keep = opts,
  }))
  local vocab = nil
  if vocabulary then
    vocab = {}
    for w = 1, counts:size(2) do vocab[w] = counts:label(2, w) end
  end
  return counts, vocab
end
