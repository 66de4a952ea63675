-- SPDX-License-Identifier: MIT
--- What strategies are like, by their names: the core's table (csrc/depend/strategy_traits.h).
-- @module meissa.plan.strategy

--- strategy.rotate: {words =, any_axis =, sweeps =, alone =, rotated =, chains =, one_way =,
-- unordered =, as in the header; waits = whether blocks wait for those of other workers}.
return require("meissa.core").strategies()
