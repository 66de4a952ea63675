-- SPDX-License-Identifier: MIT
--- What C texts declare, by names: as far as this repository's layout tells.
local M = {}

--- The paths of C files whose names match a pattern of the shell's, in their order.
function M.files(pattern)
  local list = {}
  local pipe = io.popen(("find csrc -name '%s' | sort"):format(pattern))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

local function bare(text) return "\n" .. text:gsub("/%*.-%*/", "") .. "\n" end

--- The names that begin with ms_ and that a text defines as types: structures, enumerations,
-- and types of functions.
function M.types(text)
  local found = {}
  text = bare(text)
  for name in text:gmatch "\n} (ms_[%w_]+);" do found[name] = true end
  for name in text:gmatch "\ntypedef [^\n]*} (ms_[%w_]+);" do found[name] = true end
  for _, kind in ipairs {"struct", "enum", "union"} do
    for name in text:gmatch("\n" .. kind .. " (ms_[%w_]+) {") do found[name] = true end
  end
  for line in text:gmatch "\ntypedef ([^{}]-);" do
    local name = line:match "%(%*(ms_[%w_]+)%)%(" or line:match "[ *](ms_[%w_]+)%("
    if name then found[name] = true end
  end
  return found
end

--- The names of the functions and variables that a header gives to those who include it, in their
-- order: declared, or defined in place.
function M.exported(text)
  local found = {}
  for line in bare(text):gsub("__attribute__%s*%b()", ""):gmatch "[^\n]+" do
    local hidden = line:find "^typedef" or line:find "^static" and not line:find "^static inline"
    local name = not hidden and line:match "^[%a_][%w_ %*]*[ %*]([%w_]+)%("
    if name then found[#found + 1] = name end
    for each in (line:match "^extern [^()]*;$" or ""):gmatch "([%w_]+)[,;]" do
      found[#found + 1] = each
    end
  end
  return found
end

return M
