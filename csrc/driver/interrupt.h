/* SPDX-License-Identifier: MIT
 *
 * Interrupt: Ctrl-C while the driver waits for its workers.
 *
 * Our handler is installed only between begin and end, so that compiled loops never see the stock
 * one and the host's own is untouched; a host that ignores SIGINT is not interrupted. Several
 * threads may wait at once: all of them are told. */
#ifndef MS_DRIVER_INTERRUPT_H
#define MS_DRIVER_INTERRUPT_H

#include <stdbool.h>

#include "base/api.h"

/* Starts listening. Returns a descriptor that becomes readable with the signal, -1 for none. */
MS_API int ms_interrupt_begin(void);

/* True when the signal came since the first of the present listeners began. */
MS_API bool ms_interrupt_seen(void);

/* Stops listening; the last one to stop puts the previous handler back. A signal that came too late
 * to interrupt anything (not `taken`) is raised again for that handler. */
MS_API void ms_interrupt_end(bool taken);

#endif
