/* SPDX-License-Identifier: MIT
 *
 * Layout: see layout.h. */
#include "plan/layout.h"

#include <stddef.h>

void ms_layout_bounds(const ms_layout *layout, uint32_t block, int64_t *bounds) {
  if (layout->starts != NULL) {
    bounds[0] = layout->starts[block] + 1;
    bounds[1] = layout->starts[(int64_t)block + 1];
    return;
  }
  for (int64_t k = 0; k < 2 * layout->dims; k++) bounds[k] = layout->extents[k];
  int64_t rest = block;
  for (int64_t a = layout->axis_count; a-- > 0;) {
    const ms_layout_axis *axis = &layout->axes[a];
    int64_t range = rest % axis->ranges, *at = bounds + axis->at;
    rest /= axis->ranges;
    at[0] = axis->bounds != NULL ? axis->bounds[range] : axis->first + range * axis->step;
    at[1] = axis->bounds != NULL ? axis->bounds[range + 1] - axis->step : at[0];
  }
}
