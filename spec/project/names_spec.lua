-- SPDX-License-Identifier: MIT
-- Names in C say where they are declared: see "Names" in CONTRIBUTING.md.
local child = require "spec.support.child"
local declared = require "spec.support.declared"

local texts = {} -- by path below csrc
for _, path in ipairs(declared.files "*.[ch]") do
  texts[path:match "^csrc/(.*)$"] = child.read(path)
end

-- The noun that a header's names have before all of its room's, in place of its own.
local FIRST = {["kernel/native/writer.h"] = "c"}

-- Headers whose names are other texts' words: what native kernels are compiled with (ms_math_floor,
-- ms_stop), and one that is included twice and defines what its reader has named.
local free = {}
for path in child.read("Makefile"):match "\nPRELUDE :=(.-%))\n":gmatch "[%w_/]+%.h" do
  free[path] = true
end
for _, path in ipairs {"array/anyorder.h", "kernel/native/fast.h", "array/product_tile_text.h"} do
  free[path] = true
end

-- Headers that something else than a test includes.
local used = {}
local function use(path)
  for header in texts[path]:gmatch '#include "([%w_/]+%.h)"' do
    if texts[header] and not used[header] then
      used[header] = true
      use(header)
    end
  end
end
for path in pairs(texts) do
  if path:find "%.c$" and not path:find "_test%.c$" and not path:find "_fuzz%.c$" then use(path) end
end

-- Whether a name has a noun in it: as words of its own, singular or plural. A prefix of the room's
-- (`c_`) stands at its beginning, whatever follows.
local function has(name, noun)
  local prefix, rest = noun:match "^(c)_(.+)$"
  if prefix and not name:find "^ms_c_" then return false end
  local words = "_" .. name:gsub(prefix and "^ms_c_" or "^ms_", "") .. "_"
  noun = rest or noun
  for _, form in ipairs {noun, noun .. "s", noun .. "es", (noun:gsub("s$", ""))} do
    if words:find("_" .. form .. "_", 1, true) then return true end
  end
  return false
end

-- The names that a header exports and that do not say so.
local function strangers(path, text)
  local nouns, found = {path:match "([%w_]+)%.h$"}, {}
  for name in pairs(declared.types(text)) do nouns[#nouns + 1] = name:match "^ms_(.*)$" end
  local first = FIRST[path] and "^ms_" .. FIRST[path] .. "_"
  for _, name in ipairs(declared.exported(text)) do
    local good = first and name:find(first) ~= nil
    for _, noun in ipairs(nouns) do good = good or name:find "^ms_" and has(name, noun) end
    if not good then found[#found + 1] = name end
  end
  return found
end

describe("names in C", function()
  it("have the noun of the header that declares them, or of a type that it defines", function()
    local found, count = {}, 0
    for path, text in pairs(texts) do
      if path:find "%.h$" and used[path] and not free[path] then
        for _, name in ipairs(strangers(path, text)) do found[#found + 1] = path .. ": " .. name end
        count = count + #declared.exported(text)
      end
    end
    table.sort(found)
    assert.same({}, found)
    assert.is_true(count > 1400)
  end)

  it("begin with ms_ where headers know them, and only there", function()
    local known, found = {}, {}
    for path, text in pairs(texts) do
      if path:find "%.h$" then
        for name in text:gmatch "%f[%w_]ms_[%w_]+" do known[name] = true end
      end
    end
    for path, text in pairs(texts) do
      if path:find "%.c$" then
        for name in pairs(declared.types(text)) do
          if not known[name] then found[#found + 1] = path .. ": " .. name end
        end
        for name in text:gmatch "\nstatic [^\n;={(]-[ *](ms_[%w_]+) ?[%[(=;]" do
          found[#found + 1] = path .. ": " .. name
        end
      end
    end
    table.sort(found)
    assert.same({}, found)
  end)

  it("are read as they are declared", function()
    local text = "/* int ms_no(void); */\ntypedef int ms_f(int);\n" ..
      "MS_API const ms_x *ms_a(int a,\n  int b);\n" ..
      "static inline int ms_b(void) {\n  return ms_c(1);\n}\nstatic int d(void);\n" ..
      "extern const ms_x ms_e, ms_g;\nvoid ms_h(const char *s, ...) __attribute__((format(x)));\n"
    assert.same({"ms_a", "ms_b", "ms_e", "ms_g", "ms_h"}, declared.exported(text))
  end)

  it("are found where they say nothing", function()
    local text = "typedef struct ms_store {\n  int k;\n} ms_store;\nvoid %s(void);\n"
    for name, good in pairs {
      ms_array_free = true, ms_arrays_free = true, ms_free_array = true, ms_store_free = true,
      ms_stores_free = true, ms_free = false, ms_arraying = false, ms_restore_all = false,
      array_free = false,
    } do
      assert.same(good and {} or {name}, strangers("array/array.h", text:format(name)), name)
    end
    local function of(path, name) return strangers(path, "int " .. name .. "(int a);\n") end
    assert.same({}, of("kernel/native/c_list.h", "ms_c_for_list"))
    assert.same({"ms_list_for"}, of("kernel/native/c_list.h", "ms_list_for"))
    assert.same({}, of("kernel/native/writer.h", "ms_c_line"))
    assert.same({"ms_line"}, of("kernel/native/writer.h", "ms_line"))
    assert.same({"ms_worker_stop"}, of("worker/worker_failure.h", "ms_worker_stop"))
    assert.same({}, of("depend/branch.h", "ms_branches_find"))
  end)
end)
