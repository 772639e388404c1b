// lemma.h - small decision processes in which both theorems can be checked exactly.

#ifndef PAPER_LEMMA_H
#define PAPER_LEMMA_H

#include "rehearse/base.h"

enum { RH_LEMMA__NSTATE = 3, RH_LEMMA__NACTION = 2 };

// A process and a model of it, with one start state, 0. Rewards are in [0, 1].
typedef struct rh_lemma {
    double p[2][RH_LEMMA__NSTATE][RH_LEMMA__NACTION][RH_LEMMA__NSTATE]; // process, model
    double r[2][RH_LEMMA__NSTATE][RH_LEMMA__NACTION];
} rh_lemma;

// A learner: tabular Q-learning, epsilon-greedy.
typedef struct rh_lemma__learner {
    double alpha, epsilon, gamma;
} rh_lemma__learner;

// A random process, and a model that is wrong by up to `wrong` (0 to 1).
void rh_lemma__draw(rh_lemma *m, double wrong, rh_rng *rng);

// The errors of the model: max over (s, a) of |P^ - P|_1 and |r^ - r|.
void rh_lemma__errors(const rh_lemma *m, double *ep, double *er);

// The largest |V - V^| that any history-dependent policy has over T steps.
double rh_lemma__largest(const rh_lemma *m, int T);

// The bound of Theorem 1: er T + ep T^2 / 2, with rewards up to 1.
double rh_lemma__bound(double ep, double er, int T);

// The value of a learner over T steps in the process (0) or in the model (1).
double rh_lemma__value(const rh_lemma *m, int which, const rh_lemma__learner *learner, int T);

#endif
