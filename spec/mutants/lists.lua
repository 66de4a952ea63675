-- SPDX-License-Identifier: MIT
-- Mutants of element lists: what blocks of inspected loops write, log, see and return.
local listed = {spec = "spec/driver/element_lists_spec.lua"}
local needs = {spec = "csrc/plan/needs_test.c"}
local undo = {spec = "csrc/job/undo_test.c"}
local checkpoint = {spec = "csrc/job/block_checkpoint_test.c"}

return {
  {
    rule = "a block's list is what its iterations may write",
    finders = {needs, listed},
    mutants = {
      {"later ranges are those of longer ones", "csrc/plan/layout.h",
       "return axis->longer + (at - long_ones) / axis->each;",
       "return at / (axis->each + 1);"},
      {"a run goes on where another block's element is", "csrc/plan/needs.c",
       "if (own->end != e) {", "if (own->end == 0) {"},
      {"other grids have the same lists", "lua/meissa/driver/element_lists.lua",
       "known.grid ~= id or ", "", finders = {listed}},
    },
  },
  {
    rule = "what a block may leave as it is comes to it before, and goes back with its list",
    finders = {listed},
    mutants = {
      {"stores that depend on what is written count as made", "csrc/depend/inspector_text.c",
       "bool sure = element && inspector->control == 0 && !inspector->uncertain;",
       "bool sure = element;"},
      {"stores behind a jump count as made", "csrc/depend/inspector_scan.c",
       "inspector->uncertain = inspector->uncertain || inspector->control != 0;", ""},
      {"of whole rows nothing need be seen", "csrc/depend/inspector_text.c",
       "return !sure && (inspector->written >> path->candidate & 1) != 0;",
       "return false;"},
      {"values come back to the first block's places", "csrc/job/listed.c",
       "if (share.block != MS_NO_BLOCK) share.place = ms_listed_begin(lists, share.block);",
       "if (share.block != MS_NO_BLOCK) share.place = ms_listed_begin(lists, 0);"},
    },
  },
  {
    rule = "what a list has is logged before its block, and put back where it was",
    finders = {undo, listed},
    mutants = {
      {"all images are the first one's", "csrc/job/undo.c",
       "(size_t)part->lists->before[block] * undo->operands", "(size_t)0 * undo->operands"},
      {"of a list its first run is restored", "csrc/job/undo.c",
       "back ? ms_listed_scatter(&list, &all, count, image)",
       "back ? ms_listed_scatter(&list, &all, count > 0, image)"},
      {"a block that is run again sees what it has written", "csrc/job/block_checkpoint.c",
       "    part->logs = true;\n    return true;", "    return true;",
       finders = {checkpoint, listed}},
    },
  },
}
