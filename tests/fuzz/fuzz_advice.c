// fuzz_advice.c - any text is refused with a message, or is advice that can be followed.

#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"
#include "log/log.h"
#include "log/log_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

// Half of the inputs are read for discrete actions.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live();
    rh_task task = {.nobs = 2, .nact = 1, .obs_name = {"x", "speed"}, .obs_hi = {1, 1}};
    task.naction = size % 2 ? 3 : 0;
    task.act_lo[0] = -1.0;
    task.act_hi[0] = 1.0;
    rh_error err = {""};
    rh_advice *advice = NULL;
    rh_status rc = rh_advice__parse(&advice, data, size, "a/file", &task, &err);
    require((rc == RH_OK) == (advice != NULL));
    require(rc == RH_OK || strncmp(err.text, "a/file:", 7) == 0);
    require(!strchr(err.text, '\n'));
    if (advice) {
        int64_t left[1000];
        rh_advice__course course = {.left = left};
        rh_rng rng = rh_rng_stream(1, RH_STREAM_SEARCH, 0, 0);
        double obs[2] = {0.5, 0.5}, act = 0.0;
        rh_advice__begin(&course, advice);
        require(rh_advice__nrow(advice) >= 1 && rh_advice__steps(advice) >= 1);
        for (int i = 0; i < 30; i++)
            if (rh_advice__follow(&course, advice, obs, &rng, &act))
                require(task.naction ? act == 0.0 || act == 1.0 || act == 2.0
                                     : act >= -1.0 && act <= 1.0);
    }
    rh_advice__destroy(advice);
    require(rh_base__alloc_live() == live);
    return 0;
}
