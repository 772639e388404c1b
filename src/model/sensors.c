// sensors.c - finds what a log shows about each sensor.


#include "facts.h"

#include "base/base_internal.h"

#include <math.h>
#include <string.h>

rh_status rh_facts__find_shapes(rh_sensor *sensor, const rh_facts__steps *steps, rh_error *err)
{
    (void)err;
    for (int k = 0; k < steps->log->nobs; k++)
        sensor[k].constant = !(steps->lo[k] < steps->hi[k]);
    return RH_OK;
}

rh_status rh_facts__find_moves(rh_sensor *sensor, const rh_facts__steps *steps, rh_error *err)
{
    (void)sensor;
    (void)steps;
    (void)err;
    return RH_OK;
}
