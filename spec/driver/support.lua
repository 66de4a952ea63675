-- SPDX-License-Identifier: MIT
--
-- What the runtime's specs share: sessions whose kernels are Lua text, operands made of arrays, and
-- child drivers that are started, signalled, and looked at after their death.

local ffi = require "ffi"
local buffer = require "string.buffer"
local array_core = require "meissa.array.c_api"
local core = require "meissa.core"
local system = require "meissa.base.system"
local interpreter = require "meissa.base.interpreter"

local M = {}

ffi.cdef [[
int kill(int pid, int signal);
int usleep(unsigned microseconds);
int getpid(void);
]]

--- Seconds on a clock that only goes forward.
M.now = system.clock

function M.sleep(seconds)
  ffi.C.usleep(seconds * 1e6)
end

-- A loaded machine takes so many times as long as an idle one.
local PATIENCE = 10

--- Calls fn(), which returns how many seconds something took, until that was less than `limit`, as
-- it is now and then on a loaded machine, too; false if it never was.
function M.once_within(limit, fn)
  for _ = 1, PATIENCE do
    if fn() < limit then return true end
  end
  return false
end

--- Waits until condition() is true, which takes an idle machine `seconds` at most; returns its last
-- value.
function M.eventually(seconds, condition)
  local limit = M.now() + PATIENCE * seconds
  while true do
    local value = condition()
    if value or M.now() > limit then return value end
    M.sleep(0.01)
  end
end

-- A worker whose kernels are Lua chunks: kernel(operands, run, ranges) -> block function.
M.worker_code = [[
local system = require("meissa.base.system")
local worker = require("meissa.worker")
worker.prepare = function(kernel, run, operands, ranges)
  local given = run ~= "" and require("string.buffer").decode(run) or {}
  return assert(loadstring(kernel, "=kernel"))(operands, given, ranges)
end
worker.main(3)
]]

--- A session with such workers; options as for core.session.
function M.session(options)
  options.command = options.command or interpreter.command(M.worker_code)
  return core.session(options)
end

-- Arrays by what a kernel sees of them.
M.prelude = [[
local ffi = require("ffi")
local function vector(operand, ctype)
  return ffi.cast(ctype .. " *", operand.pointer), operand.strides[1], operand.strides[2] or 1
end
]]

local TYPES = {float = 0, double = 1, int32 = 2, int64 = 3}
local CTYPES = {float = "float", double = "double", int32 = "int32_t", int64 = "int64_t"}
local Array = {}
Array.__index = Array

--- A dense array in shared memory: {data = typed pointer, dims =, strides =, core = ms_array *}.
-- Uniform random numbers with a seed, else zeros.
function M.array(dims, seed, type)
  type = type or "double"
  local err = ffi.new("ms_error")
  local c = array_core.lib.ms_array_dense(TYPES[type], #dims, ffi.new("int64_t[8]", dims), err)
  assert(c ~= nil, ffi.string(err.message))
  if seed then assert(array_core.lib.ms_random_fill_uniform(c, seed, 1, err) == 0) end
  local strides = {}
  for d = 1, #dims do strides[d] = tonumber(c.strides[d - 1]) end
  return setmetatable({
    core = ffi.gc(c, array_core.lib.ms_array_release), dims = dims, strides = strides,
    data = ffi.cast(CTYPES[type] .. " *", c.data), element = ffi.sizeof(CTYPES[type]),
  }, Array)
end

--- All bytes of an array.
function Array:bytes()
  return ffi.string(self.data, tonumber(self.core.count) * self.element)
end

local versions = 0

--- An operand of an array, for M.operands. `fields` adds movement, written, along and cut (from 1),
-- version, offsets, dims, strides, segment.
function Array:operand(fields)
  versions = versions + 1
  local operand = {
    id = tonumber(self.core.id), core = self.core, version = versions, dims = self.dims,
    strides = self.strides,
  }
  for key, value in pairs(fields) do operand[key] = value end
  return operand
end

-- Makes an operand of the core what the fields say.
local function fill_operand(each, fields)
  each.operand.version, each.offsets = fields.version, fields.offsets
  each.operand.dim_count = #fields.dims
  for d, extent in ipairs(fields.dims) do
    each.operand.dims[d - 1], each.operand.strides[d - 1] = extent, fields.strides[d]
  end
  if fields.segment then each.segment = ffi.cast("void *", fields.segment) end
end

--- A list of operands as a job takes it.
function M.operands(list)
  local lib = array_core.lib
  local operands = ffi.gc(array_core.call(lib.ms_operands_new, 0), lib.ms_operands_free)
  for _, fields in ipairs(list) do
    local number = array_core.call(lib.ms_operands_array, operands, fields.core, 0, nil)
    fill_operand(operands.list[number - 1], fields)
    lib.ms_operands_move(operands, number, ffi.new("ms_operand_move", {
      movement = lib.ms_movement_find(fields.movement), written = fields.written and 1 or 0,
      array_dim = (fields.along or 1) - 1, cut = (fields.cut or 1) - 1, scale = 1}))
  end
  return operands
end

--- Starts of `ranges` nearly equal ranges of 1..extent, as Lua list and as C vector.
function M.starts(extent, ranges)
  local list, vector = {}, ffi.new("int64_t[?]", ranges + 1)
  for r = 0, ranges do
    list[r + 1] = math.floor(extent * r / ranges) + 1
    vector[r] = list[r + 1]
  end
  return list, vector
end

--- The C vector as a pointer that a job can carry; keep the vector alive.
function M.pointer(vector)
  return ffi.cast("void *", vector)
end

--- The pointer to nothing.
M.null = ffi.cast("void *", 0)

--- Serialised values for a kernel's `run`.
function M.encode(value)
  return buffer.encode(value)
end

--- All combinations of shared memory and transport.
M.roads = {}
for _, transport in ipairs {"ipc", "tcp"} do
  for _, shm in ipairs {true, false} do
    M.roads[#M.roads + 1] = {
      transport = transport, shm = shm, name = transport .. (shm and ", shared" or ", by value"),
    }
  end
end

--- True while a process exists and is not a zombie.
function M.alive(pid)
  local file = io.open("/proc/" .. pid .. "/stat")
  if not file then return false end
  local text = file:read("*a")
  file:close()
  return text ~= nil and text:match("%) (%a)") ~= "Z"
end

function M.kill(pid, signal)
  return ffi.C.kill(pid, signal)
end

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- Starts a child driver that runs `code` in its own process; returns a handle with its pid and
-- the file that its output goes to. The child inherits the module paths.
-- `launcher` is a command that starts it in another way, such as "setsid".
function M.child(code, environment, launcher)
  local out = os.tmpname()
  local preamble = ("package.path = %q package.cpath = %q io.stdout:setvbuf('no') "):format(
    package.path, package.cpath)
  local words = {}
  for key, value in pairs(environment or {}) do words[#words + 1] = key .. "=" .. quote(value) end
  local command = ("env %s %s luajit -e %s >%s 2>&1 </dev/null & echo $!"):format(
    table.concat(words, " "), launcher or "", quote(preamble .. code), out)
  local pipe = io.popen(command)
  local pid = tonumber(pipe:read("*l"))
  pipe:close()
  return {pid = pid, out = out}
end

--- What a child has written so far.
function M.output(child)
  local file = io.open(child.out)
  local text = file and file:read("*a") or ""
  if file then file:close() end
  return text
end

--- Waits for a line "name value" of a child's output; returns the value.
function M.said(child, name, seconds)
  return M.eventually(seconds or 10, function()
    return (M.output(child):match(name .. " ([^\n]*)\n"))
  end)
end

--- Ends what is left of a child.
function M.bury(child)
  if M.alive(child.pid) then M.kill(child.pid, 9) end
  os.remove(child.out)
end

--- True when a path exists.
function M.exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

return M
