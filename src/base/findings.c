// findings.c - lists of findings.
//
// The list has a block from the beginning. If it cannot grow, the last finding is overwritten
// and rh_findings__end() reports it, so callers need no check after each finding.

#include "findings.h"
#include "base_internal.h"

#include <stdarg.h>
#include <string.h>

#define FIRST_ROOM 16

static const char *const known[RH_NFINDING] = {
    [RH_FINDING_ALTERNATING_ROWS] = "alternating-rows",
    [RH_FINDING_MIXED_REGIMES] = "mixed-regimes",
    [RH_FINDING_HIDDEN_STATE] = "hidden-state",
    [RH_FINDING_ROW_SHIFT] = "row-shift",
    [RH_FINDING_REWARD_SHIFT] = "reward-shift",
    [RH_FINDING_NEXT_SHIFT] = "next-shift",
    [RH_FINDING_NEXT_MISMATCH] = "next-mismatch",
    [RH_FINDING_INFINITE_SENSOR] = "infinite-sensor",
    [RH_FINDING_INFINITE_ACTION] = "infinite-action",
    [RH_FINDING_INFINITE_REWARD] = "infinite-reward",
    [RH_FINDING_EMPTY_SENSOR] = "empty-sensor",
    [RH_FINDING_MISSING] = "missing",
    [RH_FINDING_SENTINEL] = "sentinel",
    [RH_FINDING_SENTINEL_ACTION] = "sentinel-action",
    [RH_FINDING_SENTINEL_REWARD] = "sentinel-reward",
    [RH_FINDING_SENTINEL_TAKEN] = "sentinel-taken",
    [RH_FINDING_LOST_DECIMALS] = "lost-decimals",
    [RH_FINDING_UNIT_CHANGE] = "unit-change",
    [RH_FINDING_SAME_ROW_EFFECT] = "same-row-effect",
    [RH_FINDING_OUTLIERS] = "outliers",
    [RH_FINDING_CONSTANT_SENSOR] = "constant-sensor",
    [RH_FINDING_FROZEN_SENSOR] = "frozen-sensor",
    [RH_FINDING_CLOCK_SENSOR] = "clock-sensor",
    [RH_FINDING_TWIN_SENSORS] = "twin-sensors",
    [RH_FINDING_WRAPS] = "wraps",
    [RH_FINDING_TERMINAL_EVERYWHERE] = "terminal-everywhere",
    [RH_FINDING_TERMINAL_LIMIT] = "terminal-limit",
    [RH_FINDING_NO_TERMINAL] = "no-terminal",
    [RH_FINDING_SINGLE_EPISODE] = "single-episode",
    [RH_FINDING_IRREGULAR_CUTS] = "irregular-cuts",
    [RH_FINDING_JUMPS] = "jumps",
    [RH_FINDING_FEW_STARTS] = "few-starts",
    [RH_FINDING_SAME_START] = "same-start",
    [RH_FINDING_FEW_TERMINALS] = "few-terminals",
    [RH_FINDING_FEW_FAILURES] = "few-failures",
    [RH_FINDING_REWARD_CONSTANT] = "reward-constant",
    [RH_FINDING_ACTION_ONE] = "action-one",
    [RH_FINDING_ACTION_NEVER] = "action-never",
    [RH_FINDING_ACTION_RARE] = "action-rare",
    [RH_FINDING_ACTION_HOLE] = "action-hole",
    [RH_FINDING_ACTION_AMOUNTS] = "action-amounts",
    [RH_FINDING_ACTION_NAMES] = "action-names",
    [RH_FINDING_ACTION_HELD] = "action-held",
    [RH_FINDING_ACTION_UNCOVERED] = "action-uncovered",
    [RH_FINDING_DUPLICATES] = "duplicates",
    [RH_FINDING_REPEATED_ROWS] = "repeated-rows",
    [RH_FINDING_SHORT_LOG] = "short-log",
    [RH_FINDING_LOST_STEPS] = "lost-steps",
    [RH_FINDING_TIME_REVERSE] = "time-reverse",
    [RH_FINDING_TIME_REPEATS] = "time-repeats",
    [RH_FINDING_IRREGULAR_TIME] = "irregular-time",
    [RH_FINDING_PREDICTION_NO_BETTER] = "prediction-no-better",
    [RH_FINDING_REWARD_UNPREDICTABLE] = "reward-unpredictable",
    [RH_FINDING_NOTHING_TO_LEARN] = "nothing-to-learn",
    [RH_FINDING_ENDS_UNPREDICTED] = "ends-unpredicted",
    [RH_FINDING_LOW_COVERAGE] = "low-coverage",
    [RH_FINDING_NEVER_TAKEN] = "never-taken",
    [RH_FINDING_ACTION_OUT_OF_COVERAGE] = "action-out-of-coverage",
    [RH_FINDING_TOO_EASY] = "too-easy",
    [RH_FINDING_IMITATION_DIFFERS] = "imitation-differs",
    [RH_FINDING_NO_END] = "no-end",
    [RH_FINDING_LONG_STITCHES] = "long-stitches",
    [RH_FINDING_FEW_EPISODES] = "few-episodes",
    [RH_FINDING_UNPROVEN_MODEL] = "unproven-model",
    [RH_FINDING_ONE_SIDED_LIMIT] = "one-sided-limit",
    [RH_FINDING_LIMIT_PASSED] = "limit-passed",
    [RH_FINDING_SENSORS_LEFT_OUT] = "sensors-left-out",
    [RH_FINDING_AT_BOUND] = "at-bound",
    [RH_FINDING_ALL_TIED] = "all-tied",
    [RH_FINDING_POOR_CLONE] = "poor-clone",
    [RH_FINDING_RANGE_FROM_LOG] = "range-from-log",
    [RH_FINDING_FEW_STEPS] = "few-steps",
    [RH_FINDING_TOO_GOOD] = "too-good",
    [RH_FINDING_FAILS_MORE] = "fails-more",
    [RH_FINDING_NOT_BETTER] = "not-better",
    [RH_FINDING_LIKE_RANDOM] = "like-random",
    [RH_FINDING_DEFAULTS_BETTER] = "defaults-better",
    [RH_FINDING_RARE_FAILURES] = "rare-failures",
    [RH_FINDING_MODEL_EXPLOITED] = "model-exploited",
    [RH_FINDING_CONFIRMED_LOWER] = "confirmed-lower",
    [RH_FINDING_KINDS_DISAGREE] = "kinds-disagree",
    [RH_FINDING_OTHER_WINNER] = "other-winner",
    [RH_FINDING_NOT_CONFIRMED] = "not-confirmed",
    [RH_FINDING_OUT_OF_COVERAGE] = "out-of-coverage",
    [RH_FINDING_CUT_OFF] = "cut-off",
    [RH_FINDING_FAILED] = "failed",
    [RH_FINDING_DIVERGED] = "diverged",
    [RH_FINDING_WINNER_DIVERGED] = "winner-diverged",
    [RH_FINDING_ALL_DIVERGED] = "all-diverged",
};

const char *rh_finding_name(rh_finding_id id)
{
    return known[id];
}

bool rh_findings__find(const char *name, rh_finding_id *id)
{
    for (int i = 0; i < RH_NFINDING; i++)
        if (strcmp(known[i], name) == 0) {
            *id = (rh_finding_id)i;
            return true;
        }
    return false;
}

const char *rh_severity_name(rh_severity severity)
{
    switch (severity) {
    case RH_NOTICE:
        return "notice";
    case RH_WARNING:
        return "warning";
    case RH_ERROR:
        return "error";
    }
    return "";
}

const char *rh_origin_name(rh_origin origin)
{
    switch (origin) {
    case RH_OF_LOG:
        return "log";
    case RH_OF_MODEL:
        return "model";
    case RH_OF_STUDY:
        return "study";
    }
    return "";
}

bool rh_findings__begin(rh_findings *list, rh_origin origin)
{
    list->origin = origin;
    list->item = rh_alloc(FIRST_ROOM, sizeof *list->item);
    list->room = list->item ? FIRST_ROOM : 0;
    return list->item != NULL;
}

void rh_findings__clear(rh_findings *list)
{
    rh_free(list->item);
    *list = (rh_findings){0};
}

// The place of the next finding, or the last one where memory ran out.
static rh_finding *next_of(rh_findings *list, rh_severity severity)
{
    rh_finding *item = rh_base__alloc_more(list->item, &list->room, list->n, sizeof *item);
    if (item)
        list->item = item;
    else
        list->lost = true;
    list->count[severity]++;
    return &list->item[item ? list->n++ : list->n - 1];
}

void rh_findings__copy(rh_findings *list, const rh_finding *finding)
{
    *next_of(list, finding->severity) = *finding;
}

int rh_findings__accepted(const rh_findings *list)
{
    int n = 0;
    for (int i = 0; i < list->n; i++)
        n += list->item[i].accepted;
    return n;
}

rh_finding *rh_findings__add(rh_findings *list, rh_severity severity, rh_finding_id id,
                             int64_t count, const char *evidence, ...)
{
    rh_finding *finding = next_of(list, severity);
    *finding = (rh_finding){.severity = severity,
                            .id = id,
                            .count = count,
                            .first = -1,
                            .dim = -1,
                            .line = -1,
                            .origin = list->origin};
    va_list args;
    va_start(args, evidence);
    vsnprintf(finding->evidence, sizeof finding->evidence, evidence, args);
    va_end(args);
    return finding;
}

void rh_findings__advise(rh_finding *finding, const char *remedy, ...)
{
    va_list args;
    va_start(args, remedy);
    vsnprintf(finding->remedy, sizeof finding->remedy, remedy, args);
    va_end(args);
}

bool rh_findings__end(rh_findings *list)
{
    for (int i = 1; i < list->n; i++) {
        rh_finding one = list->item[i];
        int at = i;
        for (; at > 0 && list->item[at - 1].severity < one.severity; at--)
            list->item[at] = list->item[at - 1];
        list->item[at] = one;
    }
    return !list->lost;
}
