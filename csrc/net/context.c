/* SPDX-License-Identifier: MIT
 *
 * Context: see context.h. */
#include "net/context.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "net/zeromq.h"

/* What ZeroMQ opens for a context (its end, the thread that closes sockets and the one that moves
 * messages, each with a mailbox and a poll set) and two or three sockets; and its threads. */
#define OWN_DESCRIPTORS 12
#define OWN_THREADS     2

/* Opens so many descriptors, and closes them again: 0, or errno of the first that there was not. */
static int try_descriptors(uint32_t count) {
  int *opened = calloc((size_t)count + 1, sizeof *opened), why = opened == NULL ? ENOMEM : 0;
  uint32_t made = 0;
  while (why == 0 && made < count) {
    opened[made] = eventfd(0, EFD_CLOEXEC);
    if (opened[made] < 0) {
      why = errno;
    } else {
      made++;
    }
  }
  while (made > 0) close(opened[--made]);
  free(opened);
  return why;
}

/* A thread that is there until the lock is free. */
static void *stay(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  return NULL;
}

/* Whether so many threads can be there at one time: 0 or an errno. */
static int try_threads(uint32_t count) {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_t threads[OWN_THREADS + 1];
  sigset_t all, before;
  uint32_t made = 0;
  int why = 0;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_mutex_lock(&lock);
  while (why == 0 && made < count) {
    why = pthread_create(&threads[made], NULL, stay, &lock);
    if (why == 0) made++;
  }
  pthread_mutex_unlock(&lock);
  while (made > 0) pthread_join(threads[--made], NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return why;
}

/* What a limit is, for a message. */
static unsigned long limit_of(__rlimit_resource_t resource) {
  struct rlimit limit = {0};
  getrlimit(resource, &limit);
  return (unsigned long)limit.rlim_cur;
}

int ms_context_descriptors(uint32_t needed, ms_error *err) {
  int why = try_descriptors(needed);
  if (why == 0) return 0;
  return ms_error_set(
      err, MS_NET,
      "%u more file descriptors are needed for workers, and there are not so many: "
      "%s (this process may have %lu). Raise the limit, ulimit -n %u, or take fewer "
      "workers",
      needed, strerror(why), limit_of(RLIMIT_NOFILE), 1024 + needed / 1024 * 1024);
}

void *ms_context_new(uint32_t descriptors, bool keys, ms_error *err) {
  if (ms_context_descriptors(OWN_DESCRIPTORS + descriptors, err) != 0) return NULL;
  int why = try_threads(OWN_THREADS + (keys ? 1 : 0));
  if (why != 0) {
    ms_error_set(err, MS_NET,
                 "no thread can be made, and messages need %d: %s. Raise what limits them: "
                 "ulimit -u (processes and threads), ulimit -v (memory), ulimit -s (the stack that "
                 "each takes), or the limits of the container",
                 OWN_THREADS + (keys ? 1 : 0), strerror(why));
    return NULL;
  }
  if (ms_zeromq_load(err) != 0) return NULL;
  void *context = ms_zeromq.ctx_new();
  if (context == NULL)
    ms_error_set(err, MS_NET, "no ZeroMQ context: %s", ms_zeromq.strerror(errno));
  return context;
}

void ms_context_shut(void *context) {
  if (context != NULL) ms_zeromq.ctx_shutdown(context);
}

void ms_context_end(void **context) {
  if (*context == NULL) return;
  ms_zeromq.ctx_shutdown(*context);
  while (ms_zeromq.ctx_term(*context) != 0 && errno == EINTR) continue;
  *context = NULL;
}
