# Meissa: build, test, demo.

BUILD  ?= build
CC     ?= cc
CFLAGS ?= -O2 -g
PKGS   := luajit libzmq zlib

# -ffp-contract=off: the same source must give the same bits on every machine.
MS_CFLAGS := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -D_GNU_SOURCE -fPIC \
             -fvisibility=hidden -ffp-contract=off -pthread -Icsrc $(shell pkg-config --cflags $(PKGS))
MS_LIBS   := $(shell pkg-config --libs libzmq zlib) -lisl -lm -pthread

SOURCES := $(filter-out %_test.c %_fuzz.c %_main.c,$(wildcard csrc/*/*.c))
OBJECTS := $(SOURCES:csrc/%.c=$(BUILD)/obj/%.o)
TESTS   := $(patsubst csrc/%.c,$(BUILD)/%,$(wildcard csrc/*/*_test.c))
CORE    := $(BUILD)/meissa/core.so

all: $(CORE)

$(CORE): $(OBJECTS)
	@mkdir -p $(@D)
	$(CC) -shared $(LDFLAGS) -o $@ $^ $(MS_LIBS)

$(BUILD)/obj/%.o: csrc/%.c
	@mkdir -p $(@D)
	$(CC) $(MS_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# C tests link the core's objects (without the Lua binding) and print "N passed, N failed".
$(BUILD)/%_test: csrc/%_test.c $(filter-out $(BUILD)/obj/binding/%,$(OBJECTS))
	@mkdir -p $(@D)
	$(CC) $(MS_CFLAGS) $(CFLAGS) -o $@ $^ $(MS_LIBS)

# The parser's verdict on many texts, for spec/syntax_spec.lua.
$(BUILD)/%_main: csrc/%_main.c $(filter-out $(BUILD)/obj/binding/%,$(OBJECTS))
	@mkdir -p $(@D)
	$(CC) $(MS_CFLAGS) $(CFLAGS) -o $@ $^ $(MS_LIBS)

accept: $(BUILD)/syntax/accept_main

ctest: $(TESTS)
	@for each in $(TESTS); do echo "$$each"; timeout 120 $$each || exit 1; done

# The parser under libFuzzer, ASan and UBSan, from the Lua files of this machine.
FUZZ_SECONDS ?= 600
FUZZ_CC      ?= clang

$(BUILD)/syntax/parse_fuzz: $(wildcard csrc/syntax/*.[ch] csrc/base/*.[ch])
	@mkdir -p $(@D)
	$(FUZZ_CC) $(MS_CFLAGS) -O1 -g -fsanitize=fuzzer,address,undefined \
	  -fno-sanitize-recover=undefined -o $@ \
	  $(filter csrc/syntax/parse_fuzz.c,$^) \
	  $(filter-out %_test.c %_fuzz.c %_main.c,$(filter %.c,$^)) $(shell pkg-config --libs luajit)

$(BUILD)/syntax/seeds:
	@mkdir -p $@
	@find /usr/share /usr/local/share lua spec -name '*.lua' -type f -size -16k 2>/dev/null | \
	  LC_ALL=C sort | while read -r name; do \
	    cp "$$name" "$@/$$(echo "$$name" | tr '/' '_')"; done

fuzz-syntax: $(BUILD)/syntax/parse_fuzz $(BUILD)/syntax/seeds
	@mkdir -p $(BUILD)/syntax/corpus
	$(BUILD)/syntax/parse_fuzz -max_total_time=$(FUZZ_SECONDS) -timeout=10 -max_len=8192 \
	  -rss_limit_mb=2048 -dict=csrc/syntax/parse_fuzz.dict -print_final_stats=1 \
	  -artifact_prefix=$(BUILD)/syntax/ $(BUILD)/syntax/corpus $(BUILD)/syntax/seeds

# eval "$$(make -s env)" makes `luajit script.lua` find this checkout.
env:
	@echo "export LUA_PATH='$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;'\"$${LUA_PATH:-;}\""
	@echo "export LUA_CPATH='$(abspath $(BUILD))/?.so;'\"$${LUA_CPATH:-;}\""

clean:
	rm -rf $(BUILD)

-include $(OBJECTS:.o=.d)

.PHONY: all accept ctest fuzz-syntax env clean
