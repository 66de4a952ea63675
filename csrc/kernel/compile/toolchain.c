/* SPDX-License-Identifier: MIT
 *
 * Toolchain: see toolchain.h. */
#include "kernel/compile/toolchain.h"

#include <cpuid.h>
#include <gnu/libc-version.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/native/native.h"

#define SPACES " \t\n"

static bool is_program(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* Finds a word as the shell would; false when it is no program. */
static bool find_program(const char *word, char path[PATH_MAX]) {
  if (strchr(word, '/') != NULL) {
    snprintf(path, PATH_MAX, "%s", word);
    return strlen(word) < PATH_MAX && is_program(word);
  }
  const char *list = getenv("PATH");
  for (const char *at = list != NULL ? list : "/usr/bin:/bin"; at != NULL;) {
    const char *end = strchr(at, ':');
    int length = end == NULL ? (int)strlen(at) : (int)(end - at);
    int wrote = snprintf(path, PATH_MAX, "%.*s%s%s", length, at, length > 0 ? "/" : "", word);
    if (wrote > 0 && wrote < PATH_MAX && is_program(path)) return true;
    at = end == NULL ? NULL : end + 1;
  }
  return false;
}

int ms_toolchain_find(ms_toolchain *toolchain, ms_error *err) {
  *toolchain = (ms_toolchain){0};
  const char *asked = getenv("CC");
  bool named = asked != NULL && asked[strspn(asked, SPACES)] != '\0';
  toolchain->copy = strdup(named ? asked : "cc");
  if (toolchain->copy == NULL) return ms_error_memory(err, MS_OPT, "the compiler's name");
  char *rest = NULL, *word = strtok_r(toolchain->copy, SPACES, &rest);
  for (uint32_t w = 0; word != NULL; w++) {
    if (w == MS_TOOLCHAIN_WORDS) {
      ms_toolchain_free(toolchain);
      return ms_error_set(err, MS_OPT, "CC has more than %d words", MS_TOOLCHAIN_WORDS);
    }
    toolchain->words[w] = word;
    word = strtok_r(NULL, SPACES, &rest);
  }
  if (find_program(toolchain->words[0], toolchain->program)) return 0;
  ms_error_set(err, MS_OPT, "no C compiler: %s'%.200s' is not found%s", named ? "CC is " : "",
               toolchain->words[0], named ? "" : " in PATH and CC is not set");
  ms_toolchain_free(toolchain);
  return -1;
}

void ms_toolchain_free(ms_toolchain *toolchain) {
  free(toolchain->copy);
  *toolchain = (ms_toolchain){0};
}

const char *ms_toolchain_missing(ms_error *err) {
  ms_toolchain toolchain;
  ms_error_clear(err);
  if (ms_toolchain_find(&toolchain, err) == 0) ms_toolchain_free(&toolchain);
  return err->message;
}

/* -nostdlib: what an object needs beside libm (memset at most) the process has, and the linker has
 * less to search, an eighth of the time of it all. -lm comes with kernels that call it
 * (ms_toolchain_needs_libm).
 * Never -ffast-math, least of all when linking: the object would set flush-to-zero for the whole
 * process that loads it. Neither -fno-math-errno nor -fno-trapping-math changes a value. */
#define COMMON                                                                                \
  "-x", "c", "-std=c11", "-O3", "-march=native", "-fPIC", "-w", "-pipe", "-fno-math-errno",   \
      "-fno-trapping-math", "-fno-stack-protector", "-fno-semantic-interposition", "-shared", \
      "-nostdlib", "-Wl,-z,noexecstack"

/* GCC 12's vectoriser of straight code takes a double that is rounded to float and widened again
 * for the double that it was (x86-64 with AVX). Fast mode may. */
#define STRICT "-ffp-contract=off", "-fno-tree-slp-vectorize"

const char *const *ms_toolchain_flags(bool fast) {
  static const char *const strict_flags[] = {COMMON, STRICT, NULL};
  static const char *const fast_flags[] = {COMMON, "-ffp-contract=fast", "-fassociative-math",
                                           "-fno-signed-zeros", NULL};
  return fast ? fast_flags : strict_flags;
}

/* Whether the processor rounds: what floor and ceil are then made of. */
static bool rounds(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) != 0;
}

bool ms_toolchain_needs_libm(const char *text) {
  static const char prefix[] = "__builtin_";
  static const char inlined[] =
      " bswap32 calloc ceil ceilf clzll expect expect_with_probability fabs fabsf floor floorf free"
      " ia32_cvttsd2si64 ia32_pmuludq256 ia32_pmuludq512_mask inf isfinite memcpy memset"
      " mul_overflow nan prefetch realloc shuffle shufflevector signbit sqrt sqrtf ";
  if (!rounds()) return true;
  for (const char *at = strstr(text, prefix); at != NULL; at = strstr(at, prefix)) {
    char word[64] = " ";
    at += sizeof prefix - 1;
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (length > sizeof word - 3) return true;
    memcpy(word + 1, at, length);
    word[1 + length] = ' ';
    if (strstr(inlined, word) == NULL) return true;
  }
  return false;
}

static void identify_programs(const ms_toolchain *toolchain, ms_text *out) {
  for (uint32_t w = 0; toolchain->words[w] != NULL; w++) {
    char path[PATH_MAX];
    struct stat about;
    ms_text_format(out, "%s\n", toolchain->words[w]);
    if (!find_program(toolchain->words[w], path) || stat(path, &about) != 0) continue;
    ms_text_format(out, "%s %lld %lld.%09ld\n", path, (long long)about.st_size,
                   (long long)about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
  }
}

/* Maker, model and feature bits, and which registers the system saves; not the number of the core
 * that happens to run this, which leaf 1 has in ebx. */
static void identify_processor(ms_text *out) {
  static const unsigned leaves[][2] = {{0, 0}, {1, 0}, {7, 0}, {7, 1}, {0xd, 1}, {0x80000001u, 0}};
  for (size_t l = 0; l < sizeof leaves / sizeof leaves[0]; l++) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(leaves[l][0], leaves[l][1], &a, &b, &c, &d)) continue;
    ms_text_format(out, "%x.%x: %x %x %x %x\n", leaves[l][0], leaves[l][1], a,
                   leaves[l][0] == 1 || leaves[l][0] == 0xd ? 0 : b, c, d);
  }
}

void ms_toolchain_identify(const ms_toolchain *toolchain, bool fast, ms_text *out) {
  identify_programs(toolchain, out);
  for (const char *const *flag = ms_toolchain_flags(fast); *flag != NULL; flag++) {
    ms_text_format(out, "%s\n", *flag);
  }
  identify_processor(out);
  ms_text_format(out, "libc %s\nabi %d\n", gnu_get_libc_version(), MS_NATIVE_ABI);
}
