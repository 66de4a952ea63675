/* SPDX-License-Identifier: MIT
 *
 * What the C texts of bench/ compute with: -DELEMENT and -DFAST as kernels.c has them. */
#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

#ifdef FAST
typedef ELEMENT number;
#else
typedef double number;
#endif

#define RESTRICT __restrict__

#endif
