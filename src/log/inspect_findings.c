// inspect_findings.c - the thresholds, and the list of what was found.
//
// 1. A finding is an error when the log must not be used like this: numbers that are none,
//    rows that slipped against cause and effect, ends everywhere. It is a warning when
//    somebody has to look: the log may be wrong, or say too little. A notice is good to know.
// 2. One finding of a kind, however many columns it concerns: a screen must hold them all.
// 3. What a clean log of a simulator would raise is tuned away
//    (tests/log/test_inspect_clean.c); what remains there is true.

#include "inspect.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const rh_inspect__limits rh_inspect__limit = {
    // no normal or exponential number is 25 standard deviations off; of a lognormal flow or
    // price (sigma 1) one in 14,000 is
    .absurd = 25.0,
    // three times exactly the same, and five widths of everything else away: no measurement.
    // More than half of the column is not a sentinel but the usual state.
    .sentinel_gap = 5.0,
    .sentinel_count = 3,
    .sentinel_share = 0.5,
    // one missing number in 100 can be run with
    .missing_share = 0.01,
    // 30 steps without any change, ten times what the sensor does otherwise. A column of at
    // most 20 different values (a mode, a setpoint) holds by nature.
    .frozen_run = 30,
    .frozen_ratio = 10.0,
    .few_values = 20,
    // noise of 0.5 % between two columns is enough to tell them apart
    .twin = 0.99999,
    // an angle jumps by nearly all of its range at its end, and by less than a third
    // elsewhere
    .wrap_jump = 0.8,
    .wrap_usual = 0.3,
    .wrap_count = 3,
    // five times the 98 % step, half a standard deviation in each sensor on average, and most
    // sensors at twice what 98 % of their own steps keep below: a new start, or a plant that
    // was moved by hand
    .jump_ratio = 5.0,
    .jump_sensor = 2.0,
    .jump_least = 0.5,
    // another row's action must explain at least 2 % of a change, 1.5 times as much as the
    // row's own by itself, 1.8 times as much once the others are known, and 6 times in the
    // product: none of 400 right logs of five simulators, 5 to 100 % random actions, does so.
    // What this finds and misses is in docs/inspect.md.
    .shift_gain = 0.02,
    .shift_alone = 1.5,
    .shift_partial = 1.8,
    .shift_both = 6.0,
    // and for actions that are late, the state before must tell 10 % more of an action than
    // the state alone, or the change explained be 15 %: without this, 3 of 25 right logs of an
    // acrobot's best policy were accused, with shares of 5 to 12 %
    .shift_past = 0.1,
    .shift_much = 0.15,
    // another row must explain 15 % more of the reward, leave half as much unexplained, and
    // be better by four standard errors: a few large rewards are no proof
    .reward_gain = 0.15,
    .reward_left = 0.5,
    .reward_sure = 4.0,
    // rewards that nearly always are the same, and otherwise stand beside an end but not at
    // it
    .special_share = 0.2,
    .place_share = 0.8,
    .place_other = 0.1,
    // s' ten times nearer to another row's s; and one in 100 that is not the next s
    .next_ratio = 0.1,
    .mismatch_share = 0.01,
    // a time limit cuts nine of ten episodes at the same length; quartiles a fifth of the
    // median apart are no limit at all. Fewer than five cuts do not tell.
    .cut_share = 0.9,
    .cut_spread = 0.2,
    .cut_count = 5,
    // ten starts, ten trials of an action, ten failures: below, an average is one accident
    .few_starts = 10,
    .rare_count = 10,
    .rare_share = 0.005,
    // ten median steps from the nearest trial of an action, for a tenth of the states
    .cover = 10.0,
    // of 20 runs of one action, 19 are a multiple of so many rows
    .hold_share = 0.95,
    .hold_runs = 20,
    // more than a dozen numbers in order are amounts; a dozen whole amounts may be names
    .many_actions = 12,
    .few_amounts = 12,
    // one transition in 100 seen before is worth a word, one in ten a look; unless there are
    // so few states that they must repeat. A wall or a plant at rest repeats some by itself,
    // and a plant without noise comes back to a state and goes on from there as before: a
    // mountain car for 45 steps on average. Copies of files go on for hundreds.
    .duplicate_share = 0.01,
    .duplicate_much = 0.1,
    .duplicate_run = 100.0,
    .tabular_share = 0.25,
    // one step in 20 lost
    .lost_share = 0.05,
    // 20 steps for every sensor and action: below, neighbours are far
    .short_steps = 20,
    // half an interval off; one in 100 of those
    .irregular = 0.5,
    .irregular_share = 0.01,
};

// ---------------------------------------------------------------------------- texts

rh_inspect__text rh_inspect__name(const char *name)
{
    rh_inspect__text text;
    size_t n = 0, most = 40;
    text.s[n++] = '\'';
    for (; *name && n < most; name++)
        text.s[n++] = (char)((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
    if (*name) {
        // not in the middle of a letter
        for (; n > 1 && ((unsigned char)*name & 0xC0) == 0x80; name--)
            n--;
        memcpy(text.s + n, "...", 3);
        n += 3;
    }
    text.s[n++] = '\'';
    text.s[n] = 0;
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

rh_inspect__text rh_inspect__where(const rh_inspect__finder *f, int64_t t)
{
    rh_inspect__text text;
    snprintf(text.s, sizeof text.s, "step %d of episode %d", f->log->step[t],
             f->log->episode[t]);
    return text;
}

// ---------------------------------------------------------------------------- the list

rh_log_finding *rh_inspect__add(const rh_inspect__finder *f, rh_severity severity,
                                const char *id, int64_t count, const char *evidence, ...)
{
    rh_log_finding *finding = &f->report->finding[f->report->nfinding++];
    va_list args;
    *finding = (rh_log_finding){
        .severity = severity, .id = id, .count = count, .first = -1, .column = -1};
    va_start(args, evidence);
    vsnprintf(finding->evidence, sizeof finding->evidence, evidence, args);
    va_end(args);
    f->report->ncount[severity]++;
    return finding;
}

void rh_inspect__advise(rh_log_finding *finding, const char *remedy, ...)
{
    va_list args;
    va_start(args, remedy);
    vsnprintf(finding->remedy, sizeof finding->remedy, remedy, args);
    va_end(args);
}

// The gravest first; those of one severity stay in the order they were found.
static void sort_findings(rh_log_report *report)
{
    for (int i = 1; i < report->nfinding; i++) {
        rh_log_finding one = report->finding[i];
        int at = i;
        for (; at > 0 && report->finding[at - 1].severity < one.severity; at--)
            report->finding[at] = report->finding[at - 1];
        report->finding[at] = one;
    }
}

bool rh_inspect__findings(rh_log_report *report, const rh_log *log)
{
    rh_inspect__finder f = {report, log};
    report->finding = rh_alloc(RH_INSPECT__FINDINGS, sizeof *report->finding);
    if (!report->finding)
        return false;
    rh_inspect__find_order(&f);
    rh_inspect__find_values(&f);
    rh_inspect__find_actions(&f);
    sort_findings(report);
    return true;
}
