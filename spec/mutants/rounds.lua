-- SPDX-License-Identifier: MIT
-- Mutants of rounds: what a block reads, waits for and leaves; each condition under which that is
-- exact, dropped.
local plain = {spec = "spec/driver/iterate_spec.lua"}
local random = {spec = "spec/driver/iterate_random_spec.lua"}
local stale = {spec = "spec/driver/iterate_stale_spec.lua"}

return {
  {
    rule = "a round reads what the round before has made, and elements that it does not write stay",
    finders = {plain, random},
    mutants = {
      {"a round reads what it writes", "csrc/job/version.c",
       "array->last = memory_of(array, round);",
       "array->last = array->ring[round % array->depth];"},
      {"what is not written is what was there", "csrc/job/version.c",
       "if (array->steady == 0) copy_rows", "if (array->steady > 1) copy_rows"},
      {"writes under conditions count as writes of each round", "csrc/depend/written.c",
       "bool steady = access->write && !access->possible &&", "bool steady = access->write &&"},
      {"by value the ring begins empty", "csrc/job/version.c",
       "if (versions->filled == 0) fill(array);", "if (versions->filled > 1) fill(array);"},
      {"methods that change an array read it", "csrc/syntax/version.c",
       "return parent->kind == MS_METHOD && node->ordinal == 0 &&",
       "return false && parent->kind == MS_METHOD && node->ordinal == 0 &&"},
    },
  },
  {
    rule = "a block waits for all who make what it may read",
    finders = {stale, random},
    mutants = {
      {"the nearest range is not waited for", "lua/meissa/plan/versioned.lua",
       "if first[r] <= high and last[r] >= low then", "if first[r] < high and last[r] > low then"},
      {"by value a range goes to nobody", "csrc/worker/rounds.c",
       "if (rounds->reads[k] == range) return true;",
       "if (rounds->reads[k] == range) return false;"},
      {"a block begins one round too early", "csrc/worker/rounds.c",
       "int64_t wanted = ms_gate_count(&terms[number], round_of(worker, block));",
       "int64_t wanted = ms_gate_count(&terms[number], round_of(worker, block) - 1);"},
    },
  },
  {
    rule = "stale reads are within the window, and one's own range is always of the round before",
    finders = {stale},
    mutants = {
      {"the newest version is pinned, however new", "csrc/worker/rounds.c",
       "newest < window.hi ? newest : window.hi;", "newest;"},
      {"one's own range is as old as others", "csrc/worker/rounds.c",
       "if (range == range_of(worker, block)) newest = round - 1;",
       "if (range == range_of(worker, block)) newest = round - 2 < 0 ? 0 : round - 2;"},
      {"an image keeps what it had", "csrc/job/version.c",
       "if (versions->held[range] == version) return;",
       "if (versions->held[range] > 0 || version == 0) return;"},
    },
  },
  {
    rule = "what would be read after it was written, or written beside its range, is refused",
    finders = {plain},
    mutants = {
      {"later statements are not looked at", "csrc/depend/round.c",
       "return read->begin >= statement->end && !are_apart(write, read);",
       "return read->begin > statement->end + 1000 && !are_apart(write, read);"},
      {"the end of a range is not looked at", "csrc/depend/round.c",
       "for (uint32_t side = 0; side < 2; side++) {",
       "for (uint32_t side = 0; side < 1; side++) {"},
      {"views of the last version may be written", "lua/meissa/driver/iterate.lua",
       "if not version.next and about.written then", "if false then"},
    },
  },
  {
    rule = "rounds that were short once more return to the driver's process",
    finders = {{spec = "spec/driver/iterate_limits_spec.lua"}},
    mutants = {
      {"they are never tried again", "lua/meissa/driver/rounds.lua",
       "seconds < most or tries_again(", "seconds < most or rawequal("},
      {"they are tried again at once", "lua/meissa/driver/rounds.lua",
       "if record.jobs_since < (record.jobs_until or FIRST_WAIT) then return false end", ""},
    },
  },
  {
    rule = "no more is kept than rounds can tell apart, and nobody changes it meanwhile",
    finders = {{spec = "spec/driver/iterate_limits_spec.lua"}},
    mutants = {
      {"a version less than are used is kept", "lua/meissa/driver/versions.lua",
       "math.max(1, most) + 1)", "math.max(1, most))"},
      {"stop tests do not count", "lua/meissa/driver/versions.lua",
       "if request.stop then most", "if false then most"},
      {"any number is kept", "lua/meissa/driver/versions.lua",
       "if sync.versions <= MOST_VERSIONS then return end", "do return end"},
      {"arrays are not held", "lua/meissa/array/init.lua", "held.writable = 0", ""},
      {"arrays are held for good", "lua/meissa/array/init.lua",
       "held.writable, held.held = writable, before", ""},
      {"Ctrl-C while memory is taken is passed over", "lua/meissa/driver/versions.lua",
       "if seen then errors.raise", "if false then errors.raise"},
    },
  },
  {
    rule = "rounds go on before a test is asked, where nobody sees it, and none of them counts",
    finders = {{spec = "spec/driver/iterate_limits_spec.lua"}},
    mutants = {
      {"rounds after the last one that counts are kept", "lua/meissa/driver/rounds.lua",
       "if stopped and stopped < last then", "if stopped and stopped > last then"},
      {"sums of later rounds stay", "lua/meissa/driver/rounds.lua",
       "    self.scalars = kept\n    run_job(", "    run_job("},
      {"errors of later rounds are raised", "lua/meissa/driver/round_tests.lua",
       "self.tests, self.careful = 1, true\n  return true", "return false"},
      {"what other arrays hold is not looked at", "lua/meissa/driver/round_tests.lua",
       "if about and about.written and not run.versions.of[c] then return false end", ""},
      {"arrays that the body reads may be written", "lua/meissa/driver/versions.lua",
       "for _, each in ipairs(others) do held", "for _, each in ipairs({}) do held"},
      {"the first round's sums stand for all", "lua/meissa/driver/round_tests.lua",
       "local first, last = (round - 1) * ranges + 1, round * ranges",
       "local first, last = 1, ranges"},
    },
  },
  {
    rule = "a check shows a block what it is said to read, and compares all that it may write",
    finders = {plain},
    mutants = {
      {"what it does not read is there, too", "lua/meissa/driver/round_check.lua",
       "do copy_rows(own.poisoned, own.bad, own.pieces, r) end", "do end"},
      {"what it reads is not there", "lua/meissa/driver/round_check.lua",
       "  show(arrays, set, false)\n", ""},
      {"what is before the range is not compared", "lua/meissa/driver/round_check.lua",
       "if ffi.C.memcmp(a + from, b + from, piece[1] - from) ~= 0 then return false end", ""},
      {"what is behind the range is not compared", "lua/meissa/driver/round_check.lua",
       "return ffi.C.memcmp(a + from, b + from, pieces.behind - from) == 0", "return true"},
    },
  },
}
