-- SPDX-License-Identifier: MIT
--- Runs a bench of replicas again as a child, with a hidden option, and looks at its history.

--- @tab asked options of the bench, and `script`, its file
-- @string words the hidden option and its value
-- @func look look(lines, said): an iterator of the history's lines, and what the child printed
-- @return what that returns
return function(asked, words, look)
  local path = os.tmpname()
  local command = {"MEISSA_HISTORY=" .. path, "luajit", asked.script, words,
                   "--points", asked.points, "--every", asked.every, "--passes", asked.passes,
                   "--replicas", asked.replicas, "--workers", asked.workers,
                   "--rates", asked.rates[1], "--reg", ("%.17g"):format(asked.reg)}
  if asked.quick then command[#command + 1] = "--quick" end
  if asked.data then
    command[#command + 1] = ("--data '%s'"):format(asked.data:gsub("'", "'\\''"))
  end
  local pipe = io.popen(table.concat(command, " "))
  local said = pipe:read "*a"
  pipe:close()
  local made, found = pcall(look, io.lines(path), said)
  os.remove(path)
  return made and found or error(("a run with %s failed: %s"):format(words, tostring(found)), 0)
end
