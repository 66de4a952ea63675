-- SPDX-License-Identifier: MIT
-- The rooms of the house (spec/rooms.lua): a file uses its own room and those before it, never one
-- after it, and files of different rooms never use each other. In Lua whatever leads to another
-- module counts: require, in functions, too, package.loaded, and filling in another module's field.
local arrows = require "spec.support.arrows"
local child = require "spec.support.child"
local rooms = require "spec.rooms"

-- What leads upwards still. The list only ever gets shorter: an arrow that is gone is to be taken
-- out of it.
local KNOWN = {}

local lua, c = arrows.lua_files(), arrows.c_files()

local function minus(list, other)
  local set, left = {}, {}
  for _, each in ipairs(other) do set[each] = true end
  for _, each in ipairs(list) do
    if not set[each] then left[#left + 1] = each end
  end
  return left
end

local function all_upward()
  local found = arrows.upward(lua, rooms.lua_order, rooms.of_module)
  for _, each in ipairs((arrows.upward(c, rooms.c_order, rooms.of_source))) do
    found[#found + 1] = each
  end
  return found
end

describe("the rooms", function()
  it("are those of all files", function()
    assert.same({}, (select(2, arrows.upward(lua, rooms.lua_order, rooms.of_module))))
    assert.same({}, (select(2, arrows.upward(c, rooms.c_order, rooms.of_source))))
  end)

  it("use only rooms before them", function() assert.same({}, minus(all_upward(), KNOWN)) end)

  it("have no offender on the list that is none any more", function()
    assert.same({}, minus(KNOWN, all_upward()))
  end)

  it("have no files that use each other across rooms", function()
    local known = {} -- without the arrows on the list there is no cycle
    for _, each in ipairs(KNOWN) do known[each] = true end
    local function allowed(files)
      local left = {}
      for file, uses in pairs(files) do
        left[file] = {}
        for other, how in pairs(uses) do
          if not known[file .. " -> " .. other] then left[file][other] = how end
        end
      end
      return left
    end
    assert.same({}, arrows.cycles(allowed(lua), rooms.of_module))
    assert.same({}, arrows.cycles(allowed(c), rooms.of_source))
  end)
end)

-- What only one room knows of: everything else asks that room for it.
local ALONE = {
  {room = "net", what = {"#include <zmq", "zmq_%l+_?%l*%("}},
  {room = "base", what = {"clock_gettime%(", "CLOCK_MONOTONIC[,)]", "pthread_cond_timedwait%("}},
  {room = "binding", what = {"#include <lua", "lua_State"}},
}

describe("a room that stands for something outside", function()
  for _, each in ipairs(ALONE) do
    it("is the only one that knows of it: " .. each.room, function()
      for path in pairs(c) do
        local text = rooms.of_source(path) ~= each.room and child.read("csrc/" .. path) or ""
        for _, what in ipairs(each.what) do
          assert.is_nil(text:match(what), path)
        end
      end
    end)
  end
end)

-- Driver and workers are state machines over the road between processes (csrc/net/road.h), which a
-- test plays: what these do with sockets, pages of shared memory and the clock is theirs alone.
local ENDS = {}
for file in ([[
  driver/session_road.c driver/worker_process.c driver/spawn.c
  worker/worker_road.c worker/worker.c worker/exit_guard.c worker/core_affinity.c]]):gmatch "%S+" do
  ENDS[file] = true
end
local WORLD = {"ms_clock_now", "ms_socket_%l", "ms_channel_%l", "ms_link_receive_lane",
               "ms_status_page_[%l_]+%(", "ms_child_spawn", "ms_child_wait"}

it("sockets, status pages and the clock are those of few files of driver and worker", function()
  local found = {}
  for path in pairs(c) do
    local room = rooms.of_source(path)
    local asked = (room == "driver" or room == "worker") and not ENDS[path]
    local text = asked and path:match "%.c$" and child.read("csrc/" .. path) or ""
    for _, what in ipairs(WORLD) do
      local at = text:match(what)
      if at then found[#found + 1] = path .. ": " .. at end
    end
  end
  table.sort(found)
  assert.same({}, found)
end)

-- What would not do, and is found.
describe("the search for arrows", function()
  local order = {"low", "middle", "high"}
  local function room_of(file) return file:match "^meissa%.(%a+)" end
  local function arrows_of(text)
    return (arrows.upward({["meissa.low.a"] = arrows.of_lua(text)}, order, room_of))
  end

  it("finds every way to another module", function()
    local up = {"meissa.low.a -> meissa.high.b"}
    for _, text in ipairs {
      'local b = require "meissa.high.b"', "local b = require('meissa.high.b').c",
      'require("meissa.high.b")', 'local function f()\n  return require "meissa.high.b".run()\nend',
      'local b = package.loaded["meissa.high.b"]', "local b = libraries.loaded['meissa.high.b']",
      'require("meissa.high.b").hook = f', 'local x = "--" require "meissa.low.x"\n'
        .. 'require "meissa.high.b"',
    } do
      assert.same(up, arrows_of(text), text)
    end
    for _, text in ipairs {
      '-- require "meissa.high.b"', '--[[ require "meissa.high.b" ]]', 'require "meissa.low.b"',
      'local s = "meissa.high.b"', 'require "meissa.core"',
    } do
      assert.same({}, arrows_of(text), text)
    end
  end)

  it("finds includes, but of tests none", function()
    local text = '#include "high/b.h"\n#include <stdio.h>\n  #  include "low/c.h"\n'
    local uses = arrows.of_c(text)
    assert.same({["high/b.h"] = "includes", ["low/c.h"] = "includes"}, uses)
    assert.same({"low/a.c -> high/b.h"}, (arrows.upward({["low/a.c"] = uses}, order, function(path)
      return path:match "^%a+"
    end)))
  end)

  it("finds files that no room has", function()
    local files = {["meissa.attic.a"] = {["meissa.low.b"] = "uses"}}
    assert.same({"meissa.attic.a"}, (select(2, arrows.upward(files, order, function(file)
      return file:find "attic" == nil and room_of(file) or nil
    end))))
  end)

  it("finds circles through several rooms, and none inside of one", function()
    local files = {["meissa.low.a"] = {["meissa.low.b"] = "uses"},
                   ["meissa.low.b"] = {["meissa.low.a"] = "uses", ["meissa.middle.c"] = "uses"},
                   ["meissa.middle.c"] = {}}
    assert.same({}, arrows.cycles(files, room_of))
    files["meissa.middle.c"]["meissa.low.b"] = "uses"
    assert.same({"meissa.low.a meissa.low.b meissa.middle.c"}, arrows.cycles(files, room_of))
  end)

  it("finds an arrow that is put into the module's own files", function()
    local function one_of(room)
      for file in pairs(lua) do
        if rooms.of_module(file) == room then return file end
      end
    end
    local low, high = one_of "base", one_of "driver"
    local changed = {[low] = {[high] = "uses"}, [high] = {[low] = "uses"}}
    for file, uses in pairs(lua) do changed[file] = changed[file] or uses end
    local found = arrows.upward(changed, rooms.lua_order, rooms.of_module)
    assert.same({low .. " -> " .. high}, minus(found, KNOWN))
    assert.is_true(#arrows.cycles(changed, rooms.of_module) > 0)
  end)
end)
