/* SPDX-License-Identifier: MIT
 *
 * Extents: see extent.h. Forms stay below MS_FORM_CONSTANT and extents below INT64_MAX / 4, so
 * sums are kept from overflowing by clamping to FAR. */
#include "depend/extent.h"

/* Farther than any index that a form may have. */
#define FAR ((int64_t)1 << 52)

int64_t ms_absolute(int64_t value) {
  return value < 0 ? -value : value;
}

int64_t ms_greatest_divisor(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return ms_absolute(a);
}

static int64_t clamp(int64_t value) {
  return value > FAR ? FAR : value < -FAR ? -FAR : value;
}

/* The least (sign 1) or greatest (sign -1) value of a form over the dimensions before k. */
static int64_t farthest(const ms_domain *domain, uint32_t k, const ms_form *form, int64_t sign) {
  int64_t sum = form->constant;
  for (uint32_t outer = 0; outer < k; outer++) {
    int64_t factor = form->at[outer], first, last, part;
    if (factor == 0) continue;
    ms_domain_ordinals(domain, outer, &first, &last);
    if (__builtin_mul_overflow(factor, factor * sign > 0 ? first : last, &part))
      part = factor * sign > 0 ? -FAR : FAR;
    sum = clamp(sum + clamp(part));
  }
  return sum;
}

/* The forms of a bounded dimension are index - low and high - index. */
static void values(const ms_domain *domain, uint32_t k, int64_t *least, int64_t *most) {
  *least = clamp(-farthest(domain, k, &domain->dim[k].low, -1));
  *most = clamp(farthest(domain, k, &domain->dim[k].high, -1));
  if (*most < *least) *most = *least - 1;
}

void ms_domain_ordinals(const ms_domain *domain, uint32_t k, int64_t *first, int64_t *last) {
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

int64_t ms_domain_extent(const ms_domain *domain, uint32_t k) {
  if (domain->dim[k].box) return domain->dim[k].extent;
  int64_t least, most;
  values(domain, k, &least, &most);
  return most - least + 1;
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

void ms_domain_describe(const ms_domain *domain, uint32_t k, ms_extent *extent) {
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
  in_values(domain, k, &domain->dim[k].low, -1, &extent->low);
  in_values(domain, k, &domain->dim[k].high, 1, &extent->high);
}
