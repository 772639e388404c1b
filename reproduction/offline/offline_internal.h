// offline_internal.h - shared by the files of the offline module.

#ifndef OFFLINE_INTERNAL_H
#define OFFLINE_INTERNAL_H

#include "base/base_internal.h"
#include "kernel.h"
#include "numeric/mlp.h"

#include "offline.h"

// ---------------------------------------------------------------------------- steps

// The transitions of a log that can be learned from. steps.c
typedef struct rh_offline__steps {
    const rh_log *log; // borrowed
    int32_t n;
    int32_t *from;  // owned: row of s                              (n)
    int32_t *to;    // owned: row of s'; RH_UNKNOWN: s' is terminal (n)
    int32_t *act;   // owned: index of the action                   (n)
    double *reward; // owned                                        (n)
} rh_offline__steps;

// Take the transitions without missing or infinite numbers from a log of nobs sensors and
// naction actions. `owner` opens messages. Call clear also after a failure.
rh_status rh_offline__take_steps(rh_offline__steps *steps, const rh_log *log, int nobs,
                                 int naction, const char *owner, rh_error *err);
void rh_offline__clear_steps(rh_offline__steps *steps);

// ---------------------------------------------------------------------------- fitted Q

// Memory of training and of reading values in batches of up to `room` rows.
typedef struct rh_fqi__memory {
    int room;
    int32_t *row;     // owned: rows, sorted by action                        (room)
    float *q;         // owned: values                                        (naction x room)
    float *d;         // owned: errors of rows, derivatives of outputs        (naction x room)
    float *in;        // owned: inputs of the network                         (room x nobs)
    float *m, *v, *g; // owned: Adam's moments and the gradient, as rh_fqi.w
    double power1, power2; // beta1 and beta2 to the number of updates
    rh_mlp__pass *pass;    // owned
} rh_fqi__memory;

// How action values are computed and learned: fqi_tiles.c, fqi_network.c. A state is stored as
// a code of code_size() bytes.
typedef struct rh_fqi__form {
    rh_status (*init)(rh_fqi *fqi, const rh_task *task, rh_rng *rng, rh_error *err);
    void (*clear)(rh_fqi *fqi);
    size_t (*code_size)(const rh_fqi *fqi);

    // Code obs (nobs). scratch: nscratch() bytes, aligned to 64.
    void (*code)(const rh_fqi *fqi, const double *obs, void *scratch, void *code);

    // q (naction x n) = values of the states with these rows of `code`, n up to the room.
    void (*read)(const rh_fqi *fqi, rh_fqi__memory *memory, bool target, const void *code,
                 int n, const int32_t *row, float *q);

    // One update by n transitions: rows of s, actions, target values y.
    void (*update)(rh_fqi *fqi, rh_fqi__memory *memory, const void *code, int n,
                   const int32_t *row, const int32_t *act, const float *y);

    void (*sync)(rh_fqi *fqi);

    // Memory, also for training. Zeroed before; cleared by the caller.
    rh_status (*prepare)(const rh_fqi *fqi, rh_fqi__memory *memory, bool training,
                         rh_error *err);

    // The values q (naction) of one observation, without memory.
    size_t (*nscratch)(const rh_fqi *fqi);
    void (*values)(const rh_fqi *fqi, const double *obs, void *scratch, double *q);
} rh_fqi__form;

extern const rh_fqi__form rh_fqi__tiles, rh_fqi__network;

struct rh_fqi {
    const rh_fqi__form *form;
    rh_fqi_options opt; // without valid and watch
    int nobs, naction;
    double gamma;
    int64_t nupdate; // made

    // tiles
    const rh_offline__kernels *kernels;
    rh_tiles *tiles; // owned
    int nblock;      // blocks of features
    float *w, *aim;  // owned: weights, and those of the last sync
                     // (naction x nblock x RH_OFFLINE__BLOCK)

    // network
    rh_mlp *mlp, *mlp_aim; // owned: the network, and that of the last sync
    double lo[RH_MAX_OBS]; // an input is (obs - lo) * scale - 1  (nobs)
    double scale[RH_MAX_OBS];

    rh_agent_type agent; // fqi_agent.c
};

#define RH_FQI__BETA1 0.9   // Adam of the paper
#define RH_FQI__BETA2 0.999 // likewise
#define RH_FQI__EPS 1e-8    // likewise

// Fill fqi->agent.
void rh_fqi__make_agent(rh_fqi *fqi);

// ---------------------------------------------------------------------------- cloning

struct rh_clone {
    const rh_offline__kernels *kernels;
    int nobs, naction;
    int nlane;       // naction in whole lanes; those beyond are zero
    double tile[3];  // tilings, tiles and features of esarsa, the values of its parameters
    rh_tiles *tiles; // owned
    double *theta;   // owned: weights of the preferences  (nfeature x nlane)
};

// The parameters of esarsa that the tile coder has, in order.
extern const char *const rh_clone__tile_param[3];

#endif
