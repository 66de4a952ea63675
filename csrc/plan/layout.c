/* SPDX-License-Identifier: MIT
 *
 * Layout: see layout.h. */
#include "plan/layout.h"

#include <stdbool.h>
#include <string.h>

ms_layout_axis ms_layout_cut(int64_t first, int64_t step, int64_t values, int64_t ranges) {
  return (ms_layout_axis){.ranges = ranges,
                          .first = first,
                          .step = step,
                          .each = values / ranges,
                          .longer = values % ranges};
}

void ms_layout_bounds(const ms_layout *layout, uint32_t block, int64_t *bounds) {
  if (layout->of_entries) {
    bounds[0] = layout->starts[block] + 1;
    bounds[1] = layout->starts[(int64_t)block + 1];
    return;
  }
  for (uint32_t d = 0; d < layout->dims; d++) {
    bounds[2 * d] = layout->extents[d].lo;
    bounds[2 * d + 1] = layout->extents[d].hi;
  }
  int64_t rest = block;
  for (uint32_t a = layout->axis_count; a-- > 0;) {
    const ms_layout_axis *axis = &layout->axes[a];
    int64_t range = rest % axis->ranges, *at = bounds + axis->at;
    rest /= axis->ranges;
    at[0] = ms_layout_begin(axis, range);
    at[1] = ms_layout_begin(axis, range + 1) - axis->step;
  }
}

void ms_layout_whole(const ms_layout *layout, uint32_t blocks, int64_t *bounds) {
  int64_t last[MS_LAYOUT_BOUNDS] = {0};
  ms_layout_bounds(layout, 0, bounds);
  ms_layout_bounds(layout, blocks - 1, last);
  uint32_t count = layout->of_entries ? 2 : MS_LAYOUT_BOUNDS;
  for (uint32_t k = 1; k < count; k += 2) bounds[k] = last[k];
}

uint64_t ms_layout_size(const ms_layout *layout, uint32_t block) {
  int64_t bounds[MS_LAYOUT_BOUNDS];
  ms_layout_bounds(layout, block, bounds);
  if (layout->of_entries) return (uint64_t)(bounds[1] - bounds[0] + 1);
  double size = 1;
  for (uint32_t d = 0; d < layout->dims; d++) {
    size *= (double)((bounds[2 * d + 1] - bounds[2 * d]) / layout->extents[d].step + 1);
  }
  return size < 0x1p63 ? (uint64_t)size : UINT64_C(1) << 63;
}

/* The fields before `extents` and behind `starts`. */
#define HEAD_BYTES (4 * sizeof(uint32_t))

size_t ms_layout_write(const ms_layout *layout, void *bytes) {
  char *out = bytes;
  size_t extents = layout->dims * sizeof *layout->extents;
  size_t axes = layout->axis_count * sizeof *layout->axes;
  memcpy(out, &layout->of_entries, HEAD_BYTES);
  memcpy(out + HEAD_BYTES, layout->extents, extents);
  memcpy(out + HEAD_BYTES + extents, layout->axes, axes);
  return HEAD_BYTES + extents + axes;
}

static bool is_axis(const ms_layout_axis *axis, uint32_t dims) {
  return axis->ranges >= 1 && axis->at >= 0 && axis->at <= 2 * (int64_t)dims;
}

int ms_layout_read(const void *bytes, size_t size, ms_layout *layout) {
  const char *in = bytes;
  *layout = (ms_layout){0};
  if (size < HEAD_BYTES) return -1;
  memcpy(&layout->of_entries, in, HEAD_BYTES);
  if (layout->of_entries > 1 || layout->ordered > 1) return -1;
  if (layout->dims > MS_MAX_DIMS || layout->axis_count > MS_CUTS) return -1;
  size_t extents = layout->dims * sizeof *layout->extents;
  size_t axes = layout->axis_count * sizeof *layout->axes;
  if (size != HEAD_BYTES + extents + axes) return -1;
  memcpy(layout->extents, in + HEAD_BYTES, extents);
  memcpy(layout->axes, in + HEAD_BYTES + extents, axes);
  for (uint32_t a = 0; a < layout->axis_count; a++) {
    if (!is_axis(&layout->axes[a], layout->dims)) return -1;
  }
  return 0;
}
