-- SPDX-License-Identifier: MIT
--- The bank of digests: what a commit computes, says and plans, a line for a program and a road, so
-- that a diff of two banks names what changed. For changes that must change nothing.
--
--     luajit tools/bank.lua write FILE [PATTERN ...]       suites whose name has a pattern in it
--     luajit tools/bank.lua compare OLD NEW                exit status 1 if they differ
--     luajit tools/bank.lua show SUITE/PROGRAM ROAD        all that the program said
--
-- A line is "suite/program road result messages plan": digests of the bits that arrays and
-- variables have in the end or of what was raised, of reports, notices and prints, and of the plan.
-- Times, addresses, temporary names and the checkout's own path are normalised.
-- MEISSA_BANK_SEEDS=0.1 takes a tenth of the random programs, MEISSA_BANK_JOBS=n runs n processes
-- at a time (2).
local files = require "tools.files"
local watch = require "spec.bank.watch"

local seeds = tonumber(os.getenv "MEISSA_BANK_SEEDS" or "") or 1
local jobs = tonumber(os.getenv "MEISSA_BANK_JOBS" or "") or 2

local ROADS = {
  ["0-lua"] = "MEISSA_WORKERS=0 MEISSA_ENGINE=lua",
  ["0-native"] = "MEISSA_WORKERS=0 MEISSA_ENGINE=native",
  ["1-shared-lua"] = "MEISSA_WORKERS=1 MEISSA_SHM=1 MEISSA_ENGINE=lua",
  ["1-value-native"] = "MEISSA_WORKERS=1 MEISSA_SHM=0 MEISSA_ENGINE=native",
  ["2-shared-lua"] = "MEISSA_WORKERS=2 MEISSA_SHM=1 MEISSA_ENGINE=lua",
  ["2-value-lua"] = "MEISSA_WORKERS=2 MEISSA_SHM=0 MEISSA_ENGINE=lua",
  ["2-shared-native"] = "MEISSA_WORKERS=2 MEISSA_SHM=1 MEISSA_ENGINE=native",
  ["2-value-native"] = "MEISSA_WORKERS=2 MEISSA_SHM=0 MEISSA_ENGINE=native",
}
-- Without workers loops are plain Lua, in which LuaJIT's compiler and its interpreter disagree on
-- nan; when a loop is compiled is a matter of addresses.
local FLAGS = {["0-lua"] = "-joff", ["0-native"] = "-joff"}
local ORDER = {"0-lua", "1-shared-lua", "2-shared-lua", "2-value-lua", "0-native",
               "1-value-native", "2-shared-native", "2-value-native"}

-- Name, script, its arguments (FIRST, LAST, COUNT, WORKERS are replaced), programs, how many a
-- process, and the share of them that is compiled.
local OWN = "spec/bank/suites.lua"
local LOOPS, VIEWS = "spec/support/random_loops.lua", "spec/support/random_views.lua"
local WHOLE = "spec/support/whole_programs.lua"
local SUITES = {
  {"features", OWN, "features FIRST LAST", 23, 23, 1, fixed = true},
  {"strategies", OWN, "strategies FIRST LAST", 85, 85, 1, fixed = true},
  {"catalogue", OWN, "catalogue FIRST LAST", 98, 98, 0, fixed = true, only = "0-lua"},
  {"rows", OWN, "rows FIRST LAST", 98, 98, 0.3, fixed = true},
  {"guards", "spec/support/guards.lua", "meissa", 1, 1, 1, fixed = true},
  {"examples of views", VIEWS, "meissa -14 14", 1, 1, 1, fixed = true},
  {"names", WHOLE, "names FIRST LAST WORKERS", 300, 30, 0.1},
  {"worlds", WHOLE, "worlds FIRST LAST WORKERS", 200, 20, 0.1},
  {"guarded", LOOPS, "meissa FIRST COUNT guarded", 300, 100, 0.1},
  {"affine", LOOPS, "meissa FIRST COUNT", 250, 125, 0.1},
  {"views", VIEWS, "meissa FIRST COUNT", 250, 125, 0.1},
  {"programs", OWN, "programs FIRST LAST", 350, 70, 0.06},
  {"engines", OWN, "engines FIRST LAST", 200, 50, 0.2},
  {"bounds", OWN, "bounds FIRST LAST", 100, 50, 0.2},
  {"kernel", OWN, "kernel FIRST LAST", 100, 50, 0.2},
  {"reductions", OWN, "reductions FIRST LAST", 150, 75, 0.1},
  {"served", OWN, "served FIRST LAST", 60, 30, 0.2},
  {"buffers", OWN, "buffers FIRST LAST", 40, 20, 0.3},
}

-- Examples with small sizes.
local EXAMPLES = {
  "cp_tensor --entries 3000 --epochs 3 --rank 4", "gbt --points 800 --epochs 2 --depth 3",
  "kmeans --points 1000 --epochs 3 --rank 4", "lu --size 40", "lu --size 24 --method nest",
  "pagerank --nodes 500 --epochs 5", "stencil --size 20 --epochs 20",
  "stencil --size 20 --epochs 10 --method gauss-seidel",
  "sweep --ratings 2000 --epochs 2 --rank 4", "train_lda --epochs 2 --rank 4",
  "train_lda --epochs 1 --data spec/data/docword.kos.txt.gz --rank 4",
  "train_mf --data spec/data/ml-latest-small.ratings.csv.gz --epochs 2 --rank 4",
  "train_mf --epochs 1 --rank 4 --engine lua", "train_slr --epochs 1", "train_svm --epochs 1",
  "train_cnn --points 640 --epochs 2",
  "train_mlp --points 640 --epochs 2",
  "logreg_harmonized --points 4000 --epochs 1",
  "lasso_cocoa --points 500 --features 100 --epochs 2",
  "train_slr --data spec/data/rcv1_small.gz --test spec/data/rcv1_small.t.gz --epochs 1",
  "wordcount",
}
local EXAMPLE_ROADS = {"0-lua", "1-shared-lua", "2-value-native", "2-shared-native"}

-- ------------------------------------------------------------------------------------- processes

local root, directory = files.lines("pwd")[1], files.lines("mktemp -d")[1]

-- All tasks of a suite on a road: {label, command}.
local function add_suite(tasks, suite, road)
  local name, script, arguments, count, each, share = unpack(suite, 1, 6)
  if suite.only and suite.only ~= road then return end
  if not suite.fixed then count = math.max(1, math.ceil(count * seeds)) end
  if road:find "native" then count = math.ceil(count * share) end
  for first = 1, count, each do
    local last = math.min(count, first + each - 1)
    local values = {FIRST = first, LAST = last, COUNT = last - first + 1, WORKERS = road:sub(1, 1)}
    tasks[#tasks + 1] = {suite = name, road = road, first = first,
      command = ("%s luajit %s spec/bank/watch.lua %s %s"):format(
        ROADS[road], FLAGS[road] or "", script, (arguments:gsub("%u+", values)))}
  end
end

local function add_examples(tasks)
  for _, example in ipairs(EXAMPLES) do
    local name, arguments = example:match "^(%S+)(.*)$"
    for _, road in ipairs(EXAMPLE_ROADS) do
      tasks[#tasks + 1] = {suite = "examples", name = example, road = road, first = 1,
        command = ("%s luajit examples/%s.lua --json%s"):format(ROADS[road], name, arguments)}
    end
  end
end

local function wanted(name, patterns)
  if #patterns == 0 then return true end
  for _, pattern in ipairs(patterns) do
    if name:find(pattern, 1, true) then return true end
  end
  return false
end

local function tasks_of(patterns)
  local tasks = {}
  if wanted("examples", patterns) then add_examples(tasks) end
  for _, suite in ipairs(SUITES) do
    assert(io.open(suite[2])):close() -- a program that is gone is no program that does the same
    for _, road in ipairs(ORDER) do
      if wanted(suite[1], patterns) then add_suite(tasks, suite, road) end
    end
  end
  return tasks
end

-- Runs the tasks, some at a time; what each wrote is in its own file, the exit status behind it.
local function run_all(tasks)
  local lines = {}
  for k, task in ipairs(tasks) do
    task.path = ("%s/%d"):format(directory, k)
    files.write(task.path .. ".sh", ("MEISSA_EXPLAIN=1 MEISSA_QUIET=1 timeout -k 2 300 env %s\n"
      .. "echo \"@@exit\t$?\"\n"):format(task.command))
    lines[k] = ("sh %s.sh >%s 2>&1"):format(task.path, task.path)
  end
  files.write(directory .. "/list", table.concat(lines, "\n") .. "\n")
  os.execute(("xargs -P %d -I LINE sh -c LINE <%s/list"):format(jobs, directory))
end

-- ------------------------------------------------------------------------------------- records

-- What differs from run to run, taken out of a text.
local function normal(text)
  text = text:gsub(root:gsub("%p", "%%%0") .. "/?", ""):gsub("/tmp/lua_%w+", "TMP")
  text = text:gsub("(%a+:? ?)0x%x%x%x%x%x%x%x%x+", "%1ADDRESS")
  text = text:gsub("lua/meissa/[%w_/]+%.lua:%d+", "OWN"):gsub("meissa/[%w_/]+%.lua:%d+", "OWN")
  text = text:gsub("(OWN: loop[^\n]*\n[^\n]*%(line )%d+", "%1N")
  text = text:gsub("pid %d+", "pid N"):gsub("process %d+", "process N")
  text = text:gsub('"[%a_]*seconds"%s*:%s*[%d.e+-]+', "SECONDS")
  text = text:gsub('"[%a_]*per_second"%s*:%s*[%d.e+-]+', "RATE")
  text = text:gsub("%d+%.?%d* m?s%f[%W]", "TIME")
  return text
end

-- Adds a line for each record that a task wrote, and one for how it ended if it did not end well.
local function add_records(lines, task, text, each_text)
  local messages = {}
  local function add(name, result, plan)
    local said = normal(table.concat(messages, "\n"))
    lines[#lines + 1] = ("%s/%s %s %s %s %s"):format(task.suite, name, task.road,
      watch.digest(normal(result)), watch.digest(said), watch.digest(normal(plan)))
    if each_text then each_text(name, said, normal(result), plan) end
    messages = {}
  end
  for line in text:gmatch "([^\n]*)\n" do
    local name, result, plan = line:match "^@@bank\t([^\t]*)\t([^\t]*)\t(.*)$"
    local status = line:match "^@@exit\t(%d+)"
    if name then
      add(name, result, plan)
    elseif not status then
      messages[#messages + 1] = line
    elseif task.name then
      add(task.name, status, "")
    elseif status ~= "0" then
      add(("after %d"):format(task.first), "exit status " .. status, "")
    end
  end
end

-- ------------------------------------------------------------------------------------- commands

local commands = {}

function commands.write(path, ...)
  local tasks, lines = tasks_of {...}, {}
  run_all(tasks)
  for _, task in ipairs(tasks) do add_records(lines, task, files.read(task.path)) end
  table.sort(lines)
  files.write(path, table.concat(lines, "\n") .. "\n")
  print(("%s: %d programs and roads"):format(path, #lines))
end

local function lines_of(path)
  local map = {}
  for line in io.lines(path) do
    local key, rest = line:match "^(.-) (%x+ %x+ %x+)$"
    map[key] = rest
  end
  return map
end

-- Which of the digests differ.
local function difference(one, other)
  local names, words = {"result", "messages", "plan"}, {}
  local a, b = one:gmatch "%x+", other:gmatch "%x+"
  for _, name in ipairs(names) do
    if a() ~= b() then words[#words + 1] = name end
  end
  return table.concat(words, ", ")
end

-- Programs that only one of the banks has count where it has their suite at all: a bank may be of
-- some suites.
function commands.compare(old_path, new_path)
  local old, new, found, compared, suites = lines_of(old_path), lines_of(new_path), {}, 0, {}
  for key in pairs(new) do suites[key:match "^[^/]+"] = true end
  for key, rest in pairs(old) do
    if new[key] then compared = compared + 1 end
    if new[key] and new[key] ~= rest then
      found[#found + 1] = key .. ": another " .. difference(rest, new[key])
    elseif not new[key] and suites[key:match "^[^/]+"] then
      found[#found + 1] = key .. ": gone"
    end
  end
  for key in pairs(new) do
    if not old[key] then found[#found + 1] = key .. ": new" end
  end
  table.sort(found)
  for _, line in ipairs(found) do print(line) end
  print(("%d compared, %d differ"):format(compared, #found))
  return #found == 0
end

function commands.show(program, road)
  local suite, name = program:match "^([^/]+)/(.*)$"
  local tasks = {}
  for _, task in ipairs(tasks_of {suite}) do
    if task.road == road then tasks[#tasks + 1] = task end
  end
  run_all(tasks)
  for _, task in ipairs(tasks) do
    add_records({}, task, files.read(task.path), function(found, said, result, plan)
      if found ~= name then return end
      print(("%s\nresult: %s\nplan: %s"):format(said, result, plan))
    end)
  end
end

local command = commands[arg[1]]
if not command then
  io.stderr:write("luajit tools/bank.lua write FILE [PATTERN ...] | compare OLD NEW | ",
                  "show SUITE/PROGRAM ROAD\n")
  os.exit(2)
end
local ok, result = pcall(command, unpack(arg, 2))
os.execute("rm -rf '" .. directory .. "'")
if not ok then error(result, 0) end
os.exit(result == false and 1 or 0)
