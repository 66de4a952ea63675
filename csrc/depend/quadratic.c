/* SPDX-License-Identifier: MIT
 *
 * Quadratics: see quadratic.h. */
#include "depend/quadratic.h"

#include <math.h>
#include <string.h>

#include "depend/integer.h"

#define MOST_DIVISOR ((int64_t)1 << 10)

static bool is_within(int64_t value) {
  return value <= MS_FORM_COEFFICIENT && value >= -MS_FORM_COEFFICIENT;
}

static bool is_power_of_two(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

ms_quadratic ms_quadratic_of(const ms_form *form) {
  return (ms_quadratic){.rest = *form, .divisor = 1};
}

bool ms_quadratic_of_double(double number, ms_quadratic *result) {
  double dividend = number * (double)MOST_DIVISOR;
  if (!(fabs(dividend) <= (double)MS_FORM_CONSTANT) || dividend != floor(dividend)) return false;
  int64_t divisor = MOST_DIVISOR, constant = (int64_t)dividend;
  for (; divisor > 1 && constant % 2 == 0; divisor /= 2) constant /= 2;
  *result = (ms_quadratic){.rest = ms_form_constant(constant), .divisor = divisor};
  return true;
}

bool ms_quadratic_is_form(const ms_quadratic *number) {
  return number->square == 0 && number->divisor == 1;
}

/* root^2 is even where the root is: for whole variables they differ by an even number. */
bool ms_quadratic_is_whole(const ms_quadratic *number) {
  if (number->divisor == 1) return true;
  ms_form sum;
  return number->divisor == 2 && ms_form_add(&sum, &number->rest, &number->root, number->square) &&
         ms_form_divide(&sum, 2);
}

int64_t ms_quadratic_value(const ms_quadratic *number, const int64_t *variables) {
  uint64_t root = (uint64_t)ms_form_value(&number->root, variables);
  uint64_t dividend = (uint64_t)number->square * root * root;
  dividend += (uint64_t)ms_form_value(&number->rest, variables);
  return ms_integer_floor_div((int64_t)dividend, number->divisor);
}

/* Divides the dividend by `divisor` if that leaves no remainder anywhere. */
static bool divide_dividend(ms_quadratic *number, int64_t divisor) {
  if (divisor == 0 || number->square % divisor != 0) return false;
  if (!ms_form_divide(&number->rest, divisor)) return false;
  number->square /= divisor;
  return true;
}

static bool multiply_dividend(ms_quadratic *number, int64_t factor) {
  const ms_form zero = {0};
  return !__builtin_mul_overflow(number->square, factor, &number->square) &&
         is_within(number->square) && ms_form_add(&number->rest, &zero, &number->rest, factor);
}

/* The canonical form of a result. */
static bool settle(ms_quadratic *number) {
  while (number->divisor > 1 && divide_dividend(number, 2)) number->divisor /= 2;
  if (number->square == 0) number->root = (ms_form){0};
  return number->divisor <= MOST_DIVISOR && is_within(number->square);
}

static bool add(const ms_quadratic *a, const ms_quadratic *b, int64_t sign, ms_quadratic *sum) {
  ms_quadratic other = *b;
  *sum = *a;
  int64_t divisor = a->divisor > b->divisor ? a->divisor : b->divisor;
  if (!multiply_dividend(sum, divisor / a->divisor)) return false;
  if (!multiply_dividend(&other, sign * (divisor / b->divisor))) return false;
  bool both = sum->square != 0 && other.square != 0;
  if (both && memcmp(&sum->root, &other.root, sizeof sum->root) != 0) return false;
  if (sum->square == 0) sum->root = other.root;
  sum->square += other.square;
  sum->divisor = divisor;
  return ms_form_add(&sum->rest, &sum->rest, &other.rest, 1) && settle(sum);
}

static int64_t divisor_of(int64_t a, int64_t b) {
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* form = factor * root + its constant, with a primitive root that begins with a positive one. */
static int64_t root_of(const ms_form *form, ms_form *root) {
  int64_t factor = 0, first = 0;
  for (uint32_t v = 0; v < MS_MAX_VARS; v++) {
    if (first == 0) first = form->at[v];
    factor = divisor_of(factor, form->at[v]);
  }
  if (first < 0) factor = -factor;
  *root = *form;
  root->constant = 0;
  ms_form_divide(root, factor);
  return factor;
}

/* Of (a * root + c) * (b * root + d): a * b * root^2 + (a * d + b * c) * root + c * d. */
static bool multiply_forms(const ms_form *one, const ms_form *other, ms_quadratic *product) {
  ms_form second;
  int64_t a = root_of(one, &product->root), b = root_of(other, &second);
  int64_t c = one->constant, d = other->constant, along, across, constant;
  if (memcmp(&product->root, &second, sizeof second) != 0) return false;
  if (__builtin_mul_overflow(a, d, &along) || __builtin_mul_overflow(b, c, &across)) return false;
  if (__builtin_add_overflow(along, across, &along)) return false;
  if (__builtin_mul_overflow(a, b, &product->square)) return false;
  if (__builtin_mul_overflow(c, d, &constant)) return false;
  if (constant > MS_FORM_CONSTANT || constant < -MS_FORM_CONSTANT) return false;
  const ms_form rest = ms_form_constant(constant);
  return ms_form_add(&product->rest, &rest, &product->root, along);
}

static bool multiply(const ms_quadratic *a, const ms_quadratic *b, ms_quadratic *product) {
  const ms_quadratic *factor = b;
  if (b->square != 0 || !ms_form_is_constant(&b->rest)) {
    factor = a;
    a = b;
  }
  *product = *a;
  if (factor->square == 0 && ms_form_is_constant(&factor->rest)) {
    if (!multiply_dividend(product, factor->rest.constant)) return false;
  } else if (a->square != 0 || factor->square != 0 ||
             !multiply_forms(&a->rest, &factor->rest, product)) {
    return false;
  }
  product->divisor = a->divisor * factor->divisor;
  return settle(product);
}

static bool divide(const ms_quadratic *a, const ms_quadratic *b, ms_quadratic *quotient) {
  if (b->square != 0 || b->divisor != 1 || !ms_form_is_constant(&b->rest)) return false;
  int64_t divisor = b->rest.constant;
  *quotient = *a;
  if (divide_dividend(quotient, divisor)) return settle(quotient);
  if (!is_power_of_two(divisor) || divisor > MOST_DIVISOR) return false;
  quotient->divisor *= divisor;
  return settle(quotient);
}

bool ms_quadratic_operate(ms_op op, const ms_quadratic *a, const ms_quadratic *b,
                          ms_quadratic *result) {
  switch (op) {
    case MS_OP_ADD:
      return add(a, b, 1, result);
    case MS_OP_SUB:
      return add(a, b, -1, result);
    case MS_OP_MUL:
      return multiply(a, b, result);
    case MS_OP_DIV:
      return divide(a, b, result);
    default:
      return false;
  }
}

/* With root = linear + by: square * linear^2 + all * linear = square * root^2 + share * root + what
 * does not depend on it, where share = all - 2 * square * by. */
bool ms_quadratic_complete(ms_quadratic *number, int64_t *share) {
  uint32_t first = 0;
  while (first < MS_MAX_VARS && number->root.at[first] == 0) first++;
  if (first == MS_MAX_VARS) return false;
  int64_t square = number->square, size = square < 0 ? -square : square;
  int64_t all = ms_integer_floor_div(number->rest.at[first], number->root.at[first]);
  int64_t by = ms_integer_floor_div(all + size, 2 * size) * (square < 0 ? -1 : 1), squares, shares;
  *share = all - 2 * square * by;
  if (__builtin_mul_overflow(square * by, by, &squares)) return false;
  if (__builtin_mul_overflow(*share, by, &shares)) return false;
  if (__builtin_add_overflow(squares, shares, &squares)) return false;
  if (squares > MS_FORM_CONSTANT || squares < -MS_FORM_CONSTANT) return false;
  const ms_form taken = ms_form_constant(-squares), one = ms_form_constant(1);
  return ms_form_add(&number->rest, &number->rest, &number->root, -all) &&
         ms_form_add(&number->rest, &number->rest, &taken, 1) &&
         ms_form_add(&number->root, &number->root, &one, by);
}
