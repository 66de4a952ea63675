/* SPDX-License-Identifier: MIT
 *
 * Crew: threads of the driver's process that help it with a call, and stay for the next one.
 *
 * Starting a thread takes longer than many loops do. So those that were needed once stay, look for
 * the next call for a while (spin.h), and then sleep. The caller works, too: nobody waits for who
 * comes late, since once the caller has nothing more to do it closes the call, and waits only for
 * those inside. Threads block all signals and touch no Lua. One crew a process, for one call at a
 * time; a process that is forked begins without. */
#ifndef MS_JOB_CREW_H
#define MS_JOB_CREW_H

#include <stdbool.h>
#include <stdint.h>

/* Members of a crew at most, the caller included. */
#define MS_CREW_MOST 64

typedef void ms_crew_work(void *context, uint32_t member);

/* Has up to `members` - 1 others, as many as there are processors for, call work(context, member)
 * as they come, each at most once, with numbers from 1 to members - 1. False: there are none, or
 * they are in another call; else ms_crew_dismiss is to be called. */
bool ms_crew_call(uint32_t members, ms_crew_work *work, void *context);

/* Lets nobody else begin, and waits until all who have begun are done: what they have written is
 * there. */
void ms_crew_dismiss(void);

#endif
