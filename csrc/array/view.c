/* SPDX-License-Identifier: MIT
 *
 * Views: see view.h. */
#include "array/view.h"

#include <string.h>

/* Drops dimensions of extent 1 and merges neighbours that lie in memory as one. */
static void merge_dims(ms_view *view) {
  int last = -1;
  for (int d = 0; d < view->dim_count; d++) {
    if (view->dims[d] == 1) continue;
    if (last >= 0 && view->strides[last] == view->strides[d] * view->dims[d]) {
      view->dims[last] *= view->dims[d];
      view->strides[last] = view->strides[d];
    } else {
      last++;
      view->dims[last] = view->dims[d];
      view->strides[last] = view->strides[d];
    }
  }
  if (last < 0) {
    last = 0;
    view->dims[0] = view->count;
    view->strides[0] = 1;
  }
  view->dim_count = last + 1;
}

ms_view ms_view_of(const ms_array *array) {
  if (array->sparse) return ms_view_row(array->type, array->data, 1, array->count);
  ms_view view = {.ops = ms_type_of(array->type),
                  .type = array->type,
                  .dim_count = array->dim_count,
                  .count = array->count,
                  .data = array->data};
  memcpy(view.dims, array->dims, sizeof view.dims);
  memcpy(view.strides, array->strides, sizeof view.strides);
  merge_dims(&view);
  return view;
}

ms_view ms_view_row(int type, void *data, int64_t stride, int64_t count) {
  return (ms_view){.ops = ms_type_of(type),
                   .type = type,
                   .dim_count = 1,
                   .dims = {count},
                   .strides = {stride},
                   .count = count,
                   .data = data};
}

void *ms_view_direct(const ms_view *view, int64_t first, int64_t count) {
  if (view->dim_count != 1 || (view->strides[0] != 1 && count > 1)) return NULL;
  return view->data + first * view->strides[0] * (int64_t)view->ops->size;
}

static void copy_run_4(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                       int64_t count) {
  for (int64_t i = 0; i < count; i++) memcpy(to + i * to_stride * 4, from + i * from_stride * 4, 4);
}

static void copy_run_8(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                       int64_t count) {
  for (int64_t i = 0; i < count; i++) memcpy(to + i * to_stride * 8, from + i * from_stride * 8, 8);
}

/* Copies `count` elements, `stride` apart in the view, side by side in the buffer. */
static void copy_run(const ms_view *view, char *at, int64_t stride, char *buffer, int64_t count,
                     bool out) {
  size_t size = view->ops->size;
  if (stride == 1) {
    memcpy(out ? buffer : at, out ? at : buffer, (size_t)count * size);
  } else if (size == 4) {
    copy_run_4(out ? buffer : at, out ? 1 : stride, out ? at : buffer, out ? stride : 1, count);
  } else {
    copy_run_8(out ? buffer : at, out ? 1 : stride, out ? at : buffer, out ? stride : 1, count);
  }
}

/* Walks elements [first, first + count) run by run along the last dimension. */
static void walk(const ms_view *view, int64_t first, int64_t count, char *buffer, bool out) {
  if (count <= 0) return;
  int64_t size = (int64_t)view->ops->size, at[MS_ARRAY_DIMS], offset = 0, rest = first;
  int last = view->dim_count - 1;
  for (int d = last; d >= 0; d--) {
    at[d] = rest % view->dims[d];
    rest /= view->dims[d];
    offset += at[d] * view->strides[d];
  }
  while (count > 0) {
    int64_t run = view->dims[last] - at[last];
    if (run > count) run = count;
    copy_run(view, view->data + offset * size, view->strides[last], buffer, run, out);
    buffer += run * size;
    count -= run;
    offset += run * view->strides[last];
    at[last] += run;
    for (int d = last; d > 0 && at[d] == view->dims[d]; d--) {
      offset += view->strides[d - 1] - at[d] * view->strides[d];
      at[d] = 0;
      at[d - 1]++;
    }
  }
}

void ms_view_gather(const ms_view *view, int64_t first, int64_t count, void *out) {
  walk(view, first, count, out, true);
}

void ms_view_scatter(const ms_view *view, int64_t first, int64_t count, const void *in) {
  /* Only read from: `walk` copies the other way. */
  walk(view, first, count, (char *)(uintptr_t)in, false);
}
