// queue.h - a first-in, first-out queue of items of one size.

#ifndef STUDY_QUEUE_H
#define STUDY_QUEUE_H

#include "rehearse/base.h"

// Starts as all zeros but for size.
typedef struct rh_queue {
    unsigned char *item; // owned: a ring              (room x size)
    size_t size;         // bytes of one
    int room, first, n;
} rh_queue;

// Reserve space for n items in total, so that pushing them does not allocate.
rh_status rh_queue__reserve(rh_queue *queue, int n, rh_error *err);
bool rh_queue__push(rh_queue *queue, const void *item); // copied; false: no space reserved
bool rh_queue__pop(rh_queue *queue, void *item);        // the oldest; false: empty
void rh_queue__clear(rh_queue *queue);

#endif
