/* SPDX-License-Identifier: MIT
 *
 * The analyser's output as a Lua table: the plan as users see it. */
#include <lauxlib.h>
#include <lua.h>

#include "binding/field.h"
#include "binding/lua.h"
#include "depend/inspector.h"
#include "depend/mapping.h"

/* "self.W": the path of a capture as far as it leads to the bound value. */
static void push_path(lua_State *L, const ms_loop *loop, const ms_binding *bindings,
                      uint32_t index) {
  if (index >= loop->capture_count && bindings[index].name != NULL) {
    lua_pushstring(L, bindings[index].name);
    return;
  }
  if (index >= loop->capture_count) {
    lua_pushfstring(L, "(reached array %d)", (int)(index - loop->capture_count) + 1);
    return;
  }
  const ms_capture *capture = &loop->captures[index];
  lua_pushstring(L, capture->root);
  for (uint32_t f = 0; f < bindings[index].depth; f++) {
    lua_pushfstring(L, ".%s", capture->fields[f]);
    lua_concat(L, 2);
  }
}

/* Whether a binding is the next version of what has its name, see syntax/version_split.h. */
static bool is_next(const ms_loop *loop, uint32_t binding) {
  const ms_symbol *symbol = binding < loop->capture_count ? loop->captures[binding].symbol : NULL;
  return symbol != NULL && symbol->next;
}

static void push_component(lua_State *L, const ms_component *component) {
  if (component->sign == 'n') {
    lua_pushnumber(L, (double)component->value);
  } else {
    lua_pushlstring(L, &component->sign, 1);
  }
}

static void set_distances(lua_State *L, const ms_verdict *verdict) {
  lua_createtable(L, (int)verdict->distance_count, 0);
  for (uint32_t p = 0; p < verdict->distance_count; p++) {
    lua_createtable(L, (int)verdict->dim_count, 0);
    for (uint32_t k = 0; k < verdict->dim_count; k++) {
      push_component(L, &verdict->distances[p].at[k]);
      lua_rawseti(L, -2, (int)k + 1);
    }
    lua_rawseti(L, -2, (int)p + 1);
  }
  lua_setfield(L, -2, "distances");
}

static void set_choice(lua_State *L, const ms_verdict *verdict) {
  ms_field_set_string(L, "verdict", ms_decision_name(verdict->decision));
  ms_field_set_string(L, "strategy", ms_strategy_name(verdict->strategy));
  lua_createtable(L, (int)verdict->dim_count, 0);
  for (uint32_t k = 0; k < verdict->dim_count; k++) {
    lua_pushstring(L, verdict->index_name[k]);
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, "indices");
  lua_createtable(L, (int)verdict->strategy_dims, 0);
  for (uint32_t k = 0; k < verdict->strategy_dims; k++) {
    lua_pushstring(L, verdict->index_name[verdict->strategy_dim[k]]);
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, "dims");
  lua_createtable(L, (int)verdict->strategy_dims, 0);
  for (uint32_t k = 0; k < verdict->strategy_dims; k++) {
    lua_pushnumber(L, verdict->strategy_dim[k] + 1);
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, "cut_dims");
  if (verdict->sequential > 0) ms_field_set_number(L, "sequential", verdict->sequential);
  if (!verdict->has_row) return;
  lua_createtable(L, (int)verdict->dim_count, 0);
  for (uint32_t k = 0; k < verdict->dim_count; k++) {
    lua_pushnumber(L, (double)verdict->row[k]);
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, "row");
}

/* {constant, coefficient of each dimension before `dim`, ...} of each sum */
static void set_sums(lua_State *L, const char *key, const ms_index_sum *sums, uint32_t count,
                     uint32_t dim) {
  lua_createtable(L, (int)count, 0);
  for (uint32_t s = 0; s < count; s++) {
    lua_createtable(L, (int)dim + 1, 0);
    lua_pushnumber(L, (double)sums[s].constant);
    lua_rawseti(L, -2, 1);
    for (uint32_t k = 0; k < dim; k++) {
      lua_pushnumber(L, (double)sums[s].at[k]);
      lua_rawseti(L, -2, (int)k + 2);
    }
    lua_rawseti(L, -2, (int)s + 1);
  }
  lua_setfield(L, -2, key);
}

/* extents[k] = {lo, hi, step}; with lists of sums `low` and `high` where outer indices bound it. */
static void set_extents(lua_State *L, const ms_verdict *verdict) {
  lua_createtable(L, (int)verdict->dim_count, 0);
  for (uint32_t k = 0; k < verdict->dim_count; k++) {
    const ms_extent *extent = &verdict->extent[k];
    const int64_t parts[] = {extent->range.lo, extent->range.hi, extent->range.step};
    lua_createtable(L, 3, 2);
    for (int part = 0; part < 3; part++) {
      lua_pushnumber(L, (double)parts[part]);
      lua_rawseti(L, -2, part + 1);
    }
    if (extent->bounded) {
      set_sums(L, "low", extent->low, extent->low_count, k);
      set_sums(L, "high", extent->high, extent->high_count, k);
    }
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, "extents");
}

static void set_iteration(lua_State *L, const char *key, const int64_t *at, uint32_t dims) {
  lua_createtable(L, (int)dims, 0);
  for (uint32_t k = 0; k < dims; k++) {
    lua_pushnumber(L, (double)at[k]);
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, key);
}

/* Dimensions count from 1 here; absent where the array follows none. */
static void push_array(lua_State *L, const ms_verdict *verdict, uint32_t number) {
  const ms_array_plan *array = &verdict->arrays[number];
  static const char *const access[] = {"none", "read", "write", "read+write"};
  lua_createtable(L, 0, 8);
  ms_field_set_string(L, "access", access[(array->own_read ? 1 : 0) + (array->own_write ? 2 : 0)]);
  ms_field_set_string(L, "memory", access[(array->read ? 1 : 0) + (array->written ? 2 : 0)]);
  ms_field_set_string(L, "placement", ms_placement_name(array->placement));
  ms_field_set_string(L, "whole", array->whole);
  ms_field_set_number(L, "binding", array->binding + 1);
  if (array->array_dim >= 0) {
    ms_field_set_number(L, "array_dim", array->array_dim + 1);
    ms_field_set_number(L, "scale", (double)array->scale);
    ms_field_set_number(L, "offset", (double)array->offset);
  }
  if (array->loop_dim >= 0) {
    ms_field_set_number(L, "loop_dim", array->loop_dim + 1);
    ms_field_set_string(L, "follows", verdict->index_name[array->loop_dim]);
  }
}

/* prefetch = {text =, arrays = the bindings of the marked arrays, stored = those of the ones of
 * which writes are marked, too; in the order of their marks} */
static void set_prefetch(lua_State *L, const ms_verdict *verdict) {
  if (verdict->prefetch == NULL) return;
  int count[2] = {0, 0};
  lua_createtable(L, 0, 3);
  ms_field_set_string(L, "text", verdict->prefetch);
  lua_newtable(L);
  lua_newtable(L);
  for (uint32_t a = 0; a < verdict->array_count; a++) {
    const ms_array_plan *array = &verdict->arrays[a];
    for (int k = 0; k < 2; k++) {
      if (!(k == 0 ? array->marked : array->stored)) continue;
      lua_pushnumber(L, array->binding + 1);
      lua_rawseti(L, k - 3, ++count[k]);
    }
  }
  lua_setfield(L, -3, "stored");
  lua_setfield(L, -2, "arrays");
  lua_setfield(L, -2, "prefetch");
}

static void set_bindings(lua_State *L, const char *key, const uint32_t *bindings, uint32_t count) {
  lua_createtable(L, (int)count, 0);
  for (uint32_t k = 0; k < count; k++) {
    lua_pushnumber(L, bindings[k] + 1);
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, key);
}

/* collisions = {stores =, looks =, levels = texts, arrays = bindings, levelled = those of
 * `levels`}: see inspector.h */
static void set_collisions(lua_State *L, const ms_collisions *collisions) {
  if (collisions == NULL) return;
  lua_createtable(L, 0, 3);
  ms_field_set_string(L, "stores", collisions->stores);
  ms_field_set_string(L, "looks", collisions->looks);
  ms_field_set_string(L, "levels", collisions->levels);
  set_bindings(L, "arrays", collisions->binding, collisions->count);
  set_bindings(L, "levelled", collisions->level_binding, collisions->level_count);
  lua_setfield(L, -2, "collisions");
}

/* writes = {low =, high =, whole =, follow = for each cut dimension that all follow {loop_dim =,
 * array_dim =, scale =, offset =}} */
static void set_writes(lua_State *L, const ms_written *writes, uint32_t dims) {
  lua_createtable(L, 0, 4);
  set_iteration(L, "low", writes->low, dims);
  set_iteration(L, "high", writes->high, dims);
  ms_field_set_boolean(L, "whole", writes->whole);
  ms_field_set_boolean(L, "steady", writes->steady);
  lua_createtable(L, (int)writes->follow_count, 0);
  for (uint32_t k = 0; k < writes->follow_count; k++) {
    const ms_followed *follow = &writes->follow[k];
    lua_createtable(L, 0, 4);
    ms_field_set_number(L, "loop_dim", follow->loop_dim + 1);
    ms_field_set_number(L, "array_dim", follow->array_dim + 1);
    ms_field_set_number(L, "scale", (double)follow->scale);
    ms_field_set_number(L, "offset", (double)follow->offset);
    lua_rawseti(L, -2, (int)k + 1);
  }
  lua_setfield(L, -2, "follow");
  lua_setfield(L, -2, "writes");
}

static void set_arrays(lua_State *L, const ms_loop *loop, const ms_binding *bindings,
                       const ms_verdict *verdict) {
  lua_createtable(L, 0, (int)verdict->array_count);
  for (uint32_t a = 0; a < verdict->array_count; a++) {
    const ms_array_plan *array = &verdict->arrays[a];
    push_path(L, loop, bindings, array->binding);
    if (is_next(loop, array->binding)) {
      lua_pushliteral(L, " (next)"); /* the last version has the name */
      lua_concat(L, 2);
    }
    push_array(L, verdict, a);
    const int64_t *dims;
    uint32_t count = ms_mapping_dims(&bindings[array->binding], &dims);
    if (array->written) set_writes(L, &array->writes, count);
    lua_settable(L, -3);
  }
  lua_setfield(L, -2, "arrays");
}

/* round_reads: {{version =, line =, least =, most =, sum_least =, sum_most =}, ...} */
static void set_round_reads(lua_State *L, const ms_verdict *verdict) {
  if (verdict->strategy != MS_ROUNDS) return;
  lua_createtable(L, (int)verdict->round_read_count, 0);
  for (uint32_t r = 0; r < verdict->round_read_count; r++) {
    const ms_round_read *read = &verdict->round_reads[r];
    lua_createtable(L, 0, 6);
    ms_field_set_number(L, "version", read->version);
    ms_field_set_number(L, "line", read->line);
    ms_field_set_number(L, "least", (double)read->least);
    ms_field_set_number(L, "most", (double)read->most);
    ms_field_set_number(L, "sum_least", (double)read->sum_least);
    ms_field_set_number(L, "sum_most", (double)read->sum_most);
    lua_rawseti(L, -2, (int)r + 1);
  }
  lua_setfield(L, -2, "round_reads");
}

static void set_scalars(lua_State *L, const ms_loop *loop, const ms_binding *bindings,
                        const ms_verdict *verdict) {
  static const char *const roles[] = {"broadcast", "reduction", "private", "carried",
                                      "sliced",    "listed",    "counted", "marked"};
  lua_createtable(L, 0, (int)verdict->scalar_count);
  for (uint32_t s = 0; s < verdict->scalar_count; s++) {
    const ms_scalar_plan *scalar = &verdict->scalars[s];
    push_path(L, loop, bindings, scalar->capture);
    lua_createtable(L, 0, 4);
    ms_field_set_string(L, "role", roles[scalar->role]);
    ms_field_set_number(L, "capture", scalar->capture + 1);
    if (scalar->role == MS_ROLE_REDUCTION) {
      ms_field_set_string(L, "op", ms_reduce_op_name(scalar->op));
      ms_field_set_string(L, "wins", ms_reduce_wins_name(scalar->wins));
      if (scalar->op == MS_REDUCE_WITH) {
        push_path(L, loop, bindings, scalar->leader);
        lua_setfield(L, -2, "leader");
      }
      if (scalar->tie > 0) ms_field_set_string(L, "tie", ms_reduce_op_name(scalar->tie_op));
      if (scalar->gated) {
        push_path(L, loop, bindings, scalar->gate);
        lua_setfield(L, -2, "after");
      }
      if (scalar->unset) ms_field_set_string(L, "start", "nil");
    }
    if (scalar->role == MS_ROLE_COUNTED && !scalar->exact) ms_field_set_string(L, "op", "+");
    if (scalar->role == MS_ROLE_SLICED) ms_field_set_string(L, "indices", scalar->indices);
    lua_settable(L, -3);
  }
  lua_setfield(L, -2, "scalars");
}

static void set_place(lua_State *L, const char *key, const ms_place *place) {
  if (place->line == 0) return;
  lua_createtable(L, 0, 5);
  ms_field_set_number(L, "line", place->line);
  ms_field_set_number(L, "column", place->column);
  ms_field_set_number(L, "end_column", place->end_column);
  ms_field_set_string(L, "text", place->text);
  ms_field_set_string(L, "does", place->does);
  lua_setfield(L, -2, key);
}

static void push_reason(lua_State *L, const ms_verdict *verdict, const ms_reason *reason) {
  lua_createtable(L, 0, 8);
  ms_field_set_string(L, "code", reason->code);
  ms_field_set_string(L, "title", reason->title);
  ms_field_set_string(L, "message", reason->message);
  ms_field_set_string(L, "distance", reason->distance);
  set_place(L, "first", &reason->first);
  set_place(L, "second", &reason->second);
  if (reason->has_witness) {
    lua_createtable(L, 0, 2);
    set_iteration(L, "from", reason->from, verdict->dim_count);
    set_iteration(L, "to", reason->to, verdict->dim_count);
    lua_setfield(L, -2, "witness");
  }
  lua_createtable(L, MS_MAX_FIXES, 0);
  for (int f = 0; f < MS_MAX_FIXES && reason->fix[f] != NULL; f++) {
    lua_pushstring(L, reason->fix[f]);
    lua_rawseti(L, -2, f + 1);
  }
  lua_setfield(L, -2, "fixes");
}

void ms_lua_push_verdict(lua_State *L, const ms_loop *loop, const ms_binding *bindings,
                         const ms_verdict *verdict) {
  luaL_checkstack(L, 8, "plan");
  lua_createtable(L, 0, 10);
  set_choice(L, verdict);
  set_extents(L, verdict);
  set_distances(L, verdict);
  set_arrays(L, loop, bindings, verdict);
  set_prefetch(L, verdict);
  set_collisions(L, verdict->collisions);
  if (verdict->stranger != NULL) {
    ms_field_set_string(L, "stranger", verdict->stranger);
    ms_field_set_number(L, "stranger_line", verdict->stranger_line);
  }
  set_round_reads(L, verdict);
  set_scalars(L, loop, bindings, verdict);
  lua_createtable(L, (int)verdict->reason_count, 0);
  for (uint32_t r = 0; r < verdict->reason_count; r++) {
    push_reason(L, verdict, &verdict->reasons[r]);
    lua_rawseti(L, -2, (int)r + 1);
  }
  lua_setfield(L, -2, "reasons");
}
