-- SPDX-License-Identifier: MIT
--
-- Readers: text files into arrays.
-- @module meissa.read

return {
  triples = require "meissa.read.triples",
  libsvm = require "meissa.read.libsvm",
  docword = require "meissa.read.docword",
  csv = require "meissa.read.csv",
  lines = require("meissa.read.lines").read,
}
