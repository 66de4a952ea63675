# SPDX-License-Identifier: MIT
#
# Meissa: build, demo, test, install. `make help` lists the targets; mk/check.mk holds the checkers.
# Files are found by their names: csrc/<room>/x.c goes into the module, x_test.c becomes a test
# program, x_main.c the program build/bin/x, x_fuzz.c the fuzzer build/fuzz/x.

BUILD  ?= build
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
V      ?=

# Flags of single files, by their name under csrc: FLAGS_array/reduce := -O3
FLAGS_array/product_tile_avx := -mavx2
FLAGS_sync/replica := -O3

# The C flags that every file gets, whatever CFLAGS says.
# -ffp-contract=off: the same source must give the same bits on every machine.
# -fno-tree-slp-vectorize: GCC 12 leaves out roundings to float there (csrc/kernel/compile/toolchain.c).
WARNINGS  := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
MS_CFLAGS := -std=c11 $(WARNINGS) -D_GNU_SOURCE -fPIC -fvisibility=hidden -ffp-contract=off \
             -fno-tree-slp-vectorize -pthread -Icsrc

# pkg-config is asked when something is compiled: `make demo` may have to install it first.
# LUA_INCDIR (luarocks sets it) counts only when it is LuaJIT's.
LUA_INCDIR ?=
LUA_CFLAGS  = $(if $(wildcard $(LUA_INCDIR)/luajit.h),-I$(LUA_INCDIR),`pkg-config --cflags luajit`)
LIB_CFLAGS  = $(eval LIB_CFLAGS := $$(shell echo $(LUA_CFLAGS) `pkg-config --cflags \
              libzmq isl zlib`))$(LIB_CFLAGS)
# isl.pc also asks for -lgmp, which Debian's libisl-dev does not bring and nothing here calls.
# ZeroMQ is loaded when it is needed (csrc/net/zeromq.h); only C tests are linked with it.
LIB_LIBS    = $(eval LIB_LIBS := $$(shell pkg-config --libs zlib) \
              $$(shell pkg-config --libs-only-L isl) -lisl)$(LIB_LIBS)

COMPILE = $(CC) $(MS_CFLAGS) $(LIB_CFLAGS) $(CPPFLAGS) $(CFLAGS)
LINK    = $(CC) $(CFLAGS) $(LDFLAGS) -pthread
# nodelete: a Lua state that closes unloads its modules, while the compiler's and the readers'
# threads may still run in the core, and traces that call it are not all gone.
SHARED  = -shared -Wl,-z,nodelete
LIBS    = $(LIB_LIBS) -lm $(LDLIBS)

ALL_C    := $(sort $(wildcard csrc/*/*.c csrc/*/*/*.c))
SOURCES  := $(filter-out %_test.c %_main.c %_fuzz.c %_door.c,$(ALL_C))
OBJECTS  := $(SOURCES:csrc/%.c=$(BUILD)/obj/%.o)
TESTS    := $(patsubst csrc/%.c,$(BUILD)/test/%,$(filter %_test.c,$(ALL_C)))
MAINS    := $(filter %_main.c,$(ALL_C))
PROGRAMS := $(patsubst %_main.c,$(BUILD)/bin/%,$(notdir $(MAINS)))
SPECS    := $(sort $(wildcard spec/*_spec.lua spec/*/*_spec.lua))
DOOR     := $(BUILD)/meissa/core.so
CORE     := $(BUILD)/meissa/libcore.so
CHUNKS   := $(BUILD)/meissa/chunks
ARCHIVE  := $(BUILD)/libmeissa.a

.DELETE_ON_ERROR:
.SECONDARY:

build: $(CORE) $(DOOR) $(CHUNKS) $(PROGRAMS)
	@$(told)

all: build

# A person's `make` ends with what to do next; sub-makes, `make -s`, `make test` and luarocks, which
# installs, go on without.
FLAGS_GIVEN = $(filter-out -%,$(firstword $(MAKEFLAGS)))
OTHER_ENDS  = $(filter-out 0,$(MAKELEVEL))$(filter-out build all,$(MAKECMDGOALS))$(LUA_INCDIR)
BUILT       = Meissa is built. Next: eval "$$(make -s env)", then luajit script.lua; or make demo, make test
told        = $(if $(findstring s,$(FLAGS_GIVEN))$(OTHER_ENDS),:,echo '$(BUILT)')

$(CORE): $(OBJECTS) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK)$(LINK) $(SHARED) -o $@ $(OBJECTS) $(LIBS)

$(DOOR): $(BUILD)/obj/binding/core_door.o $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,LINK)$(LINK) $(SHARED) -o $@ $< $(LDLIBS)

# The Lua files as bytecode: see csrc/binding/chunks.c.
LUA_FILES := $(shell cd lua 2>/dev/null && find meissa -name '*.lua' | sort)
$(CHUNKS): tools/chunks.lua $(addprefix lua/,$(LUA_FILES)) | $(BUILD)/packages
	@mkdir -p $(@D)
	$(call say,LUA)luajit tools/chunks.lua $@ lua $(LUA_FILES)

# Programs link what they use of the core; nothing but libcore.so and its door know Lua.
$(ARCHIVE): $(filter-out $(BUILD)/obj/binding/%,$(OBJECTS))
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

$(BUILD)/obj/%.o: csrc/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(COMPILE) $(FLAGS_$*) -MMD -MP -c -o $@ $<

$(BUILD)/test/%_test: $(BUILD)/obj/%_test.o $(ARCHIVE)
	@mkdir -p $(@D)
	$(call say,LINK)$(LINK) -o $@ $^ $(LIBS) `pkg-config --libs libzmq`

# The headers that native kernels are compiled with, as bytes for csrc/kernel/native/prelude.c.
PRELUDE := $(addprefix csrc/,kernel/native/native.h kernel/native/fault.h kernel/native/value.h \
           kernel/native/fair.h kernel/native/small_rows.h kernel/native/four_sums.h \
           base/lua_math.h kernel/emit/lua_bit.h array/lanes.h array/rowwise.h \
           array/magnitudes.h array/touched.h base/philox.h base/normal.h kernel/emit/draws.h \
           kernel/emit/philox_lanes.h kernel/emit/ahead.h kernel/emit/batch.h)

$(BUILD)/gen/prelude_strict.inc: $(PRELUDE)
$(BUILD)/gen/prelude_fast.inc: csrc/kernel/native/fast.h $(PRELUDE:%/lanes.h=%/anyorder.h)
$(BUILD)/gen/prelude_%.inc: tools/embed.sh $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,EMBED)tools/embed.sh $(filter %.h,$^) >$@

$(BUILD)/obj/kernel/native/prelude.o: $(BUILD)/gen/prelude_strict.inc $(BUILD)/gen/prelude_fast.inc
FLAGS_kernel/native/prelude = -I$(BUILD)/gen

# What LuaJIT's FFI has to know of the core, from the headers, as bytes for csrc/binding/core.c.
HEADERS     := $(sort $(wildcard csrc/*/*.h csrc/*/*/*.h))
API_HEADERS := $(shell grep -l MS_API $(HEADERS))
$(BUILD)/gen/declarations.inc: tools/declarations.lua tools/embed.sh $(HEADERS) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,DECLARE)printf '#include "%s"\n' $(API_HEADERS:csrc/%=%) | \
	  $(CC) $(MS_CFLAGS) $(LIB_CFLAGS) -DMS_API=MS_API -DMS_API_TYPE=MS_API_TYPE -E -x c - \
	  >$(@:.inc=.i)
	@luajit tools/declarations.lua <$(@:.inc=.i) >$(@:.inc=.txt)
	@tools/embed.sh $(@:.inc=.txt) >$@

$(BUILD)/obj/binding/core.o: $(BUILD)/gen/declarations.inc
FLAGS_binding/core = -I$(BUILD)/gen

# build/bin/x comes from the csrc/*/x_main.c that there is.
define program
$(BUILD)/bin/$(patsubst %_main.c,%,$(notdir $(1))): $(1:csrc/%.c=$(BUILD)/obj/%.o) $(ARCHIVE)
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(LINK) -o $$@ $$^ $$(LIBS)
endef
$(foreach each,$(MAINS),$(eval $(call program,$(each))))

# Holds the command line; it gets a new date when that changes, and everything is rebuilt.
$(BUILD)/flags: FORCE | $(BUILD)/packages
	@printf '%s\n' '$(call quoted,$(COMPILE) $(LINK) $(SHARED) $(LIBS))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# Made once: says what to install where the first build would only say what it did not find.
$(BUILD)/packages:
	@tools/packages.sh --check build
	@mkdir -p $(@D)
	@touch $@

say    = $(if $(V),,@echo "  $(1) $@" && )
quoted = $(subst ','\'',$(1))

# ---------------------------------------------------------------------------- the two commands

# Sub-makes use all cores, unless this make was told how many.
SUBMAKE = $(MAKE) --no-print-directory \
          $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# Where Lua finds this checkout; the user's own paths and the default path come after it.
ROOT      := $(CURDIR)
LUA_PATHS := $(ROOT)/lua/?.lua;$(ROOT)/lua/?/init.lua;
LUA_CPATHS = $(if $(filter /%,$(BUILD)),$(BUILD),$(ROOT)/$(BUILD))/?.so;
LUA_ENV    = LUA_PATH='$(call quoted,$(LUA_PATHS))'"$${LUA_PATH:-;}" \
             LUA_CPATH='$(call quoted,$(LUA_CPATHS))'"$${LUA_CPATH:-;}"

demo:
	@tools/packages.sh build demo
	+@$(SUBMAKE) build
	@$(LUA_ENV) luajit examples/train_mf.lua

test:
	@tools/packages.sh build demo test
	+@$(SUBMAKE) build $(TESTS)
	@$(LUA_ENV) MEISSA_BUILD='$(call quoted,$(BUILD))' \
	  tools/test.sh $(call longest_first,$(TESTS) $(SPECS))

# Those that take longest start first, so that the lanes of tools/test.sh end together.
LONGEST := $(addsuffix _spec.lua,$(addprefix spec/,kernel/engines project/rock base/progress \
           kernel/native_engine capture/worlds kernel/bench driver/reductions check/programs \
           driver/element_lists kernel/shapes driver/runtime_ends kernel/bounds driver/gather \
           kernel/bench_papers face/docs driver/transaction_chaos driver/first_error \
           kernel/prelude driver/replicate_answers face/cnn driver/classes capture/objects \
           capture/names driver/ends face/examples face/training driver/failure \
           depend/guards_random depend/oracle plan/views driver/memory kernel/bench_replicas \
           read/damage syntax/syntax project/runner)) \
           $(BUILD)/test/worker/hostile_test $(BUILD)/test/worker/simulated_session_test
longest_first = $(filter $(1),$(LONGEST)) $(filter-out $(LONGEST),$(1))

# The C tests alone.
ctest: $(TESTS)
	@tools/test.sh $(TESTS)

# The Lua specs alone, or those named: make spec SPECS=spec/array/view_spec.lua
spec: build
	@$(LUA_ENV) MEISSA_BUILD='$(call quoted,$(BUILD))' tools/test.sh $(SPECS)

deps:
	@tools/packages.sh build demo

# eval "$(make -s env)" makes `luajit script.lua` find this checkout, from any directory.
env:
	@printf '%s\n' "export LUA_PATH='$(call quoted,$(LUA_PATHS))'\"\$${LUA_PATH:-;}\""
	@printf '%s\n' "export LUA_CPATH='$(call quoted,$(LUA_CPATHS))'\"\$${LUA_CPATH:-;}\""

BENCHES := $(sort $(wildcard bench/*.lua))
ifneq ($(BENCHES),)
bench: build
	@for each in $(BENCHES); do echo "== $$each"; $(LUA_ENV) luajit "$$each" || exit 1; done
.PHONY: bench
endif

# What all programs of the bank compute and say, a line each: before and after a change that must
# change nothing. BANK="names views": suites whose name has one of these words in it.
BANK ?=
bank: build
	@$(LUA_ENV) luajit tools/bank.lua write $(BUILD)/bank.txt $(BANK)

bank-compare: bank
	@$(LUA_ENV) luajit tools/bank.lua compare $(OLD) $(BUILD)/bank.txt

# The models beside the code, and their seeded bugs, in spin: make model MODELS=csrc/sync/gate.pml
MODELS ?= $(sort $(wildcard csrc/*/*.pml))
model:
	@tools/packages.sh model
	@tools/model.sh $(MODELS)

# ---------------------------------------------------------------------------- installation

# luarocks sets LUADIR, LIBDIR and BINDIR; by hand, PREFIX (and DESTDIR) decide.
LUADIR ?= $(PREFIX)/share/lua/5.1
LIBDIR ?= $(PREFIX)/lib/lua/5.1
BINDIR ?= $(PREFIX)/bin
COMMANDS  := $(wildcard bin/*)

install: $(CORE) $(DOOR) $(CHUNKS)
	@for each in $(LUA_FILES); do \
	  install -D -m 644 "lua/$$each" "$(DESTDIR)$(LUADIR)/$$each" || exit 1; \
	done
	@install -D -m 755 $(DOOR) "$(DESTDIR)$(LIBDIR)/meissa/core.so"
	@install -D -m 755 $(CORE) "$(DESTDIR)$(LIBDIR)/meissa/libcore.so"
	@install -D -m 644 $(CHUNKS) "$(DESTDIR)$(LIBDIR)/meissa/chunks"
	@for each in $(COMMANDS); do \
	  install -D -m 755 "$$each" "$(DESTDIR)$(BINDIR)/$${each#bin/}" || exit 1; \
	done

clean:
	rm -rf $(BUILD)

help:
	@echo 'make              build the module into $(BUILD)/'
	@echo 'make demo         install what is missing, build, train a model on generated data'
	@echo 'make test         install what is missing, build, run all tests'
	@echo 'make ctest        the C tests alone'
	@echo 'make spec         the Lua specs alone (SPECS=spec/array/view_spec.lua: one of them)'
	@echo 'make check-quick  formatting, layout, lint'
	@echo 'make check        these, warnings, sanitizers, valgrind (slow)'
	@echo 'make check-luajit LUAJIT=path  the specs on another LuaJIT'
	@echo '                   (LUAJIT_RUNS=check-gc, check-interpreter, check-valgrind: those)'
	@echo 'make check-gc     the specs with a collector that never rests'
	@echo 'make check-interpreter  the specs without LuaJIT'\''s compiler'
	@echo 'make check-valgrind VALGRIND_SPECS=spec/array/view_spec.lua  memcheck on these specs'
	@echo 'make fuzz         every fuzzer, FUZZ_SECONDS=$(FUZZ_SECONDS) each'
	@$(RANDOM_HELP)
	@echo 'make model        the models in Promela, and their seeded bugs, in spin (MODELS="x.pml": those)'
	@echo 'make mutants      which spec finds each of many faults (MUTANTS="words": those)'
	@$(if $(BENCHES),echo 'make bench        measure')
	@echo 'make bank         digests of what many programs compute and say, into $(BUILD)/bank.txt'
	@echo 'make bank-compare OLD=file  the same, and what differs from an older one'
	@echo 'make env          print exports: eval "$$(make -s env)"; luajit script.lua'
	@echo 'make deps         install what build and examples need'
	@echo 'make install      install into PREFIX=$(PREFIX)'
	@echo 'make clean        remove $(BUILD)/'
	@echo
	@echo 'Variables: BUILD, CC, CFLAGS, LDFLAGS, V=1 (show commands)'

-include $(patsubst csrc/%.c,$(BUILD)/obj/%.d,$(filter-out %_fuzz.c,$(ALL_C)))
include mk/check.mk

FORCE:
.PHONY: all build demo test ctest spec model bank bank-compare deps env install clean help FORCE
