-- SPDX-License-Identifier: MIT
--- A figure of curves as a PNG file, drawn by gnuplot where that is installed.

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Text in gnuplot's double quotes.
local function words(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end

--- Draws curves. Without gnuplot a line on stderr says that there is no figure.
-- @string path the file to write
-- @tab about title, x, y: words on it; logarithmic: of which axes ("x", "y", "xy" or nil)
-- @tab curves a list of {name =, points = {{x, y}, ...}}
-- @return whether it was drawn
return function(path, about, curves)
  if os.execute "command -v gnuplot >/dev/null 2>&1" ~= 0 then
    io.stderr:write("SKIPPED: no figure ", path, ", since gnuplot is not installed\n")
    return false
  end
  local lines, plots = {}, {}
  for c, curve in ipairs(curves) do
    lines[#lines + 1] = ("$c%d << EOD"):format(c)
    for _, point in ipairs(curve.points) do
      lines[#lines + 1] = ("%.9g %.9g"):format(point[1], point[2])
    end
    lines[#lines + 1] = "EOD"
    plots[c] = ("$c%d with linespoints title %s noenhanced"):format(c, words(curve.name))
  end
  lines[#lines + 1] = "set terminal png size 900,600"
  lines[#lines + 1] = "set output " .. words(path)
  lines[#lines + 1] = "set title " .. words(about.title)
  lines[#lines + 1] = "set xlabel " .. words(about.x)
  lines[#lines + 1] = "set ylabel " .. words(about.y)
  if about.logarithmic then lines[#lines + 1] = "set logscale " .. about.logarithmic end
  lines[#lines + 1] = "plot " .. table.concat(plots, ", ")
  local script = os.tmpname()
  local file = assert(io.open(script, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local drawn = os.execute("gnuplot " .. quoted(script)) == 0
  os.remove(script)
  if not drawn then io.stderr:write("SKIPPED: gnuplot did not draw ", path, "\n") end
  return drawn
end
