/* SPDX-License-Identifier: MIT
 *
 * Context: ZeroMQ's, made when there is room for it.
 *
 * ZeroMQ ends the process when it gets no descriptor or thread for its own use. So descriptors and
 * threads are asked for here first, as many as it is going to need, and given back. */
#ifndef MS_NET_CONTEXT_H
#define MS_NET_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Whether this process may open so many descriptors more. MS_NET, naming the limit. */
int ms_context_descriptors(uint32_t needed, ms_error *err);

/* A context for a process that goes on to open `descriptors` more, beside ZeroMQ's own; with `keys`
 * one that checks keys, too. NULL: MS_NET, naming the limit. */
void *ms_context_new(uint32_t descriptors, bool keys, ms_error *err);

/* Ends what others wait for on sockets of the context. */
void ms_context_shut(void *context);

/* Shuts a context down and frees it, once all of its sockets are closed. */
void ms_context_end(void **context);

#endif
