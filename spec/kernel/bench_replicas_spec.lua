-- SPDX-License-Identifier: MIT
--
-- The benches of replicas after published experiments, of tiny sizes: settings that promise the
-- same bits are held to them (the benches raise an error else), what theory says of averaging and
-- of steps at a lag is what replicas do, and figures are what they say. Nothing here depends on
-- time but async and auto, of which only what holds at any speed is asked.
local child = require "spec.support.child"
local json = require "dkjson"

local function results(command)
  local output, status = child.shell("luajit bench/" .. command .. " --json 2>&1", 200)
  assert.equal(0, status, output)
  local list = {}
  for line in output:gmatch "[^\n]+" do
    local notice = line:find "^meissa: " -- of settings that may diverge
    if not notice then list[#list + 1] = assert(json.decode(line), line) end
  end
  return list
end

-- Rows by setting, and how many points their curves have.
local function by_setting(list)
  local rows, points = {}, {}
  for _, each in ipairs(list) do
    if each.curve then
      points[each.setting] = (points[each.setting] or 0) + 1
    elseif each.setting then
      rows[each.setting] = each
    end
  end
  return rows, points
end

local function of_kind(list, key)
  local found = {}
  for _, each in ipairs(list) do
    if each[key] ~= nil then found[#found + 1] = each end
  end
  return found
end

describe("ASAP's experiment", function()
  it("has curves and a row for each topology and way of waiting", function()
    local list = results("asap.lua --only topologies --points 400 --replicas 4 --every 20 " ..
      "--passes 2 --rates 0.1,0.3")
    local rows, points = by_setting(list)
    for _, each in ipairs(list) do
      assert.equal("topologies", each.experiment)
      assert.is_true(each.worst_replica >= each.mean_replica - 1e-12)
      if each.curve then assert.equal(400 * each.pass, each.samples) end
    end
    for _, setting in ipairs {"serial", "one replica", "all", "server", "chain", "root-expander",
        "ring", "ring, push-sum", "one-peer-exp.", "r-exp, async", "all, backup 1"} do
      assert.equal(2, points[setting], setting)
      assert.is_true(rows[setting].loss > 0, setting)
    end
    -- 1,000 doubles and what frames add, over 12, 8 and 4 edges, in 10 rounds.
    for setting, edges in pairs {all = 12, ["root-expander"] = 8, ring = 4} do
      local bytes = rows[setting].megabytes * 1e6 / edges / 10
      assert.is_true(bytes >= 8000 and bytes < 8200, setting .. " " .. bytes)
    end
    assert.equal(0, rows["one replica"].megabytes)
    assert.near(1, rows.all.gap, 1e-12)
    assert.equal(rows.ring.loss, rows["ring, push-sum"].loss)
    assert.equal(rows["root-expander"].loss, rows["r-exp, notify-ack"].loss)
    assert.equal(2, rows["at ends of passes"].rounds)
  end)

  it("averages as the weights' second singular value says", function()
    local list = results("asap.lua --only averaging --quick")
    assert.equal(8, #list)
    for _, each in ipairs(list) do
      assert.near(each.power, each.first, 1e-9, each.topology)
      if each.topology ~= "one-peer-exponential" then
        assert.near(each.second, each.power, 1e-9, each.topology)
      end
      assert.is_true(each.random <= each.power + 1e-9, each.topology)
      assert.is_true(each.rounds <= (each.bound or 1), each.topology)
      if each.topology == "ring" then assert.near(math.cos(math.pi / 6), each.second, 1e-9) end
    end
  end)

  it("sends as many models a round as the graphs of figures 5 to 7 have edges", function()
    local list = of_kind(results("asap.lua --only figure5,figure6,figure7 --quick"), "comparison")
    local ratios = {[5] = {"all", 3 / 2}, [6] = {"all", 63 / 2}, [7] = {"ring", 1 / 2}}
    local compared = {}
    for _, each in ipairs(list) do
      local other, ratio = unpack(ratios[each.comparison])
      local rounds, of_other = each["root-expander rounds"], each[other .. " rounds"]
      if rounds and of_other then
        local a = each["root-expander megabytes"] / rounds
        local b = each[other .. " megabytes"] / of_other
        assert.near(ratio, b / a, 0.01 * ratio)
        compared[each.comparison] = true
      end
    end
    assert.same({true, true, true}, {compared[5], compared[6], compared[7]})
    assert.equal(8, #list)
  end)

  it("has the order of figure 7 where replicas have labels of their own", function()
    local sent = {}
    local list = results "asap.lua --only figure7 --points 5000 --passes 4 --target 1.5"
    for _, each in ipairs(of_kind(list, "comparison")) do
      if each.whose == "loss" then
        sent[each.experiment] = {each["root-expander megabytes"], each["ring megabytes"],
                                 each["all megabytes"]}
      end
    end
    local alike, by_label = sent.figure7, sent["figure7-labels"]
    assert.is_true(alike[2] < alike[1] and alike[1] < alike[3])
    assert.is_true(by_label[1] < by_label[2] and by_label[2] < by_label[3])
  end)

  it("counts reduces", function()
    local list = results("asap.lua --only figure8 --points 400 --every 20 --passes 2 --rates 0.1")
    local reduces, asleep = {}, {}
    for _, each in ipairs(list) do (each.naps and asleep or reduces)[each.reduces] = each end
    -- 50 examples of each of 8 replicas are 3 rounds, of which the last two merge what was there.
    for way, published in pairs {["notify-ack"] = 100, barrier = 77, async = 39} do
      local row = reduces[way]
      assert.equal(2 * 8 * 2, row.count, way)
      -- (What a barrier let a replica hear early is of the round before, and no longer new.)
      assert.is_true(row.all <= row.most and row.most <= 100 and row.new <= 100, way)
      assert.equal(published, row.published)
    end
    assert.equal(100, reduces["notify-ack"].all)
    assert.equal(100, asleep["notify-ack"].all)
    assert.is_true(asleep.async.new >= 0 and asleep.async.new <= 100)
  end)

  it("trains networks and factors", function()
    local rows = by_setting(results("asap.lua --only figure9 --quick --points 500"))
    assert.equal(rows.all.loss, rows["notify-ack"].loss)
    assert.is_true(rows.serial.loss < 0.9 and rows.async.loss < 0.9)
    rows = by_setting(results("asap.lua --only network --quick"))
    assert.is_true(rows.serial.loss < 0.9 and rows.ring.loss < 0.9)
    assert.is_true(rows.ring.megabytes < rows.all.megabytes / 6)
    local curves = {}
    for _, each in ipairs(results("asap.lua --only factors --quick")) do
      if each.curve then
        curves[each.setting] = curves[each.setting] or {}
        table.insert(curves[each.setting], each.loss)
      end
    end
    for _, setting in ipairs {"serial", "all", "ring", "r-exp, async"} do
      assert.is_true(curves[setting][2] < curves[setting][1], setting)
    end
  end)

  it("gives replicas the same influence where weights are doubly stochastic", function()
    local list = results("asap.lua --only figure10 --quick")
    local rows, influence = by_setting(list), {}
    for _, each in ipairs(of_kind(list, "influence")) do influence[each.influence] = each end
    assert.equal(rows["notify-ack"].loss, rows.bsp.loss)
    assert.near(1, influence["notify-ack"].least, 1e-9)
    assert.near(1, influence["notify-ack"].most, 1e-9)
  end)

  it("takes longer by injected lags, and diverges beyond the steps that theory allows", function()
    local list = results("asap.lua --only lags --quick")
    local rows, steps = by_setting(list), of_kind(list, "steps")
    for _, over in ipairs {"all", "root-expander"} do
      local new, old = rows[over .. ", 0 rounds old"], rows[over .. ", 2 rounds old"]
      assert.is_true(new.loss < old.loss, over)
      assert.equal(new.megabytes, old.megabytes)
    end
    assert.equal(10, #steps)
    for _, each in ipairs(steps) do
      assert.near(each.theory, each.value, 1e-9 + 1e-6 * math.abs(each.theory))
      assert.equal(each.beyond, math.abs(each.value) > 1)
      assert.equal(each.beyond, each.step > each.bound)
    end
  end)

  it("leaves out what is late, as much in slow rounds as in quick ones", function()
    local list, rows = results("asap.lua --only timeouts --quick"), {}
    for _, each in ipairs(list) do rows[each.setting] = each end
    local exact = rows["all are waited for"]
    assert.same({0, 0, 0, 0}, {exact.first, exact.second, exact.model_first, exact.model_second})
    assert.is_true(exact.off < 0.2)
    for _, factor in ipairs {"1.5", "3"} do
      local dynamic = rows["time-out " .. factor .. " times the usual"]
      local fixed = rows["fixed, " .. factor .. " times the first half's"]
      assert.is_true(dynamic.off > 0)
      assert.is_true(fixed.model_second > fixed.model_first)
      assert.is_true(math.abs(dynamic.model_second - dynamic.model_first) <
        fixed.model_second - fixed.model_first)
      assert.is_true(dynamic.model < exact.model)
    end
  end)

  it("refuses step sizes and parts that are none", function()
    for arguments, words in pairs {["--rates 0.1,x"] = "not a positive number: x",
                                   ["--only figure4"] = "no part 'figure4'"} do
      local output, status = child.shell("luajit bench/asap.lua " .. arguments .. " 2>&1")
      assert.not_equal(0, status)
      assert.truthy(output:find(words, 1, true), output)
    end
  end)
end)

describe("The bench of harmonization", function()
  it("has curves and a row for each setting of the grid", function()
    local list = results("harmonize.lua --points 400 --replicas 4 --every 20 --passes 2 " ..
      "--rates 0.1 --eps 0.1 --lambda 0.5")
    local rows, points = by_setting(list)
    for _, setting in ipairs {"averaged once a pass", "mean, all is sent", "mean, eps 0.1",
        "shifted 0.5, eps 0.1", "normalised 0.5, all is sent", "printed 0.5, eps 0.1",
        "shifted 1, 1 round old", "shifted 1, ssp 2", "both ways, eps 0.1, drop",
        "mean, eps 0.1, floor 0", "mean, eps 0.1, every auto", "changes, all are sent",
        "changes, sketch 3x256, 6.144 kB"} do
      assert.equal(2, points[setting], setting)
      assert.is_true(rows[setting].loss > 0, setting)
    end
    assert.equal(2 * 6, points.serial) -- in each part
    assert.equal(rows.serial.loss, rows["one replica"].loss)
    assert.is_true(rows["mean, eps 0.1"].megabytes < rows["mean, all is sent"].megabytes)
    assert.equal(2, rows["averaged once a pass"].rounds)
    assert.equal(10, rows["mean, all is sent"].rounds)
    -- 3 x 256 sums in place of 1,000 values, 12 edges, 10 rounds, and what frames add.
    local bytes = rows["changes, sketch 3x256, 6.144 kB"].megabytes * 1e6 / 12 / 10
    assert.is_true(bytes >= 6144 and bytes < 6400, tostring(bytes))
    local differences = {}
    for _, each in ipairs(of_kind(list, "differences")) do differences[each.differences] = each end
    assert.is_true(differences["ssp 2"].least >= -2 and differences["ssp 2"].most <= 2)
    assert.equal(0, differences.barrier.behind)
    assert.is_true(differences.barrier.most <= 1)
    -- One pass of 5 rounds, of which the last 4 merge what there is, over 12 edges.
    assert.equal(12 * 4, differences.barrier.messages)
  end)
end)

describe("The bench of adaptive consistency", function()
  it("has all ways to the same objective, and auto on other seeds", function()
    local tables, points, autos = {}, {}, 0
    for _, each in ipairs(results("adaptive.lua --quick --points 200 --features 60 --replicas 3 " ..
        "--passes 12 --seeds 1 --target 1.5 --lambda 5")) do
      if each.auto then
        autos = autos + 1
        assert.is_true(each.best > 0 and each.best <= (each.worst or math.huge))
      elseif not each.one_loop then
        local key = each.experiment .. " " .. each.setting
        if each.curve then
          points[key] = (points[key] or 0) + 1
        else
          tables[key] = each
        end
      end
    end
    assert.equal(3, autos)
    for _, set in ipairs {"dense", "sparse"} do
      for figure, settings in pairs {
        ["5-1"] = {"H 1, bsp", "H 1, ssp 2", "auto, auto"},
        ["5-2"] = {"H 0.1, ssp 2", "H 1, ssp 2"}, ["5-3"] = {"H 0.1, bsp", "H 1, async"},
        ["5-4"] = {"all is sent", "magnitude, keep", "random, drop"},
        ["5-5"] = {"gamma 1, sigma 3", "gamma 0.333333, sigma 1", "gamma 1, sigma 1"},
      } do
        local wide = set == "dense" and figure == "5-1" -- it has a set of its own
        local experiment = ("%s figure%s "):format(wide and "wide" or set, figure)
        local hand, one = tables[experiment .. "C by hand"], tables[experiment .. "one replica"]
        assert.near(hand.loss, one.loss, 1e-9 * one.loss)
        for _, setting in ipairs(settings) do
          local row = tables[experiment .. setting]
          assert.is_true(row.loss >= hand.loss * (1 - 1e-2), experiment .. setting)
          assert.equal(12, points[experiment .. setting], experiment .. setting)
        end
      end
      local waits, sent = set .. " figure5-3 ", set .. " figure5-4 "
      assert.equal(12, tables[waits .. "H 1, bsp"].rounds)
      assert.equal(120, tables[waits .. "H 0.1, bsp"].rounds)
      for _, setting in ipairs {"H 0.1, bsp", "H 0.2, ssp 2", "H 1, async"} do
        assert.is_true(tables[waits .. setting].drift < 1e-9, setting)
      end
      assert.is_true(tables[sent .. "all is sent"].drift < 1e-9)
      assert.is_true(tables[sent .. "magnitude, drop"].megabytes <=
        tables[sent .. "all is sent"].megabytes)
    end
  end)

  it("has the order of figure 5-3 where all passes are one loop", function()
    local rows = {}
    for _, each in ipairs(results "adaptive.lua --only figure5-3 --quick --target 1.01") do
      if each.one_loop then rows[each.set .. " " .. each.one_loop] = each end
    end
    for _, wait in ipairs {"bsp", "0 to 2 rounds old"} do
      assert.equal(12, rows["dense H 0.1, " .. wait].passes)
      assert.equal(12, rows["sparse H 0.1, " .. wait].passes)
    end
    assert.is_nil(rows["dense H 0.1, 8 rounds old"].passes)
    assert.equal(12, rows["sparse H 0.1, 8 rounds old"].passes)
  end)
end)
