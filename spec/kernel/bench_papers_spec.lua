-- SPDX-License-Identifier: MIT
--
-- The benches after published experiments, of tiny sizes: all settings are run, those that promise
-- the same bits are held to them (the benches raise an error else), and figures are what they say.
local child = require "spec.support.child"
local json = require "dkjson"

local function results(command)
  local output, status = child.shell("luajit bench/" .. command .. " --json 2>&1")
  assert.equal(0, status, output)
  local list = {}
  for line in output:gmatch "[^\n]+" do list[#list + 1] = assert(json.decode(line), line) end
  return list
end

describe("Parameter Database's experiment", function()
  it("has a row for each batch, number of workers and setting", function()
    local rows, costs = {}, 0
    for _, each in ipairs(results("paramdb.lua --runs 1 --rounds 10 --workers 2 --cores 1 " ..
        "--features 24 --examples 60 --batch 10")) do
      if each.summary then
        costs = costs + 1
      else
        assert.equal(each.workers > 1, each.asleep == "asleep")
        assert.equal(each.workers == 1, each.loss ~= nil)
        assert.is_true(each.microseconds > 0)
        assert.is_true(each.used <= each.workers and (each.used == 0 or #each.waited >= 1))
        rows[#rows + 1] = ("%s %d %s"):format(each.method, each.workers, each.setting)
        rows[rows[#rows]] = each
      end
    end
    assert.equal(2 * 2 * 9, #rows)
    assert.equal(1, costs)
    assert.is_true(rows["batch 2 pd-delay 1"] ~= nil and rows["full 1 async"] ~= nil)
    for _, setting in ipairs {"bsp-2barrier", "bsp", "data-centric 1", "data-centric 2"} do
      local row = rows["batch 1 " .. setting]
      assert.is_true(row.exact)
      assert.equal(rows["batch 1 driver"].loss, row.loss)
    end
  end)
end)

describe("Parameter Database's experiment over sparse examples", function()
  it("has all rows, and losses by rounds and seconds", function()
    local prefix = os.tmpname()
    local rows, losses = {}, {}
    for _, each in ipairs(results("paramdb.lua --set sparse --runs 1 --rounds 20 --workers 2 " ..
        "--cores 1 --features 300 --examples 40 --entries 9 --batch 5 --losses " .. prefix)) do
      if each.curve then
        local key = ("%s %s"):format(each.method, each.setting)
        losses[key] = losses[key] or {}
        table.insert(losses[key], each)
      elseif not each.summary then
        rows[#rows + 1] = each
        rows[("%s %d %s"):format(each.method, each.workers, each.setting)] = each
      end
    end
    assert.equal(2 * 2 * 9, #rows)
    for _, method in ipairs {"one", "batch"} do
      local of_driver = rows[method .. " 1 driver"].loss
      for _, setting in ipairs {"bsp", "data-centric 2"} do
        local list = losses[("%s %s"):format(method, setting)]
        assert.equal(20, #list)
        assert.is_true(list[20].loss < list[1].loss and list[20].seconds > list[1].seconds)
        assert.equal(of_driver, list[20].loss)
        assert.equal(of_driver, rows[("%s 1 %s"):format(method, setting)].loss)
      end
      for _, axis in ipairs {"rounds", "seconds"} do
        local path = ("%s-%s-%s.png"):format(prefix, method, axis)
        local file = io.open(path, "rb")
        if file then
          assert.equal("\137PNG", file:read(4))
          file:close()
        else
          assert.is_false(os.execute "command -v gnuplot >/dev/null 2>&1" == 0, path)
        end
        os.remove(path)
      end
    end
    os.remove(prefix)
  end)
end)

describe("What waits in rounds", function()
  local rows

  setup(function()
    rows = results("rounds.lua --repeats 4 --rounds 20 --sleepers 2,3 --nap 300 --grids 10 " ..
                   "--pages 60 --rows 300")
  end)

  local function rows_of(part)
    local list = {}
    for _, each in ipairs(rows) do
      if each.part == part then list[#list + 1] = each end
    end
    return list
  end

  it("has rows of all parts, with figures and goals", function()
    for part, count in pairs {gate = 2, driver = 2, levels = 2, stragglers = 4} do
      assert.equal(count, #rows_of(part), part)
    end
    for _, each in ipairs(rows) do
      assert.is_true(each.microseconds > 0 and each.other > 0 and each.goal > 0, each.what)
      assert.is_boolean(each.met)
    end
  end)

  it("has ceilings of the same draws, which a staleness only raises, and no lag beyond it",
     function()
    local list = rows_of "stragglers"
    for k = 1, #list, 2 do
      local exact, stale = list[k], list[k + 1]
      assert.is_true(exact.ceiling >= 1 and stale.ceiling >= exact.ceiling)
      assert.same({2 * (exact.workers - 1) * 10}, exact.lags)
      assert.equal(4, #stale.lags)
      local reads = 0
      for _, count in ipairs(stale.lags) do reads = reads + count end
      assert.equal(exact.lags[1], reads)
    end
  end)
end)

describe("Figures", function()
  -- What `figure` says and writes, with only such a gnuplot to be found.
  local function draw(gnuplot, panels)
    return (child.shell(([[
luajit=$(command -v luajit) && room=$(mktemp -d) && mkdir "$room/bin" || exit 1
ln -s "$(command -v cat)" "$room/bin/cat"
if [ -n '%s' ]; then
  printf '#!/bin/sh\n%s\n' > "$room/bin/gnuplot" && chmod +x "$room/bin/gnuplot"
fi
PATH="$room/bin" "$luajit" -e '
  package.path = "bench/support/?.lua;" .. package.path
  local points = {{1, 2, m = 7, loss = 8}, {3, 4.5, m = 9, loss = 0.5}}
  print(require "figure"("some \"file\".png", {title = "t", x = "a", y = "b", %s},
    {{name = "one", points = points}, {name = "two", points = {{5, 6, m = 1, loss = 2}}}}))' 2>&1
rm -r "$room"]]):format(gnuplot, gnuplot, panels or ""), 20))
  end

  it("are skipped without gnuplot, and say so", function()
    assert.truthy(draw(""):find("SKIPPED: .-gnuplot is not installed\nfalse"))
  end)

  it("are given to gnuplot", function()
    local script = draw 'cat "$1"'
    local data = "$c1 << EOD\n1 2\n3 4.5\nEOD\n$c2 << EOD\n5 6\nEOD\n"
    assert.truthy(script:find(data, 1, true), script)
    assert.truthy(script:find('set output "some \\"file\\".png"', 1, true), script)
    assert.truthy(script:find("true\n", 1, true), script)
  end)

  it("have panels", function()
    local script = draw('cat "$1"', 'key = "loss", panels = {{x = "MB", key = "m"}}')
    local data = "$p1c1 << EOD\n7 8\n9 0.5\nEOD\n$p1c2 << EOD\n1 2\nEOD\nset xlabel \"MB\"\n"
    assert.truthy(script:find(data, 1, true), script)
    assert.truthy(script:find('set multiplot layout 1,2 title "t"', 1, true), script)
  end)

  it("that gnuplot does not draw are told of", function()
    assert.truthy(draw("exit 1"):find("SKIPPED: gnuplot did not draw", 1, true))
  end)
end)
