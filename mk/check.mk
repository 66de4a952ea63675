# SPDX-License-Identifier: MIT
#
# `make check` and `make fuzz`. Every checker builds into a directory of its own under $(BUILD), by
# calling this Makefile again with other flags, and can be run alone: make check-asan.

QUICK  := format layout lint
CHECKS := $(QUICK) warnings asan tsan valgrind $(if $(LUAJIT),luajit)

run_checks = for each in $(1); do \
	  echo "== check-$$each"; $(SUBMAKE) check-$$each || exit 1; \
	done; echo "== all checks passed"

check:
	@tools/packages.sh build demo test quick check
	+@$(call run_checks,$(CHECKS))

# Those that read the sources, and neither build nor run them: seconds, and beside each other.
check-quick:
	@tools/packages.sh build demo test quick
	+@$(SUBMAKE) --keep-going --output-sync=target $(QUICK:%=check-%)
	@echo "== all checks passed"

check-format:
	@clang-format --dry-run --Werror $(wildcard csrc/*/*.[ch] csrc/*/*/*.[ch])

# How Lua is laid out: Debian has no formatter for it. How C is cut.
check-layout:
	@$(LUA_ENV) tools/test.sh spec/project/layout_spec.lua spec/project/headers_spec.lua

# luacheck has one thread; several share the files.
check-lint:
	@{ find lua spec examples bench tools -name '*.lua' -print0; printf '%s\0' bin/* .luacheckrc; } | \
	  xargs -0 -n 100 -P "$$(nproc)" luacheck --quiet --no-color
	@shellcheck tools/*.sh .ci/run

# Everything, by both compilers, warnings being errors. -O2: some warnings need the optimiser.
check-warnings:
	+@$(SUBMAKE) CC=gcc BUILD=$(BUILD)/gcc CFLAGS='-O2 -g -Werror' everything
	+@$(SUBMAKE) CC=clang BUILD=$(BUILD)/clang CFLAGS='-O2 -g -Werror' everything

everything: build $(TESTS) $(patsubst csrc/%.c,$(BUILD)/obj/%.o,$(filter %_fuzz.c,$(ALL_C)))

# Sanitizers report into files $(BUILD)/report.PID: what a worker did wrong must not pass because it
# was replaced, or its words went elsewhere. $(reported) fails when there are such files.
# UBSan beside ASan has no file: it aborts, which ASan reports.
REPORT   = log_path='$(if $(filter /%,$(BUILD)),$(BUILD),$(ROOT)/$(BUILD))/report'
# A thread that outlives a test's main, as the compiler's does, makes the leak detector say that it
# may be wrong: no report.
HARMLESS = was not suspended. False leaks are possible
reported = status=$$?; \
  if grep -hsv '$(HARMLESS)' $(BUILD)/report.* | grep -q .; then \
    echo "sanitizers reported:"; head -n 60 $(BUILD)/report.*; exit 1; \
  fi; exit $$status

# Specs of the tools: they build, install and run things that are not the instrumented module; and
# those that measure or limit memory, which instruments need for themselves.
NOT_INSTRUMENTED := spec/project/rock_spec.lua spec/project/runner_spec.lua \
                    spec/project/packages_spec.lua spec/read/memory_spec.lua \
                    spec/base/remember_spec.lua spec/driver/descriptors_spec.lua

# ASan and UBSan over C tests and specs. luajit itself is not instrumented, so the run-time library
# is preloaded, with libstdc++: ASan looks for its __cxa_throw at start, and libzmq, which brings
# it, is loaded later.
# Leaks are looked for in the C tests only: the leak detector cannot see LuaJIT's own heap, and
# takes everything that only a Lua value points to for lost.
SANITIZE      := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ASAN_PRELOAD   = $(foreach each,libasan.so libstdc++.so.6,$(shell gcc -print-file-name=$(each)))
ASAN_OPTIONS   = detect_stack_use_after_return=1:strict_string_checks=1:handle_abort=1:$(REPORT)
UBSAN_OPTIONS  = print_stacktrace=1:abort_on_error=1:$(REPORT)

check-asan:
	+@$(SUBMAKE) CC=gcc BUILD=$(BUILD)/asan CFLAGS='-O1 -g $(SANITIZE)' sanitized-asan

sanitized-asan: build $(TESTS)
	@rm -f $(BUILD)/report.*
	@UBSAN_OPTIONS=$(UBSAN_OPTIONS) ASAN_OPTIONS=$(ASAN_OPTIONS):detect_leaks=1 \
	  MEISSA_TEST_SLOWDOWN=5 tools/test.sh $(TESTS); $(reported)
	@UBSAN_OPTIONS=$(UBSAN_OPTIONS) ASAN_OPTIONS=$(ASAN_OPTIONS):detect_leaks=0 $(LUA_ENV) \
	  MEISSA_BUILD='$(call quoted,$(BUILD))' \
	  MEISSA_TEST_PRELOAD='$(ASAN_PRELOAD)' MEISSA_TEST_SLOWDOWN=5 \
	  tools/test.sh $(filter-out $(NOT_INSTRUMENTED),$(SPECS)); $(reported)

# TSan over the C tests. setarch -R: gcc 12's TSan does not know the wider address randomisation of
# newer kernels; where a container forbids setarch the tests run as they are.
check-tsan:
	+@$(SUBMAKE) CC=gcc BUILD=$(BUILD)/tsan CFLAGS='-O1 -g -fsanitize=thread' sanitized-tsan

sanitized-tsan: $(TESTS)
	@rm -f $(BUILD)/report.*
	@fixed=; setarch -R true 2>/dev/null && fixed='setarch -R'; \
	  TSAN_OPTIONS=halt_on_error=1:suppressions=tools/tsan.supp:$(REPORT) \
	  MEISSA_TEST_SLOWDOWN=5 $$fixed tools/test.sh $(TESTS); $(reported)

# A small training, or the specs that VALGRIND_SPECS names.
VALGRIND_SPECS ?=

check-valgrind: build
	@$(LUA_ENV) MEISSA_BUILD='$(call quoted,$(BUILD))' \
	  tools/valgrind.sh $(BUILD)/valgrind $(VALGRIND_SPECS)

# Specs in ways that find what holds by luck: memory of Lua that nobody holds when a collector never
# rests, and what only LuaJIT's compiler gets right. Too slow for `make check`.
check-gc: build
	@$(LUA_ENV) MEISSA_BUILD='$(call quoted,$(BUILD))' MEISSA_TEST_GC=step \
	  MEISSA_TEST_SLOWDOWN=10 tools/test.sh $(filter-out $(NOT_INSTRUMENTED),$(SPECS))

check-interpreter: build
	@$(LUA_ENV) MEISSA_BUILD='$(call quoted,$(BUILD))' MEISSA_TEST_JIT=off \
	  MEISSA_TEST_SLOWDOWN=5 tools/test.sh $(filter-out $(NOT_INSTRUMENTED),$(SPECS))


# The specs on another LuaJIT than the system's: make check-luajit LUAJIT=/where/it/is/luajit. It is
# found as `luajit` by what specs start, and finds its own jit.*, in its source tree or where it is
# installed, and the modules that the system's luajit finds. LUAJIT_RUNS=check-gc, check-interpreter
# or check-valgrind does that with it instead.
LUAJIT ?=
LUAJIT_RUNS ?= elsewhere
# Specs of tools that ask the system which LuaJIT it has.
NOT_ELSEWHERE := spec/project/rock_spec.lua spec/project/runner_spec.lua \
                    spec/project/packages_spec.lua

check-luajit:
	@[ -x '$(call quoted,$(LUAJIT))' ] || \
	  { echo 'which LuaJIT? make check-luajit LUAJIT=/where/it/is/luajit' >&2; exit 1; }
	@mkdir -p $(BUILD)/luajit/bin
	@ln -sf "$$(realpath '$(call quoted,$(LUAJIT))')" $(BUILD)/luajit/bin/luajit
	+@bin=$$(realpath $(BUILD)/luajit/bin); at=$$(dirname "$$(realpath "$$bin/luajit")"); \
	  export LUA_PATH="$$at/?.lua;$$at/../share/luajit-2.1/?.lua;$$(luajit -e 'io.write(package.path)')"; \
	  export LUA_CPATH="$$(luajit -e 'io.write(package.cpath)')"; \
	  PATH="$$bin:$$PATH" $(SUBMAKE) LUAJIT= BUILD=$(BUILD)/luajit $(LUAJIT_RUNS)

elsewhere: build
	@luajit -v
	@$(LUA_ENV) MEISSA_BUILD='$(call quoted,$(BUILD))' \
	  tools/test.sh $(filter-out $(NOT_ELSEWHERE),$(SPECS))

# ---------------------------------------------------------------------------- fuzzing

# make fuzz            all fuzzers: those of csrc/*/x_fuzz.c, FUZZ_SECONDS each, then every fuzz-NAME
# make fuzz FUZZ=x     csrc/*/x_fuzz.c alone
# A fuzzer starts from the files in csrc/*/x_seeds/ with the words of csrc/*/x_fuzz.dict, where there
# are such, keeps what it learns in build/corpus/x, and leaves an input that failed in build/fuzz/.
FUZZ_SECONDS ?= 600
RANDOM_FUZZ  := $(if $(FUZZ),,yes)
FUZZ         ?= $(patsubst %_fuzz.c,%,$(notdir $(filter %_fuzz.c,$(ALL_C))))
FUZZ_FLAGS   := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

fuzz:
	@tools/packages.sh build fuzz
	+@$(SUBMAKE) CC=clang BUILD=$(BUILD)/fuzz CFLAGS='$(FUZZ_FLAGS)' FUZZ='$(FUZZ)' fuzzers
	@for each in $(FUZZ); do \
	  mkdir -p $(BUILD)/corpus/$$each; \
	  echo "== $$each, $(FUZZ_SECONDS) s"; \
	  $(BUILD)/fuzz/$$each -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
	    -print_final_stats=1 -verbosity=0 -artifact_prefix=$(BUILD)/fuzz/$$each. \
	    $$(ls csrc/*/$${each}_fuzz.dict 2>/dev/null | sed 's/^/-dict=/') \
	    $(BUILD)/corpus/$$each $$(ls -d csrc/*/$${each}_seeds 2>/dev/null) || exit 1; \
	done
	+@$(if $(RANDOM_FUZZ),$(SUBMAKE) -j1 $(RANDOM_SPECS))

# ---- the random specs, with new seeds, which they print: MEISSA_TEST_SEED=n replays one
# make fuzz-NAME draws VARIABLE programs (the suite draws a few hundred, always the same).
# $(call random_spec,NAME,VARIABLE,DEFAULT,SPECS,what it does)
define random_spec
RANDOM_SPECS += fuzz-$(1)
RANDOM_HELP += echo 'make fuzz-$(1)  $(strip $(5)), $(2)=$$($(2))';
$(2) ?= $(3)
fuzz-$(1): build
	@$$(LUA_ENV) MEISSA_TEST_SEED="$$$${MEISSA_TEST_SEED:-random}" $(2)='$$($(2))' \
	  MEISSA_TEST_LIMIT=36000 MEISSA_TEST_SLOWDOWN=100 MEISSA_TEST_LINES=400 \
	  MEISSA_BUILD='$$(call quoted,$$(BUILD))' tools/test.sh $(4)
.PHONY: fuzz-$(1)
endef

$(eval $(call random_spec,programs,MEISSA_PROGRAMS,10000,spec/check/programs_spec.lua,\
random programs against the recorder))
$(eval $(call random_spec,names,MEISSA_NAMES,20000,\
spec/capture/names_spec.lua spec/capture/worlds_spec.lua spec/capture/objects_spec.lua,\
random programs with two names for everything, changed libraries and objects against plain tables))
$(eval $(call random_spec,kills,MEISSA_KILLS,100,\
spec/driver/transaction_chaos_spec.lua spec/driver/iterate_chaos_spec.lua \
spec/driver/replicate_chaos_spec.lua spec/driver/replicas_chaos_spec.lua,\
workers killed at random moments of each program and road))
$(eval $(call random_spec,rounds,MEISSA_ROUNDS,1000,spec/driver/iterate_random_spec.lua,\
random programs in rounds against plain loops with a snapshot))
$(eval $(call random_spec,engines,MEISSA_BODIES,5000,spec/kernel/engines_spec.lua spec/kernel/bounds_spec.lua,\
random bodies on both engines))
$(eval $(call random_spec,views,MEISSA_VIEWS,5000,spec/plan/views_spec.lua,\
random loops over views of views))
$(eval $(call random_spec,reductions,MEISSA_REDUCTIONS,10000,spec/driver/reductions_random_spec.lua,\
random reductions against plain loops))
$(eval $(call random_spec,streaks,MEISSA_STREAKS,100,spec/kernel/streaks_spec.lua,\
minima and maxima in one statement from all starts in all blocks, percent of the cases))
$(eval $(call random_spec,loops,MEISSA_LOOPS,20000,spec/depend/oracle_spec.lua,\
random loops, analysed, against enumeration))
$(eval $(call random_spec,guards,MEISSA_GUARDS,20000,spec/depend/guards_random_spec.lua,\
random loops with conditions and piecewise subscripts against the recorder and the loop as written))
$(eval $(call random_spec,counters,MEISSA_COUNTERS,20000,spec/depend/counters_random_spec.lua,\
random counters in inner loops against what the loops touch))
$(eval $(call random_spec,files,MEISSA_FILES,5000,spec/read/damage_spec.lua,\
damaged files of each format to the end of a loop over them))
$(eval $(call random_spec,fates,MEISSA_ORDERS,2000,$(BUILD)/test/worker/simulated_session_test,\
orders in which the workers of a simulated session run and die, percent of those of a scene))
fuzz-fates: $(BUILD)/test/worker/simulated_session_test

# ---- mutants: one thing after the other is taken out of a copy, and some spec must find that out

# Mutants whose rule or name has one of these words; all of them take ten minutes.
MUTANTS ?=
mutants: build
	@$(LUA_ENV) luajit tools/mutants.lua $(BUILD)/mutants $(MUTANTS)

fuzzers: $(FUZZ:%=$(BUILD)/%)

# With LuaJIT: a fuzzer of what LuaJIT does, too, asks LuaJIT.
define fuzzer
$(BUILD)/$(patsubst %_fuzz.c,%,$(notdir $(1))): $(1:csrc/%.c=$(BUILD)/obj/%.o) $(ARCHIVE)
	$$(call say,LINK)$$(LINK) -fsanitize=fuzzer -o $$@ $$^ $$(LIBS) `pkg-config --libs luajit`
endef
ifneq ($(filter fuzzers,$(MAKECMDGOALS)),)
$(foreach each,$(filter %_fuzz.c,$(ALL_C)),$(eval $(call fuzzer,$(each))))
endif

.PHONY: check check-quick $(CHECKS:%=check-%) check-luajit check-gc check-interpreter everything \
        sanitized-asan sanitized-tsan elsewhere mutants fuzz fuzzers
