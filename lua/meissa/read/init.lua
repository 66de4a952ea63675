-- SPDX-License-Identifier: MIT
--
-- Readers: text files into arrays. Each is loaded when it is called first.
-- @module meissa.read

local late = require "meissa.base.late"

local readers = late(function()
  return {
    triples = require "meissa.read.triples",
    libsvm = require "meissa.read.libsvm",
    docword = require "meissa.read.docword",
    csv = require "meissa.read.csv",
    lines = require("meissa.read.lines").read,
  }
end)

return {
  triples = function(...) return readers.triples(...) end,
  libsvm = function(...) return readers.libsvm(...) end,
  docword = function(...) return readers.docword(...) end,
  csv = function(...) return readers.csv(...) end,
  lines = function(...) return readers.lines(...) end,
}
