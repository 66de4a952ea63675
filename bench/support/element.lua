-- SPDX-License-Identifier: MIT
--- Reading an array element by element from another process: a request and a reply over ZeroMQ
-- for each, as long as Meissa's own frames. What bulk prefetching is measured against.
--
--   luajit element.lua ADDRESS COUNT    serves COUNT numbers, element k being k, until it is told
--                                       to stop
local ffi = require "ffi"

ffi.cdef [[
void *zmq_ctx_new(void);
void *zmq_socket(void *context, int type);
int zmq_setsockopt(void *socket, int option, const void *value, size_t size);
int zmq_bind(void *socket, const char *address);
int zmq_connect(void *socket, const char *address);
int zmq_send(void *socket, const void *bytes, size_t size, int flags);
int zmq_recv(void *socket, void *bytes, size_t size, int flags);
int zmq_close(void *socket);
int zmq_ctx_term(void *context);
]]

local zmq = ffi.load "libzmq.so.5"
local REQ, REP, LINGER = 3, 4, 17
local HEADER = 72 -- bytes of a frame of Meissa's before its payload

local M = {}

local function open(kind)
  local context = zmq.zmq_ctx_new()
  local socket = zmq.zmq_socket(context, kind)
  zmq.zmq_setsockopt(socket, LINGER, ffi.new("int[1]", 0), 4)
  return context, socket
end

local function serve(address, count)
  local context, socket = open(REP)
  local values = ffi.new("double[?]", count + 1)
  for k = 1, count do values[k] = k end
  assert(zmq.zmq_bind(socket, address) == 0, "cannot serve at " .. address)
  local frame = ffi.new("double[?]", HEADER / 8 + 1)
  while zmq.zmq_recv(socket, frame, HEADER + 8, 0) == HEADER + 8 and frame[HEADER / 8] > 0 do
    frame[HEADER / 8] = values[frame[HEADER / 8]]
    zmq.zmq_send(socket, frame, HEADER + 8, 0)
  end
  zmq.zmq_close(socket)
  zmq.zmq_ctx_term(context)
end

--- A function read(k) that gets element k from a process that serves `count` of them, and one that
-- ends it.
function M.start(count)
  local path = os.tmpname()
  local address = "ipc://" .. path .. ".socket"
  local script = debug.getinfo(1, "S").source:sub(2)
  local server = io.popen(("luajit %s %s %d"):format(script, address, count), "w")
  local context, socket = open(REQ)
  assert(zmq.zmq_connect(socket, address) == 0)
  local frame = ffi.new("double[?]", HEADER / 8 + 1)
  local function read(k)
    frame[HEADER / 8] = k
    zmq.zmq_send(socket, frame, HEADER + 8, 0)
    zmq.zmq_recv(socket, frame, HEADER + 8, 0)
    return frame[HEADER / 8]
  end
  assert(read(count) == count) -- it is there
  return read, function()
    frame[HEADER / 8] = 0
    zmq.zmq_send(socket, frame, HEADER + 8, 0)
    server:close()
    zmq.zmq_close(socket)
    zmq.zmq_ctx_term(context)
    os.remove(path)
    os.remove(path .. ".socket")
  end
end

if arg and arg[0] and arg[0]:match "element%.lua$" then serve(arg[1], tonumber(arg[2])) end

return M
