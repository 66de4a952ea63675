-- SPDX-License-Identifier: MIT
--
-- What Meissa needs of its interpreter, looked for before anything else is loaded, so that another
-- one is told so in one sentence. Written in what any Lua can read, without functions that a
-- program may have replaced.
-- @module meissa.base.requires

local NEEDED = {"ffi", "jit.util", "string.buffer"}

-- Not `require`, which looks in files, too.
local function is_there(name)
  return package.loaded[name] or package.preload[name]
end

for k = 1, #NEEDED do
  if not is_there(NEEDED[k]) then
    error("meissa needs LuaJIT 2.1 of June 2021 or later with '" .. NEEDED[k] .. "', which "
      .. (jit and jit.version or _VERSION) .. " does not have: install your system's luajit or a "
      .. "build of https://luajit.org", 0)
  end
end

return true
