/* SPDX-License-Identifier: MIT
 *
 * Frames: see frame.h. */
#include "net/frame.h"

#include <string.h>

typedef struct kind_rule {
  unsigned roads;
  size_t least, most;
} kind_rule;

static const kind_rule rules[MS_SAY_COUNT] = {{0, 0, 0},
#define KIND_RULE(name, roads, least, most) {roads, least, most},
                                              MS_FRAME_KINDS(KIND_RULE)
#undef KIND_RULE
};

const char *ms_frame_read(ms_frame *frame, const void *bytes, size_t size, unsigned road) {
  if (size < sizeof *frame) return "shorter than a header";
  memcpy(frame, bytes, sizeof *frame);
  if (frame->magic != MS_FRAME_MAGIC) return "not one of Meissa's";
  if (frame->version != MS_PROTOCOL) return "of another protocol version";
  if (frame->kind == MS_SAY_NONE || frame->kind >= MS_SAY_COUNT) return "of an unknown kind";
  const kind_rule *rule = &rules[frame->kind];
  if ((rule->roads & road) == 0) return "of a kind that does not travel this way";
  if (frame->size != size - sizeof *frame) return "of another length than it says";
  if (frame->size < rule->least || frame->size > rule->most) return "of an impossible length";
  return NULL;
}

const char *ms_frame_kind_name(ms_frame_kind kind) {
  static const char *const names[MS_SAY_COUNT] = {
#define FRAME_KIND_NAME(name, roads, least, most) [MS_SAY_##name] = #name,
      MS_FRAME_KINDS(FRAME_KIND_NAME)
#undef FRAME_KIND_NAME
  };
  return kind > MS_SAY_NONE && kind < MS_SAY_COUNT ? names[kind] : "NONE";
}

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "other"
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTE_ORDER_NAME "le"
#else
#define BYTE_ORDER_NAME "be"
#endif

const char *ms_frame_abi(void) {
  return "meissa-core-1 " MACHINE " " BYTE_ORDER_NAME;
}

int ms_frame_abi_check(uint64_t protocol, const char *abi, uint32_t worker, ms_error *err) {
  if (protocol != MS_PROTOCOL) {
    return ms_error_set(err, MS_WRK,
                        "worker %u speaks protocol %llu and the driver %u: both must load the same "
                        "version of Meissa",
                        worker + 1, (unsigned long long)protocol, MS_PROTOCOL);
  }
  if (strcmp(abi, ms_frame_abi()) != 0) {
    return ms_error_set(err, MS_WRK,
                        "worker %u runs the core '%s' and the driver '%s': both must load the same "
                        "build of Meissa",
                        worker + 1, abi, ms_frame_abi());
  }
  return 0;
}
