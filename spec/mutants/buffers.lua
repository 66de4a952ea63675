-- SPDX-License-Identifier: MIT
-- Mutants of loops with buffers: stages, merging, and the log of a loop.
local staged = {spec = "spec/driver/staged_spec.lua"}
local merged = {spec = "spec/driver/buffer_spec.lua"}
local pending = {spec = "csrc/sync/pending_test.c"}
local marked = {spec = "spec/driver/buffer_marks_spec.lua"}

return {
  {
    rule = "a loop of several stages is one transaction, merging included",
    finders = {staged},
    mutants = {
      {"what earlier stages wrote is forgotten", "csrc/driver/run.c",
       "ms_undo_fold(run->job->fold, &run->undo);", "(void)run->job->fold;"},
      {"a younger image takes the place of an older", "csrc/job/undo.c",
       "if (atomic_load(&undo->state[number]) == LOGGED) return;\n  for", "for"},
      {"merging does not tell the log", "csrc/driver/staged.c",
       "ms_loop_undo_merging(run->logs ? &run->undo : NULL, &log), err);", "NULL, err);"},
      {"helpers are not told of", "csrc/sync/merge.c",
       "for (uint32_t a = 0; a < some->merge->array_count; a++) {",
       "for (uint32_t a = 0; a < 1; a++) {"},
      {"in this process nothing tells the log", "csrc/binding/merge.c",
       "ms_loop_undo_merging(ms_check_undo(L, 2), &log)", "NULL"},
      {"what is lost is not said", "csrc/driver/staged.c",
       "if (!run->loop->transaction && half_done) run->outcome.lost = true;", "(void)half_done;"},
    },
  },
  {
    rule = "what is pending is merged in the plan's order, and further stages see it",
    finders = {merged, staged},
    mutants = {
      {"by value, later stages read what was", "lua/meissa/driver/job.lua",
       "request.renew = run.by_value and", "request.renew = false and"},
      {"a stage takes one iteration too many", "csrc/plan/stage.c", "size > most - held",
       "size > most - held + 1"},
      {"the last batch of a rule is dropped", "csrc/sync/merge.c",
       "    if (got < 0) return -1;\n  }\n  return apply_batch(some);",
       "    if (got < 0) return -1;\n  }\n  return 0;"},
      {"gaps between runs are given to rules", "csrc/sync/merge.c",
       "to += pending != 0;", "to++;"},
      {"zeros are merged, too", "csrc/sync/pending.c",
       "__m128d some = _mm_cmpneq_pd(each, _mm_setzero_pd());",
       "__m128d some = _mm_cmpeq_pd(_mm_setzero_pd(), _mm_setzero_pd());",
       finders = {pending}},
      {"the last two of eight are not looked at", "csrc/sync/pending.c",
       "| find_two(d) << 6;", ";",
       finders = {pending}},
    },
  },
  {
    rule = "what blocks store into a large buffer is marked, or all of the buffer is looked at",
    finders = {marked},
    mutants = {
      {"machine code does not mark elements", "csrc/kernel/native/c_assign.c",
       "if (target->name == NULL) ms_c_touch_target(w, &target->site, to);", ""},
      {"machine code marks no rows with names", "csrc/kernel/native/c_array.c",
       "  touch_row(w, location);\n", ""},
      {"machine code takes long rows to be marked", "csrc/kernel/native/c_array.c",
       "if (%s > MS_TOUCHED_ROW) {", "if (%s < 0) {"},
      {"machine code does not mark rows", "csrc/kernel/native/c_row.c",
       "ms_c_touch(w, ms_typed_expression(w->typed, node->kid[0]).array, given.y.pointer, " ..
       "span);", "(void)span;"},
      {"columns lie in a row", "csrc/kernel/native/c_row.c",
       'if (strcmp(given.y.stride, "1") != 0)\n    span', "if (given.y.stride == NULL)\n    span"},
      {"Lua texts do not mark elements", "csrc/kernel/emit/index_path.c",
       "if (!emitter->job->elements[path->array].touched) {", "if (path != NULL) {"},
      {"Lua texts do not mark rows", "csrc/kernel/emit/row.c",
       "bool marked = stores && emitter->job->elements[row->array].touched;",
       "bool marked = false;\n  (void)stores;"},
      {"of a row its beginning is marked", "csrc/array/touched.h",
       "uint64_t units = (uint64_t)(count + MS_TOUCHED_UNIT - 2) / MS_TOUCHED_UNIT + 1;",
       "uint64_t units = 1;"},
      {"Lua texts mark the beginning of a row", "lua/meissa/kernel/helpers.lua",
       "at + count - 1, 64 do", "at, 64 do"},
      {"stores through objects are trusted", "lua/meissa/kernel/init.lua",
       "    distrust(found, taken)\n", ""},
      {"marks of a full word end at its first", "csrc/array/touched_walk.h",
       "*size = (many ? (int64_t)sizeof marks : 1) * MS_TOUCHED_UNIT;",
       "*size = MS_TOUCHED_UNIT;"},
    },
  },
}
