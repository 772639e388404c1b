// alone.c - one lock for libraries that are not thread-safe.
//
// Packaged libhdf5 is not thread-safe, and two modules use it, so they share this lock.

#include "base_internal.h"
#include "rehearse/base.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rh_base__alone_begin(void)
{
    pthread_mutex_lock(&lock);
}

void rh_base__alone_end(void)
{
    pthread_mutex_unlock(&lock);
}
