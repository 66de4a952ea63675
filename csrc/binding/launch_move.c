/* SPDX-License-Identifier: MIT
 *
 * Other arrays in the place of those that a launch was made with: see launch_move.h. */
#include "binding/launch_move.h"

#include <string.h>

/* Arrays and rows in Lua begin like this (lua/meissa/array/element.lua). */
typedef struct array_value {
  ms_array *array;
  void *elements;
  int32_t generation, extent;
} array_value;

typedef struct row_value {
  array_value value;
  long long stride;
} row_value;

enum { IS_ARRAY = 1, IS_ROW = 2 };

/* ---- homes ---- */

static bool has_labels(const ms_array *array) {
  for (int d = 0; d < array->dim_count; d++) {
    if (array->labels[d] != NULL) return true;
  }
  return false;
}

static bool is_plain(const ms_array *array) {
  return array->sparse == 0 && array->store != NULL && array->store->scratch == 0 &&
         !has_labels(array);
}

/* Whether another array of the launch, or its space, has the store of the `own` one. */
static bool is_shared(const ms_launch *of, const ms_captured_value *own) {
  const ms_store *store = own->array->store;
  for (uint32_t c = 0; c < of->capture_count; c++) {
    const ms_array *other = of->captures[c].array;
    if (&of->captures[c] != own && other != NULL && other->store == store) return true;
  }
  return of->space.array != NULL && of->space.array->store == store;
}

/* The memory of the array among all that the loop may write. */
static ms_small_span *span_of(const ms_launch *of, const ms_array *array) {
  char *first = array->data;
  for (int d = 0; d < array->dim_count; d++) {
    int64_t reach = (array->dims[d] - 1) * array->strides[d];
    if (reach < 0) first += reach * (int64_t)ms_type_of(array->type)->size;
  }
  for (uint32_t s = 0; s < of->run->written_count; s++) {
    if (of->run->written[s].data == first) return &of->run->written[s];
  }
  return NULL;
}

static void find_home(const ms_launch *of, ms_captured_value *each) {
  const ms_array *array = each->array;
  ms_array_home *home = &each->home;
  if (array == NULL || array->id == 0) return;
  home->store = array->store;
  if (!each->home.movable || array->count == 0 || !is_plain(array) || is_shared(of, each)) {
    home->movable = false;
    return;
  }
  home->frozen = array->writable == 0;
  home->type = array->type;
  home->dim_count = array->dim_count;
  memcpy(home->dims, array->dims, sizeof home->dims);
  memcpy(home->strides, array->strides, sizeof home->strides);
  home->data = array->data;
  if (!each->written) return;
  home->span = span_of(of, array);
  home->movable = home->span != NULL;
  if (home->movable) home->span_data = home->span->data;
}

void ms_launch_move_find_homes(ms_launch *of) {
  for (uint32_t c = 0; c < of->capture_count; c++) {
    /* Merging may write arrays that the body does not name. */
    if (of->run->merge_count > 0) of->captures[c].home.movable = false;
    find_home(of, &of->captures[c]);
  }
  if (of->space.array != NULL) of->space.home.store = of->space.array->store;
}

/* ---- other arrays ---- */

static bool has_shape(const ms_array_home *home, int dim_count, const int64_t *dims,
                      const int64_t *strides) {
  size_t size = (size_t)dim_count * sizeof *dims;
  return home->dim_count == dim_count && memcmp(home->dims, dims, size) == 0 &&
         memcmp(home->strides, strides, size) == 0;
}

bool ms_launch_move(lua_State *L, ms_launch *of, ms_captured_value *each, int kinds) {
  const ms_array_home *home = &each->home;
  if (!home->movable) return false;
  lua_pushvalue(L, kinds);
  lua_pushvalue(L, -2);
  lua_call(L, 1, 1);
  int kind = (int)lua_tonumber(L, -1);
  lua_pop(L, 1);
  if (kind != IS_ARRAY && kind != IS_ROW) return false;
  const row_value *row = lua_topointer(L, -1);
  const ms_array *array = row->value.array;
  int32_t generation = row->value.generation;
  if (array->generation != generation || array->readable != generation) return false;
  if (each->written && array->writable != generation) return false;
  if (!is_plain(array) || array->type != home->type) return false;
  if (home->frozen != (array->writable == 0)) return false;
  if (kind == IS_ROW) {
    const int64_t extent = row->value.extent, stride = row->stride;
    if (!has_shape(home, 1, &extent, &stride)) return false;
  } else if (!has_shape(home, array->dim_count, array->dims, array->strides)) {
    return false;
  }
  each->data = kind == IS_ROW ? row->value.elements : array->data;
  each->store = array->store;
  each->moved = true;
  of->moved++;
  return true;
}

/* The store of a captured array now. */
static const ms_store *store_of(const ms_captured_value *each) {
  return each->moved ? each->store : each->home.store;
}

bool ms_launch_move_is_apart(const ms_launch *of) {
  if (of->moved == 0) return true;
  for (uint32_t c = 0; c < of->capture_count; c++) {
    const ms_captured_value *each = &of->captures[c];
    if (!each->moved) continue;
    for (uint32_t k = 0; k < of->capture_count; k++) {
      if (k != c && store_of(&of->captures[k]) == each->store) return false;
    }
    if (of->space.home.store == each->store) return false;
  }
  return true;
}

/* Where the elements of an array begin, and the memory that is kept of it, are moved alike. */
static void set_place(const ms_captured_value *each, char *data) {
  const ms_array_home *home = &each->home;
  if (home->pointer != NULL) home->pointer->pointer = data;
  if (home->span != NULL) home->span->data = (char *)home->span_data + (data - (char *)home->data);
}

void ms_launch_move_point(const ms_launch *of) {
  if (of->moved == 0) return;
  for (uint32_t c = 0; c < of->capture_count; c++) {
    if (of->captures[c].moved) set_place(&of->captures[c], of->captures[c].data);
  }
}

void ms_launch_move_point_home(const ms_launch *of) {
  if (of->moved == 0) return;
  for (uint32_t c = 0; c < of->capture_count; c++) {
    if (of->captures[c].moved) set_place(&of->captures[c], of->captures[c].home.data);
  }
}
