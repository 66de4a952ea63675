-- SPDX-License-Identifier: MIT
--
-- busted's output for tools/test.sh: prints failures and skipped tests only, writes the counts to
-- the first file given with -Xoutput when the suite has ended (a suite that never ends leaves no
-- counts), and keeps the name of the running test in the second.
local base = require "busted.outputHandlers.base"
local pretty = require "pl.pretty"

local function overwrite(path, text)
  local file = path and io.open(path, "w")
  if file then
    file:write(text, "\n")
    file:close()
  end
end

local function message_of(item)
  local message = item.message
  if message == nil then return nil end
  if type(message) == "string" then return message end
  local meta = getmetatable(message)
  if meta and meta.__tostring then return tostring(message) end
  return pretty.write(message)
end

local function describe(kind, item)
  local trace = item.trace or {}
  local place = trace.short_src and trace.currentline
    and (" (%s:%d)"):format(trace.short_src, trace.currentline) or ""
  io.write(kind, ": ", item.name, place, "\n")
  local message = message_of(item)
  if message then io.write("  ", (message:gsub("\n", "\n  ")), "\n") end
  if item.isError and trace.traceback then
    io.write("  ", (trace.traceback:gsub("^\n", ""):gsub("\n", "\n  ")), "\n")
  end
end

return function(options)
  local busted = require "busted"
  local handler = base()
  local counts_path, doing_path = options.arguments[1], options.arguments[2]

  local function started(element)
    overwrite(doing_path, handler.getFullName(element))
    return nil, true
  end

  local function ended()
    for _, item in ipairs(handler.failures) do describe("FAILED", item) end
    for _, item in ipairs(handler.errors) do describe("ERROR", item) end
    for _, item in ipairs(handler.pendings) do describe("skipped", item) end
    io.flush()
    overwrite(counts_path, ("%d %d %d"):format(handler.successesCount,
      handler.failuresCount + handler.errorsCount, handler.pendingsCount))
    return nil, true
  end

  busted.subscribe({"test", "start"}, started)
  busted.subscribe({"suite", "end"}, ended)
  return handler
end
