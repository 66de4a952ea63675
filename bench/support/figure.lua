-- SPDX-License-Identifier: MIT
--- A figure of curves as a PNG file, drawn by gnuplot where that is installed.

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Text in gnuplot's double quotes.
local function words(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

-- The lines that draw some curves against one axis; `prefix` begins the names of their data.
local function draw(lines, prefix, about, panel, curves)
  local plots = {}
  for c, curve in ipairs(curves) do
    local name = ("$%s%d"):format(prefix, c)
    lines[#lines + 1] = name .. " << EOD"
    for _, point in ipairs(curve.points) do
      local x, y = point[1], point[2]
      if panel then x, y = point[panel.key], point[about.key] end
      lines[#lines + 1] = ("%.9g %.9g"):format(x, y)
    end
    lines[#lines + 1] = "EOD"
    plots[c] = ("%s with linespoints title %s noenhanced"):format(name, words(curve.name))
  end
  lines[#lines + 1] = "set xlabel " .. words(panel and panel.x or about.x)
  lines[#lines + 1] = "plot " .. table.concat(plots, ", ")
end

local function script_of(path, about, curves)
  local panels = about.panels
  local lines = {
    ("set terminal png size %s"):format(panels and "1500,1000" or "900,600"),
    "set output " .. words(path), "set ylabel " .. words(about.y),
  }
  if about.logarithmic then lines[#lines + 1] = "set logscale " .. about.logarithmic end
  if not panels then
    lines[#lines + 1] = "set title " .. words(about.title)
    draw(lines, "c", about, nil, curves)
    return lines
  end
  lines[#lines + 1] = ("set multiplot layout %d,2 title %s"):format(math.ceil(#panels / 2),
                                                                  words(about.title))
  for p, panel in ipairs(panels) do draw(lines, "p" .. p .. "c", about, panel, curves) end
  lines[#lines + 1] = "unset multiplot"
  return lines
end

--- Draws curves. Without gnuplot a line on stderr says that there is no figure.
-- @string path the file to write
-- @tab about title, x, y: words on it; logarithmic: of which axes ("x", "y", "xy" or nil); or
-- several panels, a list of {x = words, key = field}, and `key`, the field along y
-- @tab curves a list of {name =, points = {{x, y}, ...}}; with panels points are records
-- @return whether it was drawn
return function(path, about, curves)
  if os.execute "command -v gnuplot >/dev/null 2>&1" ~= 0 then
    io.stderr:write("SKIPPED: no figure ", path, ", since gnuplot is not installed\n")
    return false
  end
  local script = os.tmpname()
  local file = assert(io.open(script, "w"))
  file:write(table.concat(script_of(path, about, curves), "\n"), "\n")
  file:close()
  local drawn = os.execute("gnuplot " .. quoted(script)) == 0
  os.remove(script)
  if not drawn then io.stderr:write("SKIPPED: gnuplot did not draw ", path, "\n") end
  return drawn
end
