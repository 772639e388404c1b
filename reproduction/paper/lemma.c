// lemma.c - both theorems in small decision processes, exactly.
//
// A history-dependent policy chooses an action for every history on its own. Let p(h) and q(h)
// be the products of the transition probabilities along h, in the process and in the model.
// Then
//
//     V - V^ = sum over h, a of  pi(a | h) w(h) [p(h) r(s, a) - q(h) r^(s, a)]
//
// where w(h) is the product of the policy's own choices, and the largest value over all
// policies is found by one walk over the tree of histories:
//
//     D(h) = max over a of  p(h) r(s, a) - q(h) r^(s, a) + sum over s' of D(h a s')
//
// The same with the other sign gives the smallest. With 3 states and 2 actions the tree of T
// steps has 6^(T-1) histories. A test enumerates all deterministic policies of two steps and
// finds the same number.

#include "lemma.h"

#include "rehearse/contract.h"

#include <math.h>
#include <string.h>

enum { NS = RH_LEMMA__NSTATE, NA = RH_LEMMA__NACTION };

// ---------------------------------------------------------------------------- processes

// Uniform on the simplex.
static void draw_distribution(double *p, rh_rng *rng)
{
    double sum = 0.0;
    for (int k = 0; k < NS; k++) {
        p[k] = -rh_ln(1.0 - rh_rng_uniform(rng));
        sum += p[k];
    }
    for (int k = 0; k < NS; k++)
        p[k] /= sum;
}

void rh_lemma__draw(rh_lemma *m, double wrong, rh_rng *rng)
{
    for (int s = 0; s < NS; s++)
        for (int a = 0; a < NA; a++) {
            double other[NS], reward = rh_rng_uniform(rng);
            double off = reward + wrong * rh_rng_range(rng, -0.5, 0.5);
            draw_distribution(m->p[0][s][a], rng);
            draw_distribution(other, rng);
            for (int k = 0; k < NS; k++)
                m->p[1][s][a][k] = (1.0 - wrong) * m->p[0][s][a][k] + wrong * other[k];
            m->r[0][s][a] = reward;
            m->r[1][s][a] = off < 0.0 ? 0.0 : off > 1.0 ? 1.0 : off;
        }
}

void rh_lemma__errors(const rh_lemma *m, double *ep, double *er)
{
    *ep = *er = 0.0;
    for (int s = 0; s < NS; s++)
        for (int a = 0; a < NA; a++) {
            double sum = 0.0, off = fabs(m->r[1][s][a] - m->r[0][s][a]);
            for (int k = 0; k < NS; k++)
                sum += fabs(m->p[1][s][a][k] - m->p[0][s][a][k]);
            *ep = sum > *ep ? sum : *ep;
            *er = off > *er ? off : *er;
        }
}

// ---------------------------------------------------------------------------- Theorem 1

// D(h), for the sign of the difference. p and q: of the history, which ends in s.
static double largest(const rh_lemma *m, int left, int s, double p, double q, double sign)
{
    double best = -INFINITY;
    for (int a = 0; a < NA; a++) {
        double d = sign * (p * m->r[0][s][a] - q * m->r[1][s][a]);
        for (int k = 0; k < NS && left > 1; k++)
            d += largest(m, left - 1, k, p * m->p[0][s][a][k], q * m->p[1][s][a][k], sign);
        best = d > best ? d : best;
    }
    return best;
}

double rh_lemma__largest(const rh_lemma *m, int T)
{
    double above = largest(m, T, 0, 1.0, 1.0, 1.0);
    double below = largest(m, T, 0, 1.0, 1.0, -1.0);
    return above > below ? above : below;
}

double rh_lemma__bound(double ep, double er, int T)
{
    return er * T + 0.5 * ep * T * T;
}

// ---------------------------------------------------------------------------- learners

static double greatest(const double *q)
{
    double best = q[0];
    for (int a = 1; a < NA; a++)
        best = q[a] > best ? q[a] : best;
    return best;
}

// Greedy actions share 1 - epsilon.
static void policy(const double *q, double epsilon, double *pi)
{
    double best = greatest(q);
    int ties = 0;
    for (int a = 0; a < NA; a++)
        ties += q[a] == best;
    for (int a = 0; a < NA; a++)
        pi[a] = epsilon / NA + (q[a] == best ? (1.0 - epsilon) / ties : 0.0);
}

static double value(const rh_lemma *m, int w, const rh_lemma__learner *l, int left, int s,
                    double (*q)[NA])
{
    double pi[NA], sum = 0.0;
    policy(q[s], l->epsilon, pi);
    for (int a = 0; a < NA; a++) {
        double r = m->r[w][s][a], rest = 0.0, before = q[s][a];
        for (int k = 0; k < NS && left > 1 && pi[a] > 0.0; k++) {
            double next = greatest(q[k]);
            q[s][a] = before + l->alpha * (r + l->gamma * next - before);
            rest += m->p[w][s][a][k] * value(m, w, l, left - 1, k, q);
            q[s][a] = before;
        }
        sum += pi[a] * (r + rest);
    }
    return sum;
}

double rh_lemma__value(const rh_lemma *m, int which, const rh_lemma__learner *learner, int T)
{
    double q[NS][NA];
    memset(q, 0, sizeof q);
    return value(m, which, learner, T, 0, q);
}
