/* SPDX-License-Identifier: MIT
 *
 * Interrupt: see interrupt.h. */
#include "driver/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int listeners;                 /* under the lock */
static struct sigaction previous;     /* under the lock */
static bool installed;                /* under the lock */
static int event = -1;                /* made once, kept for the life of the process */
static volatile sig_atomic_t arrived; /* written by the handler */

static void on_interrupt(int signal) {
  (void)signal;
  int saved = errno;
  const uint64_t one = 1;
  arrived = 1;
  if (write(event, &one, sizeof one) < 0) arrived = 1; /* the flag alone must do */
  errno = saved;
}

int ms_interrupt_begin(void) {
  pthread_mutex_lock(&lock);
  if (event < 0) event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (listeners++ == 0) {
    arrived = 0;
    struct sigaction action = {.sa_handler = on_interrupt}, now;
    sigemptyset(&action.sa_mask);
    installed = sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler != SIG_IGN &&
                sigaction(SIGINT, &action, &previous) == 0;
  }
  int descriptor = event;
  pthread_mutex_unlock(&lock);
  return descriptor;
}

bool ms_interrupt_seen(void) {
  return arrived != 0;
}

void ms_interrupt_end(bool taken) {
  bool again = false;
  pthread_mutex_lock(&lock);
  if (--listeners == 0) {
    uint64_t drained;
    if (installed) sigaction(SIGINT, &previous, NULL);
    again = installed && arrived && !taken;
    installed = false;
    if (event >= 0 && read(event, &drained, sizeof drained) < 0) drained = 0;
    arrived = 0;
  }
  pthread_mutex_unlock(&lock);
  if (again) raise(SIGINT);
}
