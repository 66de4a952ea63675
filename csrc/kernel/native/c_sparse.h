/* SPDX-License-Identifier: MIT
 *
 * Writing C: rows and elements of sparse arrays that the loop only reads. */
#ifndef MS_KERNEL_NATIVE_C_SPARSE_H
#define MS_KERNEL_NATIVE_C_SPARSE_H

#include "kernel/native/writer.h"

/* A row of a sparse array: its number. */
ms_c_value ms_c_sparse_row(ms_writer *w, const ms_node *node);

/* X[i][j] of a sparse array: 0 where there is no entry. */
ms_c_value ms_c_sparse_element(ms_writer *w, const ms_node *node);

/* `for f, v in X[i]:nonzeros() do`; other generic loops are refused. */
void ms_c_sparse_for(ms_writer *w, const ms_node *loop);

#endif
