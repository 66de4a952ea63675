-- SPDX-License-Identifier: MIT
--
-- C declarations: a program may declare whatever Meissa calls, with types of its own, before or
-- after it loads Meissa, and both go on to work.
local child = require "spec.support.child"

-- Run in a process of its own: loads every module and prints what they declare.
local ALL_DECLARATIONS = [[
local ffi = require "ffi"
local cdef, texts = ffi.cdef, {}
function ffi.cdef(text, ...)
  texts[#texts + 1] = text .. "\n"
  return cdef(text, ...)
end
for i = 1, #arg do require(arg[i]) end
require("meissa.array.blas").library()
io.write(table.concat(texts))
]]

-- Declarations without comments, bodies of structures and lists of parameters.
local function outline(text)
  local sum = text:gsub("/%*.-%*/", ""):gsub("%b{}", "{}"):gsub("%b()", "()")
  return sum
end

-- The names that the declarations of a text make known: functions, variables, types, tags.
local function declared(text)
  local names = {}
  for each in outline(text):gmatch("[^;]+") do
    local what = each:gsub("__asm__%s*%(%)", ""):gsub("%b[]", "")
    local tag = what:match("struct%s+([%w_]+)") or what:match("union%s+([%w_]+)")
      or what:match("enum%s+([%w_]+)")
    names[#names + 1] = tag
    for part in (what .. ","):gmatch("([^,]*),") do
      names[#names + 1] = part:match("([%a_][%w_]*)[%s()]*$")
    end
  end
  return names
end

-- Those of them that another part of the program could mean, too.
local function foreign(text)
  local list = {}
  for _, name in ipairs(declared(text)) do
    if not name:find("^ms_") and not name:find("^meissa_") then list[#list + 1] = name end
  end
  table.sort(list)
  return list
end

local function modules()
  local list = {}
  local pipe = io.popen("cd lua && find meissa -name '*.lua' | sort")
  for path in pipe:lines() do
    list[#list + 1] = path:gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")
  end
  pipe:close()
  return list
end

-- What programs declare: types, a call with what it gives. The types are right, and others than
-- ours.
local USERS = [[
local ffi = require "ffi"
local function declare()
  ffi.cdef "typedef struct timespec { long seconds, fraction; } timespec;"
  ffi.cdef "int clock_gettime(int clock, struct timespec *at);"
  ffi.cdef "const unsigned char *getcwd(void *to, unsigned long size);"
  ffi.cdef "_Bool isatty(unsigned char descriptor);"
  ffi.cdef "unsigned get_nprocs(int unused);"
  ffi.cdef "double *calloc(unsigned long count, unsigned long size); void free(double *what);"
  ffi.cdef "struct place; _Bool setenv(struct place *, const void *, struct place *);"
  ffi.cdef "void execvp(struct place *); struct place *realpath(struct place *);"
  ffi.cdef "const unsigned char *getenv(const void *); extern struct place *environ;"
  ffi.cdef "_Bool mkdir(struct place *);"
  ffi.cdef "struct place *openblas_set_num_threads(struct place *);"
  for _, routine in ipairs {"gemv", "ger", "gemm"} do
    ffi.cdef("enum order_" .. routine .. " { FIRST_" .. routine .. " = 101 };")
    for _, letter in ipairs {"d", "s"} do
      ffi.cdef(("void cblas_%s%s(enum order_%s, struct place *);"):format(letter, routine, routine))
    end
  end
end

local function use()
  local C = ffi.C
  local at = ffi.new "struct timespec"
  assert(C.clock_gettime(1, at) == 0 and at.seconds + at.fraction > 0)
  local room = ffi.new "char[4096]"
  assert(ffi.string(C.getcwd(room, 4096)) == io.popen("pwd -P"):read("*l"))
  assert(C.isatty(99) == false)
  assert(C.get_nprocs(0) >= 1)
  local memory = C.calloc(3, 8)
  assert(memory[2] == 0)
  C.free(memory)
  assert(ffi.string(C.getenv("HOME")) == os.getenv("HOME"))
  assert(C.environ ~= nil)
end
]]

local LOOPS = [[
local function loops()
  local parallel = meissa.parallel
  local n = 300
  local A, B = meissa.zeros(n), meissa.rand({n, n}, {seed = 1})
  local s, h = 0, meissa.buffer(meissa.zeros(10))
  for i in parallel(n, {ordered = false}) do
    A[i] = i * 2
    s = s + i
    h[i % 10 + 1] = h[i % 10 + 1] + 1
  end
  assert(s == n * (n + 1) / 2 and A:sum() == n * (n + 1))
  local w = meissa.scratch(4)
  for i in parallel(n, {numeric = "fast"}) do
    w[1] = i
    A[i] = w[1]
  end
  assert(A[n] == n)
  local product = meissa.zeros {n, n}
  product:gemm(B, B, {numeric = "fast"})
  assert(product[1][1] > 0)
  meissa.zeros(n):gemv(B, A, {numeric = "fast"})
end
]]

-- The steps of a program, in its order.
local function program(steps, workers)
  local text = {USERS, "local meissa\n", LOOPS}
  for _, step in ipairs(steps) do
    text[#text + 1] = step == "load" and 'meissa = require "meissa"\n' or step .. "()\n"
  end
  text[#text + 1] = "io.write 'done'\n"
  return child.script(table.concat(text), {env = "MEISSA_WORKERS=" .. workers})
end

describe("C declarations", function()
  it("are looked at with care in this file", function()
    assert.same({"f", "free", "g", "isatty", "s", "s", "t", "v"}, foreign([[
      int isatty(int meissa_x); void free(void *p); /* int no(void); */
      struct s { int a; }; typedef struct s t; int g(void), f(int a, int b);
      extern char v[16]; int meissa_f(int q) __asm__("q"); typedef struct ms_a { int b; } ms_a;]]))
  end)

  it("name nothing that is not Meissa's own", function()
    local list = modules()
    local text = child.script(ALL_DECLARATIONS, {arguments = table.concat(list, " ")})
    assert.is_true(#declared(text) > 100)
    assert.same({}, foreign(text))
  end)

  for _, workers in ipairs {0, 2} do
    local function passes(title, steps)
      it(("%s, MEISSA_WORKERS=%d"):format(title, workers), function()
        assert.equal("done", (program(steps, workers)))
      end)
    end

    passes("of a program come first", {"declare", "use", "load", "loops", "use", "loops"})
    passes("of a program come after Meissa is loaded", {"load", "declare", "use", "loops", "use"})
    passes("of a program come after loops ran", {"load", "loops", "declare", "use", "loops", "use"})
  end

  it("of types do not meet the names of Meissa's parameters and fields", function()
    local text = child.script(ALL_DECLARATIONS, {arguments = table.concat(modules(), " ")})
    local names, list = {}, {}
    for name in text:gsub("/%*.-%*/", ""):gsub('"[^"]*"', ""):gmatch("[%a_][%w_]*") do
      local own = name:find("^ms_") or name:find("^meissa_")
      if not own and not names[name] then
        names[name] = true
        list[#list + 1] = ("pcall(ffi.cdef, 'typedef struct { char own[3]; } %s;')"):format(name)
      end
    end
    assert.is_true(#list > 100)
    local output = child.script(table.concat({'local ffi = require "ffi"', table.concat(list, "\n"),
      "assert(ffi.sizeof 'seed' == 3 and ffi.sizeof 'count' == 3)", 'local meissa',
      LOOPS, 'meissa = require "meissa"', "loops()", "io.write 'done'"}, "\n"))
    assert.equal("done", output)
  end)

  it("of the command line tool do not meet a program's", function()
    local output, status = child.script(USERS .. [[
      declare()
      local cli = require "meissa.cli"
      cli.main {"explain", "script.lua.missing"}
      local file = io.open("told.lua", "w")
      file:write "io.write(os.getenv 'MEISSA_EXPLAIN')"
      file:close()
      cli.main {"explain", "told.lua"}]])
    assert.equal(0, status)
    assert.is_truthy(output:find("1$"), output)
  end)
end)
