-- SPDX-License-Identifier: MIT
-- The changelog's newest version is what the module, the command and the rock say that they are.
local child = require "spec.support.child"

-- "00000.00010.00000"
local function sort_key(number)
  return (number:gsub("%d+", function(digits) return ("%05d"):format(digits) end))
end

-- The versions that a changelog tells of, newest first: {{number, date}, ...}, and what is wrong.
local function versions_of(text)
  local list, faults = {}, {}
  local function fault(...) faults[#faults + 1] = string.format(...) end
  local sections = 0
  for heading in text:gmatch "\n## ([^\n]*)" do
    sections = sections + 1
    local number, date = heading:match "^%[(%d+%.%d+%.%d+)%] %- (%d%d%d%d%-%d%d%-%d%d)$"
    if sections == 1 then
      if heading ~= "Unreleased" then fault("no Unreleased first") end
    elseif not number then
      fault("'%s' is no version with a date", heading)
    else
      local newer = list[#list]
      if newer and not (sort_key(number) < sort_key(newer[1]) and date <= newer[2]) then
        fault("%s is not older than %s", number, newer[1])
      end
      list[#list + 1] = {number, date}
    end
  end
  if #list == 0 then fault("no version") end
  return list, faults
end

local function rockspec(text)
  local found = {}
  assert(loadstring(text))
  setfenv(loadstring(text), found)()
  return found
end

describe("the version", function()
  local versions, faults = versions_of(child.read "CHANGELOG.md")

  it("stands in the changelog, newest first", function() assert.same({}, faults) end)

  it("is the module's", function()
    assert.equal(versions[1][1], require("meissa").VERSION)
  end)

  it("is what the command says", function()
    assert.equal("meissa " .. versions[1][1] .. ", " .. jit.version .. "\n",
                 (child.shell("bin/meissa --version")))
  end)

  it("is the rock's, or the rock is that of a checkout", function()
    local count = 0
    for path in io.popen("ls rockspec"):lines() do
      local rock = rockspec(child.read("rockspec/" .. path))
      local version = rock.version:match "^(.*)%-%d+$"
      assert.is_true(version == "scm" or version == versions[1][1], rock.version)
      assert.equal(("meissa-%s.rockspec"):format(rock.version), path)
      assert.equal("meissa", rock.package)
      count = count + 1
    end
    assert.is_true(count > 0)
  end)

  it("is refused in a changelog of another form", function()
    local function faults_of(text) return (select(2, versions_of("# Changelog\n\n" .. text))) end
    local good = "## Unreleased\n\n## [0.10.0] - 2027-01-02\n\n## [0.9.1] - 2027-01-02\n"
    assert.same({}, faults_of(good))
    for text, fault in pairs {
      ["## [0.1.0] - 2026-11-23\n"] = "no Unreleased first", ["## Unreleased\n"] = "no version",
      ["## Unreleased\n## 0.1.0 - 2026-11-23\n"] = "'0.1.0 - 2026-11-23' is no version with a date",
      ["## Unreleased\n## [0.1.0]\n"] = "'[0.1.0]' is no version with a date",
      ["## Unreleased\n## [0.9.0] - 2026-11-23\n## [0.10.0] - 2026-11-22\n"] =
        "0.10.0 is not older than 0.9.0",
      ["## Unreleased\n## [0.2.0] - 2026-11-23\n## [0.1.0] - 2026-11-24\n"] =
        "0.1.0 is not older than 0.2.0",
    } do
      assert.equal(fault, faults_of(text)[1], text)
    end
  end)
end)
