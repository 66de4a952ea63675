/* SPDX-License-Identifier: MIT
 *
 * Roads of workers (net/road.h): on one host they see in shared memory what the others have
 * finished, and ring for each other (ms_worker_road_page); else they send each other frames
 * (ms_worker_road_frames). What the driver says they handle wherever they wait. */
#ifndef MS_WORKER_WORKER_ROAD_H
#define MS_WORKER_WORKER_ROAD_H

#include "net/road.h"

typedef struct ms_worker ms_worker;

extern const ms_road ms_worker_road_page, ms_worker_road_frames;

/* What leads to the other workers: closes it; and looks for those that have come or gone. */
void ms_worker_road_close(ms_worker *worker);
void ms_worker_road_meet(ms_worker *worker, const char *peers, size_t size);

#endif
