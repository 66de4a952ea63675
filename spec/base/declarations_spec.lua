-- SPDX-License-Identifier: MIT
--
-- What LuaJIT's FFI is told of the core: made from the headers by the build.
local child = require "spec.support.child"
local ffi = require "ffi"
require "meissa.base.c_core"

local declarations = require("meissa.core").declarations
local gen = (os.getenv("MEISSA_BUILD") or "build") .. "/gen/"

-- What the tool makes of preprocessed text, and its status.
local function made(text)
  local path = os.tmpname()
  child.write(path, text)
  local pipe = io.popen(("luajit tools/declarations.lua <%s 2>&1; echo $?"):format(path))
  local output = pipe:read("*a")
  pipe:close()
  os.remove(path)
  local body, status = output:match("^(.-)(%d+)\n$")
  return body, tonumber(status)
end

local OWN = '# 1 "csrc/room/x.h" 1\n'

-- {structure = {member, ...}}: of the declarations.
local function structures()
  local found = {}
  for body, name in declarations:gmatch("typedef %a+ [%w_]+ {(.-)} ([%w_]+);") do
    local members = {}
    for member in body:gmatch("[^;]+") do
      local names = member:gsub("%b[]", ""):gsub("^%s*const ", ""):gsub("^%s*struct ", "")
      for each in (names:gsub("^%s*[%w_]+", "") .. ","):gmatch("([^,]*),") do
        members[#members + 1] = each:match("([%w_]+)%s*$")
      end
    end
    found[name] = members
  end
  return found
end

-- A C program over the headers' own text that prints a line of each structure.
local function layout_program(all)
  local text = {'int printf(const char *, ...);\nint main(void) {'}
  for name, members in pairs(all) do
    text[#text + 1] = ('printf("%s %%lu", sizeof(%s));'):format(name, name)
    for _, member in ipairs(members) do
      text[#text + 1] = ('printf(" %s %%lu", __builtin_offsetof(%s, %s));'):format(member, name,
                                                                                   member)
    end
    text[#text + 1] = 'printf("\\n");'
  end
  return table.concat(text, "\n") .. "\nreturn 0; }\n"
end

local function layout_of_ffi(name, members)
  local line = {name, ffi.sizeof(name)}
  for _, member in ipairs(members) do
    line[#line + 1] = member
    line[#line + 1] = ffi.offsetof(name, member)
  end
  return table.concat(line, " ")
end

describe("Declarations of the core", function()
  it("have the layout that the C compiler gives them", function()
    local all = structures()
    assert.is_truthy(all.ms_array and all.ms_native_run and #all.ms_array > 20)
    local directory = child.directory()
    child.write(directory .. "/layout.c", child.read(gen .. "declarations.i") ..
                layout_program(all))
    local pipe = io.popen(("cd %s && cc -std=gnu11 -w -DMS_API= -DMS_API_TYPE= -x c layout.c " ..
                           "-o layout -lm 2>&1 && ./layout"):format(directory))
    local lines = 0
    for line in pipe:lines() do
      local name = line:match("^([%w_]+)")
      assert.equal(layout_of_ffi(name, all[name] or {}), line)
      lines = lines + 1
    end
    pipe:close()
    child.remove(directory)
    local count = 0
    for _ in pairs(all) do count = count + 1 end
    assert.equal(count, lines)
  end)

  it("are of functions that Lua calls", function()
    local texts = {}
    local pipe = io.popen("find lua spec -name '*.lua' | sort")
    for path in pipe:lines() do texts[#texts + 1] = child.read(path) end
    pipe:close()
    local text, unused = table.concat(texts), {}
    for name in declarations:gsub("typedef[^\n]*\n", ""):gmatch("([%w_]+)%(") do
      if not text:find("[.\"]" .. name .. "%f[^%w_]") then
        unused[#unused + 1] = name
      end
    end
    assert.same({}, unused)
  end)

  it("leave out what is not marked or comes from elsewhere", function()
    local text, status = made('# 1 "/usr/include/x.h" 1\ntypedef int thread_lock;\n' .. OWN .. [[
      typedef enum ms_kind { MS_A, MS_B } ms_kind;
      typedef struct ms_inside { thread_lock lock; } ms_inside;
      typedef struct ms_unused { int a; } ms_unused;
      typedef struct ms_node ms_node;
      struct ms_node { ms_node *next; double at[3]; };
      typedef struct MS_API_TYPE ms_marked { ms_kind kind; } ms_marked;
      static inline int ms_small(int a) { if (a) { return 1; } return 2; }
      int ms_hidden(ms_unused *what);
      MS_API const ms_node *ms_seen(ms_inside *inside, const void *more);
    ]])
    assert.equal(0, status, text)
    assert.equal([[
typedef int ms_kind;
typedef struct ms_inside ms_inside;
typedef struct ms_node ms_node;
struct ms_node { ms_node *next; double at[3]; };
typedef struct ms_marked { ms_kind kind; } ms_marked;
const ms_node *ms_seen(ms_inside *, const void *);
]], text)
  end)

  it("refuse one name for two types", function()
    local text, status = made(OWN .. "typedef struct ms_a { int b; } ms_a; typedef long ms_a;")
    assert.equal(1, status)
    assert.is_truthy(text:find("two types are named ms_a", 1, true))
  end)
end)
