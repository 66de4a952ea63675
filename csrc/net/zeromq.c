/* SPDX-License-Identifier: MIT
 *
 * Loading ZeroMQ: see zeromq.h. */
#include "net/zeromq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libzmq.so.5" /* by this name since ZeroMQ 4.0 */

#define NAME(name) "zmq_" #name,

static const char *const names[] = {MS_ZEROMQ_CALLS(NAME)};

_Static_assert(sizeof(ms_zeromq_calls) == sizeof names, "a pointer for each name");

ms_zeromq_calls ms_zeromq;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char trouble[256]; /* why it could not be loaded */

/* It stays: its threads end after their context, and exit handlers are its own. */
static void load(void) {
  void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  for (size_t n = 0; library != NULL && n < sizeof names / sizeof names[0]; n++) {
    void *found = dlsym(library, names[n]);
    if (found == NULL) library = NULL;
    memcpy((char *)&ms_zeromq + n * sizeof found, &found, sizeof found);
  }
  if (library == NULL) snprintf(trouble, sizeof trouble, "%s", dlerror());
}

int ms_zeromq_load(ms_error *err) {
  pthread_once(&once, load);
  if (trouble[0] == '\0') return 0;
  return ms_error_set(err, MS_NET,
                      "ZeroMQ cannot be loaded, by which workers send what they do "
                      "not share: %s",
                      trouble);
}
