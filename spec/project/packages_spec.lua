-- SPDX-License-Identifier: MIT
--
-- tools/packages.sh on machines made of stand-ins: PATH holds a few real tools, and scripts in the
-- place of the compiler, pkg-config, luajit, id, sudo and apt-get, some of which note their calls.
local child = require "spec.support.child"

describe("tools/packages.sh", function()
  local dir, bin

  local function command(name, text)
    child.write(bin .. "/" .. name, "#!/bin/sh\n" .. text .. "\n")
    os.execute("chmod 755 " .. bin .. "/" .. name)
  end

  -- A machine that has everything the build needs, and whose user is root.
  before_each(function()
    dir = child.directory()
    bin = dir .. "/bin"
    os.execute("mkdir " .. bin .. " && for each in bash sh cat env head mktemp rm sed; do"
      .. " ln -s $(command -v $each) " .. bin .. "; done")
    for _, name in ipairs {"cc", "luajit", "pkg-config", "true"} do command(name, "exit 0") end
    command("id", "echo 0")
    command("apt-get", 'echo "apt-get $*" >> ' .. dir .. "/calls")
  end)

  after_each(function()
    child.remove(dir)
  end)

  local function an_ordinary_user()
    command("id", "echo 1000")
  end

  local function install(what)
    local output, status = child.shell(("env -u CC PATH=%s TMPDIR=%s bash tools/packages.sh %s"
      .. " < /dev/null"):format(bin, dir, what or "build"))
    return status, output, child.read(dir .. "/calls") or ""
  end

  it("asks nothing of apt or sudo when nothing is missing", function()
    an_ordinary_user()
    command("sudo", 'echo "sudo $*" >> ' .. dir .. "/calls")
    local status, output, calls = install()
    assert.equal(0, status)
    assert.equal("", output)
    assert.equal("", calls)
  end)

  it("installs just what is missing, after one update", function()
    os.remove(bin .. "/luajit")
    command("pkg-config", '[ "$2" != isl ]')
    local status, output, calls = install()
    assert.equal(0, status, output)
    local packages = calls:match("^apt%-get [^\n]* update\napt%-get [^\n]* install ([^\n]*)\n$")
    assert.equal("-y --no-install-recommends luajit libisl-dev", packages, calls)
  end)

  it("installs even if an unrelated list cannot be updated", function()
    os.remove(bin .. "/luajit")
    command("apt-get", ('echo "$*" >> %s/calls; case $* in *update) exit 100;; esac'):format(dir))
    local status, output, calls = install()
    assert.equal(0, status, output)
    assert.truthy(calls:find("luajit\n", 1, true), calls)
  end)

  it("shows apt's complaint and the command when the installation fails", function()
    os.remove(bin .. "/luajit")
    command("apt-get", "echo E: no such mirror; exit 100")
    local status, output = install()
    assert.equal(1, status)
    assert.truthy(output:find("E: no such mirror", 1, true), output)
    assert.truthy(output:find("sudo apt-get install luajit\n", 1, true), output)
  end)

  it("goes through sudo for an ordinary user", function()
    an_ordinary_user()
    os.remove(bin .. "/luajit")
    command("sudo", ('echo "sudo $*" >> %s/calls; [ "$1" != -n ] || shift; exec "$@"'):format(dir))
    local status, output, calls = install()
    assert.equal(0, status, output)
    assert.truthy(calls:find("sudo env DEBIAN_FRONTEND=noninteractive apt-get", 1, true), calls)
  end)

  it("says what to do without sudo, without a password, without apt-get", function()
    an_ordinary_user()
    os.remove(bin .. "/luajit")
    local function expect(reason, line)
      local status, output, calls = install()
      assert.equal(1, status)
      assert.truthy(output:find("missing Debian packages: luajit\n", 1, true), output)
      assert.truthy(output:find(reason, 1, true), output)
      assert.truthy(output:find("\n    " .. line .. "\n", 1, true), output)
      assert.equal("", calls)
    end
    expect("there is no sudo; as root, run", "apt-get install luajit")
    command("sudo", "exit 1")
    expect("sudo wants a password", "sudo apt-get install luajit")
    os.remove(bin .. "/apt-get")
    expect("no apt-get here", "sudo apt-get install luajit")
  end)

  it("only reports with --check", function()
    os.remove(bin .. "/luajit")
    local status, output, calls = install("--check build")
    assert.equal(1, status)
    assert.truthy(output:find("'make deps' installs them", 1, true), output)
    assert.equal("", calls)
  end)
end)
