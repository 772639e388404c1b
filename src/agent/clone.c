// clone.c - a policy imitated by a network and frozen: the logged controller (clone), or what
// an agent practised in a model of the log (practised).
//
// Behavioural cloning (Pomerleau 1989) on a history of observations and actions: a controller
// with an integral acts by more than it sees. Discrete actions: cross-entropy. Continuous ones:
// the squared error of tanh of the outputs, in half ranges, linear beyond ROBUST.
//
// 1. Every HELD-th episode is held out, or block in a log with few episodes. Training stops
//    when the loss on these steps has not improved for PATIENCE passes, and the best weights
//    are kept.
// 2. The fit has its own random stream. All runs of a study imitate in the same way, and an
//    agent that is made again is the same.
// 3. A discrete action is drawn from p^(1 / RH_CLONE__COOL). The most likely one alone repeats
//    the last action for too long, since that predicts the logged one best: DC motor -29.3
//    instead of -26.1 (controller -23.9), one zone -1,108 and -972 (-889), battery 2,195 and
//    2,182 (2,260), 6 runs each with a history of 4, rate not falling. Draws from p repeat an
//    operator's interventions.
// 4. Of a long log the last MOST steps are imitated.
// 5. Weights decay (Loshchilov and Hutter 2019), so that a clone errs less where the log has
//    been little. Clones of the good controllers of the half *thresholds*, 12 runs each of
//    3,000 steps, mean gain on the controller as a share of its score, without, with DECAY
//    0.1 and 0.3:
//
//        battery   -0.02  0.02  0.02     dc_motor     -0.07 -0.04 -0.03
//        crane      0.03  0.03  0.04     drone        -0.13 -0.09 -0.06
//        furnace   -0.01  0.01  0.02     hvac         -0.05 -0.02  0.00
//        one_zone  -0.11 -0.08 -0.15     pump_station  0.04  0.05  0.05
//        two_zones  0.04  0.03  0.05
//
//    In 30 other runs of hvac -0.23 without (worst: -2.3), -0.03 with 0.3 (worst: -0.4): hot
//    days that its log did not have. Noise on the inputs made that worse; inputs clipped to
//    the log's gave -0.12, a history of 4 gave -0.23.

#include "clone.h"

#include "base/base.h"
#include "base/base_internal.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define HELD 5         // decision 1; by hand
#define UNITS 10       // blocks of a log with fewer than HELD episodes; by hand
#define PASSES 60      // through the steps to learn from; by hand
#define PATIENCE 20    // decision 1; by hand
#define BATCH 32       // steps of an update; by hand
#define RATE 2e-3      // of Adam, falling to 0 in PASSES; by hand
#define DECAY 0.3      // decision 5
#define ROBUST 0.2f    // error, in half ranges; by hand: more is an operator's
#define NEAR 0.1       // agreement, in half ranges: a twentieth of the range
#define SPREAD (-2.3f) // log of a tenth of the half range: exploration of sac; by hand
#define MOST 20000     // decision 4; by hand: half a second of processor time
#define SEED 20        // decision 2

int rh_clone__greatest(const float *x, int n)
{
    int best = 0;
    for (int a = 1; a < n; a++)
        best = x[a] > x[best] ? a : best;
    return best;
}

int rh_clone__draw(const float *x, int n, double cool, rh_rng *rng)
{
    double most = (double)x[rh_clone__greatest(x, n)], sum = 0.0;
    for (int a = 0; a < n; a++)
        sum += rh_exp(((double)x[a] - most) / cool);
    double u = sum * rh_rng_uniform(rng);
    for (int a = 0; a < n - 1; a++) {
        u -= rh_exp(((double)x[a] - most) / cool);
        if (u < 0.0)
            return a;
    }
    return n - 1;
}

// ---------------------------------------------------------------------------- steps

// The steps of a fit.
typedef struct lesson {
    rh_scratch scratch; // owns the arrays
    const rh_neural *s;
    int nout;         // outputs that count
    int64_t n;        // steps
    float *obs, *act; // scaled stacks, actions                   (n x nobs, n x nact)
    int64_t *order;   // those to learn from, then held-out ones  (n)
    int64_t ntrain;
    int64_t *taken; // how often, of held-out steps             (nout)
    float *in, *out,
        *by; // of a batch                        (BATCH x nobs, x outputs, x outputs)
} lesson;

// Whether each of the last n rows of the prior is held out.
static void hold_out(const rh_task *task, rh_prior rows, int64_t n, bool *held)
{
    int64_t width = rh_contract__prior_width(task->nobs, task->nact), nepisode = 0, episode = 0;
    for (int64_t i = 1; i <= rows.n; i++)
        nepisode += rows.row[i * width - 1] != 0.0;
    for (int64_t i = 0; i < rows.n; i++) {
        int64_t unit = nepisode < HELD ? i * UNITS / rows.n : episode;
        int64_t at = i - (rows.n - n);
        if (at >= 0)
            held[at] = unit % HELD == HELD - 1;
        episode += rows.row[(i + 1) * width - 1] != 0.0;
    }
}

static rh_status begin(lesson *l, rh_neural *s, const rh_task *task, int nout, rh_error *err)
{
    int64_t skip = s->logged.count > MOST ? s->logged.count - MOST : 0;
    size_t nobs = (size_t)s->nobs, nact = (size_t)s->nact, n;
    *l = (lesson){.s = s, .nout = s->naction ? s->naction : s->nact};
    l->n = s->logged.count - skip;
    n = (size_t)l->n;
    bool *held = rh_scratch__take(&l->scratch, n, sizeof *held);
    l->obs = rh_scratch__take(&l->scratch, n * nobs, sizeof *l->obs);
    l->act = rh_scratch__take(&l->scratch, n * nact, sizeof *l->act);
    l->order = rh_scratch__take(&l->scratch, n, sizeof *l->order);
    l->taken = rh_scratch__take(&l->scratch, (size_t)l->nout, sizeof *l->taken);
    l->in = rh_scratch__take(&l->scratch, BATCH * nobs, sizeof *l->in);
    l->out = rh_scratch__take(&l->scratch, BATCH * (size_t)nout, sizeof *l->out);
    l->by = rh_scratch__take(&l->scratch, BATCH * (size_t)nout, sizeof *l->by);
    if (l->scratch.failed)
        return rh_neural__no_memory(s, err);
    hold_out(task, s->prior, l->n, held);
    for (int64_t i = 0; i < l->n; i++) {
        const float *row = rh_memory__row(&s->logged, skip + i);
        rh_scaling__apply(&s->scaling, 1, row, l->obs + (size_t)i * nobs);
        memcpy(l->act + (size_t)i * nact, row + 2 * nobs, nact * sizeof *row);
        l->ntrain += !held[i];
    }
    if (l->ntrain == 0) // one episode
        l->ntrain = l->n;
    for (int64_t i = 0, train = 0, rest = l->ntrain; i < l->n; i++)
        l->order[held[i] && l->ntrain < l->n ? rest++ : train++] = i;
    return RH_OK;
}

// ---------------------------------------------------------------------------- learning

// The loss of one step with outputs out; by: its derivatives, times weight. agrees: whether the
// action is the logged one. square (nact): the squared errors are added. Nullable: square.
static double judge(const lesson *l, const float *out, const float *act, float weight,
                    float *by, bool *agrees, double *square)
{
    double loss = 0.0;
    *agrees = true;
    if (l->s->naction) {
        int most = rh_clone__greatest(out, l->nout), taken = (int)act[0];
        double sum = 0.0;
        for (int a = 0; a < l->nout; a++)
            sum += rh_exp((double)out[a] - (double)out[most]);
        for (int a = 0; a < l->nout; a++)
            by[a] = weight *
                    (float)(rh_exp((double)out[a] - (double)out[most]) / sum - (a == taken));
        *agrees = most == taken;
        return rh_ln(sum) + (double)out[most] - (double)out[taken];
    }
    for (int k = 0; k < l->nout; k++) {
        double p = rh_neural__tanh((double)out[k]);
        float error = (float)p - act[k];
        float pull = error > ROBUST ? ROBUST : error < -ROBUST ? -ROBUST : error;
        by[k] = weight * pull * (float)(1.0 - p * p);
        loss += (double)(error * error) / l->nout;
        *agrees = *agrees && fabs((double)error) <= NEAR;
        if (square)
            square[k] += (double)(error * error);
    }
    return loss;
}

// Steps order[from .. to - 1] through the network, at most BATCH; how they did.
static double go_through(lesson *l, rh_mlp *net, rh_mlp__pass *pass, int64_t from, int64_t to,
                         int64_t *nagree, double *square)
{
    int n = (int)(to - from), nout = rh_mlp__noutput(net);
    size_t nobs = (size_t)l->s->nobs;
    double loss = 0.0;
    for (int i = 0; i < n; i++)
        memcpy(l->in + (size_t)i * nobs, l->obs + (size_t)l->order[from + i] * nobs,
               nobs * sizeof *l->in);
    rh_mlp__forward(net, pass, n, l->in, l->out);
    memset(l->by, 0, (size_t)(n * nout) * sizeof *l->by);
    for (int i = 0; i < n; i++) {
        bool agrees;
        loss += judge(l, l->out + (ptrdiff_t)i * nout, l->act + l->order[from + i] * l->s->nact,
                      1.0f / (float)n, l->by + (ptrdiff_t)i * nout, &agrees, square);
        for (int k = l->nout; k < nout; k++) // log standard deviations
            l->by[i * nout + k] = (l->out[i * nout + k] - SPREAD) / (float)n;
        *nagree += agrees;
    }
    return loss;
}

// How the network does on the held-out steps, or on all without any.
static rh_clone__quality examine(lesson *l, rh_mlp *net, rh_mlp__pass *pass)
{
    int64_t first = l->ntrain < l->n ? l->ntrain : 0, nagree = 0;
    rh_clone__quality q = {.nheld = l->n - first};
    for (int64_t at = first; at < l->n; at += BATCH)
        q.loss += go_through(l, net, pass, at, at + BATCH < l->n ? at + BATCH : l->n, &nagree,
                             q.spread);
    q.loss /= (double)q.nheld;
    q.agreement = (double)nagree / (double)q.nheld;
    for (int k = 0; k < l->s->nact; k++)
        q.spread[k] = sqrt(q.spread[k] / (double)q.nheld);
    return q;
}

// What the best constant action does on the steps that were examined.
static void compare(const lesson *l, rh_clone__quality *q)
{
    int64_t first = l->n - q->nheld, most = 0;
    q->constant = NAN;
    if (l->s->naction) {
        for (int64_t i = first; i < l->n; i++) {
            int64_t n = ++l->taken[(int)l->act[l->order[i]]];
            most = n > most ? n : most;
        }
        q->constant = (double)most / (double)q->nheld;
        return;
    }
    for (int k = 0; k < l->s->nact; k++) {
        double sum = 0.0, square = 0.0;
        for (int64_t i = first; i < l->n; i++) {
            double x = (double)l->act[l->order[i] * l->s->nact + k];
            sum += x;
            square += x * x;
        }
        double mean = sum / (double)q->nheld;
        q->sd[k] = sqrt(fmax(square / (double)q->nheld - mean * mean, 0.0));
    }
}

static void pass_once(lesson *l, rh_mlp *net, rh_mlp__pass *pass, rh_rng *rng, double rate)
{
    const rh_mlp__adam adam = {
        .rate = rate, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = DECAY};
    for (int64_t i = l->ntrain - 1; i > 0; i--) { // in another order
        int64_t k = rh_rng_below(rng, (uint32_t)(i + 1)), swap = l->order[i];
        l->order[i] = l->order[k];
        l->order[k] = swap;
    }
    for (int64_t at = 0, unused = 0; at < l->ntrain; at += BATCH) {
        go_through(l, net, pass, at, at + BATCH < l->ntrain ? at + BATCH : l->ntrain, &unused,
                   NULL);
        rh_mlp__backward(net, pass, l->by);
        rh_mlp__step(net, &adam);
    }
}

rh_status rh_clone__fit(rh_neural *s, int i, const rh_task *task, rh_clone__quality *quality,
                        rh_error *err)
{
    lesson l = {0};
    rh_mlp *net = s->net[i], *best = NULL;
    rh_mlp__pass *pass = NULL;
    rh_rng rng = rh_rng_stream(SEED, RH_STREAM_AGENT, 0, 0);
    rh_clone__quality q = {0};
    *quality = q;
    if (!s->logged.count)
        return RH_OK;
    rh_mlp__draw(net, &rng);
    rh_status rc = begin(&l, s, task, rh_mlp__noutput(net), err);
    if (!rc)
        rc = rh_mlp__clone(&best, net, err);
    if (!rc)
        rc = rh_mlp__pass_create(&pass, net, BATCH, err);
    for (int done = 0, worse = 0; !rc && done < PASSES && worse < PATIENCE; done++) {
        pass_once(&l, net, pass, &rng, RATE * (1.0 - (double)done / PASSES));
        q = examine(&l, net, pass);
        bool better = done == 0 || q.loss < quality->loss;
        worse = better ? 0 : worse + 1;
        if (better) {
            *quality = q;
            rh_mlp__copy(best, net);
        }
    }
    if (!rc) {
        compare(&l, quality);
        double *weights = rh_alloc(rh_mlp__nparam(net), sizeof *weights);
        if (weights) { // without the moments of this fit
            rh_mlp__get(best, RH_MLP_WEIGHTS, weights);
            rh_mlp__draw(net, &rng);
            rh_mlp__set(net, RH_MLP_WEIGHTS, weights);
        } else
            rc = rh_neural__no_memory(s, err);
        rh_free(weights);
    }
    rh_mlp__destroy(best);
    rh_mlp__pass_destroy(pass);
    rh_scratch__clear(&l.scratch);
    return rc;
}

// ---------------------------------------------------------------------------- the agent

enum { HISTORY, START, WIDTH, LAYERS, NPARAM };

#define NETWORK                                                                                \
    [HISTORY] =                                                                                \
        {"history",    "last observations that it sees, with the actions between them",        \
         .lo = 1,      .hi = 16,                                                               \
         .initial = 8, .whole = true,                                                          \
         .fixed = true},                                                                       \
    [WIDTH] = {"width",       "units of a hidden layer",                                       \
               .lo = 1,       .hi = 1024,                                                      \
               .initial = 64, .whole = true,                                                   \
               .fixed = true},                                                                 \
    [LAYERS] = {"layers",     "hidden layers", .lo = 1,      .hi = 8,                          \
                .initial = 2, .whole = true,   .fixed = true}

static const rh_param clone_param[NPARAM] = {
    NETWORK,
    [START] = {RH_START_PARAM, "what it imitates: nothing, with random actions, or the log",
               .lo = 0, .hi = 1, .initial = 1, .fixed = true, .choice = rh_neural__starts},
};

static const rh_param practised_param[NPARAM] = {
    NETWORK,
    [START] = {RH_START_PARAM,
               "what it imitates: random actions, the log, or practice in a model", .lo = 0,
               .hi = RH_START_MODEL, .initial = RH_START_MODEL, .fixed = true,
               .choice = rh_neural__starts},
};

typedef struct cloned {
    rh_neural base; // first
    rh_clone__quality quality;
    float *out; // owned by base: outputs
    float *row; // owned by base: one observation through the network
} cloned;

static bool clone_choose(rh_neural *s, rh_rng *rng, bool explore, float *act)
{
    cloned *c = (cloned *)s;
    (void)explore;
    bool finite = true;
    rh_mlp__single(s->net[0], c->row, s->x, c->out);
    for (int k = 0; k < rh_mlp__noutput(s->net[0]); k++)
        finite = finite && isfinite(c->out[k]);
    if (s->naction)
        act[0] = (float)rh_clone__draw(c->out, s->naction, RH_CLONE__COOL, rng);
    for (int k = 0; !s->naction && k < s->nact; k++)
        act[k] = (float)rh_neural__tanh((double)c->out[k]);
    return finite;
}

static const rh_neural__kind clone_kind = {
    .name = "clone", .size = 1.0, .choose = clone_choose};

static rh_status clone_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    cloned *c = self;
    rh_neural *s = &c->base;
    double all[RH_NEURAL_NPARAM] = {
        [RH_NEURAL_RATE] = 1e-3,         [RH_NEURAL_HORIZON] = 10.0,
        [RH_NEURAL_N_STEP] = 1,          [RH_NEURAL_BATCH] = 1,
        [RH_NEURAL_MEMORY] = 1,          [RH_NEURAL_WIDTH] = hp[WIDTH],
        [RH_NEURAL_LAYERS] = hp[LAYERS], [RH_NEURAL_HISTORY] = hp[HISTORY],
        [RH_NEURAL_START] = hp[START],
    };
    int nout = task->naction ? task->naction : task->nact;
    rh_status rc = rh_neural__init(s, &clone_kind, task, all, err);
    if (!rc)
        rc = rh_neural__net(s, 0, s->nobs, nout, RH_MLP_PLAIN, all, err);
    if (rc)
        return rc;
    c->out = rh_neural__floats(s, (size_t)nout);
    c->row = rh_neural__floats(s, rh_mlp__nscratch(s->net[0]));
    rc = s->scratch.failed ? rh_neural__no_memory(s, err)
                           : rh_clone__fit(s, 0, task, &c->quality, err);
    s->drawn = s->logged.count > 0;
    rh_memory__clear(&s->logged); // it learns no more
    s->logged = (rh_memory){0};
    return rc;
}

static bool clone_start(void *self, const double *obs, rh_rng *rng, double *act)
{
    rh_neural__begin(self);
    return rh_neural__act(self, obs, rng, act);
}

static bool clone_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return rh_neural__act(self, obs, rng, act);
}

static bool clone_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

rh_status rh_clone__measure(rh_clone__quality *quality, const rh_task *task, const double *hp,
                            rh_error *err)
{
    cloned c = {0};
    double own[NPARAM];
    rh_param_initial(clone_param, NPARAM, own);
    rh_status rc = clone_init(&c, task, hp ? hp : own, err);
    *quality = c.quality;
    rh_neural__clear(&c);
    return rc;
}

// What both kinds have.
#define FROZEN                                                                                 \
    .actions = RH_DISCRETE | RH_CONTINUOUS, .self_size = sizeof(cloned), .nparam = NPARAM,     \
    .init = clone_init, .start = clone_start, .step = clone_step, .end = clone_end,            \
    .act = rh_neural__act, .begin = rh_neural__begin, .took = rh_neural__took,                 \
    .clear = rh_neural__clear

const rh_agent_type rh_agent_clone = {
    .name = "clone",
    .about = "the logged controller, imitated by a network; it does not learn",
    .param = clone_param,
    FROZEN,
};

const rh_agent_type rh_agent_practised = {
    .name = "practised",
    .about = "what an agent learned in a model of the log, imitated; it learns no more",
    .param = practised_param,
    FROZEN,
};
