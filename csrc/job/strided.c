/* SPDX-License-Identifier: MIT
 *
 * Strided: see strided.h. */
#include "job/strided.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
  _mm_sfence(); /* others see it before what is stored next */
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

/* Walks the sequence a run at a time: runs are the innermost dimensions that lie densely. */
static void walk(const ms_strided *box, int64_t first, int64_t count, unsigned char *packed,
                 int way) {
  uint32_t inner = box->dim_count - 1;
  int64_t length = box->dims[inner], stride = box->strides[inner];
  while (inner > 0 && box->strides[inner - 1] == length * stride) length *= box->dims[--inner];
  while (count > 0) {
    int64_t at = first % length, rest = first / length, offset = at * stride;
    for (uint32_t d = inner; d-- > 0;) {
      offset += rest % box->dims[d] * box->strides[d];
      rest /= box->dims[d];
    }
    int64_t run = length - at < count ? length - at : count;
    copy_run(box->data + offset * (int64_t)box->element, stride, packed, run, box->element, way);
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
