/* SPDX-License-Identifier: MIT
 *
 * Extents: see extent.h. Forms stay below MS_FORM_CONSTANT and extents below INT64_MAX / 4, so
 * sums are kept from overflowing by clamping to FAR. */
#include "depend/extent.h"

/* Farther than any index that a form may have. */
#define FAR ((int64_t)1 << 52)

static int64_t clamp(int64_t value) {
  return value > FAR ? FAR : value < -FAR ? -FAR : value;
}

/* The least (sign 1) or greatest (sign -1) value of a form over the dimensions before k. */
static int64_t farthest(const ms_domain *domain, uint32_t k, const ms_form *form, int64_t sign) {
  int64_t sum = form->constant;
  for (uint32_t outer = 0; outer < k; outer++) {
    int64_t factor = form->at[outer], first, last, part;
    if (factor == 0) continue;
    ms_extent_ordinals(domain, outer, &first, &last);
    if (__builtin_mul_overflow(factor, factor * sign > 0 ? first : last, &part))
      part = factor * sign > 0 ? -FAR : FAR;
    sum = clamp(sum + clamp(part));
  }
  return sum;
}

/* What the forms of a bounded dimension, index - low and high - index, leave of it. */
static void values(const ms_domain *domain, uint32_t k, int64_t *least, int64_t *most) {
  *least = -FAR;
  *most = FAR;
  for (uint32_t e = 0; e < domain->dim[k].low.count; e++) {
    int64_t end = clamp(-farthest(domain, k, &domain->dim[k].low.form[e], -1));
    if (end > *least) *least = end;
  }
  for (uint32_t e = 0; e < domain->dim[k].high.count; e++) {
    int64_t end = clamp(farthest(domain, k, &domain->dim[k].high.form[e], -1));
    if (end < *most) *most = end;
  }
  if (*most < *least) *most = *least - 1;
}

void ms_extent_ordinals(const ms_domain *domain, uint32_t k, int64_t *first, int64_t *last) {
  if (domain->dim[k].box) {
    *first = 0;
    *last = domain->dim[k].extent > 0 ? domain->dim[k].extent - 1 : 0;
    return;
  }
  int64_t least, most;
  values(domain, k, &least, &most);
  if (most < least) most = least;
  *first = domain->dim[k].step > 0 ? least : -most;
  *last = domain->dim[k].step > 0 ? most : -least;
}

int64_t ms_extent_of(const ms_domain *domain, uint32_t k) {
  if (domain->dim[k].box) return domain->dim[k].extent;
  int64_t least, most;
  values(domain, k, &least, &most);
  return most - least + 1;
}

bool ms_extent_is_long(const ms_domain *domain, uint32_t first, uint32_t last) {
  for (uint32_t k = first; k < last; k++) {
    if (ms_extent_of(domain, k) > 1) return true;
  }
  return false;
}

/* Turns a sum over ordinals into one over index values. Coefficients came from index values, so
 * steps divide them. */
static void in_values(const ms_domain *domain, uint32_t k, const ms_form *form, int64_t sign,
                      ms_index_sum *sum) {
  *sum = (ms_index_sum){.constant = sign * form->constant};
  for (uint32_t outer = 0; outer < k; outer++) {
    int64_t factor = sign * form->at[outer] / domain->dim[outer].step;
    sum->at[outer] = factor;
    sum->constant -= factor * domain->dim[outer].origin;
  }
}

void ms_extent_describe(const ms_domain *domain, uint32_t k, ms_extent *extent) {
  int64_t origin = domain->dim[k].origin, step = domain->dim[k].step;
  *extent = (ms_extent){.range = {.lo = origin, .step = step}, .bounded = !domain->dim[k].box};
  if (domain->dim[k].box) {
    int64_t way;
    if (__builtin_mul_overflow(domain->dim[k].extent - 1, step, &way) ||
        __builtin_add_overflow(origin, way, &extent->range.hi))
      extent->range.hi = step > 0 ? FAR : -FAR;
    return;
  }
  int64_t least, most;
  values(domain, k, &least, &most);
  extent->range.lo = step > 0 ? least : most;
  extent->range.hi = step > 0 ? most : least;
  extent->low_count = domain->dim[k].low.count;
  extent->high_count = domain->dim[k].high.count;
  for (uint32_t e = 0; e < extent->low_count; e++)
    in_values(domain, k, &domain->dim[k].low.form[e], -1, &extent->low[e]);
  for (uint32_t e = 0; e < extent->high_count; e++)
    in_values(domain, k, &domain->dim[k].high.form[e], 1, &extent->high[e]);
}
