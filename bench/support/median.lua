-- SPDX-License-Identifier: MIT
--- The median of a list, which it sorts; of an even number of figures the lesser of the two.
return function(list)
  table.sort(list)
  return list[math.ceil(#list / 2)]
end
