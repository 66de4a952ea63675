-- SPDX-License-Identifier: MIT
--
-- The manual: samples of docs/diagnostics.md give their codes, examples of docs/reference.md,
-- docs/loops.md, docs/rounds.md and docs/replicas.md print what they say, and nothing public is
-- missing.
local child = require "spec.support.child"
local meissa = require "meissa"

-- The page as a list of {title =, prose =, samples = {{line =, text =}, ...}}, one a heading.
local function sections_of(path)
  local sections, number, sample = {{title = "", prose = "", samples = {}}}, 0, nil
  for line in io.lines(path) do
    number = number + 1
    if sample and line == "```" then
      sample.text = table.concat(sample, "\n")
      sample = nil
    elseif sample then
      sample[#sample + 1] = line
    elseif line == "```lua" then
      sample = {line = number}
      table.insert(sections[#sections].samples, sample)
    elseif line:match("^#+ ") then
      sections[#sections + 1] = {title = line:match("^#+ (.*)"), prose = "", samples = {}}
    else
      sections[#sections].prose = sections[#sections].prose .. line .. "\n"
    end
  end
  assert(not sample, path .. ": a sample without end")
  return sections
end

-- The names in an X-macro table of a C header: {name, title} for each entry.
local function catalogue(path, pattern)
  local list = {}
  for name, title in child.read(path):gmatch(pattern) do list[#list + 1] = {name, title} end
  assert(#list > 5)
  return list
end

local reasons = catalogue("csrc/depend/reason.h", 'X%([A-Z_]+, +"(DEP%d+)", "([^"]*)"%)')
local errors = catalogue("csrc/base/error.h", 'X%((%u%u%u), "([^"]*)"%)')

-- Every code in an output, each once, in its order: {"DEP", "DEP101"}. Traces, which show lines of
-- the module, are left out.
local function codes_in(output)
  local seen, list = {}, {}
  local function add(code)
    if not seen[code] then list[#list + 1] = code end
    seen[code] = true
  end
  output = output:gsub("\nstack traceback:.*", "")
  for _, each in ipairs(errors) do
    if output:find("%f[%w]" .. each[1] .. ": ") then add(each[1]) end
  end
  for code in output:gmatch("%[(DEP%d+) ") do add(code) end
  return list
end

describe("docs/diagnostics.md", function()
  local by_code = {}
  for _, section in ipairs(sections_of "docs/diagnostics.md") do
    local code = section.title:match("^(%u%u%u%d*) ")
    if code then by_code[code] = section end
  end

  it("has a heading with the title for every code, and no other", function()
    local known = {}
    for _, reason in ipairs(reasons) do
      known[reason[1]] = true
      assert.truthy(by_code[reason[1]], "no heading for " .. reason[1])
      assert.equal(reason[1] .. " " .. reason[2], by_code[reason[1]].title)
    end
    for _, each in ipairs(errors) do
      known[each[1]] = true
      assert.truthy(by_code[each[1]], "no heading for " .. each[1])
    end
    for code in pairs(by_code) do assert.is_true(known[code], code .. " is not a code") end
  end)

  local function run(sample)
    return child.script(sample.text, {env = "MEISSA_WORKERS=2 MEISSA_EXPLAIN=1"})
  end

  -- The codes that a first sample gives: exactly its section's, and after it those that its prose
  -- announces.
  local function check_first(code, section, output, status)
    local codes = codes_in(output)
    if code:find("^DEP1") then assert.equal("DEP", table.remove(codes, 1), output) end
    assert.equal(code, codes[1], output)
    for k = 2, #codes do assert.truthy(section.prose:find(codes[k], 1, true), output) end
    assert.equal(code:find("^DEP2") and 0 or 1, status, output)
  end

  -- The fixes of a report that are a call of the loop.
  local function calls_in(output)
    local list = {}
    for line in output:gmatch("[^\n]+") do
      for call in (line .. "        "):gmatch("  [%w ]+:  (parallel%b())        ") do
        list[#list + 1] = call
      end
    end
    return list
  end

  -- Each such fix, put in the place of the sample's call, makes the sample run.
  local function check_fixes(sample, output)
    local calls = calls_in(output)
    for _, call in ipairs(calls) do
      local text, count = sample.text:gsub("in parallel%b() do", function()
        return "in " .. call .. " do"
      end)
      assert.equal(1, count)
      local said, status = run({text = text})
      assert.equal(0, status, call .. "\n" .. said)
    end
    return #calls
  end

  -- Other samples run; what they print behind a tab is what pcall gave. Loops that run serially
  -- still say why.
  local function check_other(output, status)
    assert.equal(0, status, output)
    local codes = codes_in(output:gsub("\t[^\n]*", ""))
    if not output:find("runs serially, as written", 1, true) then assert.same({}, codes, output) end
  end

  for code, section in pairs(by_code) do
    for k, sample in ipairs(section.samples) do
      it(("line %d %s"):format(sample.line, k == 1 and "gives " .. code or "runs"), function()
        local output, status = run(sample)
        if k == 1 then
          check_first(code, section, output, status)
          local loop = sample.text:find(" in parallel(", 1, true) -- meissa.iterate has other fixes
          if code:find("^DEP1") and loop then
            assert.is_true(check_fixes(sample, output) >= 1, output)
          end
        else
          check_other(output, status)
        end
      end)
    end
    it(code .. " has a sample", function()
      assert.is_true(#section.samples >= 1 or code == "BUG")
    end)
  end
end)

-- What a sample's lines promise to print: the texts behind "-->".
local function promised(text)
  local list = {}
  for line in (text .. "\n"):gmatch("([^\n]*)\n") do
    local said = line:match("%-%-> ?(.-)%s*$")
    if said then list[#list + 1] = said end
  end
  return list
end

-- Runs a sample in `env`; what it printed, line by line, tabs as blanks.
local function printed_by(sample, env)
  local list = {}
  env.print = function(...)
    local words = {}
    for k = 1, select("#", ...) do words[k] = tostring((select(k, ...))) end
    for line in (table.concat(words, " ") .. "\n"):gmatch("([^\n]*)\n") do
      list[#list + 1] = line
    end
  end
  setfenv(assert(loadstring(sample.text)), env)()
  return list
end

local function check_printed(sample, env)
  local wanted, got = promised(sample.text), printed_by(sample, env)
  for k = 1, math.max(#wanted, #got) do
    local beginning = wanted[k] and wanted[k]:match("^(.-)%.%.%.$")
    if beginning and got[k] then
      assert.equal(beginning, got[k]:sub(1, #beginning))
    else
      assert.equal(wanted[k], got[k])
    end
  end
end

for _, page in ipairs {"docs/reference.md", "docs/loops.md", "docs/rounds.md",
                      "docs/replicas.md"} do
  describe(page, function()
    local env = setmetatable({}, {__index = _G})
    setup(function() meissa.init {workers = 2} end)
    teardown(function() meissa.init {} end)
    for _, section in ipairs(sections_of(page)) do
      for _, sample in ipairs(section.samples) do
        it(("line %d does what it says"):format(sample.line), function()
          check_printed(sample, env)
        end)
      end
    end
  end)
end

describe("docs/reference.md", function()
  local text = child.read "docs/reference.md"

  -- A heading or a table row that begins with the name, or has it in the row's first cell.
  local function has_entry(name)
    for line in text:gmatch("[^\n]+") do
      local head = line:match("^### (.*)") or line:match("^| (`.-) |")
      local at = head and head:find(name, 1, true)
      if at and not head:sub(at + #name, at + #name):find("[%w_]") then return true end
    end
  end

  it("has an entry for every public name", function()
    for name, value in pairs(meissa) do
      if type(value) == "table" and name ~= "opaque" then
        for inner in pairs(value) do
          local full = ("meissa.%s.%s"):format(name, inner)
          assert.is_true(has_entry(full) or false, full)
        end
      else
        assert.is_true(has_entry("meissa." .. name) or false, name)
      end
    end
  end)

  it("has an entry for every method", function()
    local subscript, count = require "meissa.array.subscript", 0
    for _, methods in ipairs {subscript.methods, subscript.row_methods, subscript.slice_methods} do
      for name in pairs(methods) do
        assert.is_true(has_entry(":" .. name) or false, name)
        count = count + 1
      end
    end
    assert.is_true(count > 30)
  end)

  it("has a row in docs/loops.md for every strategy", function()
    local loops, count = child.read "docs/loops.md", 0
    for name in pairs(require "meissa.plan.strategy") do
      assert.truthy(loops:find("\n| `" .. name .. "` |", 1, true), name)
      count = count + 1
    end
    assert.is_true(count >= 7)
  end)

  -- What the page says below a heading, or in the rows of a table, that begin with the name.
  local function about(name)
    local list, inside = {}, false
    for line in text:gmatch("[^\n]+") do
      local head = line:match("^#+ (.*)")
      if head then inside = head:find(name, 1, true) == 1 end
      local cell = line:match("^| `(.-)` |") or line:match("^- `(.-)`")
      if inside or line:find("`" .. name, 1, true) or cell and cell:find(name, 1, true) then
        list[#list + 1] = line
      end
    end
    return table.concat(list, "\n")
  end

  local A, S = meissa.ones(2, 2), meissa.sparse({2, 2}, {i = {1}, j = {2}})
  local wrong, path = {["?"] = 1}, "spec/data/wiki-Vote.txt.gz"
  local function id(value) return value end
  -- What is called with an option that there is not names all that there are.
  local TAKERS = {
    ["meissa.parallel"] = {meissa.parallel, 1, wrong},
    ["meissa.map"] = {meissa.map, {1}, id, wrong},
    ["meissa.buffer"] = {meissa.buffer, A, wrong},
    ["meissa.init"] = {meissa.init, wrong},
    ["meissa.zeros"] = {meissa.zeros, 1, wrong},
    ["meissa.ones"] = {meissa.ones, 1, wrong},
    ["meissa.full"] = {meissa.full, {1}, 1, wrong},
    ["meissa.rand"] = {meissa.rand, 1, wrong},
    ["meissa.randn"] = {meissa.randn, 1, wrong},
    ["meissa.from"] = {meissa.from, {1}, wrong},
    ["meissa.sparse"] = {meissa.sparse, {2, 2}, {i = {1}, j = {1}}, wrong},
    ["meissa.scratch"] = {meissa.scratch, 1, wrong},
    ["meissa.read.triples"] = {meissa.read.triples, path, wrong},
    ["meissa.read.libsvm"] = {meissa.read.libsvm, path, wrong},
    ["meissa.read.docword"] = {meissa.read.docword, path, wrong},
    ["meissa.read.csv"] = {meissa.read.csv, path, wrong},
    ["meissa.read.lines"] = {meissa.read.lines, path, id, wrong},
    ["meissa.analyze"] = {meissa.analyze, "for i in parallel(3) do end", {}, wrong},
    ["meissa.shape"] = {meissa.shape, 3, wrong},
    ["S:split"] = {S.split, S, 0.5, wrong},
    ["A:map"] = {A.map, A, id, wrong},
    ["A:reduce"] = {A.reduce, A, id, 0, wrong},
    ["A:group_by"] = {A.group_by, A, 1, wrong},
    ["A:randomize"] = {A.randomize, A, 1, wrong},
  }

  for name, call in pairs(TAKERS) do
    it("has an entry for every option of " .. name, function()
      local _, err = pcall(unpack(call))
      local count, said = 0, about(name)
      for option in err.message:match("options: (.*)%)"):gmatch("[%w_]+") do
        assert.truthy(said:find("%f[%w_]" .. option .. "%f[^%w_]"), option)
        count = count + 1
      end
      assert.is_true(count >= 1)
    end)
  end

  it("has all environment variables", function()
    local names = child.read("lua/meissa/base/environment.lua"):match("NAMES = (%b{})")
    local count = 0
    for name in names:gmatch('"([%u_]+)"') do
      assert.truthy(text:find("\n| `MEISSA_" .. name .. "` |", 1, true), name)
      count = count + 1
    end
    assert.is_true(count >= 12)
  end)
end)
