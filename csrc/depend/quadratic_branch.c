/* SPDX-License-Identifier: MIT
 *
 * Branches of quadratics: see quadratic_branch.h. */
#include "depend/quadratic_branch.h"

#include <stddef.h>
#include <string.h>

#include "depend/bracket.h"

/* A pair's subscripts as square * f^2 + g, times a common divisor. */
typedef struct sides {
  const ms_access *a, *b;
  uint32_t dim;
  int64_t square[2];
  ms_form f[2], g[2];
  ms_bracket range[2]; /* of f */
  bool meet;           /* each happens somewhere */
} sides;

static uint32_t common_dims(const ms_access *a, const ms_access *b) {
  return a->subscript_count < b->subscript_count ? a->subscript_count : b->subscript_count;
}

static bool is_known(const ms_access *a, const ms_access *b, uint32_t dim) {
  return a->subscript[dim].known && b->subscript[dim].known;
}

bool ms_quadratic_branch_is_affine(const ms_access *a, const ms_access *b) {
  for (uint32_t s = 0; s < common_dims(a, b); s++) {
    if (!is_known(a, b, s)) return false;
  }
  return true;
}

/* The only dimension whose subscripts are not affine in both accesses, and those subscripts. */
static bool find_dim(const ms_access *a, const ms_access *b, uint32_t *dim, ms_quadratic *numbers) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < common_dims(a, b); s++) {
    if (is_known(a, b, s)) continue;
    *dim = s;
    count++;
  }
  return count == 1 && ms_subscript_number(&a->subscript[*dim], &numbers[0]) &&
         ms_subscript_number(&b->subscript[*dim], &numbers[1]);
}

static bool negate(ms_form *form) {
  const ms_form zero = {0};
  return ms_form_add(form, &zero, form, -1);
}

/* One side: its square completed, its root rather positive than negative. */
static bool set_side(sides *both, const ms_domain *domain, uint32_t which, int64_t divisor,
                     ms_quadratic own) {
  const ms_form zero = {0};
  int64_t factor = divisor / own.divisor, share;
  ms_brackets known;
  if (!ms_form_add(&own.rest, &zero, &own.rest, factor)) return false;
  own.square *= factor; /* both are small: see quadratic.c */
  if (own.square != 0) {
    if (!ms_quadratic_complete(&own, &share)) return false;
    if (!ms_form_add(&own.rest, &own.rest, &own.root, share)) return false;
  }
  both->meet = both->meet && ms_brackets_find(domain, which == 0 ? both->a : both->b, &known);
  both->square[which] = own.square;
  both->g[which] = own.rest;
  both->f[which] = own.root;
  if (!both->meet) return true;
  ms_bracket range = ms_bracket_of(&known, &own.root, MS_MAX_VARS);
  if (!range.below || !range.above) return false;
  if (range.most > MS_FORM_INDEX || range.least < -MS_FORM_INDEX) return false;
  if (range.least + range.most < 0) {
    if (!negate(&both->f[which])) return false;
    range = (ms_bracket){true, true, -range.most, -range.least};
  }
  both->range[which] = range;
  return true;
}

static bool find_sides(sides *both, const ms_domain *domain, const ms_access *a,
                       const ms_access *b) {
  ms_quadratic numbers[2];
  *both = (sides){.a = a, .b = b, .meet = true};
  if (!find_dim(a, b, &both->dim, numbers)) return false;
  bool first = numbers[0].divisor > numbers[1].divisor;
  int64_t divisor = first ? numbers[0].divisor : numbers[1].divisor;
  return set_side(both, domain, 0, divisor, numbers[0]) &&
         set_side(both, domain, 1, divisor, numbers[1]);
}

/* ---- roots of one curve ---- */

/* The plane along * v + across * u + constant, of u = sign * (f - f') and v = f + f', that the
 * product u * v is never below, or never above. */
typedef struct plane {
  int64_t along, across, constant;
  bool below;
} plane;

/* Adds what follows for g and g' where sign * square * u * v + g - g' = 0; nothing where a limit is
 * passed, which only makes the system hold more often. */
static void bound_by(ms_system *system, const sides *both, int64_t sign, const plane *by) {
  int64_t square = sign * both->square[0], turn = (square > 0) == by->below ? 1 : -1, rest;
  const ms_form zero = {0};
  ms_form a, b;
  if (__builtin_mul_overflow(square, by->constant, &rest)) return;
  if (rest > MS_FORM_CONSTANT || rest < -MS_FORM_CONSTANT) return;
  int64_t of_a = -square * (by->along + sign * by->across);
  int64_t of_b = -square * (by->along - sign * by->across);
  const ms_form constant = ms_form_constant(-turn * rest);
  if (!ms_form_add(&a, &constant, &both->g[0], -turn)) return;
  if (!ms_form_add(&a, &a, &both->f[0], turn * of_a)) return;
  if (!ms_form_add(&b, &zero, &both->g[1], turn)) return;
  if (!ms_form_add(&b, &b, &both->f[1], turn * of_b)) return;
  ms_system_bound_pair(system, &a, &b);
}

/* sign * (f - f') - least >= 0 */
static bool bound_distance(ms_system *system, const sides *both, int64_t sign, int64_t least) {
  const ms_form zero = {0}, from = ms_form_constant(-least);
  ms_form a, b;
  if (!ms_form_add(&a, &from, &both->f[0], sign)) return false;
  if (!ms_form_add(&b, &zero, &both->f[1], -sign)) return false;
  ms_system_bound_pair(system, &a, &b);
  return true;
}

/* The system of all that is known of the pair but what is quadratic: 1; 0 if that cannot hold. */
static int begin(ms_solver *solver, const ms_domain *domain, const sides *both,
                 ms_system **system) {
  *system = ms_solver_room(solver);
  if (*system == NULL) return -1;
  return ms_system_of_pair(*system, domain, both->a, both->b, false) ? 1 : 0;
}

/* Whether nothing meets where sign * (f - f') is at least `least`, as far as the bounds tell. */
static bool is_empty(ms_solver *solver, const ms_domain *domain, const sides *both, int64_t sign,
                     int64_t least) {
  const ms_bracket *f = &both->range[0], *other = &both->range[1];
  int64_t most = sign > 0 ? f->most - other->least : other->most - f->least;
  int64_t low = f->least + other->least, high = f->most + other->most;
  int64_t values[MS_MAX_COLUMNS];
  ms_system *system;
  if (most < least) return true;
  int begun = begin(solver, domain, both, &system);
  if (begun <= 0) return begun == 0;
  const plane bounds[] = {
      {least, low, -least * low, true},    /* (u - least) * (v - low) >= 0 */
      {most, high, -most * high, true},    /* (most - u) * (high - v) >= 0 */
      {least, high, -least * high, false}, /* (u - least) * (high - v) >= 0 */
      {most, low, -most * low, false},     /* (most - u) * (v - low) >= 0 */
  };
  if (!bound_distance(system, both, sign, least)) return false;
  for (uint32_t p = 0; p < sizeof bounds / sizeof *bounds; p++)
    bound_by(system, both, sign, &bounds[p]);
  return ms_solver_sample(solver, system, values) == 0;
}

/* ---- two curves ---- */

/* A line slope * f + constant that square * f^2 is never below, or never above. */
typedef struct line {
  int64_t slope, constant;
} line;

#define MOST_LINES 2

/* The line through the curve's points at `from` and `to`. */
static bool line_through(int64_t square, int64_t from, int64_t to, line *made) {
  return !__builtin_mul_overflow(square, from + to, &made->slope) &&
         !__builtin_mul_overflow(-square, from, &made->constant) &&
         !__builtin_mul_overflow(made->constant, to, &made->constant);
}

/* Lines below, or above, the curve wherever f is an integer of the range: on one side that through
 * the ends, on the other those through each end and the integer next to it. */
static uint32_t lines_of(int64_t square, const ms_bracket *range, bool below, line *lines) {
  uint32_t count = 0;
  if ((square > 0) != below || square == 0)
    return line_through(square, range->least, range->most, &lines[0]) ? 1 : 0;
  count += line_through(square, range->least, range->least + 1, &lines[count]);
  count += line_through(square, range->most - 1, range->most, &lines[count]);
  return count;
}

/* sign * (g' + a line of f' - g - a line of f) >= 0 */
static void bound_lines(ms_system *system, const sides *both, int64_t sign, const line *of_a,
                        const line *of_b) {
  const ms_form zero = {0};
  ms_form a, b;
  if (of_a->constant > MS_FORM_CONSTANT || of_a->constant < -MS_FORM_CONSTANT) return;
  if (of_b->constant > MS_FORM_CONSTANT || of_b->constant < -MS_FORM_CONSTANT) return;
  const ms_form constant_a = ms_form_constant(of_a->constant),
                constant_b = ms_form_constant(of_b->constant);
  if (!ms_form_add(&a, &both->g[0], &both->f[0], of_a->slope)) return;
  if (!ms_form_add(&a, &a, &constant_a, 1) || !ms_form_add(&a, &zero, &a, -sign)) return;
  if (!ms_form_add(&b, &both->g[1], &both->f[1], of_b->slope)) return;
  if (!ms_form_add(&b, &b, &constant_b, 1) || !ms_form_add(&b, &zero, &b, sign)) return;
  ms_system_bound_pair(system, &a, &b);
}

/* Whether subscripts, one of them perhaps affine, are never equal, as far as lines below and above
 * their curves tell. */
static bool are_apart(ms_solver *solver, const ms_domain *domain, const sides *both) {
  int64_t values[MS_MAX_COLUMNS];
  ms_system *system;
  int begun = begin(solver, domain, both, &system);
  if (begun <= 0) return begun == 0;
  for (int64_t sign = 1; sign >= -1; sign -= 2) {
    line of_a[MOST_LINES], of_b[MOST_LINES];
    uint32_t count_a = lines_of(both->square[0], &both->range[0], sign > 0, of_a);
    uint32_t count_b = lines_of(both->square[1], &both->range[1], sign < 0, of_b);
    for (uint32_t p = 0; p < count_a * count_b; p++)
      bound_lines(system, both, sign, &of_a[p / count_b], &of_b[p % count_b]);
  }
  return ms_solver_sample(solver, system, values) == 0;
}

/* How far apart roots of one square can be where the sides meet. */
static int reach_of(ms_solver *solver, const ms_domain *domain, const sides *both) {
  int reach = 0;
  for (int64_t sign = 1; sign >= -1; sign -= 2) {
    while (!is_empty(solver, domain, both, sign, reach + 1)) {
      if (reach == MS_MOST_APART) return MS_REACH_UNKNOWN;
      reach++;
    }
  }
  return reach;
}

int ms_quadratic_branch_reach(ms_solver *solver, const ms_domain *domain, const ms_access *a,
                              const ms_access *b) {
  sides both;
  if (!find_sides(&both, domain, a, b)) return MS_REACH_UNKNOWN;
  if (!both.meet) return MS_REACH_NEVER;
  int reach = both.square[0] == both.square[1] ? reach_of(solver, domain, &both) : MS_REACH_UNKNOWN;
  if (reach != MS_REACH_UNKNOWN) return reach;
  return are_apart(solver, domain, &both) ? MS_REACH_NEVER : MS_REACH_UNKNOWN;
}

/* ---- branches ---- */

/* A copy with the subscript of the dimension replaced by one form, and one more behind the `count`
 * subscripts that count; NULL without memory. */
static ms_access *replace(ms_solver *solver, const ms_access *access, uint32_t dim, uint32_t count,
                          const ms_form *root, const ms_form *rest) {
  size_t room = (count + 1) * sizeof *access->subscript;
  ms_access *copy =
      ms_arena_take(ms_solver_arena(solver), 1, offsetof(ms_access, subscript) + room);
  if (copy == NULL) return NULL;
  memcpy(copy, access, offsetof(ms_access, subscript) + count * sizeof *access->subscript);
  copy->origin = access;
  copy->subscript_count = count + 1;
  copy->subscript[dim] = (ms_subscript){.known = true, .form = *root};
  copy->subscript[count] = (ms_subscript){.known = true, .form = *rest};
  return copy;
}

/* Where the roots are `apart`: f - apart = f', and square * apart * (f + f') + g - g' = 0. */
static bool make(ms_solver *solver, const sides *both, int64_t apart, ms_quadratic_branch *branch) {
  const ms_form from = ms_form_constant(-apart);
  ms_form root, rest, other;
  uint32_t count = common_dims(both->a, both->b);
  int64_t share = both->square[0] * apart;
  if (!ms_form_add(&root, &from, &both->f[0], 1)) return false;
  if (!ms_form_add(&rest, &both->g[0], &both->f[0], share)) return false;
  if (!ms_form_add(&other, &both->g[1], &both->f[1], -share)) return false;
  branch->a = replace(solver, both->a, both->dim, count, &root, &rest);
  branch->b = replace(solver, both->b, both->dim, count, &both->f[1], &other);
  return branch->a != NULL && branch->b != NULL;
}

int ms_quadratic_branches_make(ms_solver *solver, const ms_domain *domain, const ms_access *a,
                               const ms_access *b, int reach, ms_quadratic_branch *branches) {
  sides both;
  int count = 0;
  if (common_dims(a, b) == MS_MAX_DIMS || !find_sides(&both, domain, a, b)) return -1;
  for (int apart = -reach; apart <= reach; apart++) {
    if (!make(solver, &both, apart, &branches[count++])) return -1;
  }
  return count;
}
