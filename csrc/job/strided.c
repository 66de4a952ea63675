/* SPDX-License-Identifier: MIT
 *
 * Strided: see strided.h. */
#include "job/strided.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/fingerprint.h"

int64_t ms_strided_count(const ms_strided *box) {
  int64_t count = 1;
  for (uint32_t d = 0; d < box->dim_count; d++) {
    if (box->dims[d] < 0 || __builtin_mul_overflow(count, box->dims[d], &count)) return -1;
  }
  return count;
}

ms_strided ms_strided_rows(const ms_strided *box, uint32_t dim, int64_t lo, int64_t hi) {
  ms_strided rows = *box;
  if (lo < 0) lo = 0;
  if (hi > box->dims[dim]) hi = box->dims[dim];
  if (hi < lo) {
    rows.dims[dim] = 0;
    return rows;
  }
  rows.dims[dim] = hi - lo;
  rows.data += lo * box->strides[dim] * (int64_t)box->element;
  return rows;
}

enum { GATHER, STREAM, SCATTER };

/* Copies without bringing the destination into the caches, where the machine can. */
static void stream(unsigned char *to, const unsigned char *from, size_t bytes) {
#ifdef __SSE2__
  size_t head = (16 - (uintptr_t)to % 16) % 16;
  if (head > bytes) head = bytes;
  memcpy(to, from, head);
  size_t at = head;
  for (; at + 64 <= bytes; at += 64) { /* a line, once it is aligned */
    const __m128i *in = (const __m128i *)(const void *)(from + at);
    __m128i *out = (__m128i *)(void *)(to + at);
    __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  memcpy(to + at, from + at, bytes - at);
  _mm_sfence(); /* what was stored past the cache is seen before what is stored next */
#else
  memcpy(to, from, bytes);
#endif
}

/* Copies one run whose elements lie `stride` elements apart in the box. */
static void copy_run(unsigned char *place, int64_t stride, unsigned char *packed, int64_t count,
                     size_t element, int way) {
  size_t bytes = (size_t)count * element;
  if (stride == 1 && way == STREAM) {
    stream(packed, place, bytes);
  } else if (stride == 1) {
    memcpy(way == SCATTER ? place : packed, way == SCATTER ? packed : place, bytes);
  } else {
    for (int64_t i = 0; i < count; i++) {
      memcpy(way == SCATTER ? place : packed, way == SCATTER ? packed : place, element);
      place += stride * (int64_t)element;
      packed += element;
    }
  }
}

ms_strided_run ms_strided_run_at(const ms_strided *box, int64_t first) {
  uint32_t outer = box->dim_count;
  int64_t length = 1, stride = 1;
  for (; outer > 0; outer--) { /* joins inner dimensions that lie in memory as one would */
    int64_t extent = box->dims[outer - 1], step = box->strides[outer - 1];
    if (extent == 1) continue;
    if (length == 1) stride = step;
    if (length > 1 && step != length * stride) break;
    length *= extent;
  }
  int64_t at = first % length, rest = first / length, offset = at * stride;
  for (uint32_t d = outer; d-- > 0;) {
    offset += rest % box->dims[d] * box->strides[d];
    rest /= box->dims[d];
  }
  return (ms_strided_run){box->data + offset * (int64_t)box->element, stride, length - at};
}

/* Walks the sequence a run at a time. */
static void walk(const ms_strided *box, int64_t first, int64_t count, unsigned char *packed,
                 int way) {
  while (count > 0) {
    ms_strided_run here = ms_strided_run_at(box, first);
    int64_t run = here.count < count ? here.count : count;
    copy_run(here.data, here.stride, packed, run, box->element, way);
    packed += (size_t)run * box->element;
    first += run;
    count -= run;
  }
}

void ms_strided_gather(const ms_strided *box, int64_t first, int64_t count, void *out) {
  walk(box, first, count, out, GATHER);
}

void ms_strided_stream(const ms_strided *box, int64_t first, int64_t count, void *out) {
  walk(box, first, count, out, STREAM);
}

void ms_strided_scatter(const ms_strided *box, int64_t first, int64_t count, const void *in) {
  walk(box, first, count, (unsigned char *)(size_t)in, SCATTER);
}

#define HASHED ((size_t)8 << 10) /* bytes at a time */

void ms_strided_fingerprint(const void *data, size_t element, uint32_t dim_count,
                            const int64_t *dims, const int64_t *strides, uint64_t print[2]) {
  ms_strided box = {
      .data = (unsigned char *)(size_t)data, .element = element, .dim_count = dim_count};
  memcpy(box.dims, dims, dim_count * sizeof *dims);
  memcpy(box.strides, strides, dim_count * sizeof *strides);
  unsigned char piece[2 * sizeof *print + HASHED]; /* begins with what is behind */
  size_t behind = 2 * sizeof *print;
  int64_t each = (int64_t)(HASHED / element), count = ms_strided_count(&box);
  for (int64_t first = 0; first < count; first += each) {
    int64_t take = count - first < each ? count - first : each;
    memcpy(piece, print, behind);
    ms_strided_gather(&box, first, take, piece + behind);
    ms_fingerprint(piece, behind + (size_t)take * element, print);
  }
}
