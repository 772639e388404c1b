// report_fields.c - the fields of what rh_log_inspect() finds, and of how a log was read.

#include "describe/field.h"
#include "log.h"
#include "rehearse/log.h"

// ---------------------------------------------------------------------------- columns

#define AT(member) RH_FIELD__AT(rh_log_numbers, member)
static const rh_field numbers_row[] = {
    {"n", AT(n), NULL, "finite values"},
    {"missing", AT(nmissing), NULL, "missing values"},
    {"infinite", AT(ninfinite), NULL, "infinite values"},
    {"distinct", AT(ndistinct), NULL, "distinct values"},
    {"integer", AT(whole), NULL, "all values are integers"},
    {"min", AT(min), NULL, "least value"},
    {"q25", AT(q25), NULL, "25 % quantile"},
    {"median", AT(median), NULL, "median"},
    {"q75", AT(q75), NULL, "75 % quantile"},
    {"max", AT(max), NULL, "greatest value"},
    {"mean", AT(mean), NULL, "mean"},
    {"sd", AT(sd), NULL, "standard deviation"},
    {"outliers", AT(nabsurd), NULL, "values far outside the range of the others"},
    {"sentinel", AT(sentinel), NULL, "a value that stands for a missing one"},
    {"sentinel_count", AT(nsentinel), NULL, "how often it occurs"},
    {"scaled", AT(nscaled), NULL, "values that are others times a power of ten"},
    {"histogram_lo", AT(lo), NULL, "least value without outliers"},
    {"histogram_hi", AT(hi), NULL, "greatest value without outliers"},
    {"histogram", RH_FIELD__ARRAY(rh_log_numbers, bar), NULL, "counts in equal bins",
     .count = RH_COUNT_FIXED, .n = RH_LOG_NBAR},
};
#undef AT

static const rh_fields numbers = {"numbers", sizeof(rh_log_numbers),
                                  RH_FIELD__ROWS(numbers_row), .flat = true};

#define AT(member) RH_FIELD__AT(rh_log_sensor, member)
#define PLACE(member) RH_FIELD__AS(RH_FIELD_PLACE, rh_log_sensor, member)
static const rh_field sensor_row[] = {
    {"name", RH_FIELD__SELF(RH_FIELD_SENSOR), NULL, "the sensor"},
    {"unit", RH_FIELD__SELF(RH_FIELD_UNIT), NULL, "its unit"},
    {"values", AT(value), NULL, "over all observations", .fields = &numbers},
    {"missing_at", PLACE(missing_at), NULL,
     "first transition from or to a missing or infinite value"},
    {"outlier_at", PLACE(absurd_at), NULL, "first transition from or to an outlier"},
    {"longest_constant", AT(run), "steps", "longest run of equal values"},
    {"longest_constant_at", PLACE(run_at), NULL, "its first transition"},
    {"usual_constant", AT(usual_run), "steps", "99 % of its runs are no longer"},
    {"constant", AT(constant), NULL, "constant but for its last bits"},
    {"frozen", AT(frozen), NULL, "stuck far longer than usual"},
    {"wraps", AT(wraps), NULL, "jumps like an angle at the end of its range"},
    {"change_per_step", AT(pace), NULL, "changes by this much at every step, like a clock"},
    {"twin", RH_FIELD__AS(RH_FIELD_SENSOR, rh_log_sensor, twin), NULL,
     "an earlier sensor it is an exact function of"},
};
#undef AT
#undef PLACE

static const rh_fields sensor = {"sensor", sizeof(rh_log_sensor), RH_FIELD__ROWS(sensor_row)};

// ---------------------------------------------------------------------------- time, coverage

static bool has_times(const rh_field_at *at)
{
    return ((const rh_log_clock *)at->data)->n > 0;
}

#define AT(member) RH_FIELD__AT(rh_log_clock, member)
#define PLACE(member) RH_FIELD__AS(RH_FIELD_PLACE, rh_log_clock, member)
static const rh_field clock_row[] = {
    {"begin", AT(begin), NULL, "first time"},
    {"end", AT(end), NULL, "last time"},
    {"interval", AT(interval), NULL, "usual time between rows"},
    {"shortest", AT(shortest), NULL, "shortest time between rows"},
    {"longest", AT(longest), NULL, "longest time between rows"},
    {"longest_at", PLACE(longest_at), NULL, "the transition that took longest"},
    {"intervals", AT(n), NULL, "times between rows"},
    {"irregular", AT(nirregular), NULL, "more than half an interval off"},
    {"repeated", AT(nrepeat), NULL, "rows with the time of the row before"},
    {"repeated_at", PLACE(repeat_at), NULL, "first transition of these"},
    {"reversed", AT(nreverse), NULL, "rows with an earlier time"},
    {"reversed_at", PLACE(reverse_at), NULL, "first transition of these"},
};
#undef AT
#undef PLACE

static const rh_fields clock = {"time", sizeof(rh_log_clock), RH_FIELD__ROWS(clock_row),
                                .flat = true, .known = has_times};

static bool is_third(const rh_field_at *at)
{
    return ((const rh_log_cover *)at->data)->third >= 0;
}

static const char *third_word(int third)
{
    static const char *const word[] = {"low", "middle", "high"};
    return third < 0 ? NULL : word[third];
}

#define AT(member) RH_FIELD__AT(rh_log_cover, member)
static const rh_field cover_row[] = {
    {"action", RH_FIELD__AS(RH_FIELD_ACTION, rh_log_cover, action), NULL, "the action"},
    {"third", RH_FIELD__AS(RH_FIELD_WORD, rh_log_cover, third), NULL, "of a continuous action",
     .word = third_word, .known = is_third},
    {"from", AT(lo), NULL, "range of this third", .known = is_third},
    {"to", AT(hi), NULL, "range of this third", .known = is_third},
    {"steps", AT(n), NULL, "that took the action"},
    {"median", AT(median), "median steps", "distance to the nearest state where it was taken"},
    {"q90", AT(q90), "median steps", "90 % quantile of this distance"},
    {"q99", AT(q99), "median steps", "99 % quantile"},
    {"max", AT(max), "median steps", "greatest distance"},
};
#undef AT

static const rh_fields cover = {"cover", sizeof(rh_log_cover), RH_FIELD__ROWS(cover_row),
                                .flat = true};

// ---------------------------------------------------------------------------- tests of order

#define AT(member) RH_FIELD__AT(rh_log_alignment, member)
#define THREE(member) RH_FIELD__ARRAY(rh_log_alignment, member), .count = RH_COUNT_FIXED, .n = 3
static const rh_field alignment_row[] = {
    {"steps", AT(n), NULL, "steps used; in lists: the row before, unshifted, the row after"},
    {"action", THREE(action), .about = "share of a sensor's change that the action explains"},
    {"action_partial", THREE(partial), .about = "and in addition to the two other actions"},
    {"action_past", AT(past), NULL,
     "share of an action that the row before explains in addition to its own state"},
    {"reward", THREE(reward), .about = "share of the reward that a step explains"},
    {"reward_standard_errors", THREE(sure),
     .about = "standard errors by which it explains more than the unshifted one"},
    {"next", THREE(next), .about = "mean distance of s' to the s of a row"},
    {"unusual_rewards", AT(nspecial), NULL, "rewards unlike the usual one"},
    {"unusual_reward_position", THREE(place),
     .about = "share of them one step before an end, at it, and one step after"},
};
#undef AT

static const rh_fields alignment = {"alignment", sizeof(rh_log_alignment),
                                    RH_FIELD__ROWS(alignment_row)};

static bool has_regimes(const rh_field_at *at)
{
    return ((const rh_log_regime *)at->data)->n > 0;
}

#define AT(member) RH_FIELD__AT(rh_log_regime, member)
static const rh_field regime_row[] = {
    {"comparisons", AT(n), NULL, "of similar steps; 0: the log is too short"},
    {"column", RH_FIELD__AS(RH_FIELD_SENSOR, rh_log_regime, sensor), NULL,
     "whose changes differ most", .known = has_regimes},
    {"later_part", AT(at), NULL, "transition with which the later part begins",
     .known = has_regimes},
    {"share", AT(share), NULL, "of comparisons in which the other part's step is less alike",
     .known = has_regimes},
    {"t", AT(t), NULL, "Student's t of this share", .known = has_regimes},
    {"t_limit", AT(t_least), NULL, "one log in 1,000 without a change is above it",
     .known = has_regimes},
};
#undef AT

static const rh_fields regime = {"regimes", sizeof(rh_log_regime), RH_FIELD__ROWS(regime_row)};

static bool has_history(const rh_field_at *at)
{
    return ((const rh_log_history *)at->data)->n > 0;
}

#define AT(member) RH_FIELD__AT(rh_log_history, member)
static const rh_field history_row[] = {
    {"predictions", AT(n), NULL, "of held-out steps; 0: the log is too short"},
    {"sensor", RH_FIELD__AS(RH_FIELD_SENSOR, rh_log_history, sensor), NULL, "that gains most",
     .known = has_history},
    {"unexplained", AT(now), NULL, "share of its changes, from state and action",
     .known = has_history},
    {"unexplained_stacked", AT(stacked), NULL, "if the step before is known too",
     .known = has_history},
};
#undef AT

static const rh_fields history = {"history", sizeof(rh_log_history),
                                  RH_FIELD__ROWS(history_row)};

// ---------------------------------------------------------------------------- the report

static void write_reward_name(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, at->names ? at->names->reward : NULL);
}

static void write_discrete(rh_doc *doc, const rh_log_report *r, const rh_names *names)
{
    int64_t n = 0;
    for (int a = 0; a < names->naction; a++)
        n += r->taken[a];
    for (int a = 0; a < names->naction; a++) {
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "name", names->action[a]);
        rh_doc__whole(doc, "steps", r->taken[a]);
        rh_doc__real(doc, "share", (double)r->taken[a] / (double)n);
        rh_doc__close(doc);
    }
}

// How often each action was taken, or the values of continuous ones.
static void write_actions(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_log_report *r = at->data;
    rh_doc__open(doc, key, '[', false);
    if (at->names)
        write_discrete(doc, r, at->names);
    for (int k = 0; at->names && k < at->names->namount; k++) {
        rh_doc__open(doc, NULL, '{', false);
        rh_doc__text(doc, "name", at->names->amount[k]);
        rh_field__write(doc, "values", &numbers, &r->amount[k], at->names);
        rh_doc__real(doc, "at_bounds", r->at_bound[k]);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

#define AT(member) RH_FIELD__AT(rh_log_report, member)
static const rh_field episodes_row[] = {
    {"returns", AT(returns), NULL, "of episodes", .fields = &numbers},
    {"lengths", AT(length), "steps", "of episodes", .fields = &numbers},
    {"terminal", AT(nterminal), NULL, "terminated episodes"},
    {"truncated", AT(ncut), NULL, "truncated episodes"},
    {"after_gap", AT(nresumed), NULL, "episodes that do not begin in a start state"},
    {"truncations_compared", AT(ncut_judged), NULL,
     "truncated, but not by a gap or the end of the log"},
    {"truncation_length", AT(cut_length), "steps", "their most common length"},
    {"truncation_share", AT(cut_share), NULL, "share of them with that length"},
    {"time_limit", AT(time_limit), "steps", "of the plant's episodes; 0: none"},
    {"continuing", AT(continuing), NULL,
     "no step is terminal, and no time limit puts the plant back"},
    {"truncation_spread", AT(cut_spread), NULL, "interquartile range over the median"},
    {"starts", AT(nstart), NULL, "start states"},
    {"distinct_starts", AT(nstart_distinct), NULL, "distinct start states"},
    {"start_spread", AT(start_spread), NULL, "their spread as a share of that of all states"},
};

static const rh_fields episodes = {"episodes", sizeof(rh_log_report),
                                   RH_FIELD__ROWS(episodes_row)};

static const rh_field coverage_row[] = {
    {"step_length", AT(step_length), NULL, "median step, in standard deviations"},
    {"queries", AT(nquery), NULL, "states queried"},
    {"references", AT(nplace), NULL, "states searched"},
    {"actions", RH_FIELD__LIST(rh_log_report, cover), NULL, "by action", .fields = &cover,
     .count = RH_COUNT_MEMBER, .n = offsetof(rh_log_report, ncover)},
};

static const rh_fields coverage = {"coverage", sizeof(rh_log_report),
                                   RH_FIELD__ROWS(coverage_row)};

static const rh_field report_row[] = {
    {"time", AT(clock), NULL, "times of rows", .fields = &clock},
    {"episodes", RH_FIELD__GROUP, NULL, "how episodes begin and end", .fields = &episodes},
    {"reward_name", RH_FIELD__CALL, NULL, "the reward's column", .call = write_reward_name},
    {"reward", AT(reward), NULL, "rewards of steps", .fields = &numbers},
    {"zero_rewards", AT(nzero), NULL, "rewards equal to 0"},
    {"minimum_rewards", AT(nworst), NULL, "rewards equal to the lowest"},
    {"sensors", RH_FIELD__LIST(rh_log_report, sensor), NULL, "columns of observations",
     .fields = &sensor, .count = RH_COUNT_SENSORS},
    {"actions", RH_FIELD__CALL, NULL, "how often each was taken", .call = write_actions},
    {"action_interval", AT(hold), "rows", "actions change only every this many rows"},
    {"coverage", RH_FIELD__GROUP, NULL, "distances to logged actions", .fields = &coverage},
    {"duplicates", AT(nduplicate), NULL, "transitions equal to an earlier one"},
    {"reached_duplicates", AT(nreturn), NULL,
     "how often other steps of an episode lead to a duplicate"},
    {"repeated_rows", AT(ntwice), NULL, "rows equal to the row before"},
    {"distinct_states", AT(nstate_distinct), NULL, "distinct states of the transitions"},
    {"jumps", AT(njump), NULL, "steps so long that an episode may have ended unmarked"},
    {"jumps_with_unusual_reward", AT(njump_told), NULL,
     "those with a reward unlike the usual one"},
    {"alignment", AT(align), NULL, "how well columns fit together", .fields = &alignment},
    {"regimes", AT(regime), NULL, "whether the plant was changed", .fields = &regime},
    {"history", AT(history), NULL, "whether the sensors show the state", .fields = &history},
    {RH_FIELD__FINDINGS(rh_log_report, findings)},
};
#undef AT

static const rh_fields report = {"inspection", sizeof(rh_log_report),
                                 RH_FIELD__ROWS(report_row)};

const rh_fields *rh_log_report_fields(void)
{
    return &report;
}

// ---------------------------------------------------------------------------- the reading

#define AT(member) RH_FIELD__AT(rh_log_reading, member)
static const rh_field reading_row[] = {
    {"rows", AT(nrow), NULL, "rows of the file, or steps"},
    {"no_next_observation", AT(nlost), NULL, "steps dropped: the next observation is unknown"},
    {"no_action_or_reward", AT(nincomplete), NULL, "rows dropped: no action or reward"},
    {"missing", AT(nmissing), NULL, "missing values in observations"},
    {"filled", AT(nfilled), NULL, "missing values that were filled"},
    {"sentinels", AT(nsentinel), NULL, "sentinels taken as missing values"},
    {"gaps", AT(ngap), NULL, "episodes split where time jumps"},
    {"mismatches", AT(nmismatch), NULL, "steps with a next observation unlike the next row"},
    {"notes", RH_FIELD__LIST(rh_log_reading, note), NULL, "assumptions, in order",
     .count = RH_COUNT_MEMBER, .n = offsetof(rh_log_reading, nnote)},
};

static const rh_fields reading = {"reading", sizeof(rh_log_reading),
                                  RH_FIELD__ROWS(reading_row)};

const rh_fields *rh_log__reading_fields(void)
{
    return &reading;
}
