-- SPDX-License-Identifier: MIT
--- Notices: what a user should know once, on stderr, while the program goes on.
-- @module meissa.base.notice

local told = {}

--- Says something once in a process.
-- @string format as for string.format; notices of one format are one
return function(format, ...)
  if told[format] then return end
  told[format] = true
  io.stderr:write("meissa: ", string.format(format, ...), "\n")
end
