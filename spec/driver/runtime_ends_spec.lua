-- SPDX-License-Identifier: MIT
--
-- However a driver ends, nothing of its session stays behind; and what interrupts it is told.
-- Each driver here is a process of its own.

local ffi = require "ffi"
local support = require "spec.driver.support"

-- What child drivers begin with.
local head = [[
local support = require("spec.driver.support")
local function start(options)
  local session = assert(support.session(options))
  print("directory " .. session:info().directory)
  print("pids " .. table.concat(session:pids(), " "))
  return session
end
local endless = {
  key = "endless", strategy = "partition", ranges = {2},
  kernel = "return function() while true do end end",
}
]]

local function pids_of(text)
  local pids = {}
  for pid in text:gmatch("%d+") do pids[#pids + 1] = tonumber(pid) end
  return pids
end

-- True once the child and its workers are gone, and the directory, too.
local function all_gone(child, pids, directory)
  return support.eventually(2, function()
    for _, pid in ipairs(pids) do
      if support.alive(pid) then return false end
    end
    return not support.alive(child.pid) and not support.exists(directory)
  end)
end

local ways = {
  {"is killed while loops run", "start(OPTIONS):run(endless)", 9},
  {"is killed between loops", "start(OPTIONS) support.sleep(20)", 9},
  {"is terminated while loops run", "start(OPTIONS):run(endless)", 15},
  {"hangs up", "start(OPTIONS):run(endless)", 1},
  {"returns without a word", "local s = start(OPTIONS) support.sleep(0.3)"},
  {"ends with os.exit", "local s = start(OPTIONS) support.sleep(0.3) os.exit(3)"},
  {"raises an error", "local s = start(OPTIONS) support.sleep(0.3) error('oh')"},
  {"drops its session", "start(OPTIONS) collectgarbage() collectgarbage() support.sleep(3)"},
  {"ignores SIGCHLD", [[
    local ffi = require("ffi")
    ffi.cdef "void (*signal(int, void (*)(int)))(int);"
    ffi.C.signal(17, ffi.cast("void (*)(int)", 1))
    local s = start(OPTIONS)
    local _, err = s:run {key = "x", strategy = "partition", ranges = {2},
      kernel = 'require("ffi").cdef "int kill(int, int); int getpid(void);" '
        .. 'return function() require("ffi").C.kill(require("ffi").C.getpid(), 9) end'}
    print("code " .. err.code)
    s:stop()]]},
  {"runs in a coroutine of a forked parent", [[
    local ffi = require("ffi")
    ffi.cdef "int fork(void); int waitpid(int, int *, int); void _exit(int);"
    local s = start(OPTIONS)
    local child = ffi.C.fork()
    if child == 0 then
      local outcome, err = s:run(endless)
      print("forked " .. tostring(err and err.message))
      s:stop()
      os.exit(0)
    end
    ffi.C.waitpid(child, nil, 0)
    support.sleep(0.2)
    local outcome = assert(s:run {key = "k", strategy = "independent", ranges = {2},
      kernel = "return function(b) return tostring(b) end"})
    print("parent " .. outcome.results[1])]]},
}

for _, transport in ipairs {"ipc", "tcp"} do
  describe("a driver over " .. transport .. " that", function()
    for _, way in ipairs(ways) do
      it(way[1] .. " leaves nothing behind", function()
        local options = ("{workers = 2, transport = %q}"):format(transport)
        local child = support.child(head .. way[2]:gsub("OPTIONS", options))
        local pids = pids_of(support.said(child, "pids") or "")
        local directory = support.said(child, "directory")
        assert.are.equal(2, #pids, support.output(child))
        assert.are.equal(transport == "ipc", directory ~= "")
        if way[3] then
          assert.is_true(support.alive(pids[1]) and support.alive(pids[2]))
          support.sleep(0.2)
          support.kill(child.pid, way[3])
        else
          support.eventually(6, function() return not support.alive(child.pid) end)
        end
        local gone = all_gone(child, pids, directory == "" and "/nowhere" or directory)
        local output = support.output(child)
        support.bury(child)
        assert.is_true(gone)
        if way[1]:match("SIGCHLD") then assert.matches("code WRK", output) end
        if way[1]:match("forked") then
          assert.matches("forked this process was forked", output)
          assert.matches("parent 1", output)
        end
      end)
    end
  end)
end

-- What a worker may be doing when its driver is killed; nothing to wait for means idle.
local waiting = [[{key = "w", strategy = "rotate", ranges = {2, 2},
  kernel = "return function(b) while b == 0 do end end"}]]
local doing = {
  idle = "start {workers = WORKERS} support.sleep(20)",
  busy = "start {workers = WORKERS}:run(endless)",
  ["waiting for a hand-over"] = "start {workers = WORKERS}:run " .. waiting,
}

for what, code in pairs(doing) do
  for _, workers in ipairs {1, 2} do
    local function ends(environment, before)
      local child = support.child(head .. code:gsub("WORKERS", workers), environment, "setsid")
      local pids = pids_of(support.said(child, "pids") or "")
      local directory = support.said(child, "directory")
      assert.are.equal(workers, #pids, support.output(child))
      support.sleep(0.2)
      before(child, pids)
      local gone = all_gone(child, pids, directory)
      support.bury(child)
      for _, pid in ipairs(pids) do support.kill(pid, 9) end
      assert.is_true(gone)
      return directory
    end

    describe(("%d worker(s), %s, of a driver that is killed"):format(workers, what), function()
      it("with its process group, leave nothing behind", function()
        ends(nil, function(child) support.kill(-child.pid, 9) end)
      end)

      it("while one is stopped, leave nothing behind", function()
        ends(nil, function(child, pids)
          support.kill(pids[1], 19)
          support.sleep(0.05)
          support.kill(child.pid, 9)
        end)
      end)

      it("without XDG_RUNTIME_DIR, leave nothing behind", function()
        local place = os.tmpname()
        os.remove(place)
        assert.are.equal(0, os.execute("mkdir -m 700 " .. place))
        local directory = ends({XDG_RUNTIME_DIR = "", TMPDIR = place},
          function(child) support.kill(child.pid, 9) end)
        assert.are.equal(place, directory:sub(1, #place))
        assert.is_true(os.remove(place)) -- only when it is empty
      end)
    end)
  end
end

describe("a driver that is killed while its workers come up", function()
  local function children(pid)
    local file = io.open(("/proc/%d/task/%d/children"):format(pid, pid))
    local text = file and file:read("*a") or ""
    if file then file:close() end
    return pids_of(text)
  end

  it("leaves nothing behind", function()
    for _, delay in ipairs {0, 0.001, 0.003, 0.01, 0.02, 0.03} do
      local place = os.tmpname()
      os.remove(place)
      assert.are.equal(0, os.execute("mkdir -m 700 " .. place))
      local child = support.child(head .. "start {workers = 2} support.sleep(20)",
        {XDG_RUNTIME_DIR = place})
      assert(support.eventually(10, function() return #children(child.pid) > 0 end))
      support.sleep(delay)
      local pids = children(child.pid)
      support.kill(child.pid, 9)
      local gone = support.eventually(2, function()
        for _, pid in ipairs(pids) do
          if support.alive(pid) then return false end
        end
        return os.remove(place) -- only when it is empty
      end)
      support.bury(child)
      assert.is_true(gone, "after " .. delay .. " s")
    end
  end)
end)

describe("Ctrl-C", function()
  it("cancels the job, and only the job", function()
    local child = support.child(head .. [[
      local s = start {workers = 2}
      for round = 1, 2 do
        print("round " .. round)
        local from = support.now()
        local outcome, err = s:run(endless)
        print("code" .. round .. " " .. tostring(outcome) .. err.code
          .. (support.now() - from < 3 and " soon" or " late"))
      end
      local again = assert(s:run {key = "k", strategy = "independent", ranges = {2},
        kernel = "return function(b) return tostring(b) end"})
      print("after " .. again.results[1])
      while true do support.sleep(1) end
    ]])
    for round = 1, 2 do
      assert.is_truthy(support.eventually(10, function()
        return support.output(child):match("round " .. round .. "\n")
      end))
      support.sleep(0.3)
      support.kill(child.pid, 2)
      assert.are.equal("nilINT soon", support.said(child, "code" .. round, 4))
    end
    assert.are.equal("1", support.said(child, "after"))
    support.kill(child.pid, 2) -- outside of a job it is the host's own business again
    support.kill(child.pid, 2)
    local gone = support.eventually(2, function() return not support.alive(child.pid) end)
    support.bury(child)
    assert.is_true(gone)
  end)
end)

describe("the next start", function()
  it("sweeps away what dead drivers left, and nothing else", function()
    local base = os.tmpname()
    os.remove(base)
    local function shell(command) assert(os.execute(command) == 0, command) end
    local stale, young = base .. "/meissa-999999-abcde", base .. "/meissa-999998-abcde"
    local other, locked = base .. "/other", base .. "/meissa-1-00000"
    shell(("mkdir -p %s %s %s %s && touch %s/lock %s/driver %s/w0.1 %s/keep %s/lock"):format(
      stale, young, other, locked, stale, stale, stale, other, locked))
    local holder = io.popen(("exec flock %s/lock sh -c 'echo locked; sleep 5'"):format(locked))
    assert.are.equal("locked", holder:read("*l"))
    local child = support.child(head .. "start {workers = 1}:stop() print('done now')",
      {TMPDIR = base, XDG_RUNTIME_DIR = ""})
    local directory = support.said(child, "directory")
    assert.are.equal("now", support.said(child, "done"))
    support.bury(child)
    assert.are.equal(base, directory:sub(1, #base))
    assert.is_false(support.exists(directory))
    assert.is_false(support.exists(stale))
    assert.is_true(support.exists(young))
    assert.is_true(support.exists(other .. "/keep"))
    assert.is_true(support.exists(locked .. "/lock"))
    shell("rm -r " .. base)
    holder:close()
  end)

  it("goes to the next place when socket paths would be too long", function()
    local base = os.tmpname()
    os.remove(base)
    local long = base .. ("/aaaaaaaaaaaaaaaa"):rep(4)
    os.execute("mkdir -p " .. long)
    local child = support.child(head .. "start {workers = 1}:stop() print('done now')",
      {TMPDIR = long, XDG_RUNTIME_DIR = "/nowhere"})
    local directory = support.said(child, "directory")
    assert.are.equal("now", support.said(child, "done"))
    support.bury(child)
    assert.matches("^/tmp/meissa%-", directory)
    os.execute("rm -r " .. base)
  end)
end)

describe("the private directory", function()
  it("is for this user only", function()
    local session = assert(support.session {workers = 1})
    local pipe = io.popen("stat -c %a " .. session:info().directory)
    assert.are.equal("700", pipe:read("*l"))
    pipe:close()
    session:stop()
  end)
end)

describe("a worker", function()
  it("has no secret in its arguments or environment, and no stray descriptor", function()
    local file = assert(io.open("/dev/null")) -- without close-on-exec
    local session = assert(support.session {workers = 1, transport = "tcp"})
    local pid = session:pids()[1]
    local pipe = io.popen("ls -l /proc/" .. pid .. "/fd")
    local listing = pipe:read("*a")
    pipe:close()
    local nulls = select(2, listing:gsub("/dev/null", ""))
    local mine = io.popen("readlink /proc/" .. pid .. "/fd/0")
    assert.are.equal("/dev/null", mine:read("*l"))
    mine:close()
    assert.is_true(nulls <= 3) -- standard ones at most
    assert.is_true(ffi.C.kill(pid, 2) == 0) -- SIGINT is not for it
    assert.is_table(session:run {
      key = "k", strategy = "independent", ranges = {1}, kernel = "return function() end",
    })
    file:close()
    session:stop()
  end)
end)
