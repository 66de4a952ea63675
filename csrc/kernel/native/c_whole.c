/* SPDX-License-Identifier: MIT
 *
 * Writing C: arithmetic of integers. See c_whole.h.
 *
 * Bounds are formed in double: sums and products of whole numbers are exact below 2^53, and beyond
 * it rounding keeps the order, so a bound that passes a comparison with 2^52 was exact. */
#include "kernel/native/c_whole.h"

#include <string.h>

#include "kernel/native/c_guard.h"

static bool constant(const ms_integer_value *a) {
  return a->known && a->least == a->most;
}

const char *ms_c_whole_both(ms_writer *w, const char *a, const char *b) {
  if (a == NULL || b == NULL || strcmp(a, b) == 0) return a != NULL ? a : b;
  return ms_c_text(w, "%s && %s", a, b);
}

/* What is made of two. */
static ms_integer_value made_of(ms_writer *w, const ms_integer_value *a,
                                const ms_integer_value *b) {
  return (ms_integer_value){.known = true,
                            .needs = ms_c_whole_both(w, a->needs, b->needs),
                            .guessed = a->guessed || b->guessed};
}

/* Closes an operation: bounds known beforehand that are too wide become a guard. */
static ms_integer_value finish(ms_writer *w, ms_integer_value r, bool fits) {
  if (r.lo != NULL && (strlen(r.lo) > MS_GUARD_TEXT || strlen(r.hi) > MS_GUARD_TEXT))
    return (ms_integer_value){0};
  if (fits && r.least >= -MS_C_MOST && r.most <= MS_C_MOST) return r;
  if (r.lo == NULL) return (ms_integer_value){0};
  r.needs = ms_c_whole_both(w, r.needs, ms_c_text(w, "%s >= -0x1p52 && %s <= 0x1p52", r.lo, r.hi));
  r.least = -MS_C_MOST;
  r.most = MS_C_MOST;
  return r;
}

ms_integer_value ms_c_whole_sum(ms_writer *w, const ms_integer_value *a, const ms_integer_value *b,
                                bool minus) {
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = a->unsigned_zero || (!minus && b->unsigned_zero);
  r.text = ms_c_text(w, "(%s %c %s)", a->text, minus ? '-' : '+', b->text);
  r.least = a->least + (minus ? -b->most : b->least);
  r.most = a->most + (minus ? -b->least : b->most);
  if (a->lo != NULL && b->lo != NULL) {
    r.lo = ms_c_text(w, "(%s %c %s)", a->lo, minus ? '-' : '+', minus ? b->hi : b->lo);
    r.hi = ms_c_text(w, "(%s %c %s)", a->hi, minus ? '-' : '+', minus ? b->lo : b->hi);
  }
  return finish(w, r, true);
}

static void product_bounds(ms_writer *w, const ms_integer_value *a, const ms_integer_value *b,
                           ms_integer_value *r) {
  if (a->lo == NULL || b->lo == NULL) return;
  if (constant(b)) { /* bounds change places with a negative factor */
    bool turn = b->least < 0;
    r->lo = ms_c_text(w, "(%s * %s)", turn ? a->hi : a->lo, b->lo);
    r->hi = ms_c_text(w, "(%s * %s)", turn ? a->lo : a->hi, b->lo);
    return;
  }
  r->lo = ms_c_text(w, "ms_least_product(%s, %s, %s, %s)", a->lo, a->hi, b->lo, b->hi);
  r->hi = ms_c_text(w, "ms_most_product(%s, %s, %s, %s)", a->lo, a->hi, b->lo, b->hi);
}

ms_integer_value ms_c_whole_product(ms_writer *w, const ms_integer_value *a,
                                    const ms_integer_value *b) {
  if (constant(a) && !constant(b)) return ms_c_whole_product(w, b, a);
  ms_integer_value r = made_of(w, a, b);
  r.text = ms_c_text(w, "(%s * %s)", a->text, b->text);
  r.unsigned_zero = a->unsigned_zero && b->unsigned_zero;
  if ((a->least < 0 || b->least < 0) && !(constant(b) && b->least > 0)) r.unsigned_zero = false;
  int64_t corner[4];
  bool fits = !__builtin_mul_overflow(a->least, b->least, &corner[0]) &&
              !__builtin_mul_overflow(a->least, b->most, &corner[1]) &&
              !__builtin_mul_overflow(a->most, b->least, &corner[2]) &&
              !__builtin_mul_overflow(a->most, b->most, &corner[3]);
  r.least = fits ? corner[0] : 0;
  r.most = r.least;
  for (int c = 1; fits && c < 4; c++) {
    if (corner[c] < r.least) r.least = corner[c];
    if (corner[c] > r.most) r.most = corner[c];
  }
  product_bounds(w, a, b, &r);
  return finish(w, r, fits);
}

/* a % b with b > 0, which is a guard if it is not known. */
ms_integer_value ms_c_whole_remainder(ms_writer *w, const ms_integer_value *a,
                                      const ms_integer_value *b) {
  if (b->most < 1 || b->lo == NULL) return (ms_integer_value){0};
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = true;
  if (b->least < 1) r.needs = ms_c_whole_both(w, r.needs, ms_c_text(w, "%s >= 1", b->lo));
  if (!constant(b)) {
    r.text = ms_c_text(w, "ms_whole_wrapped(%s, %s)", a->text, b->text);
  } else {
    r.text = ms_c_text(w, a->least >= 0 ? "(%s %% %s)" : "ms_whole_mod(%s, %s)", a->text, b->text);
  }
  r.lo = "0";
  r.hi = ms_c_text(w, "(%s - 1)", b->hi);
  r.most = b->most - 1;
  return finish(w, r, true);
}

/* math.floor(a / b) with a constant b > 0. */
ms_integer_value ms_c_whole_quotient(ms_writer *w, const ms_integer_value *a,
                                     const ms_integer_value *b) {
  if (!constant(b) || b->least < 1 || b->lo == NULL) return (ms_integer_value){0};
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = a->unsigned_zero;
  r.text = ms_c_text(w, a->least >= 0 ? "(%s / %s)" : "ms_whole_div(%s, %s)", a->text, b->text);
  r.least = a->least / b->least - 1;
  r.most = a->most / b->least;
  if (a->least >= 0) r.least = a->least / b->least;
  if (a->lo != NULL) {
    r.lo = ms_c_text(w, "__builtin_floor((%s) / %s)", a->lo, b->lo);
    r.hi = ms_c_text(w, "__builtin_floor((%s) / %s)", a->hi, b->lo);
  }
  return finish(w, r, true);
}

ms_integer_value ms_c_whole_negated(ms_writer *w, const ms_integer_value *a) {
  ms_integer_value r = *a;
  if (!a->known) return (ms_integer_value){0};
  r.unsigned_zero = a->least > 0 || a->most < 0;
  r.text = ms_c_text(w, "(-%s)", a->text);
  r.least = -a->most;
  r.most = -a->least;
  if (a->lo != NULL) {
    r.lo = ms_c_text(w, "(-%s)", a->hi);
    r.hi = ms_c_text(w, "(-%s)", a->lo);
  }
  return r;
}

/* math.max, math.min of two. */
ms_integer_value ms_c_whole_extreme(ms_writer *w, const ms_integer_value *a,
                                    const ms_integer_value *b, bool most) {
  const char *name = most ? "most" : "least";
  ms_integer_value r = made_of(w, a, b);
  r.unsigned_zero = a->unsigned_zero && b->unsigned_zero;
  r.text = ms_c_text(w, "ms_whole_%s(%s, %s)", name, a->text, b->text);
  r.least = (a->least > b->least) == most ? a->least : b->least;
  r.most = (a->most > b->most) == most ? a->most : b->most;
  if (a->lo != NULL && b->lo != NULL) {
    r.lo = ms_c_text(w, "ms_%s(%s, %s)", name, a->lo, b->lo);
    r.hi = ms_c_text(w, "ms_%s(%s, %s)", name, a->hi, b->hi);
  }
  return finish(w, r, true);
}

ms_integer_value ms_c_whole_choice(ms_writer *w, const char *condition, const char *needs,
                                   const ms_integer_value *yes, const ms_integer_value *no) {
  ms_integer_value r = made_of(w, yes, no);
  r.needs = ms_c_whole_both(w, needs, r.needs);
  r.unsigned_zero = yes->unsigned_zero && no->unsigned_zero;
  r.text = ms_c_text(w, "(%s ? %s : %s)", condition, yes->text, no->text);
  r.least = yes->least < no->least ? yes->least : no->least;
  r.most = yes->most > no->most ? yes->most : no->most;
  if (yes->lo != NULL && no->lo != NULL) {
    r.lo = ms_c_text(w, "ms_least(%s, %s)", yes->lo, no->lo);
    r.hi = ms_c_text(w, "ms_most(%s, %s)", yes->hi, no->hi);
  }
  return finish(w, r, true);
}
