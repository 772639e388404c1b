// esarsa_plain.c - straightforward scalar double-precision C, every non-zero trace visited each
// step. The formulas are those of esarsa.c's opening comment.

#include "esarsa_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

plain *plain_create(const rh_task *task, const double hp[5], int ntiling, int ntile)
{
    plain *p = calloc(1, sizeof *p);
    p->nobs = task->nobs;
    p->naction = task->naction;
    int nsingle = task->nobs, npair = task->nobs * (task->nobs - 1) / 2, side = ntile + 1;
    p->ntiling = ntiling;
    p->ntile = ntile;
    p->nactive = ntiling * (nsingle + npair);
    p->nfeature = ntiling * (nsingle * side + npair * side * side);
    memcpy(p->lo, task->obs_lo, sizeof p->lo);
    memcpy(p->hi, task->obs_hi, sizeof p->hi);
    p->gamma = task->gamma;
    p->alpha = hp[0] / ntiling;
    p->beta1 = hp[1];
    p->beta2 = 0.999;
    p->tau = hp[2];
    p->lambda = hp[4];
    size_t n = (size_t)(p->naction * p->nfeature);
    p->w = calloc(n, sizeof *p->w);
    p->m = calloc(n, sizeof *p->m);
    p->v = calloc(n, sizeof *p->v);
    p->z = calloc(n, sizeof *p->z);
    p->live = calloc(n, sizeof *p->live);
    p->now = calloc((size_t)p->nactive, sizeof *p->now);
    p->next = calloc((size_t)p->nactive, sizeof *p->next);
    for (size_t i = 0; i < n; i++)
        p->w[i] = hp[3] / ntiling;
    return p;
}

void plain_destroy(plain *p)
{
    free(p->w);
    free(p->m);
    free(p->v);
    free(p->z);
    free(p->live);
    free(p->now);
    free(p->next);
    free(p);
}

static int floor_div(int a, int b)
{
    return (int)floor((double)a / b);
}

void plain_features(const plain *p, const double *obs, int *f)
{
    int nt = p->ntiling, side = p->ntile + 1, base = 0;
    int q[RH_MAX_OBS];
    for (int i = 0; i < p->nobs; i++) {
        double x = (obs[i] - p->lo[i]) / (p->hi[i] - p->lo[i]);
        q[i] = (int)floor(fmin(fmax(x, 0.0), 1.0) * p->ntile * nt);
    }
    for (int i = 0; i < p->nobs; i++, base += nt * side)
        for (int t = 0; t < nt; t++)
            *f++ = base + t * side + floor_div(q[i] - t, nt) - floor_div(-t, nt);
    for (int i = 0; i < p->nobs; i++)
        for (int j = i + 1; j < p->nobs; j++, base += nt * side * side)
            for (int t = 0; t < nt; t++) {
                int a = floor_div(q[i] - t, nt) - floor_div(-t, nt);
                int b = floor_div(q[j] - 3 * t, nt) - floor_div(-3 * t, nt);
                *f++ = base + t * side * side + a * side + b;
            }
}

static double value(const plain *p, const int *f, int a)
{
    double q = 0.0;
    for (int i = 0; i < p->nactive; i++)
        q += p->w[a * p->nfeature + f[i]];
    return q;
}

// Draw an action; the expectation of q under the policy is left in *expected.
static int choose(const plain *p, const int *f, rh_rng *rng, double *expected)
{
    double q[64], pi[64], most = -INFINITY, sum = 1e-8, rest = 1.0;
    int n = p->naction;
    for (int a = 0; a < n; a++) {
        q[a] = value(p, f, a);
        most = fmax(most, q[a]);
    }
    for (int a = 0; a < n; a++)
        sum += pi[a] = exp((q[a] - most) / p->tau);
    for (int a = 0; a < n - 1; a++)
        rest -= pi[a] /= sum;
    pi[n - 1] = rest;
    *expected = 0.0;
    for (int a = 0; a < n; a++)
        *expected += pi[a] * q[a];
    double u = rh_rng_uniform(rng);
    int action = 0;
    while (action < n - 1 && u >= pi[action])
        u -= pi[action++];
    return action;
}

static void set_traces(plain *p)
{
    for (int i = 0; i < p->nactive; i++) {
        int e = p->action * p->nfeature + p->now[i];
        if (p->z[e] == 0.0)
            p->live[p->nlive++] = e;
        p->z[e] = 1.0;
    }
}

static void update(plain *p, double delta)
{
    p->t++;
    double c1 = 1.0 - pow(p->beta1, (double)p->t), c2 = 1.0 - pow(p->beta2, (double)p->t);
    int kept = 0;
    for (int k = 0; k < p->nlive; k++) {
        int e = p->live[k];
        double g = -delta * p->z[e];
        p->m[e] = p->beta1 * p->m[e] + (1.0 - p->beta1) * g;
        p->v[e] = p->beta2 * p->v[e] + (1.0 - p->beta2) * g * g;
        if (p->sgd)
            p->w[e] -= p->alpha * g;
        else
            p->w[e] -= p->alpha * (p->m[e] / c1) / (sqrt(p->v[e] / c2) + 1e-8);
        p->z[e] *= p->gamma * p->lambda;
        if (p->z[e] != 0.0)
            p->live[kept++] = e;
    }
    p->nlive = kept;
}

int plain_start(plain *p, const double *obs, rh_rng *rng)
{
    double expected;
    for (int k = 0; k < p->nlive; k++)
        p->z[p->live[k]] = 0.0;
    p->nlive = 0;
    p->t++;
    plain_features(p, obs, p->now);
    return p->action = choose(p, p->now, rng, &expected);
}

int plain_step(plain *p, double reward, const double *obs, rh_rng *rng)
{
    double expected, delta = reward - value(p, p->now, p->action);
    set_traces(p);
    plain_features(p, obs, p->next);
    int action = choose(p, p->next, rng, &expected);
    update(p, delta + p->gamma * expected);
    int *last = p->now;
    p->now = p->next;
    p->next = last;
    return p->action = action;
}

void plain_end(plain *p, double reward)
{
    double delta = reward - value(p, p->now, p->action);
    set_traces(p);
    update(p, delta);
}
