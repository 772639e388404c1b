// optimism.c - how much too good the study's model is known to be.
//
// `fit` runs two policies in the model: the logged behaviour, imitated, and random actions. The
// first should score as it did in the log, and the second no better than the logged controller.
// Where one of them scores better beyond chance, the model is known to be too good by the
// difference, and an agent that leaves the logged behaviour will profit from it. The lower end
// of a confirmed setting's interval is lowered by the difference.
//
// 1. This is no estimate of the true score, only the part of the error that the log shows. So
//    the value stays, and the upper end too: a model that is too hard for the imitated
//    behaviour (its policy is only an estimate) may still be too easy for others. Measured: in
//    stitched models of near-optimal Acrobot logs the imitation scores -123 and the log -70,
//    random actions score -21, and the truth of the chosen setting is far below its score.
// 2. Beyond chance: twice the standard error of the difference, the deviation of returns taken
//    from their quartiles, which outliers do not move.
// 3. In a continuing task returns are of stretches; they are scaled to the steps of a score.

#include "core.h"

#include <math.h>

#define ERRORS 2.0      // decision 2: about 95 %
#define QUARTILES 1.349 // between the quartiles of a normal distribution, in deviations
#define NSEGMENT 30.0   // of a continuing run, for median and worst (eval)

// Variance of the mean.
static double variance_of(const rh_fidelity_spread *s)
{
    double deviation = (s->q75 - s->q25) / QUARTILES;
    return s->n > 0 ? deviation * deviation / (double)s->n : NAN;
}

// Scores per return of an episode or a stretch.
static double scale_of(const rh_eval_options *how, bool continuing, int64_t stretch)
{
    if (!continuing)
        return 1.0;
    double steps = (double)how->nstep;
    switch (how->criterion) {
    case RH_MEDIAN:
    case RH_WORST:
        steps /= NSEGMENT;
        break;
    case RH_FINAL:
        steps *= how->final_share;
        break;
    case RH_AVERAGE:
    case RH_COMPLETED:
        break;
    }
    return steps / (double)stretch;
}

double rh_study__level(const rh_fidelity *f, const rh_eval_options *how, bool continuing)
{
    return (f->simulated_return.mean - f->logged_return.mean) *
           scale_of(how, continuing, f->cutoff);
}

double rh_study__optimism(const rh_fidelity *f, const rh_eval_options *how, bool continuing)
{
    const rh_fidelity_spread *logged = &f->logged_return, *model = &f->simulated_return;
    double excess = model->mean - logged->mean, most = 0.0;
    if (excess > ERRORS * sqrt(variance_of(model) + variance_of(logged)))
        most = excess;
    // the spread of random returns is not kept; the log's is of the same kind of episodes
    excess = f->random_return - logged->mean;
    if (excess > most && excess > ERRORS * sqrt(2.0 * variance_of(logged)))
        most = excess;
    return most > 0.0 ? most * scale_of(how, continuing, f->cutoff) : 0.0;
}
