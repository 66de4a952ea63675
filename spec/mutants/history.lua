-- SPDX-License-Identifier: MIT
-- Mutants of the checker of histories: each lets something pass, or refuses what is valid.
local checker = {spec = "spec/check/history_spec.lua"}
local rounds, blocks = "lua/meissa/check/history_rounds.lua", "lua/meissa/check/history_blocks.lua"
local form = "lua/meissa/check/history_form.lua"

return {
  {
    rule = "a history is accepted when all rules hold, and refused when one does not",
    finders = {checker},
    mutants = {
      {"numbers may be missing", form, "if event.seq ~= expected then", "if event.seq < 0 then"},
      {"time may go back", form, "if event.time < last then", "if event.time < last - 1e9 then"},
      {"the fenced may go on", form, "if fenced[of] then", "if fenced[of] == 0 then"},
      {"reads wait for nobody", rounds, "if self:done_by(q, y) < least then",
       "if self:done_by(q, y) < least - 1 then"},
      {"writes wait for nobody", rounds, "self:seen_by(p, y) < round - lag",
       "self:seen_by(p, y) < round - lag - 1"},
      {"barriers are those of ranges", rounds,
       "return scope == \"global\" and self.ranges or {}", "return {[range] = true}"},
      {"versions are as old as they like", rounds, "if version < oldest or version > newest then",
       "if version > newest then"},
      {"versions are as new as they like", rounds, "if version < oldest or version > newest then",
       "if version < oldest then"},
      {"reads may go back", rounds, "if before and version < before and",
       "if before and version < 0 and"},
      {"hashes are not compared", rounds, "event.hash ~= written", "event.hash == 0"},
      {"last updates may be lost", rounds, "if done < last then", "if done < last - 1 then"},
      {"a block that died has written", rounds,
       "if begun == open.round then self.begun[block][range] = begun - 1 end", ""},
      {"sets of reads are not looked at", rounds, "if not self.blocks[block].reads[range] then",
       "if not self.ranges[range] and range < 99 then"},
      {"a range may be read twice in a round", rounds,
       "if looked or self.seen[block][range] ~= round - 1 then",
       "if self.seen[block][range] ~= round - 1 then"},
      {"copies in place are overwritten when the next is begun", rounds,
       "pinned and self.begun[q][range] or self.done[q][range]", "self.begun[q][range]"},
      {"blocks that meet may overlap", blocks, "in_conflict({event}, other.touches)",
       "in_conflict({event}, {})"},
      {"blocks that meet come in any order", blocks, "if block > event.block and",
       "if block > event.block + 99 and"},
      {"blocks may be missing", blocks, "if self.count ~= self.setting.blocks then",
       "if self.count > self.setting.blocks then"},
      {"merges come in any order", blocks, "if event.block < last then",
       "if event.block < last - 99 then"},
      {"ledgers need not add up", blocks, "<= 1e-12 * scale", "<= scale"},
    },
  },
}
