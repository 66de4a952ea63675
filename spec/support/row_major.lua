-- SPDX-License-Identifier: MIT
--- All combinations of the values of some axes, {first, last, step} each (the step is 1 if it is
-- missing): lists of a value for each axis, the last axis fastest.
local function row_major(axes)
  local list = {{}}
  for d, axis in ipairs(axes) do
    local longer = {}
    for _, before in ipairs(list) do
      for value = axis[1], axis[2], axis[3] or 1 do
        local at = {unpack(before)}
        at[d] = value
        longer[#longer + 1] = at
      end
    end
    list = longer
  end
  return list
end

return row_major
