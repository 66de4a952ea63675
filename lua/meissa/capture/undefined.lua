-- SPDX-License-Identifier: MIT
--- Undefined names: what a loop's body cannot mean, said before anything runs.
--
-- A global that is nil and that the body only reads is a misspelt name, unless the body asks
-- whether it is there. A nil that the body calls is refused wherever it comes from. Locals and
-- fields that are nil are values like others.
-- @module meissa.capture.undefined

local errors = require "meissa.base.errors"
local tables = require "meissa.base.tables"

local M = {}

-- The string keys of a table and of the tables behind it.
local function keys_of(content, names)
  for _ = 1, 10 do
    if type(content) ~= "table" then return names end
    for key in tables.each(content) do
      if type(key) == "string" then names[#names + 1] = key end
    end
    local meta = debug.getmetatable(content)
    content = type(meta) == "table" and rawget(meta, "__index")
  end
  return names
end

local function hint(name, names, prefix)
  table.sort(names) -- among equally near ones the choice must not depend on hashing
  local near = errors.nearest(name, names)
  return near and string.format(" (did you mean '%s%s'?)", prefix or "", near) or ""
end

local function raise(record, line, format, ...)
  error(errors.new {code = "SRC", message = string.format(format, ...), file = record.file,
    line = line}, 0)
end

-- Whether the body assigns a global, or asks whether it is there.
local function is_provided(captures, name)
  for _, each in ipairs(captures) do
    if each.reach == "global" and each.root == name and #each.fields == 0 and
       (each.assigned or each.tested) then
      return true
    end
  end
  return false
end

local function refuse_name(record, c, env)
  local capture = record.captures[c]
  raise(record, capture.read, "undefined name '%s'%s", capture.root,
        hint(capture.root, keys_of(_G, keys_of(env, record.loop:visible(c)))))
end

-- What holds the last field of a capture's path.
local function holder_of(capture, root)
  for f = 1, #capture.fields - 1 do root = type(root) == "table" and root[capture.fields[f]] end
  return root
end

local function refuse_call(record, capture, root)
  local fields = capture.fields
  if #fields == 0 then
    raise(record, capture.called, "'%s' is nil, and the loop's body calls it", capture.root)
  end
  local prefix = table.concat({capture.root, unpack(fields, 1, #fields - 1)}, ".") .. "."
  raise(record, capture.called, "'%s%s' is nil, and the loop's body calls it%s", prefix,
        fields[#fields], hint(fields[#fields], keys_of(holder_of(capture, root), {}), prefix))
end

--- Raises SRC for the first name in the body that cannot be meant.
-- @param record the loop's record
-- @param bindings what its captures are
-- @param roots the values of their root variables
-- @param env the globals of the loop's function
function M.check(record, bindings, roots, env)
  for c, capture in ipairs(record.captures) do
    local binding = bindings[c]
    if binding.kind == "nil" and capture.read and not capture.assigned and not capture.tested then
      if capture.reach == "global" and binding.depth == 0 then
        if not is_provided(record.captures, capture.root) then refuse_name(record, c, env) end
      elseif capture.called and binding.depth == #capture.fields then
        refuse_call(record, capture, roots[c])
      end
    end
  end
end

return M
