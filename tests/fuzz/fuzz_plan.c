// fuzz_plan.c - whatever is in a study file: refused with one line, or a plan that is written
// and read back as the same.

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "log/log.h"
#include "search/search.h"
#include "search/search_internal.h"
#include "study/plan.h"
#include "study/study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

// A log of two episodes of two steps, with three actions or a continuous one.
static rh_log *make_log(bool discrete)
{
    static const double obs[] = {0, 1, 2, 3, 4, 5}, act[] = {0, 1, 2, 0};
    static const double reward[] = {-1, -1, -1, -1};
    static const int32_t from[] = {0, 1, 3, 4}, to[] = {1, 2, 4, 5};
    static const uint8_t flag[] = {0, RH_FLAG_TERMINAL, 0, RH_FLAG_TERMINAL}, start[] = {1, 1};
    static const int64_t first[] = {0, 2, 4};
    rh_log parts = {.n = 4,
                    .nstate = 6,
                    .nepisode = 2,
                    .nobs = 1,
                    .naction = discrete ? 3 : 0,
                    .nact = 1,
                    .obs = obs,
                    .from = from,
                    .to = to,
                    .act = act,
                    .reward = reward,
                    .flag = flag,
                    .first = first,
                    .start = start};
    rh_log *log = NULL;
    require(rh_log_copy(&log, &parts, NULL) == RH_OK);
    return log;
}

// What a settled plan writes reads back with the same entries.
static void reread(const rh_plan *plan, const rh_log *log)
{
    char *text = NULL;
    size_t n = 0;
    rh_error err = {""};
    rh_plan *again = NULL;
    FILE *out = open_memstream(&text, &n);
    require(out && rh_plan_write(plan, out, &err) == RH_OK);
    fclose(out);
    require(rh_plan_create(&again, &err) == RH_OK);
    require(rh_plan__parse(again, text, n, "file", &err) == RH_OK);
    require(rh_plan_settle(again, log, &err) == RH_OK);
    const char *key[2], *value[2];
    bool open[2], more = true;
    for (int i = 0; more; i++) {
        more = rh_plan_entry(plan, i, &key[0], &value[0], &open[0]);
        require(rh_plan_entry(again, i, &key[1], &value[1], &open[1]) == more);
        require(!more || (strcmp(key[0], key[1]) == 0 && strcmp(value[0], value[1]) == 0 &&
                          open[0] == open[1]));
    }
    rh_plan_destroy(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t live = rh_base__alloc_live();
    rh_error err = {""};
    rh_plan *plan = NULL;
    require(rh_plan_create(&plan, &err) == RH_OK);
    rh_status rc = rh_plan__parse(plan, data, size, "a/file", &err);
    require(rc == RH_OK || strncmp(err.text, "a/file:", 7) == 0);
    require(!strchr(err.text, '\n'));
    if (!rc)
        rc = rh_plan_check(plan, &err);
    require(!strchr(err.text, '\n'));
    for (int discrete = 0; discrete < 2 && !rc; discrete++) {
        rh_log *log = make_log(discrete);
        if (rh_plan_settle(plan, log, &err) == RH_OK) {
            double x[RH_MAX_DIM], u[RH_MAX_DIM] = {0}, hp[64];
            require(rh_space__check(&plan->space, NULL) == RH_OK);
            rh_space__place(&plan->space, u, x);
            rh_plan__hp(plan, x, hp);
            require(rh_param__check(plan->agent->param, plan->agent->nparam, "", hp, NULL) ==
                    RH_OK);
            reread(plan, log);
        }
        require(!strchr(err.text, '\n'));
        rh_log_destroy(log);
    }
    rh_plan_destroy(plan);
    require(rh_base__alloc_live() == live);
    return 0;
}
