// inspect_findings.c - the thresholds, and the list of findings.
//
// 1. An error means that the log must not be used as it is, and that it cannot answer: invalid
//    numbers, rows shifted against cause and effect or written twice, lost decimal signs, one
//    action only. A warning means that somebody has to look: the log may be wrong, or show too
//    little. A notice is good to know.
// 2. Each finding appears once, however many columns it concerns, so that all fit on a screen.
// 3. Clean logs of simulators must raise no findings (tests/log/test_inspect_clean.c).

#include "inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const rh_inspect__limits rh_inspect__limit = {
    // no normal or exponential number is 25 standard deviations off; of a lognormal flow or
    // price (sigma 1), one in 14,000 is
    .absurd = 25.0,
    // three equal values, five widths away from all others, are no measurement. If they are
    // more than half of the column, they are the usual state.
    .sentinel_gap = 5.0,
    .sentinel_count = 3,
    .sentinel_share = 0.5,
    // a sentinel that lasts five rows at most, after which the sensor is within a fifth of its
    // range of where it was, in four of five cases: the signal was lost, not the plant
    .dropout_rows = 5,
    .dropout_near = 0.2,
    .dropout_share = 0.8,
    // one missing number in 100 does no harm
    .missing_share = 0.01,
    // 30 steps without any change, ten times the sensor's usual. A column of at most 20
    // distinct values (a mode, a setpoint) rests by nature.
    .frozen_run = 30,
    .frozen_ratio = 10.0,
    .few_values = 20,
    // noise of 0.5 % between two columns tells them apart
    .twin = 0.99999,
    // an angle jumps by nearly its whole range at its end, and by less than a third elsewhere
    .wrap_jump = 0.8,
    .wrap_usual = 0.3,
    .wrap_count = 3,
    // and it passes through the middle, where a column on two scales has nothing
    .wrap_middle = 0.01,
    // five times the 98 % step, half a standard deviation in each sensor on average, and most
    // sensors at twice the change that 98 % of their own steps stay below: a new start, or a
    // plant moved by hand
    .jump_ratio = 5.0,
    .jump_sensor = 2.0,
    .jump_least = 0.5,
    // the action of its row leaves 5 % of a sensor unexplained, and half of what the action
    // before leaves: a power has noise, a controlled temperature more. By hand.
    .effect_left = 0.05,
    .effect_before = 0.5,
    // another row's action must explain at least 2 % of a change, 1.5 times as much as the
    // row's own by itself, 1.8 times as much in addition to the others, and 6 times in the
    // product. None of 400 correct logs of five simulators, with 5 to 100 % random actions,
    // does so. Where the row's own action explains little by itself, but adds 10 % to the
    // others, it may act with a lag while the next one reacts, and late actions are no error:
    // 21 and 24 % in correct logs of bench/plants/drone.c, at most 4 % in ten shifted ones of
    // bench/defects. docs/inspect.md says what this finds and misses.
    .shift_gain = 0.02,
    .shift_alone = 1.5,
    .shift_partial = 1.8,
    .shift_own = 0.1,
    .shift_both = 6.0,
    // for late actions, the state before must also explain 10 % more of an action than the
    // state alone, or the action 15 % of a change: without this, 3 of 25 correct logs of an
    // acrobot's best policy were flagged, with shares of 5 to 12 %
    .shift_past = 0.1,
    .shift_much = 0.15,
    // another row must explain 15 % more of the reward, leave half as much unexplained, and be
    // better by four standard errors: a few large rewards prove nothing
    .reward_gain = 0.15,
    .reward_left = 0.5,
    .reward_sure = 4.0,
    // rewards that are nearly always equal, and otherwise beside an end but not at it
    .special_share = 0.2,
    .place_share = 0.8,
    .place_other = 0.1,
    // s' is ten times nearer to another row's s; one s' in 100 differs from the next s
    .next_ratio = 0.1,
    .mismatch_share = 0.01,
    // a plant moves at least as far over two rows as over one, pure noise equally far; half of
    // the distance is beyond both
    .alternate = 0.25,
    // the error is a fifth of a sensor's changes, and half as large with the step before.
    // Noise cannot be explained; where steps are far apart, the step before helps a little.
    .hidden_least = 0.2,
    .hidden_ratio = 0.5,
    // a time limit truncates nine of ten episodes at the same length; quartiles a fifth of the
    // median apart are no limit. Fewer than five truncated episodes prove nothing.
    .cut_share = 0.9,
    .cut_spread = 0.2,
    .cut_count = 5,
    // with fewer than ten starts, trials of an action or failures, an average is one accident
    .few_starts = 10,
    .rare_count = 10,
    .rare_share = 0.005,
    // a tenth of the states is ten median steps from the nearest trial of an action
    .cover = 10.0,
    // 19 of 20 runs of one action last a multiple of so many rows
    .hold_share = 0.95,
    .hold_runs = 20,
    // more than a dozen ordered numbers are quantities; up to a dozen integers may be names
    .many_actions = 12,
    .few_amounts = 12,
    // one repeated transition in 100 is worth a notice, one in ten a warning, unless states are
    // so few that they must repeat. A wall or a plant at rest repeats some by itself, and a
    // plant without noise returns to a state and continues as before: a mountain car for 45
    // steps on average. Copies of files continue for hundreds.
    .duplicate_share = 0.01,
    .duplicate_much = 0.1,
    .duplicate_run = 100.0,
    .tabular_share = 0.25,
    // 19 of 20 runs of equal rows have an even length: rows were written twice. A plant at rest
    // does so in half of them.
    .paired_runs = 20,
    .paired_share = 0.95,
    // a clock is set back once a year; three times is no clock
    .reverse_count = 3,
    // one step in 20 dropped
    .lost_share = 0.05,
    // 20 steps for every sensor and action: with fewer, neighbours are far apart
    .short_steps = 20,
    // half an interval off, in one step of 100
    .irregular = 0.5,
    .irregular_share = 0.01,
};

// ---------------------------------------------------------------------------- texts

rh_inspect__text rh_inspect__name(const char *name)
{
    rh_inspect__text text;
    char shown[44];
    snprintf(text.s, sizeof text.s, "'%s'", rh_text__printable(name, shown, sizeof shown));
    return text;
}

rh_inspect__text rh_inspect__share(int64_t part, int64_t whole)
{
    rh_inspect__text text;
    double share = 100.0 * (double)part / (double)whole;
    snprintf(text.s, sizeof text.s, "%lld of %lld (%.2g %%)", (long long)part, (long long)whole,
             share >= 99.5 && part < whole ? 99.0 : share);
    if (share >= 99.5 && part == whole)
        snprintf(text.s, sizeof text.s, "all %lld", (long long)whole);
    return text;
}

// The line of an observation, or -1.
static int64_t line_of(const rh_log *log, int32_t row)
{
    return log->line && row != RH_UNKNOWN ? log->line[row] : -1;
}

rh_inspect__text rh_inspect__where_seen(const rh_inspect__finder *f, int64_t t, int32_t row)
{
    rh_inspect__text text;
    int64_t line = line_of(f->log, row);
    if (line >= 0)
        snprintf(text.s, sizeof text.s, "%s %lld (step %d of episode %d)",
                 f->log->reading.place, (long long)line, f->log->step[t], f->log->episode[t]);
    else
        snprintf(text.s, sizeof text.s, "step %d of episode %d", f->log->step[t],
                 f->log->episode[t]);
    return text;
}

rh_inspect__text rh_inspect__where(const rh_inspect__finder *f, int64_t t)
{
    return rh_inspect__where_seen(f, t, f->log->from[t]);
}

rh_inspect__text rh_inspect__line(const rh_inspect__finder *f, int64_t line)
{
    rh_inspect__text text = {""};
    if (f->log->reading.place && line >= 0)
        snprintf(text.s, sizeof text.s, ", first at %s %lld", f->log->reading.place,
                 (long long)line);
    return text;
}

void rh_inspect__set_seen(const rh_inspect__finder *f, rh_finding *found, int64_t t,
                          int32_t row)
{
    found->first = t;
    found->line = line_of(f->log, row);
}

void rh_inspect__set_first(const rh_inspect__finder *f, rh_finding *found, int64_t t)
{
    rh_inspect__set_seen(f, found, t, f->log->from[t]);
}

// ---------------------------------------------------------------------------- the list

bool rh_inspect__findings(rh_log_report *report, const rh_log *log)
{
    rh_inspect__finder f = {report, log, &report->findings};
    if (!rh_findings__begin(f.list, RH_OF_LOG))
        return false;
    rh_inspect__find_order(&f);
    rh_inspect__find_values(&f);
    rh_inspect__find_actions(&f);
    return rh_findings__end(f.list);
}
