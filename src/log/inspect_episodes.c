// inspect_episodes.c - how episodes begin and end, repeated steps, jumps and time.
//
// 1. The length of a truncated episode counts only if somebody truncated it: not for the last
//    episode, which ends with the log, and not before a gap, where logging stopped.
// 2. Repeated transitions are counted by hash, one class of hashes at a time, so that the table
//    stays small. Copies that begin in the middle of an episode, where other steps led to the
//    same state, are counted too: a plant without noise returns to its states.
// 3. The length of a step is measured on scaled sensors, leaving out steps from or to missing
//    or absurd values: a spike in one sensor is not the end of an episode.

#include "inspect.h"

#include <math.h>
#include <string.h>

#define CHANGES 20000 // steps used to measure usual changes

// ---------------------------------------------------------------------------- hashes

#define HASHES (1 << 20) // hashes of a class, in twice as many slots

typedef struct hashes {
    uint64_t *slot; // owned; 0 is free                   (nslot, a power of two)
    uint64_t nslot;
    uint64_t *of; // hashes of the items compared, borrowed: the room's column
} hashes;

static uint64_t mix(uint64_t hash, const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        double value = isnan(x[i]) ? NAN : x[i] + 0.0;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static void put_hash(hashes *h, int64_t i, uint64_t hash)
{
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    h->of[i] = hash ? hash : 1;
}

// The number of distinct items among n. The hash of a repeated item becomes 0.
static int64_t count_different(hashes *h, int64_t n)
{
    int64_t different = 0;
    uint64_t nclass = 1 + (uint64_t)n / HASHES;
    for (uint64_t class = 0; class < nclass; class ++) {
        memset(h->slot, 0, h->nslot * sizeof *h->slot);
        for (int64_t i = 0; i < n; i++) {
            uint64_t hash = h->of[i];
            if (!hash || hash % nclass != class)
                continue;
            uint64_t at = (hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) % h->nslot;
            while (h->slot[at] && h->slot[at] != hash)
                at = (at + 1) % h->nslot;
            if (h->slot[at])
                h->of[i] = 0;
            different += h->slot[at] == 0;
            h->slot[at] = hash;
        }
    }
    return different;
}

static const double *state_of(const rh_log *log, int64_t t)
{
    return log->obs + (int64_t)log->from[t] * log->nobs;
}

uint64_t rh_inspect__row_hash(const rh_log *log, int64_t t)
{
    uint64_t hash = mix(1, state_of(log, t), log->nobs);
    hash = mix(hash, log->act + t * log->nact, log->nact);
    return mix(hash, log->reward + t, 1);
}

// Transitions equal to an earlier one, and how often other steps lead to one.
static void count_copies(rh_log_report *report, const rh_log *log, hashes *h)
{
    for (int64_t t = 0; t < log->n; t++) {
        uint64_t hash = rh_inspect__row_hash(log, t);
        if (log->to[t] != RH_UNKNOWN)
            hash = mix(hash, log->obs + (int64_t)log->to[t] * log->nobs, log->nobs);
        put_hash(h, t, hash);
    }
    report->nduplicate = log->n - count_different(h, log->n);
    for (int64_t t = 1; t < log->n; t++)
        report->nreturn += !h->of[t] && h->of[t - 1] && log->step[t] > 0;
}

// Rows equal to the row before in observation, action and reward.
static void count_twice(rh_log_report *report, const rh_log *log)
{
    int64_t run = 1, nrun = 0, neven = 0;
    uint64_t last = log->n ? rh_inspect__row_hash(log, 0) : 0;
    report->twice_at = -1;
    for (int64_t t = 1; t < log->n; t++) {
        uint64_t hash = rh_inspect__row_hash(log, t);
        bool twice = log->step[t] > 0 && hash == last;
        last = hash;
        if (!twice) {
            neven += run % 2 == 0;
            nrun++;
            run = 1;
            continue;
        }
        run++;
        report->ntwice++;
        report->twice_at = report->twice_at < 0 ? t : report->twice_at;
    }
    report->paired = nrun >= rh_inspect__limit.paired_runs &&
                     (double)neven >= rh_inspect__limit.paired_share * (double)nrun;
}

// Count repeated transitions, states and starts. The hashes overwrite the room's column.
static bool count_repeats(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    hashes h = {.nslot = 1024, .of = (void *)room->column};
    while (h.nslot < 2 * HASHES && h.nslot <= 2 * (uint64_t)log->n)
        h.nslot *= 2;
    h.slot = rh_alloc(h.nslot, sizeof *h.slot);
    if (!h.slot)
        return false;
    count_copies(report, log, &h);
    for (int64_t t = 0; t < log->n; t++)
        put_hash(&h, t, mix(1, state_of(log, t), log->nobs));
    report->nstate_distinct = count_different(&h, log->n);
    int64_t nstart = 0;
    for (int e = 0; e < log->nepisode; e++)
        if (log->start[e])
            put_hash(&h, nstart++, mix(1, state_of(log, log->first[e]), log->nobs));
    report->nstart_distinct = count_different(&h, nstart);
    rh_free(h.slot);
    count_twice(report, log);
    return true;
}

// ---------------------------------------------------------------------------- episodes

// The usual length of truncated episodes.
static void measure_cuts(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    room->nsorted = 0;
    for (int e = 0; e + 1 < log->nepisode && room->nsorted < RH_INSPECT__SAMPLE; e++)
        if (log->start[e] && log->start[e + 1] &&
            !(log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL))
            room->sorted[room->nsorted++] = (double)(log->first[e + 1] - log->first[e]);
    rh_inspect__sort(room);
    int64_t most = 0, run = 0;
    for (int64_t i = 0; i < room->nsorted; i++) {
        run = i > 0 && room->sorted[i] == room->sorted[i - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            report->cut_length = (int64_t)room->sorted[i];
        }
    }
    report->ncut_judged = room->nsorted;
    report->cut_share = room->nsorted ? (double)most / (double)room->nsorted : NAN;
    report->cut_spread = (rh_inspect__quantile(room, 0.75) - rh_inspect__quantile(room, 0.25)) /
                         rh_inspect__quantile(room, 0.5);
}

// The spread of start states relative to that of all states.
static double measure_starts(const rh_log *log, const rh_inspect__space *space)
{
    double x[RH_MAX_OBS], sum[RH_MAX_OBS] = {0.0}, square[RH_MAX_OBS] = {0.0}, total = 0.0;
    int64_t n = 0;
    for (int e = 0; e < log->nepisode; e++) {
        if (!log->start[e])
            continue;
        rh_inspect__place(space, log, log->from[log->first[e]], x);
        n++;
        for (int i = 0; i < space->n; i++) {
            sum[i] += x[i];
            square[i] += x[i] * x[i];
        }
    }
    if (n < 2 || space->n == 0)
        return NAN;
    for (int i = 0; i < space->n; i++) {
        double mean = sum[i] / (double)n;
        total += fmax(0.0, square[i] / (double)n - mean * mean);
    }
    return sqrt(total / space->n);
}

bool rh_inspect__episodes(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    rh_inspect__space space;
    rh_inspect__space_init(&space, log, report);
    for (int e = 0; e < log->nepisode; e++) {
        bool terminal = log->flag[log->first[e + 1] - 1] & RH_FLAG_TERMINAL;
        report->nterminal += terminal;
        report->ncut += !terminal;
        report->nstart += log->start[e] != 0;
        report->nresumed += log->start[e] == 0;
        room->column[e] = (double)(log->first[e + 1] - log->first[e]);
    }
    rh_inspect__numbers(&report->length, room, log->nepisode);
    for (int e = 0; e < log->nepisode; e++) {
        double sum = 0.0;
        for (int64_t t = log->first[e]; t < log->first[e + 1]; t++)
            sum += log->reward[t];
        room->column[e] = sum;
    }
    rh_inspect__numbers(&report->returns, room, log->nepisode);
    measure_cuts(report, log, room);
    report->start_spread = measure_starts(log, &space);
    return count_repeats(report, log, room);
}

// ---------------------------------------------------------------------------- steps

// Whether both ends of a step are known, without missing or absurd values.
static bool is_sound(const rh_log_report *report, const rh_log *log, int64_t t)
{
    if (log->to[t] == RH_UNKNOWN)
        return false;
    const double *a = log->obs + (int64_t)log->from[t] * log->nobs;
    const double *b = log->obs + (int64_t)log->to[t] * log->nobs;
    for (int j = 0; j < log->nobs; j++)
        if (!isfinite(a[j]) || !isfinite(b[j]) ||
            rh_inspect__is_absurd(&report->sensor[j].value, a[j]) ||
            rh_inspect__is_absurd(&report->sensor[j].value, b[j]))
            return false;
    return true;
}

// The change in a step, into d (space->n); returns its length.
static double change_of(const rh_inspect__space *space, const rh_log *log, int64_t t, double *d)
{
    double sum = 0.0;
    rh_inspect__changes(space, log, t, d);
    for (int i = 0; i < space->n; i++)
        sum += d[i] * d[i];
    return sqrt(sum);
}

// The change of each sensor that 98 % of the steps do not exceed, into usual (space->n).
static void measure_changes(const rh_log *log, const rh_inspect__space *space,
                            rh_inspect__room *room, double *usual)
{
    int64_t k = log->n < CHANGES ? log->n : CHANGES;
    for (int i = 0; i < space->n; i++) {
        room->nsorted = 0;
        for (int64_t j = 0; j < k; j++) {
            int64_t t = rh_inspect__spread(j, k, log->n);
            if (log->to[t] != RH_UNKNOWN)
                room->sorted[room->nsorted++] = fabs(rh_inspect__change(space, log, t, i));
        }
        rh_inspect__sort(room);
        usual[i] = rh_inspect__quantile(room, 0.98);
    }
}

// Whether most sensors jump: a new start moves all of them, a wall stops only one.
static bool is_jump(const rh_inspect__space *space, const double *d, const double *usual)
{
    int n = 0;
    for (int i = 0; i < space->n; i++)
        n += fabs(d[i]) > rh_inspect__limit.jump_sensor * usual[i];
    return 2 * n > space->n;
}

// The lengths of steps, and the steps that are far too long.
static void measure_steps(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    rh_inspect__space space;
    rh_inspect__space_init(&space, log, report);
    double *length = room->column, d[RH_MAX_OBS], usual[RH_MAX_OBS];
    measure_changes(log, &space, room, usual);
    for (int64_t t = 0; t < log->n; t++)
        length[t] = is_sound(report, log, t) ? change_of(&space, log, t, d) : 0.0;

    // steps that do not move say nothing about the usual length
    int64_t k = log->n < RH_INSPECT__SAMPLE ? log->n : RH_INSPECT__SAMPLE;
    room->nsorted = 0;
    for (int64_t i = 0; i < k; i++) {
        double far = length[rh_inspect__spread(i, k, log->n)];
        if (far > 0.0)
            room->sorted[room->nsorted++] = far;
    }
    rh_inspect__sort(room);
    report->step_length = rh_inspect__quantile(room, 0.5);
    report->step_far = rh_inspect__quantile(room, 0.98);
    double reach = fmax(rh_inspect__limit.jump_ratio * report->step_far,
                        rh_inspect__limit.jump_least * sqrt(space.n));
    for (int64_t t = 0; t < log->n; t++) {
        if (!(length[t] > reach))
            continue;
        change_of(&space, log, t, d);
        if (!is_jump(&space, d, usual))
            continue;
        if (report->njump < 4)
            report->jump[report->njump] = t;
        report->njump++;
        report->njump_told += log->reward[t] != report->reward.median;
    }
}

static void measure_clock(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    rh_log_clock *c = &report->clock;
    *c = (rh_log_clock){.begin = NAN, .end = NAN, .interval = NAN};
    c->longest_at = c->repeat_at = c->reverse_at = -1;
    if (!log->time)
        return;
    c->begin = log->time[0];
    c->end = log->time[log->n - 1];
    for (int64_t t = 0; t + 1 < log->n; t++)
        if (log->step[t + 1] > 0) {
            double d = log->time[t + 1] - log->time[t];
            if (!isfinite(d))
                continue;
            if (c->longest_at < 0 || d > c->longest) {
                c->longest = d;
                c->longest_at = t;
            }
            c->shortest = c->n ? fmin(c->shortest, d) : d;
            c->nrepeat += d == 0.0;
            c->nreverse += d < 0.0;
            if (d == 0.0 && c->repeat_at < 0)
                c->repeat_at = t + 1;
            if (d < 0.0 && c->reverse_at < 0)
                c->reverse_at = t + 1;
            room->column[c->n++] = d;
        }

    // an interval that occurs, above 0, since half of the rows may be copies
    int64_t k = c->n < RH_INSPECT__SAMPLE ? c->n : RH_INSPECT__SAMPLE;
    room->nsorted = 0;
    for (int64_t i = 0; i < k; i++) {
        double d = room->column[rh_inspect__spread(i, k, c->n)];
        if (d > 0.0)
            room->sorted[room->nsorted++] = d;
    }
    rh_inspect__sort(room);
    c->interval = room->nsorted ? room->sorted[(room->nsorted - 1) / 2] : 0.0;
    for (int64_t i = 0; i < c->n; i++)
        c->nirregular +=
            !(fabs(room->column[i] - c->interval) <= rh_inspect__limit.irregular * c->interval);
}

bool rh_inspect__steps(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    measure_steps(report, log, room);
    measure_clock(report, log, room);
    return true;
}
