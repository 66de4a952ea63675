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

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Members of a crew at most, the caller included. */
#define MS_CREW_MOST 64

typedef void ms_crew_work(void *context, uint32_t member);

/* Has up to `members` - 1 others, as many as there are processors for, call work(context, member)
 * as they come, each at most once, with numbers from 1 to members - 1. False: there are none, or
 * they are in another call; else ms_crew_dismiss is to be called. */
bool ms_crew_call(uint32_t members, ms_crew_work *work, void *context);

/* Lets no further thread begin, and waits until those that have begun are done: the caller sees
 * what they have written. */
void ms_crew_dismiss(void);

/* Numbered pieces of work, of which neighbouring ones are one member's as long as nobody else has
 * nothing to do: from call to call each finds in its cache what it left there. */
typedef struct ms_crew_share {
  _Alignas(64) _Atomic uint32_t next;
  uint32_t end;
} ms_crew_share;

typedef struct ms_crew_pieces {
  uint32_t members;
  ms_crew_share shares[MS_CREW_MOST];
} ms_crew_pieces;

/* Shares pieces first .. first + count out among up to MS_CREW_MOST members, one at least. */
void ms_crew_share_out(ms_crew_pieces *pieces, uint32_t members, uint32_t first, uint32_t count);

/* A piece that nobody has taken, first of the member's own; false: there are no more. *tried is 0
 * before the first one, and says later whose there are none of. */
bool ms_crew_take(ms_crew_pieces *pieces, uint32_t member, uint32_t *tried, uint32_t *piece);

#endif
