-- SPDX-License-Identifier: MIT
-- Compiling kernels and keeping them: compilers that are missing, fail or hang, hosts of all kinds,
-- and caches that somebody has been at.
local child = require "spec.support.child"
local support = require "spec.driver.support"

local quote = child.quote

-- Compiles, loads and runs a kernel that gives 2 * bounds[0] + ADD, and says how that went. ADD
-- makes kernels different.
local SCRIPT = [[
local compiler = require "meissa.kernel.compiler"
local ffi = require "ffi"
local before, text = ...
if before and before ~= "" then assert(loadstring(before))() end
text = text or ([=[
  typedef union { void *p; double number; long long whole; } slot;
  int ms_native_run(const long long *b, const slot *s, slot *r, void *f) {
    r[0].number = 2 * b[0] + ADD;
    return 0;
  }]=]):gsub("ADD", os.getenv "ADD" or "1")
local missing = compiler.missing()
if missing then print("missing: " .. missing) end
local build, why = compiler.build(text)
if not build then print("none: " .. why) os.exit(0) end
if compiler.notice() then print("notice: " .. compiler.notice()) end
print(build:state())
build:finish()
print(build:state())
if build:state() == "failed" then print(build:trouble()) os.exit(0) end
local object = assert(compiler.load(build.key, build:object()))
local results, bounds = ffi.new("ms_native_slot[2]"), ffi.new("int64_t[2]", 20)
assert(object.block(bounds, results, results, nil) == 0)
print(results[0].number)
print(build.directory)
if os.getenv "AFTER" then loadstring(os.getenv "AFTER")() end
]]

describe("compiled kernels", function()
  local where, cache

  before_each(function()
    where = child.directory()
    cache = where .. "/cache"
    child.write(where .. "/script.lua", SCRIPT)
    -- A compiler that counts its runs.
    child.write(where .. "/counted", "#!/bin/sh\necho run >>" .. where .. "/runs\nexec cc \"$@\"\n")
    os.execute("chmod +x " .. where .. "/counted")
  end)

  after_each(function() child.remove(where) end)

  local function shell(command) return (child.shell(command, 30)) end

  -- The script's lines in an environment.
  local function run(environment, before, text)
    local output = shell(("MEISSA_CACHE=%s CC=%s %s luajit %s/script.lua %s %s"):format(
      quote(cache), quote(where .. "/counted"), environment or "", where, quote(before or ""),
      text and quote(text) or ""))
    local lines = {}
    for line in output:gmatch("[^\n]+") do lines[#lines + 1] = line end
    return lines
  end

  local function runs()
    local text = child.read(where .. "/runs") or ""
    return select(2, text:gsub("run", ""))
  end

  local function objects(path)
    local list = {}
    for name in shell("ls -a " .. quote(path or cache)):gmatch("[^\n]+") do
      if name ~= "." and name ~= ".." then list[#list + 1] = name end
    end
    return list
  end

  local function the_object() return cache .. "/" .. objects()[1] end

  local COMPILED, FOUND = {"waiting", "ready", "41"}, {"ready", "ready", "41"}

  local function same(expected, lines)
    for k, line in ipairs(expected) do assert.equal(line, lines[k], table.concat(lines, "\n")) end
  end

  describe("are kept", function()
    it("by all that they depend on", function()
      same(COMPILED, run())
      same(FOUND, run())
      assert.equal(1, runs())
      same({"waiting", "ready", "42"}, run("ADD=2"))
      same({"waiting", "ready", "41"}, run("CC=gcc"))
      assert.equal(3, #objects())
      os.execute("touch -d '2001-01-01' " .. where .. "/counted") -- another compiler
      same(COMPILED, run())
      assert.equal(4, #objects())
    end)

    it("where only their user can read them", function()
      run("", "os.execute('umask')")
      local modes = shell(("stat -c %%a %s %s"):format(quote(cache), quote(the_object())))
      assert.equal("700\n600\n", modes)
    end)

    it("below XDG_CACHE_HOME, or below HOME", function()
      local lines = run("MEISSA_CACHE= XDG_CACHE_HOME=" .. where .. "/xdg")
      assert.equal(where .. "/xdg/meissa", lines[4])
      lines = run(("MEISSA_CACHE= XDG_CACHE_HOME= HOME=%s/home"):format(where))
      assert.equal(where .. "/home/.cache/meissa", lines[4])
    end)

    it("when several processes make one at once", function()
      local command = ("MEISSA_CACHE=%s CC=cc luajit %s/script.lua >%s/out.$k"):format(cache, where,
        where)
      shell(("for k in 1 2 3 4 5 6; do (%s) & done; wait"):format(command))
      for k = 1, 6 do
        local output = child.read(where .. "/out." .. k)
        assert.truthy(output:find("ready\n41\n", 1, true), output)
      end
      assert.equal(1, #objects())
      same(FOUND, run("CC=cc"))
    end)
  end)

  describe("that somebody has been at", function()
    local function spoilt(how)
      run()
      local object = the_object()
      os.execute(how:gsub("OBJECT", object):gsub("WHERE", where))
      same(COMPILED, run())
      assert.equal(2, runs())
      same(FOUND, run())
      assert.equal(1, #objects())
    end

    it("are made again: a byte is another", function()
      spoilt("(head -c 5000 OBJECT; printf X; tail -c +5002 OBJECT) >WHERE/new; " ..
        "cat WHERE/new >OBJECT")
    end)
    it("are made again: the end is missing", function() spoilt("truncate -s -1 OBJECT") end)
    it("are made again: nothing is left", function() spoilt("truncate -s 0 OBJECT") end)
    it("are made again: something follows", function() spoilt("echo >>OBJECT") end)
    it("are made again: others may write", function() spoilt("chmod 666 OBJECT") end)
    it("are made again: it has two names", function() spoilt("ln OBJECT WHERE/again") end)
    it("are made again: it is a link", function()
      spoilt("mv OBJECT WHERE/elsewhere; ln -s WHERE/elsewhere OBJECT")
      assert.truthy(child.read(where .. "/elsewhere"))
    end)
    it("are made again: it is a pipe", function() spoilt("rm OBJECT; mkfifo OBJECT") end)

    it("are made again: it is another one", function()
      run("ADD=2")
      local other = the_object()
      os.execute(("mv %s %s/other"):format(other, where))
      run()
      os.execute(("cp %s/other %s"):format(where, the_object()))
      same(COMPILED, run())
    end)

    if shell("id -u") == "0\n" then
      it("are made again: it is somebody else's", function() spoilt("chown 1234 OBJECT") end)
    end
  end)

  describe("are made without the cache", function()
    -- Compiles although the cache is refused for this reason; the private directory goes away.
    local function refused(reason)
      local lines = run()
      assert.truthy(lines[1]:find("^notice: "), table.concat(lines, "\n"))
      assert.truthy(lines[1]:find(reason, 1, true), lines[1])
      same(COMPILED, {lines[2], lines[3], lines[4]})
      local private = lines[5]
      assert.truthy(private and private ~= cache)
      assert.equal(nil, child.read(private .. "/lock"))
      assert.truthy(shell("ls -d " .. private):find("No such file"))
    end

    it("when others may enter it", function()
      os.execute(("mkdir %s; chmod 755 %s"):format(cache, cache))
      refused("is open to other users (mode 755, not 700)")
      assert.equal(0, #objects())
    end)

    it("when it is a link", function()
      os.execute(("mkdir -m 700 %s/real; ln -s real %s"):format(where, cache))
      refused("is no directory")
      assert.equal(0, #objects(where .. "/real"))
    end)

    it("when it belongs to somebody else", function()
      if shell("id -u") == "0\n" then
        os.execute(("mkdir -m 700 %s; chown 1234 %s"):format(cache, cache))
      else
        cache = "/root"
      end
      refused(shell("id -u") == "0\n" and "belongs to another user" or "/root")
    end)

    it("when its disk is full", function()
      os.execute("mkdir -m 700 " .. cache)
      local mount = "mount -t tmpfs -o size=64k,mode=700 tmpfs " .. cache
      if os.execute(mount .. " 2>/dev/null") ~= 0 then return end -- not ours to mount
      finally(function() os.execute("umount " .. cache) end)
      refused("is on a disk that is full")
      assert.equal(0, #objects())
    end)

    it("when its path is relative", function()
      cache = "cache"
      refused("is not an absolute path")
    end)

    it("silently when a home cannot be written to", function()
      local lines = run("MEISSA_CACHE= XDG_CACHE_HOME= HOME=/proc/1/home")
      same(COMPILED, lines)
      assert.truthy(shell("ls -d " .. lines[4]):find("No such file"))
    end)

    it("silently without a home", function()
      same(COMPILED, run("MEISSA_CACHE= XDG_CACHE_HOME= HOME="))
    end)
  end)

  describe("and the compiler", function()
    local function compiler(text)
      child.write(where .. "/cc", "#!/bin/sh\n" .. text)
      os.execute("chmod +x " .. where .. "/cc")
      return "CC=" .. where .. "/cc"
    end

    it("may have arguments", function() same(COMPILED, run("CC='  env A=1 cc -g '")) end)

    it("may be missing", function()
      same({"missing: no C compiler: CC is '/nonexistent' is not found"}, run("CC=/nonexistent"))
      same({"missing: no C compiler: 'cc' is not found in PATH and CC is not set"}, run("CC=", [[
        local ffi = require "ffi"
        ffi.cdef "int setenv(const char *, const char *, int);"
        ffi.C.setenv("PATH", "/nonexistent", 1)]]))
    end)

    it("may fail: its first error is told", function()
      local cc = compiler("echo 'x.c:1: warning: odd' >&2; echo 'x.c:3: error: boom' >&2; exit 1")
      same({"waiting", "failed", "x.c:3: error: boom"}, run(cc))
      same({"waiting", "failed"}, run(nil, nil, "int f("))
      assert.same({}, objects())
    end)

    it("may fail in linking: the linker says why", function()
      local said = "ld: no space\ncollect2: error: ld returned 1"
      local cc = compiler("echo '" .. said .. "' >&2; exit 1")
      same({"waiting", "failed", "ld: no space"}, run(cc))
    end)

    it("may fail without a word", function()
      same({"waiting", "failed", "it ended with status 7"}, run(compiler("exit 7")))
      same({"waiting", "failed", "it was killed by signal 11 (Segmentation fault)"},
           run(compiler("kill -SEGV $$")))
      same({"waiting", "failed", "it ended with status 0 but made nothing"}, run(compiler("")))
    end)

    it("may make something else", function()
      local cc = compiler([[while [ $# -gt 1 ]; do [ "$1" = -o ] && echo hello >"$2"; shift; done]])
      same({"waiting", "failed", "what it made is no shared object"}, run(cc))
      assert.same({}, objects())
    end)

    it("may print without end", function()
      local cc = compiler("yes 'error: again' | head -c 3000000 >&2; exit 1")
      same({"waiting", "failed", "error: again"}, run(cc))
    end)

    it("may hang: it and all that it has started are ended", function()
      local cc = compiler("echo $$ >>" .. where .. "/pids; sleep 100 & echo $! >>" .. where ..
                          "/pids; wait")
      same({"waiting", "failed", "it did not end within 0.3 s"}, run(cc .. " MEISSA_CC_LIMIT=0.3"))
      for pid in child.read(where .. "/pids"):gmatch("%d+") do
        local state -- what was killed takes its time to end where there is much else to do
        assert.truthy(support.eventually(10, function()
          state = child.read("/proc/" .. pid .. "/stat") or ""
          return state == "" or state:find(") Z ", 1, true) ~= nil
        end), state)
      end
      assert.same({}, objects())
    end)

    it("is not waited for at the end", function()
      local cc = compiler("sleep 100")
      local before = os.time()
      shell(("MEISSA_CACHE=%s %s luajit -e %s"):format(quote(cache), cc, quote [[
        local build = require("meissa.kernel.compiler").build("int x;")
        build:start(0)
        local ffi = require "ffi"
        ffi.cdef "int usleep(unsigned microseconds);"
        ffi.C.usleep(200000)]]))
      assert.truthy(os.time() - before < 60)
      assert.same({}, objects())
    end)

    it("sees nothing of LD_PRELOAD", function()
      local cc = compiler("env >" .. where .. "/seen; exec cc \"$@\"")
      same(COMPILED, run(cc .. ' LD_PRELOAD="$LD_PRELOAD libm.so.6" LD_BIND_NOW=1 KEPT=1'))
      local seen = child.read(where .. "/seen")
      assert.falsy(seen:find "LD_PRELOAD" or seen:find "LD_BIND_NOW")
      assert.truthy(seen:find "\nKEPT=1\n" and seen:find "LC_ALL=C\n")
    end)

    it("has no input and no other descriptor", function()
      local cc = compiler("ls /proc/self/fd >" .. where .. "/seen; exec cc \"$@\"")
      same(COMPILED, run(cc))
      assert.equal("0\n1\n2\n3\n", child.read(where .. "/seen")) -- 3 is the listing's own
    end)

    local IGNORE = [[
      local ffi = require "ffi"
      ffi.cdef "void *signal(int number, void *handler);"
      ffi.C.signal(17, ffi.cast("void *", 1))]]

    it("works for hosts that ignore SIGCHLD", function()
      same(COMPILED, run("", IGNORE))
      same({"waiting", "failed", "oops: error"},
           run(compiler("echo 'oops: error' >&2; exit 1"), IGNORE))
      same({"waiting", "failed"}, run(compiler("exit 1") .. " ADD=5", IGNORE))
    end)

    it("works in a forked child, whatever its parent was doing", function()
      local lines = run("ADD=7 CC=" .. where .. "/counted", [[
        local compiler = require "meissa.kernel.compiler"
        local ffi = require "ffi"
        ffi.cdef "int fork(void); int waitpid(int, int *, int);"
        local first = compiler.build("int busy;")
        first:start(0)
        local pid = ffi.C.fork()
        if pid ~= 0 then
          ffi.C.waitpid(pid, nil, 0)
          os.exit(0, true)
        end]])
      same({"waiting", "ready", "47"}, lines)
    end)
  end)
end)
