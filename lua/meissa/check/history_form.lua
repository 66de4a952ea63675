-- SPDX-License-Identifier: MIT
--- Histories: lines to events, and what is true of every history: docs/formats.md has the format.
--
-- Nothing of Meissa's core, planner or runtime is used here or in the files beside this one: they
-- judge those.
-- @module meissa.check.history_form

local tables = require "meissa.base.tables"

local M = {}

M.HEADER = "meissa-history 1"

-- Fields of each kind: whole numbers, but for those that are named otherwise below; "?": may be
-- left out.
local KINDS = {
  rounds = "job sync read_lag write_lag read_ahead depth scope rounds clocks? delivered? " ..
    "injected? exchange?",
  block = "job block reads writes observer?",
  loop = "job blocks ordered stages?",
  ["end"] = "job round? hash?",
  fail = "job",
  fence = "worker incarnation",
  merge = "job stage block",
  begin = "job block round? stage?",
  commit = "job block round? deferred?",
  leave = "job block round?",
  pin = "job block round range version hash?",
  read = "job block round range version hash?",
  seen = "job block round",
  fill = "job block round range",
  write = "job block round range hash?",
  touch = "job block array first last write",
  ledger = "job produced sent pending dropped invalidated",
  decide = "rounds every? staleness? eps? lambda?",
}
local SCOPES = {range = true, edge = true, global = true, nobody = true}

local function number(text)
  if text == "inf" then return math.huge end
  return string.match(text, "^%-?%d+$") and tonumber(text)
end

-- "0,2-4" as a list; "-" is empty. A range of numbers may not be longer than a history is worth.
local MOST_MEMBERS = 2^24
local function list(text)
  local members = {}
  if text == "-" then return members end
  if string.find("," .. text .. ",", ",,", 1, true) then return nil end
  for part in string.gmatch(text, "[^,]+") do
    local first, last = string.match(part, "^(%d+)%-(%d+)$")
    first = tonumber(first or string.match(part, "^%d+$"))
    last = tonumber(last or first)
    if not first or last < first or last - first + #members > MOST_MEMBERS then return nil end
    for member = first, last do members[#members + 1] = member end
  end
  return members
end

local function text(value) return value end
local READ = {sync = text, hash = text, exchange = text, reads = list, writes = list, worker = text,
              scope = function(value) return SCOPES[value] and value end,
              produced = tonumber, sent = tonumber, pending = tonumber, dropped = tonumber,
              invalidated = tonumber, eps = tonumber, lambda = tonumber}

local fields = {}
for kind, names in tables.each(KINDS) do
  fields[kind] = {}
  for name, optional in string.gmatch(names, "%f[%w_]([%w_]+)(%??)") do
    fields[kind][name] = {read = READ[name] or number, needed = optional == ""}
  end
end

-- Reads name=value pairs into an event; returns what is wrong.
local function read_fields(event, rest)
  local known = fields[event.kind]
  for name, value in string.gmatch(rest, "%f[^%s=]([^%s=]+)=(%S+)") do
    local field = known[name]
    if not field then return string.format("'%s' has no field '%s'", event.kind, name) end
    if event[name] then return string.format("'%s' is there twice", name) end
    event[name] = field.read(value)
    if event[name] == nil or event[name] == false then
      return string.format("%s=%s is no value of that field", name, value)
    end
  end
  local left = string.gsub(rest, "%f[^%s=][^%s=]+=%S+", "")
  if string.find(left, "%S") then return "not a list of name=value" end
  for name, field in tables.each(known) do
    if field.needed and event[name] == nil then
      return string.format("'%s' lacks its field '%s'", event.kind, name)
    end
  end
end

--- An event of a line: `seq time process incarnation kind` and the kind's fields; or nil and what
-- is wrong with it.
function M.parse(line)
  local seq, time, process, incarnation, kind, rest =
    string.match(line, "^(%d+) ([%d.]+) (%S+) (%d+) (%S+)(.*)$")
  if not seq then return nil, "not a line of a history" end
  if not fields[kind] then return nil, string.format("there are no events '%s'", kind) end
  local event = {seq = tonumber(seq), time = tonumber(time), process = process, kind = kind}
  if not event.time then return nil, string.format("'%s' is no time", time) end
  -- Of a fence they are fields, too.
  event.incarnation = kind ~= "fence" and tonumber(incarnation) or nil
  local problem = read_fields(event, rest)
  if problem then return nil, problem end
  event.of = process .. " " .. incarnation
  return event
end

--- A rule of processes: each event follows the one before it, and nothing comes from the fenced.
-- @treturn function takes an event; returns what is wrong, or nil
function M.processes()
  local seq, time, fenced = {}, {}, {}
  return function(event)
    local of = event.of
    local expected, last = (seq[of] or -1) + 1, time[of] or 0
    if event.seq ~= expected then
      seq[of] = event.seq
      return "order", ("%s has number %d where %d comes next: an event is missing, or there twice")
        :format(event.process, event.seq, expected)
    end
    seq[of], time[of] = event.seq, event.time
    if event.time < last then
      return "order", string.format("%s goes back in time, from %.9f to %.9f", event.process, last,
        event.time)
    end
    if fenced[of] then
      return "fence", string.format("%s goes on in incarnation %s, which was fenced in line %d",
        event.process, string.match(event.of, "%f[%d]%d+$"), fenced[of])
    end
    if event.kind == "fence" then
      fenced[event.worker .. " " .. event.incarnation] = event.line
    end
  end
end

return M
