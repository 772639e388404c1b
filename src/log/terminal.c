// terminal.c - finds the column that marks failures in a log that names none as terminal.
//
// `trip` or `fault` may be a flag at the end of an episode, or a state that lasts for hours.
// The whole log tells: such a column is terminal if it is 1 only in the last row of episodes.

#include "log_internal.h"

#include <strings.h>

static bool is_usual(const char *name)
{
    static const char *const usual[] = {"trip",   "trips", "tripped", "fault",
                                        "failed", "fail",  "failure", "is_failure"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcasecmp(name, usual[i]) == 0)
            return true;
    return false;
}

// Whether sensor j is 0, and 1 only after the last step of an episode.
static bool marks_ends(const rh_log *log, int j)
{
    int64_t nset = 0;
    for (int64_t t = 0; t < log->n; t++) {
        bool last = t + 1 == log->n || log->step[t + 1] == 0;
        if (log->obs[(int64_t)log->from[t] * log->nobs + j] != 0.0)
            return false;
        if (log->to[t] == RH_UNKNOWN)
            continue;
        double after = log->obs[(int64_t)log->to[t] * log->nobs + j];
        if (after != 0.0 && !(after == 1.0 && last))
            return false;
        nset += after == 1.0;
    }
    return nset > 0;
}

const char *rh_log__find_terminal(const rh_log *log)
{
    for (int e = 0; e < log->nepisode; e++)
        if (log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL)
            return NULL;
    for (int j = 0; j < log->nobs; j++)
        if (is_usual(log->obs_name[j]) && marks_ends(log, j))
            return log->obs_name[j];
    return NULL;
}
