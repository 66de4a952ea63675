-- SPDX-License-Identifier: MIT
--
-- What Meissa needs of its interpreter, looked for before anything else is loaded, so that another
-- one is told so in one sentence. Written in what any Lua can read.
-- @module meissa.requires

local NEEDED = {"ffi", "jit.util", "string.buffer"}

-- Not `require`, which looks in files, too.
local function is_there(name)
  return package.loaded[name] or package.preload[name]
end

for _, name in ipairs(NEEDED) do
  if not is_there(name) then
    error(("meissa needs LuaJIT 2.1 of June 2021 or later with '%s', which %s does not have: "
      .. "install your system's luajit or a build of https://luajit.org"):format(name,
      jit and jit.version or _VERSION), 0)
  end
end

return true
