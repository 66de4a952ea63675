/* SPDX-License-Identifier: MIT
 *
 * Systems: see system.h. */
#include "depend/system.h"

#include <string.h>

/* A form of the iteration t (`later`: of t + d) with inner variables at `inner`. */
static ms_constraint row_of(const ms_form *form, bool later, uint32_t inner) {
  ms_constraint row = {0};
  row.constant = form->constant;
  for (uint32_t k = 0; k < MS_MAX_DIMS; k++) {
    row.at[MS_COLUMN_T(k)] = form->at[k];
    if (later) row.at[MS_COLUMN_D(k)] = form->at[k];
  }
  for (uint32_t k = 0; k < MS_MAX_INNER; k++) row.at[inner + k] = form->at[MS_MAX_DIMS + k];
  row.at[MS_COLUMN_STEADY] = form->at[MS_VAR_STEADY];
  return row;
}

static void add(ms_constraint *row, const ms_constraint *other, int64_t scale) {
  row->constant += scale * other->constant;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) row->at[c] += scale * other->at[c];
}

static bool is_constant(const ms_constraint *row) {
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) {
    if (row->at[c] != 0) return false;
  }
  return true;
}

void ms_system_bound(ms_system *system, const ms_constraint *row) {
  if (system->inequality_count < MS_MAX_INEQUALITY)
    system->inequality[system->inequality_count++] = *row;
}

void ms_system_bound_pair(ms_system *system, const ms_form *a, const ms_form *b) {
  ms_constraint row = row_of(a, false, MS_COLUMN_A(0)), other = row_of(b, true, MS_COLUMN_B(0));
  add(&row, &other, 1);
  ms_system_bound(system, &row);
}

static void add_form(ms_system *system, const ms_form *form, bool later, uint32_t inner) {
  ms_constraint row = row_of(form, later, inner);
  ms_system_bound(system, &row);
}

static void add_bounds(ms_system *system, const ms_bounds *bounds, bool later, uint32_t inner) {
  for (uint32_t e = 0; e < bounds->count; e++) add_form(system, &bounds->form[e], later, inner);
}

static void add_inner(ms_system *system, const ms_access *access, bool later, uint32_t inner) {
  for (uint32_t k = 0; k < access->inner_count; k++) {
    system->used[inner + k] = true;
    add_form(system, &access->inner[k].low, later, inner);
    add_form(system, &access->inner[k].high, later, inner);
  }
  for (uint32_t g = 0; g < access->guard_count; g++)
    add_form(system, &access->guard[g], later, inner);
}

/* The element is one: subscripts that both know are equal. False when two constants differ. */
static bool add_subscripts(ms_system *system, const ms_access *a, const ms_access *b) {
  uint32_t count =
      a->subscript_count < b->subscript_count ? a->subscript_count : b->subscript_count;
  for (uint32_t s = 0; s < count; s++) {
    if (!a->subscript[s].known || !b->subscript[s].known) continue;
    ms_constraint row = row_of(&a->subscript[s].form, false, MS_COLUMN_A(0));
    ms_constraint other = row_of(&b->subscript[s].form, true, MS_COLUMN_B(0));
    add(&row, &other, -1);
    if (!is_constant(&row)) {
      system->equal[system->equal_count++] = row;
    } else if (row.constant != 0) {
      return false;
    }
  }
  return true;
}

static bool column_in_rows(const ms_system *system, uint32_t column) {
  for (uint32_t r = 0; r < system->equal_count; r++) {
    if (system->equal[r].at[column] != 0) return true;
  }
  for (uint32_t r = 0; r < system->inequality_count; r++) {
    if (system->inequality[r].at[column] != 0) return true;
  }
  return false;
}

/* 0 <= plus * column [+ also] <= extent - 1 */
static void add_box(ms_system *system, uint32_t column, int32_t also, int64_t low, int64_t high) {
  ms_constraint row = {0};
  row.constant = -low;
  row.at[column] = 1;
  if (also >= 0) row.at[also] = 1;
  ms_system_bound(system, &row);
  row.constant = high;
  row.at[column] = -1;
  if (also >= 0) row.at[also] = -1;
  ms_system_bound(system, &row);
}

static void add_boxes(ms_system *system, const ms_domain *domain, bool reduce) {
  bool needed[MS_MAX_DIMS];
  for (uint32_t k = 0; k < domain->dim_count; k++)
    needed[k] = !reduce || !domain->dim[k].box || column_in_rows(system, MS_COLUMN_T(k));
  for (uint32_t k = 0; k < domain->dim_count; k++) {
    int64_t last = domain->dim[k].extent - 1;
    system->used[MS_COLUMN_D(k)] = true;
    system->used[MS_COLUMN_T(k)] = needed[k];
    if (!domain->dim[k].box) continue;
    if (needed[k]) {
      add_box(system, MS_COLUMN_T(k), -1, 0, last);
      add_box(system, MS_COLUMN_T(k), (int32_t)MS_COLUMN_D(k), 0, last);
    } else {
      add_box(system, MS_COLUMN_D(k), -1, -last, last);
    }
  }
}

static bool constants_hold(const ms_system *system) {
  for (uint32_t r = 0; r < system->inequality_count; r++) {
    if (system->inequality[r].constant < 0 && is_constant(&system->inequality[r])) return false;
  }
  return true;
}

bool ms_system_of_pair(ms_system *system, const ms_domain *domain, const ms_access *a,
                       const ms_access *b, bool reduce) {
  memset(system->used, 0, sizeof system->used);
  system->equal_count = 0;
  system->inequality_count = 0;
  if (!add_subscripts(system, a, b)) return false;
  add_inner(system, a, false, MS_COLUMN_A(0));
  add_inner(system, b, true, MS_COLUMN_B(0));
  for (uint32_t k = 0; k < domain->dim_count; k++) {
    if (domain->dim[k].box) continue;
    for (int later = 0; later < 2; later++) {
      uint32_t inner = later ? MS_COLUMN_B(0) : MS_COLUMN_A(0);
      add_bounds(system, &domain->dim[k].low, later, inner);
      add_bounds(system, &domain->dim[k].high, later, inner);
    }
  }
  add_boxes(system, domain, reduce);
  if (domain->steady != NULL) {
    system->used[MS_COLUMN_STEADY] = true;
    add_box(system, MS_COLUMN_STEADY, -1, domain->steady->least, domain->steady->most);
  }
  return constants_hold(system);
}

static uint32_t find_root(uint32_t *parent, uint32_t column) {
  while (parent[column] != column) column = parent[column] = parent[parent[column]];
  return column;
}

/* The unknowns of a system: rows mention no other columns. */
typedef struct unknowns {
  uint32_t count, column[MS_MAX_COLUMNS];
} unknowns;

static unknowns unknowns_of(const ms_system *system) {
  unknowns found;
  found.count = 0;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) {
    if (system->used[c]) found.column[found.count++] = c;
  }
  return found;
}

static void unite_row(uint32_t *parent, const unknowns *all, const ms_constraint *row) {
  int32_t first = -1;
  for (uint32_t k = 0; k < all->count; k++) {
    uint32_t c = all->column[k];
    if (row->at[c] == 0) continue;
    if (first < 0) {
      first = (int32_t)c;
    } else {
      parent[find_root(parent, c)] = find_root(parent, (uint32_t)first);
    }
  }
}

uint32_t ms_system_parts(const ms_system *system, uint32_t *part) {
  uint32_t parent[MS_MAX_COLUMNS], number[MS_MAX_COLUMNS], count = 0;
  unknowns all = unknowns_of(system);
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++) {
    parent[c] = c;
    part[c] = number[c] = UINT32_MAX;
  }
  for (uint32_t r = 0; r < system->equal_count; r++) unite_row(parent, &all, &system->equal[r]);
  for (uint32_t r = 0; r < system->inequality_count; r++) {
    unite_row(parent, &all, &system->inequality[r]);
  }
  for (uint32_t k = 0; k < all.count; k++) {
    uint32_t c = all.column[k], root = find_root(parent, c);
    if (number[root] == UINT32_MAX) number[root] = count++;
    part[c] = number[root];
  }
  return count;
}

static bool row_in_part(const ms_constraint *row, const unknowns *all, const uint32_t *part,
                        uint32_t wanted) {
  for (uint32_t k = 0; k < all->count; k++) {
    uint32_t c = all->column[k];
    if (row->at[c] != 0) return part[c] == wanted;
  }
  return false;
}

void ms_system_extract(const ms_system *system, const uint32_t *part, uint32_t wanted,
                       ms_system *component) {
  unknowns all = unknowns_of(system);
  component->equal_count = 0;
  component->inequality_count = 0;
  for (uint32_t c = 0; c < MS_MAX_COLUMNS; c++)
    component->used[c] = system->used[c] && part[c] == wanted;
  for (uint32_t r = 0; r < system->equal_count; r++) {
    if (row_in_part(&system->equal[r], &all, part, wanted))
      component->equal[component->equal_count++] = system->equal[r];
  }
  for (uint32_t r = 0; r < system->inequality_count; r++) {
    if (row_in_part(&system->inequality[r], &all, part, wanted))
      component->inequality[component->inequality_count++] = system->inequality[r];
  }
}
