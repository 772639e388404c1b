// queue.h - things of one size that wait in line.

#ifndef STUDY_QUEUE_H
#define STUDY_QUEUE_H

#include "rehearse/base.h"

// Starts as all zeros but for size.
typedef struct rh_queue {
    unsigned char *item; // owned: a ring              (room x size)
    size_t size;         // bytes of one
    int room, first, n;
} rh_queue;

// Make room for n in all, so that they can be pushed without any allocation.
rh_status rh_queue__reserve(rh_queue *queue, int n, rh_error *err);
void rh_queue__push(rh_queue *queue, const void *item); // copied; there is room
bool rh_queue__pop(rh_queue *queue, void *item);        // the oldest; false: none
void rh_queue__clear(rh_queue *queue);

#endif
