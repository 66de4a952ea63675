-- SPDX-License-Identifier: MIT
-- Mutants of element lists: what blocks of inspected loops write, log, see and return.
local listed = {spec = "spec/driver/element_lists_spec.lua"}
local needs = {spec = "csrc/plan/needs_test.c"}
local undo = {spec = "csrc/job/undo_test.c"}
local flow = {spec = "csrc/plan/block_flow_test.c"}
local handed = {spec = "spec/driver/handed_lists_spec.lua"}
local mirror = {spec = "csrc/worker/mirror_test.c"}
local marks = {spec = "spec/driver/buffer_marks_spec.lua"}
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
  {
    rule = "blocks hand over what others have from them, and return what they wrote last",
    finders = {flow, handed},
    mutants = {
      {"what a block reads of an earlier one is not handed over", "csrc/plan/block_flow.c",
       "        all->handed[all->writer[e] - 1] = true;\n", ""},
      {"a block that wrote first returns it", "csrc/plan/block_flow.c",
       "if (all->writer[e] != 0) all->last[all->writer[e] - 1] = false;", ""},
      {"all that is read comes from before the loop", "csrc/plan/block_flow.c",
       "if (all->writer[e] == 0) {", "if (all->writer[e] != 0) {"},
      {"runs go on over what is not kept", "csrc/plan/block_flow.c",
       "for (; e < until && !keep[entry]; e++) entry++;",
       "for (; e < until && !keep[entry]; e++) continue;"},
    },
  },
  {
    rule = "who hears of values puts them where their block has them on its list",
    finders = {handed},
    mutants = {
      {"a batch hands over its last block's alone", "csrc/worker/mirror.c",
       "                                         from, walk.last);",
       "                                         walk.last, walk.last);"},
      {"values come to the places of a batch's last block", "csrc/worker/mirror.c",
       "&mirror->handed, schedule, from, first, last);",
       "&mirror->handed, schedule, from, last, last);"},
      {"frames go on wherever they say", "csrc/worker/mirror.c",
       "(uint64_t)share->done == frame->a[3];", "true;", finders = {mirror}},
      {"frames go on in what any blocks hand over", "csrc/worker/mirror.c",
       "share->lists != NULL && share->final == frame->a[1] &&", "share->lists != NULL &&",
       finders = {mirror}},
      {"all workers' frames go on at one place", "csrc/worker/mirror.c",
       "ms_listed_share *share = &mirror->coming[from];",
       "ms_listed_share *share = &mirror->coming[0];", finders = {mirror}},
      {"stores of a slice are those of reads", "csrc/depend/inspector_text.c",
       "return count_bits(inspector->served) + count_bits(stored & before) + 1;",
       "return count_bits(inspector->served & before) + 1;"},
    },
  },
  {
    rule = "of marks what was touched is taken, all of it",
    finders = {needs, marks},
    mutants = {
      {"what was touched ends with a unit's last element but one", "csrc/plan/needs.c",
       "int64_t stop = first + size, end,", "int64_t stop = first + size - 1, end,",
       finders = {needs}},
      {"marks have the name of an inner loop's limit", "csrc/kernel/emit/emitter.c",
       '"%sd%u", emitter->prefix, at + 1);', '"%st%u", emitter->prefix, at + 1);',
       finders = {marks}},
    },
  },
}
