// alone.c - one thread at a time, in all rooms.
//
// libhdf5 as packaged is not safe for threads, and two rooms use it. Each would keep its own
// threads apart; between them there must be one lock.

#include "rehearse/base.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rh_alone_begin(void)
{
    pthread_mutex_lock(&lock);
}

void rh_alone_end(void)
{
    pthread_mutex_unlock(&lock);
}
