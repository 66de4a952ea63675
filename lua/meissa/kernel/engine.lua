-- SPDX-License-Identifier: MIT
--- Engines: which one runs a loop, why, and when the C compiler is worth its time.
--
-- The native engine runs bodies that could be written as C text, once the text is compiled. In
-- strict arithmetic both engines give the same bits, so nothing waits: a loop starts on the Lua
-- engine while the compiler works, and each block takes what is there. With `engine = "native"` or
-- `numeric = "fast"` the compiler is waited for. Lives on the driver.
-- @module meissa.kernel.engine
local compiler = require "meissa.kernel.compiler"
local core = require "meissa.core"
local environment = require "meissa.base.environment"
local errors = require "meissa.base.errors"
local notice = require "meissa.base.notice"
local system = require "meissa.base.system"

local M = {}

-- What makes a loop worth the compiler's time, some 60 ms of one core: iterations, seconds of work
-- in its executions so far, or seconds since the present one began.
local MANY, WORTH, LONG = 50000, 0.02, 0.05
-- Less urgent than what is waited for.
local SOON = 1e-6

local ENGINES = {"native", "lua", "auto"}

--- The engine that a loop's options, else the environment ask for.
-- @tab options of the loop
-- @treturn string "auto", "native" or "lua"
-- @treturn boolean whether the loop insists on it
-- Errors: OPT.
function M.asked(options)
  local own = options.engine
  if own ~= nil and own ~= "auto" then return own, true end
  return environment.choice("MEISSA_ENGINE", ENGINES) or "auto", false
end

-- Texts that were kept for reading, by path.
local kept = {}

-- With MEISSA_KEEP_C, writes the text to that directory, named after the loop's place.
local function keep_text(plan, text, key)
  local directory = environment.get "MEISSA_KEEP_C"
  if not directory then return end
  system.make_directory(directory)
  local name = string.sub(string.gsub(errors.last_part(plan.file, "/"), "[^%w._-]+", "_"), 1, 60)
  local path = string.format("%s/%s_%d_%s.c", directory, name, plan.line, string.sub(key, 1, 8))
  if kept[path] then return end
  kept[path] = true
  local file, why = io.open(path, "w")
  if file then
    file:write(text)
    file:close()
  else
    notice("MEISSA_KEEP_C: the C text of loops cannot be kept: %s", why)
  end
end

-- What is known of a C text in this process: {build =, busy = seconds of work without it}.
local kernels = setmetatable({}, {__mode = "v"})

-- The kernel of a native text; nil and why there is none.
local function kernel_of(plan, native)
  if native.kernel then return native.kernel end
  local name = core.digest(native.text) .. (native.fast and "f" or "s")
  local found = kernels[name]
  if not found then
    local build, why = compiler.build(native.text, native.fast)
    if not build then return nil, why end
    keep_text(plan, native.text, build.key)
    local trouble = compiler.notice()
    if trouble then
      notice("compiled loops are not kept: %s. Make that a directory of your own with mode " ..
             "700, or set MEISSA_CACHE to one", trouble)
    end
    found = {build = build, busy = 0, info = native.info}
    kernels[name] = found
  end
  native.kernel = found
  return found
end

-- Loads the object of a finished build, once; nil and why it cannot be used.
local function take_object(kernel)
  if kernel.object then return kernel.object end
  if not kernel.trouble then
    if kernel.build:state() == "failed" then
      kernel.trouble = "the C compiler failed: " .. kernel.build:trouble()
    else
      local bytes = kernel.build:object()
      local object, why = compiler.load(kernel.build.key, bytes)
      if object then
        kernel.object, kernel.bytes = object, bytes
        return object
      end
      kernel.trouble = why
    end
  end
  return nil, kernel.trouble
end

-- The plan stays with the Lua engine. `why` is for a report.
local function stay(plan, space, why, line)
  local _, insists = M.asked(space.options)
  if insists then
    local place = line or plan.line
    error(errors.new {code = "OPT", file = plan.file, line = place, message =
      string.format("engine = \"native\": %s. Leave the option out to run the loop on the Lua " ..
        "engine",
        line and string.format("line %d: %s", line, why) or why)}, 0)
  end
  plan.engine, plan.engine_reason = "lua", line and string.format("line %d: %s", line, why) or why
end

-- Says why a loop that could be machine code is none, unless it was asked to be.
local function notice_lack(plan)
  if plan.engine_reason then
    notice("loops run on the slower Lua engine: %s", plan.engine_reason)
  end
end

-- Whether loops of this space wait for the compiler.
local function waits(space)
  return M.asked(space.options) == "native" or space.numeric == "fast"
end

--- Whether loops of this space run on the native engine if their bodies can.
function M.prefers_native(space)
  return M.asked(space.options) ~= "lua" and core.emit_native ~= nil and not compiler.missing()
end

-- What would be faster, in words for a report.
local function faster(info)
  local format = "%s (line %d in float)"
  if info.fast_line then return string.format(format, '{numeric = "fast"}', info.fast_line) end
  if not info.wide then return nil end
  local path = info.captures[info.wide].path
  return string.format(format, 'type = "float" for ' .. path, info.wide_line)
end

--- Says which engine a plan would run on, without compiling: sets `engine`, `engine_reason`, and
-- `faster`, what would be faster at the cost of precision.
-- @tab static the loop's kernel, see family.find
-- Errors: OPT, with the line, for a loop that insists on an engine that cannot run it.
function M.judge(plan, static, space)
  if M.asked(space.options) == "lua" or not core.emit_native then
    plan.engine, plan.engine_reason = "lua", nil
    return
  end
  if not static.native then
    return stay(plan, space, static.refusal.message, static.refusal.line)
  end
  if space.operators then
    return stay(plan, space, "the program has changed what operators do with plain values (a " ..
      "metatable of nil, numbers, booleans or strings)")
  end
  local why = compiler.missing()
  if why then return stay(plan, space, why) end
  local kernel = static.native.kernel
  if kernel and kernel.trouble then return stay(plan, space, kernel.trouble) end
  plan.engine, plan.engine_reason = "native", nil
  plan.faster = faster(static.native.info)
end

-- The kernel of a plan that the native engine may run; nil if it may not, which is told.
local function kernel_for(plan, static, space)
  M.judge(plan, static, space)
  local native = static.native
  if plan.engine ~= "native" then
    if native then notice_lack(plan) end
    return nil
  end
  local kernel, why = kernel_of(plan, native)
  if not kernel then
    stay(plan, space, why)
    notice_lack(plan)
  end
  return kernel
end

--- Begins an execution's choice: has the compiler start where it is waited for or worth it, so
-- that it works while the space is cut and workers start.
-- @return what choose is to be given
-- Errors: OPT.
function M.begin(plan, static, space)
  local kernel = kernel_for(plan, static, space)
  if not kernel or kernel.object then return kernel end
  if waits(space) then
    kernel.build:start(0)
  elseif static.special or space.count >= MANY or kernel.busy >= WORTH then
    kernel.build:start(SOON)
  end
  return kernel
end

--- Chooses the engine for one execution, as judge does; waits for the compiler where that is asked.
-- @param[opt] kernel what begin gave
-- @treturn table|nil what the kernel's bytes are to hold of the native engine: `key`, `info`, and
-- `object` (bytes) if it is there, else `directory` where it will appear
-- Errors: OPT.
function M.choose(plan, static, space, kernel)
  kernel = kernel or M.begin(plan, static, space)
  if not kernel then return nil end
  local build, info = kernel.build, static.native.info
  if not kernel.object and build:state() == "waiting" then
    if not waits(space) then
      return {key = build.key, info = info, directory = build.directory, kernel = kernel}
    end
    build:finish()
  end
  local object, trouble = take_object(kernel)
  if not object then
    stay(plan, space, trouble)
    return notice_lack(plan)
  end
  return {key = build.key, info = info, object = kernel.bytes, kernel = kernel}
end

--- To be told when an execution begins.
-- @tab[opt] native what choose gave
function M.running(native)
  if native and not native.object then native.kernel.build:start(LONG) end
end

--- To be told after an execution how many seconds of work it was.
-- @tab[opt] native what choose gave
function M.ran(native, busy)
  if not native or native.object then return end
  local kernel = native.kernel
  kernel.busy = kernel.busy + busy
  if kernel.busy >= WORTH then kernel.build:start(SOON) else kernel.build:postpone() end
end

return M
