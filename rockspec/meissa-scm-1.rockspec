-- SPDX-License-Identifier: MIT
-- From a checkout:
--   luarocks --lua-version 5.1 make rockspec/meissa-scm-1.rockspec
--   luarocks --lua-version 5.1 pack meissa
-- `luarocks build` and `luarocks install` need a public address: whoever publishes Meissa fills in
-- source.url.
rockspec_format = "3.0"
package = "meissa"
version = "scm-1" -- what is checked out; meissa.VERSION says which version that is
source = {
  -- To fill in. `luarocks make` builds the checkout that it is called in, and does not read it.
  url = "git+file://.",
}
description = {
  summary = "Serial-looking loops that train on many processes",
  detailed = [[
Meissa proves which iterations of a plain Lua for-loop over a data set may run at the same time,
compiles the body, and runs it on worker processes connected by ZeroMQ.]],
  license = "MIT",
}
dependencies = {
  -- LuaJIT 2.1: the FFI, string.buffer and goto are used.
  "lua == 5.1",
}
external_dependencies = {
  LIBZMQ = {header = "zmq.h"},
  LIBISL = {header = "isl/ctx.h"},
  ZLIB = {header = "zlib.h"},
}
-- The command starts LuaJIT by itself; a wrapper would start it with the Lua that runs luarocks.
deploy = {
  wrap_bin_scripts = false,
}
build = {
  type = "make",
  copy_directories = {"docs", "examples"},
  build_target = "build",
  build_variables = {
    CC = "$(CC)",
    CFLAGS = "$(CFLAGS) -g",
    LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_target = "install",
  install_variables = {
    CC = "$(CC)",
    CFLAGS = "$(CFLAGS) -g",
    LUA_INCDIR = "$(LUA_INCDIR)",
    LUADIR = "$(LUADIR)",
    LIBDIR = "$(LIBDIR)",
    BINDIR = "$(BINDIR)",
  },
}
