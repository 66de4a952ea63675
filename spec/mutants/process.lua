-- SPDX-License-Identifier: MIT
-- Mutants of how Meissa lives with the rest of the process.
local cdef = {spec = "spec/base/cdef_spec.lua"}
local limits = {spec = "spec/driver/descriptors_spec.lua"}
local thrown = {spec = "spec/base/thrown_spec.lua"}
local remember = {spec = "spec/base/remember_spec.lua"}
local dump = {spec = "spec/capture/dump_spec.lua"}
local tables = {spec = "spec/base/tables_spec.lua"}
local roads = {spec = "csrc/worker/worker_road_test.c"}
local fates = {spec = "csrc/worker/simulated_session_test.c"}

local library = {spec = "spec/driver/library_threads_spec.lua"}
local prelude = {spec = "spec/kernel/prelude_spec.lua"}
local batches = {spec = "spec/kernel/batches_spec.lua"}
local encoded = {spec = "spec/base/encoded_spec.lua"}
local quantiles = {spec = "csrc/base/normal_test.c"}
local products = {spec = "spec/array/product_spec.lua"}
local compiled = {spec = "spec/driver/compiled_spec.lua"}
local interrupts = {spec = "spec/driver/interrupt_spec.lua"}
local segments = {spec = "csrc/array/segment_test.c"}

return {
  {
    rule = "Ctrl-C is heard whenever it comes, and leaves nothing half done",
    finders = {interrupts},
    mutants = {
      {"it is forgotten between rounds of replicas", "lua/meissa/driver/posted_rounds.lua",
       "if self.versions.memory:advance(count) then",
       "if self.versions.memory:advance(count) and self.never then"},
      {"what an execution found is entered before it is whole", "lua/meissa/plan/captured.lua",
       "  found.ready = ready_for(recent, plan, found.ready)\n",
       [[  if not found.recent then enter(record, recent) end
  found.ready = ready_for(recent, plan, found.ready)
]]},
    },
  },
  {
    rule = "freed memory is kept for the next arrays, up to a limit, and is zero for them",
    finders = {segments},
    mutants = {
      {"nothing is kept", "csrc/array/segment.c",
       "if (size < PAGE || size > most_to_keep()) return false;", "return false;"},
      {"what is kept is as it was", "csrc/array/segment.c",
       "memset(ms_segment_block_at(block), 0, size);\n    return true;", "return true;"},
      {"all is kept", "csrc/array/segment.c", "|| kept_bytes + size > kept_most", ""},
      {"the oldest is taken again first", "csrc/array/segment.c",
       "for (uint32_t at = kept_count; at-- > 0;) {",
       "for (uint32_t at = 0; at < kept_count; at++) {"},
      {"it is not given back when memory is short", "csrc/array/segment.c",
       "    ms_segment_trim();\n    found =", "    found ="},
      {"what is reclaimed is kept", "csrc/array/segment.c",
       [[    if (reclaim_listener != NULL) reclaim_listener(reclaim_context);
    ms_segment_trim();]],
       [[    ms_segment_trim();
    if (reclaim_listener != NULL) reclaim_listener(reclaim_context);]]},
    },
  },
  {
    rule = "LuaJIT compiles plain loops over arrays",
    finders = {compiled},
    mutants = {
      {"rows are given by a tail call", "lua/meissa/array/element.lua",
       [[return (row_t(array, handle.elements + i * handle.stride, handle.generation,
            handle.extent2, handle.stride2))]],
       [[return row_t(array, handle.elements + i * handle.stride, handle.generation,
            handle.extent2, handle.stride2)]]},
      {"slices are given by a tail call", "lua/meissa/array/element.lua",
       "return (M.slice(array, handle.generation, handle.extent2, 1, i))",
       "return M.slice(array, handle.generation, handle.extent2, 1, i)"},
      {"rows of slices are given by a tail call", "lua/meissa/array/element.lua",
       [[return (M.rows[array.type](array, c_api.elements(array) + offset, array.generation,
        array.dims[depth + 1], s[depth + 1]))]],
       [[return M.rows[array.type](array, c_api.elements(array) + offset, array.generation,
        array.dims[depth + 1], s[depth + 1])]]},
      {"launches have walks of their own", "lua/meissa/plan/space.lua",
       "walks[key] = walks[key] or assert(", "walks[key] = assert("},
      {"launches have iterators of their own", "lua/meissa/driver/plain_loop.lua",
       "return go_on, {", "return function(plain) return go_on(plain) end, {"},
    },
  },
  {
    rule = "libraries of workers compute with one thread, unless the user says otherwise",
    finders = {library},
    mutants = {
      {"some are not told", "csrc/driver/spawn.c", [[, "MKL_NUM_THREADS=1"};]], "};"},
      {"in place of what else is there", "csrc/driver/spawn.c",
       "environment[count++] = single[k];", "environment[0] = single[k];"},
      {"the driver's, too", "lua/meissa/array/blas.lua", "then return blas end",
       "then blas.spec_set_openblas_threads(1) return blas end", finders = {products}},
    },
  },
  {
    rule = "kernels have what they need of the prelude",
    finders = {{spec = "csrc/kernel/native/prelude_test.c"}},
    mutants = {
      {"what an item needs needs nothing", "csrc/kernel/native/prelude.c",
       "add_all(&own->needs, &all->items[known->item].needs);", "add(&own->needs, known->item);"},
      {"names belong to the last item that has them", "csrc/kernel/native/prelude.c",
       "if (known->bytes == NULL) *known", "*known"},
      {"comments count", "csrc/kernel/native/prelude.c",
       "if (end - at < 4 || at[0] != '/' || at[1] != '*') return at;", "return at;"},
      {"strings are comments where they look like one", "csrc/kernel/native/prelude.c",
       "if (*at == '\"') {", "if (at == end) {"},
      {"items end within #if", "csrc/kernel/native/prelude.c",
       "open += *at == '{' || begins(at, end, \"#if\");", "open += *at == '{';"},
      {"items end within braces", "csrc/kernel/native/prelude.c",
       "open += *at == '{' || begins(at, end, \"#if\");", "open += begins(at, end, \"#if\");"},
      {"no item ends", "csrc/kernel/native/prelude.c",
       "if (open == 0 && begins(at, end, \"\\n\\n\")) return at + 1;", ""},
    },
  },
  {
    rule = "what is drawn ahead is what would be drawn",
    finders = {prelude},
    mutants = {
      {"draws go on after an iteration", "csrc/kernel/emit/ahead.h",
       "now->draw = now->held = 0;", "now->draw = 0;"},
      {"iterations that turn are taken for the next ones", "csrc/kernel/emit/ahead.h",
       "next = next && ahead->place.index[d] == index[d];", "next = next || d < 0;"},
      {"all batches begin where the first one did", "csrc/kernel/emit/ahead.h",
       "ahead->low += now->count * ahead->low_step;", ";"},
    },
  },
  {
    rule = "bodies that draw as often in each iteration draw what others do",
    finders = {batches},
    mutants = {
      {"draws of branches are sure", "csrc/kernel/native/c_draws.c",
       "      return 1;\n", "      return node->kids;\n"},
      {"so are those behind a return", "csrc/kernel/native/c_draws.c",
       "drawn->fixed = drawn->fixed && is_last(node);", ";"},
      {"functions are not looked into", "csrc/kernel/native/c_draws.c",
       "if (drawn->fixed) look(drawn, function->function->body);", ";"},
      {"all batches begin where the first one did", "csrc/kernel/emit/batch.h",
       "batch->low += (uint64_t)count * batch->step;", "(void)count;",
       finders = {batches, prelude}},
      {"a body that is written twice draws twice", "csrc/kernel/native/c_region.c",
       "w->draws = draws;", ";"},
    },
  },
  {
    rule = "sums to which a body adds whole numbers alone are integers",
    finders = {batches},
    mutants = {
      {"others, too", "csrc/kernel/native/c_variable.c",
       "== counting->at) counting->counts = false;", "== counting->at) return true;"},
      {"nothing is 0", "csrc/kernel/native/c_variable.c",
       "(n%u > 0 ? (double)n%u : %s)", "(n%u >= 0 ? (double)n%u : %s)"},
      {"all add one", "csrc/kernel/native/c_variable.c",
       "return whole ? (int64_t)node->number : 0;", "return whole;"},
    },
  },
  {
    rule = "tables that lead nowhere are known by a look at each entry, or their encoding",
    finders = {encoded, {spec = "csrc/base/encoded_test.c"}},
    mutants = {
      {"tables lead nowhere", "csrc/base/encoded.c",
       "return tag <= TAG_TRUE ? 0 : SIZE_MAX;", "return tag <= TAG_TABLE ? 0 : SIZE_MAX;"},
      {"keys are not looked at", "csrc/binding/plain.c",
       "is_plain(L, -1) && is_plain(L, -2);", "is_plain(L, -1);"},
      {"what cannot be encoded is plain", "lua/meissa/base/encoded.lua",
       "    room:free()\n    return nil\n", "    room:free()\n    return inner\n"},
    },
  },
  {
    rule = "normal numbers are quantiles",
    finders = {quantiles},
    mutants = {
      {"the lower half is not turned", "csrc/base/normal.h",
       "uint64_t v = (bits ^ below) << 1 | 1;", "uint64_t v = bits << 1 | 1;"},
      {"tails are those of the next piece", "csrc/base/normal.h",
       "double t = (place - piece) * 2 - 1,", "double t = (place - piece) * 2 - 3,"},
    },
  },
  {
    rule = "C names in declarations are Meissa's own",
    finders = {cdef},
    mutants = {
      {"a clock by its name", "lua/meissa/base/system.lua",
       [[__asm__("clock_gettime");]],
       [[__asm__("clock_gettime");
int clock_gettime(int clock, meissa_timespec *time);]]},
      {"memory by its name", "lua/meissa/kernel/block_local.lua",
       [[void meissa_free(void *memory) __asm__("free");]],
       [[void meissa_free(void *memory) __asm__("free"); void free(void *memory);]]},
      {"terminals by their name", "lua/meissa/base/progress.lua",
       [['int meissa_isatty(int) __asm__("isatty");']],
       [['int meissa_isatty(int) __asm__("isatty"); int isatty(int);']]},
    },
  },
  {
    rule = "descriptors and threads are asked for before ZeroMQ is",
    finders = {limits},
    mutants = {
      {"descriptors are not", "csrc/net/context.c", "why = try_descriptors(needed);",
       "why = try_descriptors(0);"},
      {"those of ZeroMQ itself are not", "csrc/net/context.c",
       "#define OWN_DESCRIPTORS 12", "#define OWN_DESCRIPTORS 0"},
      {"threads are not", "csrc/net/context.c",
       "why = try_threads(OWN_THREADS + (keys ? 1 : 0));", "why = try_threads(0);"},
    },
  },
  {
    rule = "where memory is shared, nothing of ZeroMQ is loaded or made",
    finders = {limits},
    mutants = {
      {"the driver opens its socket", "csrc/driver/session_road.c",
       "if (ms_session_has_lanes(session)) {", "if (false) {"},
      {"workers open theirs", "csrc/worker/worker.c",
       "worker->road->by_frames ? open_sockets", "true ? open_sockets"},
    },
  },
  {
    rule = "foreign text takes time in proportion to its length; what was raised arrives",
    finders = {thrown},
    mutants = {
      {"a search begins at each letter", "lua/meissa/kernel/body_failure.lua",
       [["%f[%a](%a+) '"]], [["(%a+) '"]]},
      {"what comes after a separator is looked for at each letter", "lua/meissa/base/errors.lua",
       [["^.*%" .. separator .. "(.*)$"]], [["[^%" .. separator .. "]*$"]]},
      {"values become their text", "lua/meissa/base/thrown.lua",
       "if copy ~= nil then return copy end\n", "\n"},
      {"messages are cut short", "lua/meissa/base/thrown.lua",
       "local LONGEST = 65536", "local LONGEST = 256"},
      {"values have any size", "lua/meissa/base/thrown.lua",
       "if room < 0 then return nil end\n", "\n"},
    },
  },
  {
    rule = "what is remembered of texts takes 32 MB at most",
    finders = {remember},
    mutants = {
      {"nothing is forgotten", "lua/meissa/base/remember.lua",
       "while total > M.MOST and ring.newer ~= place do", "while false do"},
      {"what is used is forgotten", "lua/meissa/base/remember.lua",
       "if not place or ring.older == place then return end", "if place then return end"},
      {"workers keep all kernels", "csrc/driver/worker_handle.c",
       "#define KERNELS_KEPT ((size_t)8 << 20)", "#define KERNELS_KEPT ((size_t)8 << 30)"},
      {"plans weigh nothing", "lua/meissa/plan/init.lua",
       "  remember.charge(record, bytes)\n", "  remember.charge(record, 0 * bytes)\n"},
    },
  },
  {
    rule = "a function is proved by what its bytecode means",
    finders = {dump},
    mutants = {
      {"by its instructions as they are now", "lua/meissa/capture/dump.lua",
       "local map = generalisations()\n  return (string.gsub(code,",
       "local map = {}\n  return (string.gsub(code,"},
      {"by all its flags", "lua/meissa/capture/dump.lua",
       "varargs = has(at:octet(), HAS_VARARGS)", "varargs = at:octet()"},
      {"by the order of a table's fields", "lua/meissa/capture/dump.lua",
       "  table.sort(fields)\n", ""},
      {"whatever its upvalues", "lua/meissa/capture/dump.lua",
       "parts[#parts + 1] = at:take(2 * head.upvalues)", "at:take(2 * head.upvalues)"},
      {"whatever the values of its tables", "lua/meissa/capture/dump.lua",
       [["%d:%s%d:%s", #key, key, #value, value)]], [["%d:%s%d", #key, key, #value)]]},
    },
  },
  {
    rule = "no loop of Meissa is LuaJIT's own instruction for pairs",
    finders = {tables},
    mutants = {
      {"pairs", "lua/meissa/base/thrown.lua", "in tables.each(value) do\n    local name, own",
       "in pairs(value) do\n    local name, own"},
      {"next", "lua/meissa/base/tables.lua", "for key in advance, t do", "for key in next, t do"},
      {"next is compiled", "lua/meissa/base/tables.lua", "jit.off(M.next)\n", "\n"},
    },
  },
  {
    rule = "blocks hand over in any order of arrival, and nobody waits for ever",
    finders = {roads},
    mutants = {
      {"what is held back stays so while one waits", "csrc/worker/handover.c",
       "if (ms_handover_flush(worker, err) != 0) return -1; /* others may", "/* (others may"},
      {"the end is told before the rows", "csrc/worker/handover.c",
       "  if (!worker->setup.shared && hand_on(worker, from, err) != 0) return -1;\n", ""},
      {"changes are applied as they come", "csrc/worker/exchange.c",
       "if (ready <= 0) return ready < 0 ? broken(partner, err) : 0;", "(void)ready;"},
      {"a block follows only one", "csrc/worker/handover.c",
       "    if (!is_finished(worker, &end)) return 0;\n  }\n  atomic",
       "    return 0;\n  }\n  atomic"},
      {"changes are not waited for", "csrc/worker/exchange.c",
       "  if (ms_exchange_await(worker, err) != 0) return -1;\n", ""},
    },
  },
  {
    rule = "each block is done once, or none is, whoever dies and whatever comes first",
    finders = {fates},
    mutants = {
      {"what comes with DONE is lost", "csrc/driver/collect.c",
       "(session, member, payload, (size_t)frame->size);\n  run->outcome->shares",
       "(session, member, payload, 0);\n  run->outcome->shares"},
      {"the block that ended a worker is not undone", "csrc/driver/replace.c",
       "    if (!ms_block_checkpoint_undo(", "    if (false && ms_block_checkpoint_undo("},
      {"who replaces a worker skips a block", "csrc/driver/replace.c",
       "member->from = (uint64_t)finished + 1;", "member->from = (uint64_t)finished + 2;"},
      {"who replaces a worker begins with its first block", "csrc/driver/replace.c",
       "member->from = (uint64_t)finished + 1;", "member->from = 1;"},
      {"a block that ended a worker is not remembered", "csrc/driver/replace.c",
       "    ms_recover_suspect(session, block);\n", ""},
      {"who replaces a worker is told before it is up", "csrc/driver/load.c",
       "  if (member->part != MS_PART_TOLD) return 0;",
       "  if (member->part == MS_PART_NONE) return 0;"},
      {"who dies after its last block is not missed", "csrc/driver/replace.c",
       "if (session->members[i].part != MS_PART_NONE) return true;", ""},
      {"who reaches no block end is waited for", "csrc/driver/collect.c",
       "run->deadline == 0 ||", "true ||"},
      {"at the end nobody is asked to go", "csrc/driver/session_wait.c",
       "for (uint32_t i = 0; i < count; i++) processes->stop(&session->members[i], now);", ""},
      {"what fails first by the clock is told", "csrc/driver/failure.c",
       "    if (member->part != MS_PART_NONE && has_due(session, member)) return;\n", ""},
    },
  },
  {
    rule = "a loop in the body of one that runs in this process is plain",
    finders = {{spec = "spec/driver/inner_loop_spec.lua"}},
    mutants = {
      {"not in the body's own function", "lua/meissa/driver/inprocess.lua",
       "if depth < active.depth then", "if depth <= active.depth then"},
      {"not in coroutines that the body makes", "lua/meissa/driver/inprocess.lua",
       "then return resumes() end", "then return false end"},
      {"in all coroutines", "lua/meissa/driver/inprocess.lua",
       "then return resumes() end", "then return true end"},
      {"and private variables keep what an iteration gave them", "lua/meissa/driver/inprocess.lua",
       "        if not first then restore() end\n", ""},
      {"after the loop was left by an error, too", "lua/meissa/driver/inprocess.lua",
       "  return within --", "  return true --"},
    },
  },
  {
    rule = "loops of rounds and replicas in a body have what the body's names hold",
    finders = {{spec = "spec/driver/inner_loop_spec.lua"}},
    mutants = {
      {"elements are memory in them, too", "csrc/kernel/emit/index_path.c",
       "if (ms_emitter_is_reread(emitter, node)) return false;\n", "\n"},
      {"elements are memory in functions", "csrc/kernel/emit/emitter.c",
       "if (node->kind == MS_FUNCTION) return true;", ""},
      {"replicas write by memory", "csrc/kernel/emit/emit.c",
       "strcmp(binding->name, \"meissa.replicas\") == 0", "false"},
      {"strict functions are anybody's", "lua/meissa/kernel/helpers.lua",
       "if type(fn) == \"function\" then known.register", "if false then known.register"},
      {"what no iteration has assigned is a table", "lua/meissa/driver/iterate.lua",
       "if rawequal(roots[c], helpers.none) then", "if false then"},
    },
  },
  {
    rule = "loops in bodies are told of in the user's words",
    finders = {{spec = "spec/kernel/users_words_spec.lua"}},
    mutants = {
      {"lines are the kernel's", "lua/meissa/plan/report.lua",
       "  if users then return users:report", "  if false then return users:report"},
      {"carets stay where they were", "lua/meissa/capture/users_text.lua",
       "users_place(self, context.source, reason.first)", "reason.first"},
      {"captured values keep the kernel's names", "lua/meissa/kernel/body_failure.lua",
       "  found.message = users_text.words(kernel.info, found.message)\n", ""},
      {"powers are foreign code", "lua/meissa/kernel/helpers.lua",
       "if type(fn) == \"function\" then", "if type(fn) == \"function\" and name ~= \"pow\" then"},
    },
  },
}
