// queue.c - a first-in, first-out queue of items of one size.
//
// Space doubles, and is reserved before pushing: a thread can always deliver its result.

#include "queue.h"

#include <limits.h>
#include <string.h>

#define LEAST 16 // items of the first block

// Address of the i-th item.
static unsigned char *place(const rh_queue *q, int i)
{
    int at = q->first + i;
    return q->item + (size_t)(at < q->room ? at : at - q->room) * q->size;
}

rh_status rh_queue__reserve(rh_queue *queue, int n, rh_error *err)
{
    if (n <= queue->room)
        return RH_OK;
    int room = queue->room ? queue->room : LEAST;
    while (room < n && room <= INT_MAX / 4)
        room *= 2;
    unsigned char *item = room < n ? NULL : rh_alloc((size_t)room, queue->size);
    if (!item)
        return rh_fail(err, RH_ENOMEM, "study: out of memory for a queue of %d", n);
    for (int i = 0; i < queue->n; i++)
        memcpy(item + (size_t)i * queue->size, place(queue, i), queue->size);
    rh_free(queue->item);
    queue->item = item;
    queue->room = room;
    queue->first = 0;
    return RH_OK;
}

bool rh_queue__push(rh_queue *queue, const void *item)
{
    if (queue->n == queue->room)
        return false;
    memcpy(place(queue, queue->n), item, queue->size);
    queue->n++;
    return true;
}

bool rh_queue__pop(rh_queue *queue, void *item)
{
    if (queue->n == 0)
        return false;
    memcpy(item, place(queue, 0), queue->size);
    queue->first = queue->first + 1 < queue->room ? queue->first + 1 : 0;
    queue->n--;
    return true;
}

void rh_queue__clear(rh_queue *queue)
{
    rh_free(queue->item);
    *queue = (rh_queue){.size = queue->size};
}
