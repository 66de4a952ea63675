-- SPDX-License-Identifier: MIT
--- Files and shell commands, for tools and specs. What fails raises, but where it says otherwise.
local M = {}

--- All bytes of a file.
function M.read(path)
  local file = assert(io.open(path, "rb"))
  local text = assert(file:read "*a")
  file:close()
  return text
end

--- Makes a file of these bytes, in place of one that is there.
function M.write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

--- A text as one word of the shell's.
function M.quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- What a command that has no input writes, errors too, and its exit status, whatever it is.
function M.run(command)
  local pipe = assert(io.popen("( " .. command .. " ) 2>&1 </dev/null; echo \"status $?\""))
  local output = pipe:read "*a"
  pipe:close()
  local text, status = output:match "^(.*)status (%d+)\n$"
  return text, tonumber(status)
end

--- What a command writes that must succeed.
function M.must(command)
  local output, status = M.run(command)
  if status ~= 0 then error(command .. ":\n" .. output, 0) end
  return output
end

--- Its lines.
function M.lines(command)
  local list = {}
  for line in M.must(command):gmatch "[^\n]+" do list[#list + 1] = line end
  return list
end

return M
