-- SPDX-License-Identifier: MIT
-- How the C sources are cut: files that can be read in one go, over each prototype of a header a
-- sentence that says what may be relied on, its own or that of the lines right above it, and names
-- of types that stand for one each.
local child = require "spec.support.child"
local declared = require "spec.support.declared"

local MOST_LINES = 400

-- Lines of a header's text at which a prototype begins that nothing is said of.
local function unsaid(text)
  local found, number, before, said = {}, 0, "", false
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local begins = line:match "^[%a_][%w_ %*]*[ %*][%w_]+%(" and not line:match "__asm__"
      and not line:match "^typedef" and not line:match "^static" and not line:match "{$"
    if before:match "%*/$" then said = true end
    if line == "" then said = false end
    if begins and not said then found[#found + 1] = number end
    before = line
  end
  return found
end

describe("C sources", function()
  it("have at most " .. MOST_LINES .. " lines", function()
    local long = {}
    for _, path in ipairs(declared.files "*.[ch]") do
      local _, lines = child.read(path):gsub("\n", "")
      if lines > MOST_LINES then long[#long + 1] = path .. ": " .. lines end
    end
    assert.same({}, long)
  end)

  it("say something of each prototype in a header", function()
    local bare, count = {}, 0
    for _, path in ipairs(declared.files "*.h") do
      count = count + 1
      for _, line in ipairs(unsaid(child.read(path))) do bare[#bare + 1] = path .. ":" .. line end
    end
    assert.is_true(count > 100)
    assert.same({}, bare)
  end)

  it("have a name of its own for each type", function()
    local first, again, count = {}, {}, 0
    for _, path in ipairs(declared.files "*.[ch]") do
      for name in pairs(declared.types(child.read(path))) do
        count = count + 1
        if first[name] then again[#again + 1] = name .. ": " .. first[name] .. ", " .. path end
        first[name] = path
      end
    end
    assert.is_true(count > 300)
    assert.same({}, again)
    assert.same({ms_a = true, ms_b = true, ms_c = true, ms_d = true, ms_e = true},
      declared.types("/* } ms_x; */ typedef struct ms_a {\n  int k;\n} ms_a;\n" ..
        "struct ms_b {\n};\ntypedef int ms_c(int);\ntypedef void (*ms_d)(ms_x *, int);\n" ..
        "typedef struct ms_b ms_b;\ntypedef enum ms_e {\n  MS_E\n} ms_e;"))
  end)

  it("say in one place that memory is out", function()
    local places = {}
    for _, path in ipairs(declared.files "*.[ch]") do
      local text = path:find "_test%.c$" and "" or child.read(path):gsub("/%*.-%*/", "")
      for _ in text:gmatch '"out of memory' do places[#places + 1] = path end
    end
    assert.same({"csrc/base/error.c"}, places)
  end)

  it("are found where they say nothing", function()
    assert.same({1}, unsaid "int ms_a(void);")
    assert.same({4}, unsaid "/* A. */\nint ms_a(void);\n\nint ms_b(void);")
    assert.same({3}, unsaid "/* A type. */\n\nMS_API const ms_x *ms_b(int a,\n  int b);")
    for _, good in ipairs {
      "/* A. */\nint ms_a(void);",
      "/* A; B. */\nint ms_a(int a,\n         int b);\nint ms_b(void);",
      "typedef int (*f)(void);", "static inline int f(int a) {\n  return g(a);\n}",
    } do
      assert.same({}, unsaid(good), good)
    end
  end)
end)
