// inspect_cover.c - distances from the log's states to the states where each action was tried.
//
// A model built from the log predicts the effect of an action from the nearest state where it
// was taken. So for every action the distance from the log's states to that state is measured,
// in median steps: 0.4 is nearer than the next row, 30 is far away.
//
// 1. A step is not its own neighbour; an equal step in another row is.
// 2. Continuous actions are measured by single numbers, not jointly, in thirds (low to high).
// 3. Brute force on floats, over flat arrays that compilers vectorise. 2,000 states are queried
//    and at most 50,000 of each action searched (fewer with many sensors or actions), both
//    evenly spaced; the report gives the numbers. With 1,000,000 transitions, 8 sensors and 3
//    actions this takes a sixth of the inspection.
// 4. The order of sums does not depend on the instruction set: lanes are summed separately.

#include "base/scratch.h"
#include "inspect.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define QUERIES 2000
#define PLACES 50000 // most states of one action
#define EFFORT 3.0e9 // products for all actions together; by hand, bounds the time (decision 3)
#define LANES 64     // distances computed together

typedef struct search {
    const rh_log *log;
    rh_inspect__space space;
    float *query;   // scaled states to query           (nquery x space.n)
    int64_t *asked; // their transitions                (nquery)
    float *place;   // states of one action, in blocks of LANES, sensor by sensor
    int64_t *taken; // their transitions, ascending     (nplace)
    int64_t nquery, nplace;
    rh_scratch scratch; // owns the arrays
} search;

// ---------------------------------------------------------------------------- which steps

// Whether step t took the action of c.
static bool belongs(const rh_log *log, const rh_log_cover *c, int64_t t)
{
    double a = log->act[t * log->nact + (c->third < 0 ? 0 : c->action)];
    return c->third < 0 ? a == c->action : a >= c->lo && a <= c->hi;
}

// The thirds of the k-th number of an action, from its sorted sample: from the minimum to the
// 1/3 quantile, and so on; ties stay together. Empty thirds are skipped.
static void add_thirds(rh_log_report *report, const rh_inspect__room *room, int k)
{
    const double *x = room->sorted;
    int64_t n = room->nsorted, first = 0;
    for (int third = 0; third < 3 && first < n; third++) {
        int64_t last = third == 2 ? n : (third + 1) * n / 3;
        if (last <= first)
            continue;
        while (last < n && x[last] == x[last - 1])
            last++;
        report->cover[report->ncover++] =
            (rh_log_cover){.action = k, .third = third, .lo = x[first], .hi = x[last - 1]};
        first = last;
    }
}

static void list_actions(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    for (int a = 0; a < log->naction; a++)
        report->cover[report->ncover++] = (rh_log_cover){.action = a, .third = -1};
    for (int k = 0; k < log->nact && !log->naction; k++) {
        int64_t n = log->n < RH_INSPECT__SAMPLE ? log->n : RH_INSPECT__SAMPLE;
        room->nsorted = 0;
        for (int64_t i = 0; i < n; i++) {
            double a = log->act[rh_inspect__spread(i, n, log->n) * log->nact + k];
            if (isfinite(a))
                room->sorted[room->nsorted++] = a;
        }
        rh_inspect__sort(room);
        add_thirds(report, room, k);
    }
}

// ---------------------------------------------------------------------------- distances

// Collect the scaled states of the steps that took an action.
static void gather(search *s, rh_log_cover *c, int64_t most)
{
    const rh_log *log = s->log;
    int n = s->space.n;
    double x[RH_MAX_OBS];
    for (int64_t t = 0; t < log->n; t++)
        c->n += belongs(log, c, t);
    int64_t k = c->n < most ? c->n : most;
    s->nplace = 0;
    for (int64_t t = 0, i = 0; t < log->n && s->nplace < k; t++) {
        if (!belongs(log, c, t) || i++ != rh_inspect__spread(s->nplace, k, c->n))
            continue;
        float *block = s->place + s->nplace / LANES * LANES * n;
        rh_inspect__place(&s->space, log, log->from[t], x);
        for (int j = 0; j < n; j++)
            block[j * LANES + s->nplace % LANES] = (float)x[j];
        s->taken[s->nplace++] = t;
    }
    // fill the last block with points at infinity
    for (int64_t i = s->nplace; i % LANES != 0; i++)
        for (int j = 0; j < n; j++)
            s->place[i / LANES * LANES * n + j * LANES + i % LANES] = j ? 0.0F : FLT_MAX;
}

// The squared distance of q to the nearest state.
static float nearest(const search *s, const float *q)
{
    float least[LANES], best = INFINITY;
    int n = s->space.n;
    for (int l = 0; l < LANES; l++)
        least[l] = INFINITY;
    for (int64_t b = 0; b < s->nplace; b += LANES) {
        const float *block = s->place + b * n;
        float sum[LANES] = {0.0F};
        for (int j = 0; j < n; j++) {
            float x = q[j];
            for (int l = 0; l < LANES; l++) {
                float d = block[j * LANES + l] - x;
                sum[l] += d * d;
            }
        }
        for (int l = 0; l < LANES; l++)
            least[l] = sum[l] < least[l] ? sum[l] : least[l];
    }
    for (int l = 0; l < LANES; l++)
        best = least[l] < best ? least[l] : best;
    return best;
}

// The index of transition t among those collected, or -1.
static int64_t find(const search *s, int64_t t)
{
    int64_t lo = 0, hi = s->nplace;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (s->taken[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->nplace && s->taken[lo] == t ? lo : -1;
}

static void measure(search *s, rh_log_cover *c, double unit, rh_inspect__room *room)
{
    int n = s->space.n;
    room->nsorted = 0;
    for (int64_t i = 0; i < s->nquery; i++) {
        // hide the query itself
        int64_t own = find(s, s->asked[i]);
        float *at = own < 0 ? NULL : s->place + own / LANES * LANES * n + own % LANES;
        float kept = at ? *at : 0.0F;
        if (at)
            *at = FLT_MAX;
        float d = nearest(s, s->query + i * n);
        if (at)
            *at = kept;
        if (isfinite(d))
            room->sorted[room->nsorted++] = sqrt((double)d) / unit;
    }
    rh_inspect__sort(room);
    c->median = rh_inspect__quantile(room, 0.5);
    c->q90 = rh_inspect__quantile(room, 0.9);
    c->q99 = rh_inspect__quantile(room, 0.99);
    c->max = rh_inspect__quantile(room, 1.0);
}

static void gather_queries(search *s)
{
    double x[RH_MAX_OBS];
    for (int64_t i = 0; i < s->nquery; i++) {
        s->asked[i] = rh_inspect__spread(i, s->nquery, s->log->n);
        rh_inspect__place(&s->space, s->log, s->log->from[s->asked[i]], x);
        for (int j = 0; j < s->space.n; j++)
            s->query[i * s->space.n + j] = (float)x[j];
    }
}

bool rh_inspect__cover(rh_log_report *report, const rh_log *log, rh_inspect__room *room)
{
    search s = {.log = log};
    rh_inspect__space_init(&s.space, log, report);
    list_actions(report, log, room);
    int64_t n = s.space.n, most = PLACES;
    double fair = EFFORT / (QUERIES * (double)(n ? n : 1) * report->ncover);
    most = fair < (double)most ? (int64_t)fair + 1 : most;
    s.nquery = log->n < QUERIES ? log->n : QUERIES;

    size_t nroom = (size_t)(most / LANES + 1) * LANES;
    s.query = rh_scratch__take(&s.scratch, (size_t)(s.nquery * n) + 1, sizeof *s.query);
    s.asked = rh_scratch__take(&s.scratch, (size_t)s.nquery, sizeof *s.asked);
    s.place = rh_scratch__take(&s.scratch, nroom * (size_t)n + 1, sizeof *s.place);
    s.taken = rh_scratch__take(&s.scratch, nroom, sizeof *s.taken);
    bool good = !s.scratch.failed;
    if (good)
        gather_queries(&s);
    for (int i = 0; i < report->ncover && good; i++) {
        rh_log_cover *c = &report->cover[i];
        c->median = c->q90 = c->q99 = c->max = NAN;
        gather(&s, c, most);
        report->nplace += s.nplace;
        if (n > 0 && report->step_length > 0.0)
            measure(&s, c, report->step_length, room);
    }
    report->nquery = s.nquery;
    rh_scratch__clear(&s.scratch);
    return good;
}
