// linear_gate.c - terms of the reward that count only at times: by day, at a high tariff.
//
// A gate is a sensor that nobody controls and a window of its values, or all but a window. For
// each ungated term the steps are summed up by NBIN quantiles of the sensor; the correlation of
// what is left with the term in any window then follows from these sums.

#include "linear_cost.h"

#include "numeric/stats.h"

#include <math.h>
#include <string.h>

#define NBIN 48    // quantiles of a gate's sensor
#define NGATE 4    // most sensors that are tried
#define NKNOT 9    // quantiles of the sensors of terms
#define FEWEST 0.1 // share of the steps in a window, and beside it; by hand

// Sums over the steps of a bin that are learned from.
typedef struct bin {
    double n, h, hh, hr; // steps, the term, its square, its product with what is left
} bin;

typedef struct search {
    const rh_linear__pursuit *p;
    int gate;              // sensor
    double edge[NBIN + 1]; // of the bins
    int nbin;
    unsigned char *of; // bin of each step  (n)
    double most;       // the best correlation so far
    rh_linear__cost *best;
} search;

static void minus(const bin *a, const bin *b, bin *out)
{
    *out = (bin){a->n - b->n, a->h - b->h, a->hh - b->hh, a->hr - b->hr};
}

// The correlation of a term in a window, times the length of what is left.
static double correlation(const bin *in, double all)
{
    double length2 = in->hh - in->h * in->h / all;
    return length2 > 1e-9 * in->hh ? fabs(in->hr) / sqrt(length2) : 0.0;
}

static void offer(search *s, const rh_linear__cost *c, const bin *in, double all, int from,
                  int to)
{
    double found =
        in->n < FEWEST * all || in->n > (1.0 - FEWEST) * all ? 0.0 : correlation(in, all);
    if (!(found > s->most))
        return;
    s->most = found;
    *s->best = *c;
    s->best->gate = s->gate;
    s->best->from = s->edge[from];
    s->best->to = s->edge[to];
}

// All windows of a term.
static void try_term(search *s, const rh_linear__cost *c)
{
    const rh_linear__pursuit *p = s->p;
    bin up_to[NBIN + 1] = {{0}};
    for (int i = 0; i < p->n; i++) {
        if (rh_linear__is_kept(p, i))
            continue;
        bin *b = &up_to[s->of[i] + 1];
        double h = rh_linear__term_of(p, c, i);
        b->n += 1.0;
        b->h += h;
        b->hh += h * h;
        b->hr += h * p->left[i];
    }
    for (int b = 1; b <= s->nbin; b++) {
        up_to[b].n += up_to[b - 1].n;
        up_to[b].h += up_to[b - 1].h;
        up_to[b].hh += up_to[b - 1].hh;
        up_to[b].hr += up_to[b - 1].hr;
    }
    const bin *all = &up_to[s->nbin];
    for (int from = 0; from < s->nbin; from++)
        for (int to = from + 1; to <= s->nbin; to++) {
            bin in, out;
            minus(&up_to[to], &up_to[from], &in);
            minus(all, &in, &out);
            offer(s, c, &in, all->n, from, to);
            if (from > 0 && to < s->nbin)
                offer(s, c, &out, all->n, to, from);
        }
}

static double value_at(const rh_linear__pursuit *p, int i, int sensor)
{
    const rh_log *log = p->model->log;
    return log->obs[(int64_t)log->to[p->at[i]] * log->nobs + sensor];
}

// Bins of about as many steps each, with different edges.
static void set_bins(search *s, double *work)
{
    const rh_linear__pursuit *p = s->p;
    for (int i = 0; i < p->n; i++)
        work[i] = value_at(p, i, s->gate);
    rh_stats__sort(work, p->n);
    s->nbin = 0;
    s->edge[0] = work[0];
    for (int q = 1; q < NBIN; q++) {
        double at = rh_stats__quantile_sorted(work, p->n, (double)q / NBIN);
        if (at > s->edge[s->nbin])
            s->edge[++s->nbin] = at;
    }
    s->edge[++s->nbin] = work[p->n - 1] + 1.0; // all are below
    for (int i = 0; i < p->n; i++) {
        double z = value_at(p, i, s->gate);
        int b = 0;
        while (b + 1 < s->nbin && z >= s->edge[b + 1])
            b++;
        s->of[i] = (unsigned char)b;
    }
}

// The terms that may be gated: hinges of predicted sensors, actions, and 1.
static void try_terms(search *s)
{
    const rh_linear__pursuit *p = s->p;
    const rh_linear *m = p->m;
    int ninput = m->naction ? m->naction : m->nact;
    try_term(s, &(rh_linear__cost){.kind = RH_COST_ONE, .gate = -1});
    for (int j = 0; j < ninput; j++)
        try_term(s, &(rh_linear__cost){.kind = RH_COST_ACTION, .j = j, .gate = -1});
    for (int d = 0; d < p->ndict; d++) {
        const rh_linear__cost *c = &p->dict[d];
        bool hinge = c->kind == RH_COST_ABOVE || c->kind == RH_COST_BELOW;
        bool replayed = false;
        for (int e = 0; e < m->nexo; e++)
            replayed = replayed || m->exo[e] == c->i;
        if (hinge && c->gate < 0 && !replayed)
            try_term(s, c);
    }
}

double rh_linear__best_gated(const rh_linear__pursuit *p, double least, rh_linear__cost *out,
                             double *work)
{
    search s = {.p = p, .most = least, .best = out, .of = p->bin};
    for (int e = 0; e < p->m->nexo && e < NGATE; e++) {
        s.gate = p->m->exo[e];
        set_bins(&s, work);
        if (s.nbin > 2)
            try_terms(&s);
    }
    return s.most;
}
