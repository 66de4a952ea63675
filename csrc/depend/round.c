/* SPDX-License-Identifier: MIT
 *
 * Rounds: see round.h. */
#include "depend/round.h"

#include "depend/extent.h"
#include "depend/inline.h"

/* ---- the two halves of a name ---- */

/* Of which versioned array an access is, from 1; 0: of none. */
static uint32_t version_of(const ms_walk *walk, const ms_access *access) {
  const ms_space *space = walk->space;
  return access->binding < space->version_count ? space->versions[access->binding] : 0;
}

static bool is_next(const ms_walk *walk, const ms_access *access) {
  const ms_symbol *symbol = walk->loop->captures[access->binding].symbol;
  return symbol != NULL && symbol->next;
}

/* Whether one access reads the last version of what the other writes the next one of. */
static bool is_pair(const ms_walk *walk, const ms_access *read, const ms_access *write) {
  uint32_t version = version_of(walk, read);
  return version > 0 && version == version_of(walk, write) && !is_next(walk, read) &&
         is_next(walk, write) && !read->write && write->write;
}

/* ---- read after it was written ---- */

/* The statement that a node is evaluated in. */
static const ms_node *statement_of(const ms_node *node) {
  while (node->parent != NULL && node->parent->kind != MS_BLOCK) node = node->parent;
  return node;
}

/* Whether nodes stand in different branches of an `if`. */
static bool are_apart(const ms_node *a, const ms_node *b) {
  const ms_node *up = a;
  while (up->parent != NULL && !ms_node_is_inside(b, up->parent)) up = up->parent;
  const ms_node *around = up->parent;
  if (around == NULL || around->kind != MS_IF || up->kind != MS_BLOCK) return false;
  while (b->parent != around) b = b->parent;
  return b->kind == MS_BLOCK;
}

/* Whether `read` comes after the statement that writes, in one pass over the body. */
static bool comes_after(const ms_node *read, const ms_node *write) {
  const ms_node *statement = statement_of(write);
  return read->begin >= statement->end && !are_apart(write, read);
}

/* The loops around both, from the outermost: how many. MS_MAX_INNER + 1: some that count nothing.
 */
static uint32_t common_loops(const ms_walk *walk, const ms_node *a, const ms_node *b) {
  uint32_t count = 0;
  for (const ms_node *up = a; up != walk->loop->body; up = up->parent) {
    if (!ms_node_is_inside(b, up)) continue;
    if (up->kind == MS_FOR_NUMERIC) count++;
    if (up->kind == MS_WHILE || up->kind == MS_REPEAT || up->kind == MS_FOR_GENERIC)
      return MS_MAX_INNER + 1;
  }
  return count;
}

/* Whether the first `count` inner variables of an access are those of the loops around it. */
static bool counts_loops(const ms_access *access, uint32_t count) {
  if (access->inner_count < count) return false;
  for (uint32_t k = 0; k < count; k++) {
    if (!access->inner[k].loop) return false;
  }
  return true;
}

/* value of column `plus` - value of column `minus` >= least. */
static void add_difference(ms_system *system, uint32_t plus, uint32_t minus, int64_t least) {
  ms_constraint row = {.constant = -least};
  row.at[plus] = 1;
  row.at[minus] = -1;
  ms_system_bound(system, &row);
}

static void fix_to_zero(ms_system *system, uint32_t column) {
  ms_constraint row = {0};
  row.at[column] = 1;
  ms_system_bound(system, &row);
  row.at[column] = -1;
  ms_system_bound(system, &row);
}

/* Whether both touch one element in the same iteration, the write in an earlier pass of the inner
 * loop number `level` (from 0) than the read; of all loops if that is `none`. */
static bool meet(ms_solver *solver, const ms_domain *domain, const ms_access *write,
                 const ms_access *read, uint32_t level, bool none) {
  int64_t point[MS_MAX_COLUMNS];
  ms_system *system = ms_solver_room(solver);
  if (system == NULL || !ms_system_of_pair(system, domain, write, read, false)) return false;
  for (uint32_t k = 0; k < domain->dim_count; k++) fix_to_zero(system, MS_COLUMN_D(k));
  for (uint32_t k = 0; !none && k <= level; k++) {
    add_difference(system, MS_COLUMN_B(k), MS_COLUMN_A(k), k == level ? 1 : 0);
    if (k < level) add_difference(system, MS_COLUMN_A(k), MS_COLUMN_B(k), 0);
  }
  return ms_solver_sample(solver, system, point) != 0;
}

static bool is_known(const ms_access *access) {
  for (uint32_t s = 0; s < access->subscript_count; s++) {
    if (!access->subscript[s].known) return false;
  }
  return access->subscript_count > 0;
}

static bool is_read_after(const ms_walk *walk, ms_solver *solver, const ms_domain *domain,
                          const ms_access *read, const ms_access *write) {
  if (!is_known(read) || !is_known(write)) return false;
  if (read->node == NULL || write->node == NULL) return false;
  const ms_node *body = walk->loop->body;
  if (!ms_node_is_inside(read->node, body) || !ms_node_is_inside(write->node, body)) return false;
  uint32_t loops = common_loops(walk, write->node, read->node);
  bool counted = counts_loops(read, loops) && counts_loops(write, loops);
  bool found = comes_after(read->node, write->node) && meet(solver, domain, write, read, 0, true);
  for (uint32_t level = 0; counted && !found && level < loops; level++)
    found = meet(solver, domain, write, read, level, false);
  return found;
}

/* ---- writes of a part ---- */

/* A part's first element is first + floor(k * elements / parts), k from 0, and its last one comes
 * before that of part k + 1: an access that has both quotients as inner variables. */
static ms_access bounds_of_part(const ms_walk *walk, const ms_domain *domain, ms_inner *quotients) {
  int64_t elements = walk->space->parts_of, parts = domain->dim[1].extent;
  for (uint32_t q = 0; q < 2; q++) {
    ms_inner *inner = &quotients[q];
    *inner = (ms_inner){.total = true};
    inner->low.constant = q * elements;
    inner->low.at[1] = elements;
    inner->low.at[MS_MAX_DIMS + q] = -parts;
    inner->high.constant = parts - 1 - (int64_t)q * elements;
    inner->high.at[1] = -elements;
    inner->high.at[MS_MAX_DIMS + q] = parts;
  }
  return (ms_access){.inner_count = 2, .inner = quotients};
}

/* Whether an access may write beside the elements of its part. */
static bool writes_beside(const ms_walk *walk, ms_solver *solver, const ms_domain *domain,
                          const ms_access *write) {
  int64_t point[MS_MAX_COLUMNS], first = walk->space->parts_first;
  ms_inner quotients[2];
  ms_access part = bounds_of_part(walk, domain, quotients);
  if (write->subscript_count == 0 || !write->subscript[0].known) return true;
  for (uint32_t side = 0; side < 2; side++) {
    ms_system *system = ms_solver_room(solver);
    ms_form own = ms_form_constant(0), bound = ms_form_constant(side == 0 ? first - 1 : -first);
    if (system == NULL) return true;
    if (!ms_system_of_pair(system, domain, write, &part, false)) return false;
    for (uint32_t k = 0; k < domain->dim_count; k++) fix_to_zero(system, MS_COLUMN_D(k));
    if (!ms_form_add(&own, &own, &write->subscript[0].form, side == 0 ? -1 : 1)) return true;
    bound.at[MS_MAX_DIMS + side] = side == 0 ? 1 : -1;
    ms_system_bound_pair(system, &own, &bound); /* it is less than the first, or the last is less */
    if (ms_solver_sample(solver, system, point) != 0) return true;
  }
  return false;
}

static void check_parts(ms_walk *walk, ms_solver *solver, const ms_domain *domain) {
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *write = walk->accesses.item[a];
    if (version_of(walk, write) == 0 || !write->write) continue;
    if (!writes_beside(walk, solver, domain, write)) continue;
    ms_walk_find(walk, MS_REASON_PARTS, false, write->node,
                 "write elements of the range: for j = lo, hi do A[j] = ... end",
                 "what is written here cannot be proved to be of the range's own elements");
  }
}

int ms_rounds_check(ms_walk *walk, ms_solver *solver, const ms_domain *domain) {
  const ms_accesses *all = &walk->accesses;
  if (walk->space->parts_of > 0) check_parts(walk, solver, domain);
  for (uint32_t r = 0; r < all->count; r++) {
    for (uint32_t w = 0; w < all->count; w++) {
      if (!is_pair(walk, all->item[r], all->item[w])) continue;
      if (!is_read_after(walk, solver, domain, all->item[r], all->item[w])) continue;
      ms_walk_find(walk, MS_REASON_ROUND, !all->item[r]->possible && !all->item[w]->possible,
                   all->item[r]->node,
                   "keep what was written in a local: local new = ..., or read what the round "
                   "before has made before anything is written",
                   "what is read here was written before by the same iteration, but reads see what "
                   "the round before has made");
      break;
    }
  }
  return walk->failed ? -1 : 0;
}

/* ---- what is read of other ranges ---- */

/* A pair's question: is there a point with least <= of the cut dimension the reading iteration's
 * ordinal times `own` + the writing one's? In whatever rounds these are: what is read was written
 * in any round before, since what a round does not write stays; and the memory where it stands is
 * written again in rounds to come. */
typedef struct question {
  ms_solver *solver;
  const ms_domain *domain;
  const ms_access *read, *write;
  uint32_t cut;
  int64_t own; /* -1: the difference, 1: the sum */
} question;

/* 1, 0, -1: not known. */
static int exists(const question *ask, int64_t bound, int64_t sign) {
  int64_t point[MS_MAX_COLUMNS];
  ms_system *system = ms_solver_room(ask->solver);
  if (system == NULL) return -1;
  if (!ms_system_of_pair(system, ask->domain, ask->read, ask->write, false)) return 0;
  ms_constraint row = {.constant = -sign * bound};
  row.at[MS_COLUMN_D(ask->cut)] = sign;
  row.at[MS_COLUMN_T(ask->cut)] = sign * (ask->own + 1); /* the writing one's is t + d */
  ms_system_bound(system, &row);
  return ms_solver_sample(ask->solver, system, point);
}

/* The least (sign -1) or greatest (sign 1) value that exists, within low .. high, where there is
 * one; nothing is cut off that may exist. */
static int64_t extreme(const question *ask, int64_t low, int64_t high, int64_t sign) {
  while (low < high) {
    int64_t middle = low + (high - low + (sign > 0)) / 2;
    bool there = exists(ask, middle, sign) != 0;
    if (sign > 0) {
      if (there) low = middle;
      if (!there) high = middle - 1;
    } else {
      if (there) high = middle;
      if (!there) low = middle + 1;
    }
  }
  return low;
}

static void extend(ms_round_read *read, const question *ask, int64_t last) {
  question sum = *ask;
  sum.own = 1;
  int64_t low = extreme(ask, -last, last, -1), high = extreme(ask, low, last, 1);
  if (low < read->least) read->least = low;
  if (high > read->most) read->most = high;
  bool wide = high - low > last / 2;
  int64_t first = wide ? extreme(&sum, 0, 2 * last, -1) : 0;
  int64_t end = wide ? extreme(&sum, first, 2 * last, 1) : 2 * last;
  if (first < read->sum_least) read->sum_least = first;
  if (end > read->sum_most) read->sum_most = end;
}

static void describe(const ms_walk *walk, ms_solver *solver, const ms_domain *domain, uint32_t cut,
                     const ms_access *access, ms_round_read *read) {
  const ms_node *node =
      access->node == NULL ? walk->loop->body : ms_inline_place(walk, access->node);
  int64_t last = ms_extent_of(domain, cut) - 1;
  *read = (ms_round_read){.version = version_of(walk, access),
                          .line = node->line,
                          .least = last + 1,
                          .most = -last - 1,
                          .sum_least = 2 * last + 1,
                          .sum_most = -1};
  for (uint32_t w = 0; w < walk->accesses.count; w++) {
    const ms_access *write = walk->accesses.item[w];
    if (!is_pair(walk, access, write)) continue;
    question ask = {solver, domain, access, write, cut, -1};
    if (exists(&ask, -last, 1) != 0) extend(read, &ask, last);
  }
}

int ms_rounds_find(const ms_walk *walk, ms_solver *solver, const ms_domain *domain, uint32_t cut,
                   ms_round_read **reads, uint32_t *count) {
  *count = 0;
  *reads = ms_arena_take(walk->arena, walk->accesses.count + 1, sizeof **reads);
  if (*reads == NULL) return -1;
  for (uint32_t a = 0; a < walk->accesses.count; a++) {
    const ms_access *access = walk->accesses.item[a];
    bool versioned = false;
    for (uint32_t w = 0; w < walk->accesses.count && !versioned; w++)
      versioned = is_pair(walk, access, walk->accesses.item[w]);
    if (versioned) describe(walk, solver, domain, cut, access, &(*reads)[(*count)++]);
  }
  return 0;
}
