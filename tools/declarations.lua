-- SPDX-License-Identifier: MIT
--
-- Declarations for LuaJIT's FFI, made from the core's headers: of every function that is marked
-- MS_API, every structure that is marked MS_API_TYPE, and of the types that these mention.
--
--   cc -E -DMS_API=MS_API -DMS_API_TYPE=MS_API_TYPE -Icsrc ... | luajit tools/declarations.lua >OUT
--
-- Reads preprocessed C with line markers on stdin; what comes from other files than csrc/ is left
-- out. A structure with a part of a foreign type (a thread's lock, say) is declared by name only.
-- An enumeration is declared as the int that it is, so that Lua gets numbers; _Bool, a word that a
-- program may define, as bool.

-- Words that FFI knows.
local FFI = {}
for name in ([[void char short int long float double signed unsigned bool _Bool const restrict
    volatile struct union enum extern int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t
    uint64_t size_t ssize_t intptr_t uintptr_t ptrdiff_t va_list]]):gmatch("%S+") do
  FFI[name] = true
end

-- The text that comes from the core's own headers.
local function own_text(file)
  local lines, own = {}, false
  for line in file:lines() do
    local from = line:match('^# %d+ "([^"]*)"')
    if from then
      own = from:find("^csrc/") or from:find("/csrc/")
    elseif own then
      lines[#lines + 1] = line
    end
  end
  return table.concat(lines, "\n")
end

-- Top-level declarations: text that ends with a semicolon, or with the body of a function.
local function each_declaration(text)
  local at = 1
  return function()
    local first, depth = text:find("%S", at), 0
    if not first then return nil end
    for pos, letter in text:gmatch("()([{}();])", first) do
      if pos >= first then
        if letter == "{" or letter == "(" then depth = depth + 1 end
        if letter == "}" or letter == ")" then depth = depth - 1 end
        local ends = depth == 0 and (letter == ";" or
          letter == "}" and text:sub(first, pos):find("%)%s*{"))
        if ends then
          at = pos + 1
          return (text:sub(first, pos):gsub("%s+", " "):gsub("%( ", "("):gsub("_Bool", "bool"))
        end
      end
    end
    error("a declaration without an end: " .. text:sub(first, first + 60))
  end
end

-- The name that a typedef defines: of a function (`typedef int f(void)`), a pointer to one
-- (`typedef int (*f)(void)`), or the last word.
local function type_name(declaration)
  local flat = declaration:gsub("%b{}", ""):gsub("%b[]", ""):gsub("__attribute__%s*%b()", "")
  return flat:match("%(%s*%*%s*([%w_]+)%s*%)%s*%(") or flat:match("([%w_]+)%s*%b()%s*;$")
    or flat:match("([%w_]+)%s*;$")
end

local types, order = {}, {} -- declarations by name; names in their order
local exported, wanted = {}, {} -- declarations of functions; names of marked structures

local function define(name, text)
  assert(not types[name] or types[name] == text, "two types are named " .. name)
  if not types[name] then order[#order + 1] = name end
  types[name] = text
end

local function take_type(declaration)
  local name = type_name(declaration)
  local plain, marked = declaration:gsub("MS_API_TYPE ", "")
  if marked > 0 then wanted[#wanted + 1], declaration = name, plain end
  if declaration:find("^typedef enum") then declaration = "typedef int " .. name .. ";" end
  local opaque = declaration:match("^typedef (%a+ [%w_]+ [%w_]+;)$")
  if not (opaque and types[name]) then -- `typedef struct x x;` before or after its definition
    define(name, declaration)
  end
end

for declaration in each_declaration(own_text(io.stdin)) do
  if declaration:find("^MS_API ") then
    exported[#exported + 1] = declaration:sub(8)
  elseif declaration:find("^typedef ") then
    take_type(declaration)
  elseif declaration:find("^struct [%w_]+ {") or declaration:find("^union [%w_]+ {") then
    define("struct " .. declaration:match("^%a+ ([%w_]+)"), declaration)
  end
end

-- A foreign type among a structure's members, whose types are their first words but qualifiers.
local function foreign_part(declaration)
  for member in (declaration:match("{(.*)}") or ""):gmatch("[^;{}]+") do
    local word = member:gsub("const ", ""):match("^%s*([%a_][%w_]*)")
    if word and not FFI[word] and not types[word] then return word end
  end
end

local needed, need = {}, nil

local function need_type(name)
  local text = types[name]
  if not text or needed[name] then return end
  needed[name] = true
  if foreign_part(text) then
    -- Of `struct x {...};` nothing is left: it stands beside `typedef struct x x;`.
    types[name] = text:gsub("^typedef (.*) {.*} ", "typedef %1 "):gsub("^struct .*", "")
  end
  need(types[name])
end

-- Marks the types that a declaration mentions, and those that they mention.
function need(declaration)
  for word in declaration:gmatch("[%a_][%w_]*") do
    need_type(word)
    need_type("struct " .. word)
  end
end

-- A function's declaration without its parameters' names, which take time to read: a name is the
-- last word of a parameter that has two, and stands in front of brackets.
local function nameless(declaration)
  local head, parameters = declaration:match("^([^()]*)%(([^()]*)%);$")
  if not head then return declaration end -- a parameter is a function
  return head .. "(" .. parameters:gsub("[^,]+", function(parameter)
    local type_words, name, rest = parameter:match("^(.*[^%w_])([%a_][%w_]*)(%[?[%w_]*%]?)$")
    local is_name = name and not FFI[name] and not types[name] and type_words:find("%w")
    return is_name and (type_words:gsub(" $", "") .. rest) or parameter
  end) .. ");"
end

for k, declaration in ipairs(exported) do exported[k] = nameless(declaration) end

for _, declaration in ipairs(exported) do need(declaration) end
for _, name in ipairs(wanted) do need_type(name) end

for _, name in ipairs(order) do
  if needed[name] then io.write(types[name], "\n") end
end
for _, declaration in ipairs(exported) do io.write(declaration, "\n") end
