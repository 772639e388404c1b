// weights.h - weights of (feature, action) that learn along replacing traces, by Adam or by
// plain gradient descent.

#ifndef AGENT_WEIGHTS_H
#define AGENT_WEIGHTS_H

#include "kernel.h"
#include "rehearse/agent.h"

typedef struct rh_agent__idle rh_agent__idle;

// An entry is the weight of a feature and an action. Those with a trace form the active set.
struct rh_weights {
    rh_weights_options opt;
    const rh_agent__kernels *kernels; // borrowed
    int nline;                        // lines per feature: four actions each
    int nread; // features read at a time: the active ones, and zeros up to a multiple of 4
    rh_agent__line *line; // owned: weights, second moments, places      (nfeature + 1, nline)
    float *moment;        // first moments, NULL without momentum  (entries)
    float *moment_block;  // owned: their memory, kept after momentum is switched off
    double power1;        // beta1^t, t counting rh_weights__tick()
    double power2;        // beta2^t

    char *block;     // owned: the arrays of the active set
    int nset;        // places in use, with the dummy at 0
    int nsafe;       // places below this have no small second moment
    float *dw;       // change of the weight since it entered
    float *v;        // second moment / fade
    float *m;        // first moment
    float *y;        // trace / scale
    int32_t *id;     // which entry: line * 4 + lane
    uint32_t *visit; // clock of the last visit, where extent is finite
    int32_t *list;   // scratch
    double scale;    // of the traces
    double fade;     // of the second moments
    uint32_t clock;  // updates since the traces were zero
    uint32_t expiry; // age at which an entry may leave the set
    uint32_t extent; // age at which a double-precision trace is zero; UINT32_MAX for never
    bool strict;     // entries can reach that age in the set

    rh_agent__idle *idle; // owned: entries that left the set since the traces were zero
    int nidle;
    float beta2_low[256];  // beta2^k for k < 256
    float beta2_high[256]; // beta2^(256 k)

    int32_t *slot;       // owned: places of the features last read     (nline, nread, 4)
    double *sum;         // owned: their weights without the changes    (nline, 4)
    int aim;             // action that was aimed at
    int32_t *place;      // owned: places of its entries                (nread)
    int32_t *fresh;      // owned: lines of those outside the set       (nread)
    float *fresh_v;      // owned: their second moments                 (nread)
    int32_t *fresh_slot; // owned: what their slots held: 0, or less when idle (nread)
    int nfresh;
    double aimed; // sum of their weights without the changes in the set
};

// Refuse more weights than an int32_t can index. `owner` opens messages.
rh_status rh_weights__check(const rh_weights_options *opt, const char *owner, rh_error *err);

// Start with all weights zero. Call clear also after a failed init.
rh_status rh_weights__init(rh_weights *w, const rh_weights_options *opt, const char *owner,
                           rh_error *err);
void rh_weights__clear(rh_weights *w);

// Set all weights to zero again, with other options of the same shape. On failure, clear.
rh_status rh_weights__reset(rh_weights *w, const rh_weights_options *opt, const char *owner,
                            rh_error *err);

// Length of a list of active features, padded for rh_weights__read().
size_t rh_weights__list_size(int nactive);

// Convert the features (nactive) of such a list in place to what the calls below expect.
void rh_weights__address(const rh_weights_options *opt, int32_t *feature);

// q (naction, padded to a multiple of 4) = sums of the weights of the active features.
void rh_weights__read(rh_weights *w, const int32_t *feature, double *q);

// Select the entries of this action, among the features just read, for the next visit.
void rh_weights__aim(rh_weights *w, const int32_t *feature, int action);

// Set the traces of the selected entries to 1 and return the sum of their weights.
double rh_weights__visit(rh_weights *w);

// Advance the clock that corrects Adam's bias. rh_weights__learn() does this itself.
void rh_weights__tick(rh_weights *w);

// Update every weight with a trace by the error delta, |delta| < 1e11; then decay the traces.
void rh_weights__learn(rh_weights *w, double delta);

// Set all traces to zero.
void rh_weights__rest(rh_weights *w);

// Save and load the weights, between episodes. `initial` is added to each saved weight.
rh_status rh_weights__save(rh_weights *w, double initial, rh_state *state, rh_error *err);
rh_status rh_weights__load(rh_weights *w, double initial, const rh_state *state, rh_error *err);

#endif
