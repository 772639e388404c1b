// inspect_find_order.c - findings about rows, episodes and time.

#include "inspect.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- shifted rows

// -1 or 1 if actions fit the row before or after much better than their own, else 0.
static int action_shift(const rh_log_alignment *a)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int best = a->partial[0] > a->partial[2] ? 0 : 2;
    double alone = a->action[best] / fmax(a->action[1], 1e-9);
    double partial = a->partial[best] / fmax(a->partial[1], 1e-9);
    bool seen = a->action[best] > limit->shift_gain && a->partial[best] > limit->shift_gain;
    seen = seen &&
           (best == 0 || a->past > limit->shift_past || a->action[best] > limit->shift_much);
    return seen && alone > limit->shift_alone && partial > limit->shift_partial &&
                   alone * partial > limit->shift_both
               ? best - 1
               : 0;
}

// Whether the row's own action explains little by itself, but adds much to the others.
static bool action_lags(const rh_log_alignment *a)
{
    return a->partial[1] > rh_inspect__limit.shift_own && a->partial[1] > 2.0 * a->action[1];
}

static int reward_shift(const rh_log_alignment *a)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int best = a->reward[0] > a->reward[2] ? 0 : 2;
    double own = fmax(a->reward[1], 0.0);
    return a->sure[best] > limit->reward_sure && a->reward[best] > own + limit->reward_gain &&
                   1.0 - a->reward[best] < limit->reward_left * (1.0 - own)
               ? best - 1
               : 0;
}

// The same, from where unusual rewards are: just before ends (-1), or just after (1).
static int reward_place(const rh_log_alignment *a)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int best = a->place[0] > a->place[2] ? 0 : 2;
    return a->nspecial >= limit->rare_count && a->place[best] >= limit->place_share &&
                   a->place[1] <= limit->place_other
               ? best - 1
               : 0;
}

static void find_row_shift(const rh_inspect__finder *f)
{
    const rh_log_alignment *a = &f->report->align;
    int shift = action_shift(a);
    if (shift == 0)
        return;
    rh_finding *found =
        rh_findings__add(f->list, shift > 0 && !action_lags(a) ? RH_ERROR : RH_WARNING,
                         RH_FINDING_ROW_SHIFT, shift,
                         "the action of the %s row explains %.0f %% of a sensor's change in a "
                         "step, the step's own action %.0f %%",
                         shift > 0 ? "next" : "previous", 100.0 * a->action[shift + 1],
                         100.0 * fmax(a->action[1], 0.0));
    if (shift > 0)
        rh_findings__advise(found,
                            "the effect precedes its cause: the action column is one row "
                            "late; move it up by one row");
    else
        rh_findings__advise(found, "actions are logged one row early, the plant responds one "
                                   "step late, or rows of two devices alternate: move the "
                                   "column down by one row, add the last action to --obs, or "
                                   "sort by device");
}

static void find_effect(const rh_inspect__finder *f)
{
    int j = f->report->align.effect;
    if (j < 0)
        return;
    rh_finding *found = rh_findings__add(
        f->list, RH_WARNING, RH_FINDING_SAME_ROW_EFFECT, 1,
        "%s follows from the action of its own row: it shows what the action did, not what it "
        "was chosen by",
        rh_inspect__name(f->log->obs_name[j]).s);
    found->dim = j;
    rh_findings__advise(found, "an agent would see its action's effect before it acts: leave "
                               "the sensor out with --obs; it may be part of the reward");
}

static void find_reward_shift(const rh_inspect__finder *f)
{
    const rh_log_alignment *a = &f->report->align;
    int place = reward_place(a), shift = reward_shift(a);
    if (action_shift(a) != 0 && place == 0)
        return; // everything is shifted together with the actions
    rh_finding *found = NULL;
    if (place != 0) {
        found = rh_findings__add(
            f->list, RH_WARNING, RH_FINDING_REWARD_SHIFT, place,
            "of %lld rewards unlike the usual %.4g, %.0f %% are one row %s "
            "the end of an episode and %.0f %% at it",
            (long long)a->nspecial, f->report->reward.median, 100.0 * a->place[place + 1],
            place > 0 ? "after" : "before", 100.0 * a->place[1]);
        shift = -place;
    } else if (shift != 0) {
        found = rh_findings__add(
            f->list, RH_WARNING, RH_FINDING_REWARD_SHIFT, shift,
            "rewards fit the %s row: it explains %.0f %% of them, their own row %.0f %%",
            shift > 0 ? "next" : "previous", 100.0 * a->reward[shift + 1],
            100.0 * fmax(a->reward[1], 0.0));
    }
    if (found && shift < 0)
        rh_findings__advise(found, "a row's reward belongs to the action of the row before: "
                                   "--reward-of state");
    else if (found)
        rh_findings__advise(found, "rewards are one row early: drop --reward-of state if you "
                                   "gave it, else move the column down by one row");
}

// Mean squares of the change over one row and over two, at up to so many places of the log.
// False if there are too few places.
static bool measure_alternation(const rh_log *log, const rh_log_report *report, double *one,
                                double *two)
{
    enum { PLACES = 100000, FEWEST = 100 };
    rh_inspect__space space;
    double a[RH_MAX_OBS], b[RH_MAX_OBS], c[RH_MAX_OBS];
    int64_t n = 0, most = log->n < PLACES ? log->n : PLACES;
    *one = *two = 0.0;
    rh_inspect__space_init(&space, log, report);
    for (int64_t i = 0; i < most; i++) {
        int64_t t = rh_inspect__spread(i, most, log->n);
        if (t + 1 >= log->n || log->episode[t + 1] != log->episode[t] ||
            log->to[t] != log->from[t + 1] || log->to[t + 1] == RH_UNKNOWN)
            continue;
        rh_inspect__place(&space, log, log->from[t], a);
        rh_inspect__place(&space, log, log->to[t], b);
        rh_inspect__place(&space, log, log->to[t + 1], c);
        for (int j = 0; j < space.n; j++) {
            double near = rh_inspect__turn(&space, j, b[j] - a[j]);
            double far = rh_inspect__turn(&space, j, c[j] - a[j]);
            *one += near * near;
            *two += far * far;
        }
        n++;
    }
    return n >= FEWEST && *one > 0.0;
}

// Rows of two devices that alternate: every row is near the row before the last, and far from
// the last. Over two rows a plant moves farther than over one, by up to four times in mean
// squares, and pure noise moves equally far.
static void find_alternating(const rh_inspect__finder *f)
{
    double one, two;
    if (f->log->reading.nmismatch > 0 || !measure_alternation(f->log, f->report, &one, &two) ||
        two > rh_inspect__limit.alternate * one)
        return;
    rh_finding *found = rh_findings__add(
        f->list, RH_WARNING, RH_FINDING_ALTERNATING_ROWS, 2,
        "rows resemble the row before the last, not the last: the mean squared change over two "
        "rows is %.2g of that over one",
        two / one);
    rh_findings__advise(found, "rows of two devices may alternate: sort the file by device, "
                               "and name the device's column with --episode; or the plant "
                               "swings to and fro at every row");
}

// The plant was changed in the middle of the log.
static void find_regimes(const rh_inspect__finder *f)
{
    const rh_log_regime *r = &f->report->regime;
    const rh_log *log = f->log;
    if (r->n == 0 || r->t <= r->t_least)
        return;
    bool reward = r->sensor == log->nobs;
    rh_finding *found = rh_findings__add(
        f->list, RH_WARNING, RH_FINDING_MIXED_REGIMES, r->n,
        "the plant behaves differently from about %s on: in %.0f %% of %lld comparisons the "
        "%s%s is more like that of a similar step in the same part than in the other (50 %% if "
        "nothing changed; t = %.1f)",
        rh_inspect__where(f, r->at).s, 100.0 * r->share, (long long)r->n,
        reward ? "reward " : "change of ",
        rh_inspect__name(reward ? log->reward_name : log->obs_name[r->sensor]).s, r->t);
    rh_inspect__set_first(f, found, r->at);
    found->dim = reward ? -1 : r->sensor;
    rh_findings__advise(found,
                        "a model would mix both: use the part that is like the plant of "
                        "today; if a condition changed (load, season, tool), log it as a "
                        "sensor");
}

// The sensors do not show something that the past does.
static void find_hidden(const rh_inspect__finder *f)
{
    const rh_log_history *h = &f->report->history;
    if (h->n == 0 || h->now < rh_inspect__limit.hidden_least ||
        h->stacked > rh_inspect__limit.hidden_ratio * h->now)
        return;
    rh_finding *found = rh_findings__add(
        f->list, RH_NOTICE, RH_FINDING_HIDDEN_STATE, h->n,
        "the step before helps to predict the next: held-out changes of %s are predicted by "
        "state and action with an error of %.0f %% of their size, with the step before of "
        "%.0f %% (medians of %lld)",
        rh_inspect__name(f->log->obs_name[h->sensor]).s, 100.0 * h->now, 100.0 * h->stacked,
        (long long)h->n);
    found->dim = h->sensor;
    rh_findings__advise(found, "the sensors do not show the whole state: add the last "
                               "observations and actions with --stack 2 or more");
}

// Compares the s' that the log gives with the rows.
static void find_next_shift(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    const rh_log *log = f->log;
    const double *next = f->report->align.next;
    int64_t n = log->reading.nmismatch;
    bool many = (double)n > limit->mismatch_share * (double)log->n;
    int best = next[0] < next[2] ? 0 : 2;
    rh_finding *found;
    if (n == 0)
        return;
    if (many && next[best] < limit->next_ratio * next[1]) {
        found = rh_findings__add(
            f->list, RH_ERROR, RH_FINDING_NEXT_SHIFT, n,
            "the next observation is that of %s, not of the next row (mean distance %.3g "
            "against %.3g standard deviations)",
            best == 0 ? "the same row" : "the row after next", next[best], next[1]);
        rh_findings__advise(found, "the --next columns are shifted by one row: drop them "
                                   "(--next '') to use the next row of the episode");
        return;
    }
    found = rh_findings__add(f->list, many ? RH_WARNING : RH_NOTICE, RH_FINDING_NEXT_MISMATCH,
                             n, "the next observation differs from the next row in %s steps",
                             rh_inspect__share(n, log->n).s);
    rh_findings__advise(found, many
                                   ? "rows are missing or shuffled, or ends of episodes are "
                                     "unmarked: name the episode column with --episode"
                                   : "rows may be missing there, or ends of episodes unmarked");
}

// ---------------------------------------------------------------------------- ends

static void find_ends(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    const rh_log *log = f->log;
    rh_finding *found;
    if (r->nterminal == log->n && log->n > 1) {
        found = rh_findings__add(f->list, RH_ERROR, RH_FINDING_TERMINAL_EVERYWHERE, log->n,
                                 "all %lld steps are terminal", (long long)log->n);
        rh_findings__advise(found, "choose another column with --terminal, or none with "
                                   "--terminal ''; if episodes really have one step, there is "
                                   "nothing to plan");
        return;
    }
    if (r->nterminal == 0) {
        char treated[160] = "the task is treated as continuing";
        if (!r->continuing)
            snprintf(treated, sizeof treated,
                     "the task is treated as episodic, because a time limit of %lld steps puts "
                     "the plant back to a start",
                     (long long)r->time_limit);
        found = rh_findings__add(f->list, RH_NOTICE, RH_FINDING_NO_TERMINAL, 0,
                                 "no terminal step in %lld step%s: %s", (long long)log->n,
                                 log->n == 1 ? "" : "s", treated);
        char told[200] = "if there are failures or goals, name their column with --terminal";
        if (log->terminal_reward < 0.0)
            snprintf(told, sizeof told,
                     "the reward adds %g to a terminal step, but a model cannot know where the "
                     "plant trips: name it with --limit SENSOR=LO:HI (fit, tune)",
                     log->terminal_reward);
        rh_findings__advise(found, "%s", told);
    }
    if (log->nepisode == 1) {
        found = rh_findings__add(f->list, RH_NOTICE, RH_FINDING_SINGLE_EPISODE, 1,
                                 "the whole log is one episode of %lld step%s",
                                 (long long)log->n, log->n == 1 ? "" : "s");
        rh_findings__advise(found, "if it has parts, separate them with --episode, "
                                   "--episode-steps or --max-gap");
    }
}

// Truncated episodes that no time limit explains.
static void find_cuts(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    const rh_log_report *r = f->report;
    if (r->ncut_judged < limit->cut_count || r->cut_share >= limit->cut_share)
        return;
    bool wide = r->cut_spread > limit->cut_spread;
    rh_finding *found = rh_findings__add(
        f->list, wide ? RH_WARNING : RH_NOTICE, RH_FINDING_IRREGULAR_CUTS, r->ncut_judged,
        "%lld episodes are truncated at different lengths: the most frequent, %lld step%s, "
        "occurs in %.0f %% of them",
        (long long)r->ncut_judged, (long long)r->cut_length, r->cut_length == 1 ? "" : "s",
        100.0 * r->cut_share);
    rh_findings__advise(found, "a time limit truncates at one length: if these ends are goals "
                               "or failures, name their column with --terminal");
}

// Terminal steps that look like a time limit: all at one length, where nothing else ends.
static void find_terminal_limit(const rh_inspect__finder *f)
{
    const rh_log *log = f->log;
    int64_t length = 0, n = 0;
    for (int e = 0; e < log->nepisode; e++) {
        int64_t steps = log->first[e + 1] - log->first[e];
        if (!(log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL) || !log->start[e])
            continue;
        if (n > 0 && steps != length)
            return;
        length = steps;
        n++;
    }
    if (n < rh_inspect__limit.cut_count || length < 2 || f->report->ncut_judged > 0)
        return; // where others are truncated, somebody knows the difference
    rh_finding *found = rh_findings__add(
        f->list, RH_WARNING, RH_FINDING_TERMINAL_LIMIT, n,
        "all %lld terminal steps end an episode of exactly %lld steps, as a time limit does",
        (long long)n, (long long)length);
    rh_findings__advise(found, "a time limit is no failure and no goal: name its column with "
                               "--truncated instead of --terminal");
}

static void find_starts(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    if (r->continuing)
        return; // it needs no start states
    if (r->nstart > 1 && r->nstart_distinct == 1) {
        rh_finding *found =
            rh_findings__add(f->list, RH_NOTICE, RH_FINDING_SAME_START, r->nstart,
                             "all %lld episodes begin in the same state", (long long)r->nstart);
        rh_findings__advise(found, "fine if the plant always starts there");
    } else if (r->nstart_distinct < rh_inspect__limit.few_starts) {
        rh_finding *found =
            rh_findings__add(f->list, RH_WARNING, RH_FINDING_FEW_STARTS, r->nstart_distinct,
                             "only %lld different start state%s: agents will see no others",
                             (long long)r->nstart_distinct, r->nstart_distinct == 1 ? "" : "s");
        rh_findings__advise(found, "log more episodes");
    }
}

static void find_jumps(const rh_inspect__finder *f)
{
    const rh_log_report *r = f->report;
    if (r->njump == 0)
        return;
    char list[120] = "";
    const int64_t *line = f->log->line;
    for (int i = 0; i < 4 && i < r->njump; i++)
        rh_text__put(list, sizeof list, "%s%lld", i ? ", " : "",
                     (long long)(line ? line[f->log->from[r->jump[i]]] : r->jump[i]));
    // a plant that is reset after a failure shows it in its rewards
    bool told = r->align.nspecial > 0 && r->njump_told == r->njump;
    rh_finding *found = rh_findings__add(
        f->list, told ? RH_NOTICE : RH_WARNING, RH_FINDING_JUMPS, r->njump,
        "%lld step%s inside episodes, more than %.0f times as long as 98 %% of all steps%s: "
        "%s%s%s %s%s",
        (long long)r->njump, r->njump == 1 ? "" : "s", rh_inspect__limit.jump_ratio,
        told ? ", with unusual rewards" : "", line ? "after " : "",
        line ? f->log->reading.place : "transition", r->njump == 1 ? "" : "s", list,
        r->njump > 4 ? ", ..." : "");
    rh_inspect__set_first(f, found, r->jump[0]);
    rh_findings__advise(found,
                        "if episodes end there, mark it with --episode, --episode-steps, "
                        "--terminal or --max-gap; if the plant is reset after a failure "
                        "and continues, leave it");
}

// ---------------------------------------------------------------------------- rows

static void find_lost(const rh_inspect__finder *f)
{
    const rh_log_reading *reading = &f->log->reading;
    int64_t lost = reading->nlost + reading->nincomplete, all = f->log->n + lost;
    if (lost == 0)
        return;
    bool much = (double)lost > rh_inspect__limit.lost_share * (double)all;
    rh_finding *found = rh_findings__add(
        f->list, much ? RH_WARNING : RH_NOTICE, RH_FINDING_LOST_STEPS, lost,
        "%s steps were dropped: %lld with an unknown next observation%s, %lld without action "
        "or reward%s",
        rh_inspect__share(lost, all).s, (long long)reading->nlost,
        rh_inspect__line(f, reading->lost_at).s, (long long)reading->nincomplete,
        rh_inspect__line(f, reading->incomplete_at).s);
    found->line = reading->nincomplete ? reading->incomplete_at : reading->lost_at;
    rh_findings__advise(found,
                        "log the observation after the last step of each episode, and an "
                        "action and a reward in every row");
}

static void find_repeats(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    const rh_log_report *r = f->report;
    double n = (double)f->log->n, copies = (double)r->nduplicate, twice = (double)r->ntwice;
    if ((double)r->nstate_distinct <= limit->tabular_share * n)
        return;
    if (r->ncopied > 0) {
        rh_finding *found = rh_findings__add(
            f->list, RH_ERROR, RH_FINDING_DUPLICATES, r->ncopied,
            "%s rows in blocks equal to earlier ones, as no plant repeats itself: the first "
            "from %s on, a copy of %s on",
            rh_inspect__share(r->ncopied, f->log->n).s, rh_inspect__where(f, r->copied_at).s,
            rh_inspect__where(f, r->copied_from).s);
        rh_inspect__set_first(f, found, r->copied_at);
        rh_findings__advise(found, "joined files overlap, or rows were written twice: remove "
                                   "the copies");
    } else if (copies - twice > limit->duplicate_share * n) {
        bool returns = copies <= limit->duplicate_run * (double)r->nreturn;
        bool much = copies - twice > limit->duplicate_much * n && !returns;
        rh_finding *found = rh_findings__add(
            f->list, much ? RH_WARNING : RH_NOTICE, RH_FINDING_DUPLICATES, r->nduplicate,
            "%s transitions equal an earlier one; other steps lead to one of "
            "these %lld time%s",
            rh_inspect__share(r->nduplicate, f->log->n).s, (long long)r->nreturn,
            r->nreturn == 1 ? "" : "s");
        rh_findings__advise(found, returns
                                       ? "fine if the plant has no noise and returns to the "
                                         "same states; else joined files overlap"
                                       : "joined files overlap, or episodes were sampled "
                                         "twice: remove the copies");
    }
    if (twice > limit->duplicate_share * n) {
        rh_finding *found = rh_findings__add(
            f->list,
            r->paired                           ? RH_ERROR
            : twice > limit->duplicate_much * n ? RH_WARNING
                                                : RH_NOTICE,
            RH_FINDING_REPEATED_ROWS, r->ntwice,
            "%s rows equal the row before in sensors, action and reward: first %s",
            rh_inspect__share(r->ntwice, f->log->n).s, rh_inspect__where(f, r->twice_at).s);
        rh_inspect__set_first(f, found, r->twice_at);
        rh_findings__advise(found, r->paired ? "every row was written twice: remove the copies"
                                             : "rows were written twice (remove the copies), "
                                               "or the plant is at rest");
    }
}

static void find_short(const rh_inspect__finder *f)
{
    const rh_inspect__limits *limit = &rh_inspect__limit;
    int64_t nact = f->log->naction ? f->log->naction : 3 * (int64_t)f->log->nact;
    int64_t want = limit->short_steps * f->log->nobs * nact;
    if (f->log->n < want) {
        rh_finding *found = rh_findings__add(
            f->list, RH_NOTICE, RH_FINDING_SHORT_LOG, f->log->n,
            "only %lld step%s for %d sensor%s and %s%d action%s", (long long)f->log->n,
            f->log->n == 1 ? "" : "s", f->log->nobs, f->log->nobs == 1 ? "" : "s",
            f->log->naction ? "" : "the thirds of ",
            f->log->naction ? f->log->naction : f->log->nact,
            f->log->naction + f->log->nact == 2 ? "" : "s");
        rh_findings__advise(
            found,
            "neighbours will be far apart: log %lld steps or more, or use fewer "
            "sensors (--obs)",
            (long long)want);
    }
}

static void find_time(const rh_inspect__finder *f)
{
    const rh_log_clock *c = &f->report->clock;
    rh_finding *found;
    const rh_log_reading *reading = &f->log->reading;
    if (c->n == 0)
        return;
    if (reading->nreverse > 0) {
        found = rh_findings__add(
            f->list,
            reading->nreverse >= rh_inspect__limit.reverse_count ? RH_ERROR : RH_WARNING,
            RH_FINDING_TIME_REVERSE, reading->nreverse,
            "time runs backwards inside episodes in %lld row%s%s; the episodes are split there",
            (long long)reading->nreverse, reading->nreverse == 1 ? "" : "s",
            rh_inspect__line(f, reading->reverse_at).s);
        found->line = reading->reverse_at;
        rh_findings__advise(found, "sort the rows by time, or choose another column with "
                                   "--time; a clock that is set back once a year does no harm");
    } else if (c->nreverse > 0) {
        found = rh_findings__add(f->list, RH_ERROR, RH_FINDING_TIME_REVERSE, c->nreverse,
                                 "time runs backwards in %s steps: first to %s",
                                 rh_inspect__share(c->nreverse, c->n).s,
                                 rh_inspect__where(f, c->reverse_at).s);
        rh_inspect__set_first(f, found, c->reverse_at);
        rh_findings__advise(found, "sort the rows, or choose another column with --time");
    }
    if (c->nrepeat > 0) {
        found = rh_findings__add(f->list, RH_WARNING, RH_FINDING_TIME_REPEATS, c->nrepeat,
                                 "%s rows have the same time as the row before: first %s",
                                 rh_inspect__share(c->nrepeat, c->n).s,
                                 rh_inspect__where(f, c->repeat_at).s);
        rh_inspect__set_first(f, found, c->repeat_at);
        rh_findings__advise(found,
                            "rows were written twice, or two devices share a file: remove "
                            "the copies, or sort by device and name it with --episode");
    }
    if (c->nirregular > 0 && c->nirregular > c->nrepeat + c->nreverse) {
        bool much = (double)c->nirregular > rh_inspect__limit.irregular_share * (double)c->n;
        found = rh_findings__add(
            f->list, much ? RH_WARNING : RH_NOTICE, RH_FINDING_IRREGULAR_TIME, c->nirregular,
            "%s steps do not take the usual %.6g; the longest takes %.6g, at %s",
            rh_inspect__share(c->nirregular, c->n).s, c->interval, c->longest,
            rh_inspect__where(f, c->longest_at).s);
        rh_inspect__set_first(f, found, c->longest_at);
        rh_findings__advise(found,
                            "a step across a gap is not a step of the plant: --max-gap %.6g "
                            "ends episodes there",
                            1.5 * c->interval);
    }
}

void rh_inspect__find_order(const rh_inspect__finder *f)
{
    find_row_shift(f);
    find_effect(f);
    find_alternating(f);
    find_regimes(f);
    find_hidden(f);
    find_next_shift(f);
    find_reward_shift(f);
    find_ends(f);
    find_cuts(f);
    find_terminal_limit(f);
    find_starts(f);
    find_jumps(f);
    find_time(f);
    find_lost(f);
    find_repeats(f);
    find_short(f);
}
