-- SPDX-License-Identifier: MIT
--
-- read.docword: counts, vocabularies, and errors that name file and line.

local read = require "meissa.read"
local expect = require "spec.support.expect"
local raises, with_directory, put = expect.raises, expect.with_directory, expect.put

local function reading(text, words, opts)
  local counts, vocab
  with_directory(function(dir)
    put(dir .. "/data", text)
    opts = opts or {}
    if words then
      put(dir .. "/vocab", words)
      opts.vocab = dir .. "/vocab"
    end
    counts, vocab = read.docword(dir .. "/data", opts)
  end)
  return counts, vocab
end

local GOOD = "3\n4\n2\n1 2 5\n3 4 1\n"

describe("read.docword", function()
  it("reads counts", function()
    local counts, vocab = reading(GOOD)
    assert.same({ 3, 4 }, counts:size())
    assert.same({ i = { 1, 3 }, j = { 2, 4 }, v = { 5, 1 } }, counts:totable())
    assert.is_nil(vocab)
    assert.equal("int32", (reading(GOOD, nil, { type = "int32" })):type())
    assert.equal(2, (reading("3\r\n4\r\n2\r\n1 2 5\r\n3 4 1")):nnz())
  end)

  it("reads a vocabulary, whose words are labels", function()
    local counts, vocab = reading(GOOD, "the\nwar\nof\nworlds\n")
    assert.same({ "the", "war", "of", "worlds" }, vocab)
    assert.equal("war", counts:label(2, 2))
    assert.equal(4, counts:index(2, "worlds"))
    assert.is_nil(counts:index(2, "peace"))
    assert.equal(3, counts:label(1, 3))
  end)

  it("reads random bags back, gzipped too", function()
    local seed = require "spec.support.seed"
    print("read_docword seed " .. seed)
    math.randomseed(seed)
    for round = 1, 30 do
      local lines, wanted = {}, { i = {}, j = {}, v = {} }
      local d, w, n = math.random(50), math.random(50), math.random(0, 40)
      for k = 1, n do
        wanted.i[k], wanted.j[k] = math.random(d), math.random(w)
        wanted.v[k] = math.random(9)
        lines[k] = ("%d %d %d\n"):format(wanted.i[k], wanted.j[k], wanted.v[k])
      end
      with_directory(function(dir)
        put(dir .. "/data", ("%d\n%d\n%d\n"):format(d, w, n) .. table.concat(lines))
        local path = dir .. "/data"
        if round % 2 == 0 then
          assert.equal(0, os.execute("gzip " .. path))
          path = path .. ".gz"
        end
        local counts = read.docword(path)
        assert.same(wanted, counts:totable())
        assert.same({ d, w }, counts:size())
      end)
    end
  end)

  local malformed = {
    { "", "expected the number of documents, found the end" },
    { "3\n", "expected the number of words, found the end" },
    { "3\n4\n", "expected the number of entries, found the end" },
    { "x\n4\n2\n", ":1: FIL: expected the number of documents, a whole number" },
    { "3 4\n2\n1\n", ":1: FIL: expected the number of documents" },
    { "-1\n4\n2\n", ":1: FIL: expected the number of documents" },
    { "3\n2147483648\n2\n", ":2: FIL: expected the number of words" },
    { "3\n4\n2\n1 2 5\n", "expected 2 entries as line 3 says, found 1" },
    { "3\n4\n1\n1 2 5\n1 3 5\n", ":5: FIL: expected 1 entries as line 3 says, found 2" },
    { "3\n4\n1\n1 2\n", ":4: FIL: expected 'document word count', found '1 2'" },
    { "3\n4\n1\n1 2 3 4\n", "expected 'document word count'" },
    { "3\n4\n1\n0 2 3\n", ":4: FIL: expected a document from 1 to 3, found '0'" },
    { "3\n4\n1\n4 2 3\n", "expected a document from 1 to 3, found '4'" },
    { "3\n4\n1\n1 5 3\n", "expected a word from 1 to 4, found '5'" },
    { "3\n4\n1\n1 x 3\n", "expected a word from 1 to 4, found 'x'" },
    { "3\n4\n1\n1 2 0\n", "expected a count of 1 or more, found '0'" },
    { "3\n4\n1\n1 2 1.5\n", "expected a count of 1 or more, found '1.5'" },
    { "3\n4\n1\n1 2 9999999999\n", "expected a count", nil, { type = "int32" } },
    { GOOD, "vocab:5: FIL: expected 4 words, one a line, found 5 or more",
      "a\nb\nc\nd\ne\n" },
    { GOOD, "vocab: FIL: expected 4 words, one a line, found 3", "a\nb\nc\n" },
    { GOOD, "the id 'a' occurs twice", "a\nb\na\nc\n" },
  }
  for k, case in ipairs(malformed) do
    it("names what is wrong in malformed text " .. k, function()
      raises("FIL", case[2], function() reading(case[1], case[3], case[4]) end)
    end)
  end

  it("refuses bad arguments", function()
    raises("OPT", "path", function() read.docword() end)
    raises("OPT", "did you mean 'vocab'", function() read.docword("x", { vocabs = "y" }) end)
    raises("OPT", "vocab: the path", function() read.docword("x", { vocab = 5 }) end)
    raises("OPT", "no element type", function() read.docword("x", { type = "complex" }) end)
    raises("FIL", "No such file", function() read.docword("/nowhere/at/all") end)
    raises("FIL", "No such file", function() reading(GOOD, nil, { vocab = "/nowhere/at/all" }) end)
  end)
end)
