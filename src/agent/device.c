// device.c - an agent as the constants of a C file for devices.
//
// The code that uses them is in deploy/device/*.c.in. Numbers are written in hexadecimal, so
// that they are read back as they are.
//
// 1. esarsa keeps, for every weight, itself, its second moment and its place in the active set,
//    and for every place a change, a trace and which weight it is. With traces that end after
//    one step the set has two times the active features at most, and a bit per weight says
//    whether it is in it: 12 bytes a weight instead of 24.
// 2. Of networks only those that choose an action are written: the actor, or the values of dqn
//    and the clone that limits them.

#include "device.h"

#include "agent.h"
#include "base/base.h"
#include "base/base_internal.h"
#include "clone.h"
#include "numeric/mlp_internal.h"
#include "ppo.h"
#include "twins.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define PER_LINE 4 // numbers

void rh_agent__device_clear(rh_agent__device *device)
{
    rh_text__clear(&device->sizes);
    rh_text__clear(&device->tables);
}

// ---------------------------------------------------------------------------- writing

static void define(rh_agent__device *d, const char *name, int64_t x)
{
    rh_text__format(&d->sizes, "#define AGENT_%s %lld\n", name, (long long)x);
}

static void define_unsigned(rh_agent__device *d, const char *name, uint32_t x)
{
    rh_text__format(&d->sizes, "#define AGENT_%s %luu\n", name, (unsigned long)x);
}

static void define_real(rh_agent__device *d, const char *name, double x)
{
    rh_text__format(&d->sizes, "#define AGENT_%s (%a) // %.17g\n", name, x, x);
}

static void separate(rh_text *text, size_t i)
{
    rh_text__add(text, i == 0 ? "\n    " : i % PER_LINE ? ", " : ",\n    ");
}

static void write_doubles(rh_agent__device *d, const char *name, const double *x, size_t n)
{
    rh_text__format(&d->tables, "static const double %s[%zu] = {", name, n);
    for (size_t i = 0; i < n; i++) {
        separate(&d->tables, i);
        rh_text__format(&d->tables, "%a", x[i]);
    }
    rh_text__add(&d->tables, "};\n");
    d->constants += (int64_t)(n * sizeof *x);
}

static void write_ints(rh_agent__device *d, const char *name, const int *x, int n)
{
    if (n == 0)
        return;
    rh_text__format(&d->tables, "static const int %s[%d] = {", name, n);
    for (int i = 0; i < n; i++) {
        separate(&d->tables, (size_t)i);
        rh_text__format(&d->tables, "%d", x[i]);
    }
    rh_text__add(&d->tables, "};\n");
    d->constants += n * 4;
}

static void write_floats(rh_agent__device *d, const char *name, const float *x, size_t n)
{
    rh_text__format(&d->tables, "static const float %s[%zu] = {", name, n);
    for (size_t i = 0; i < n; i++) {
        separate(&d->tables, i);
        rh_text__format(&d->tables, "%af", (double)x[i]);
    }
    rh_text__add(&d->tables, "};\n");
    d->constants += (int64_t)(n * sizeof *x);
}

// The same of doubles that are floats.
static void write_singles(rh_agent__device *d, const char *name, const double *x, size_t n)
{
    rh_text__format(&d->tables, "static const float %s[%zu] = {", name, n);
    for (size_t i = 0; i < n; i++) {
        separate(&d->tables, i);
        rh_text__format(&d->tables, "%af", x[i]);
    }
    rh_text__add(&d->tables, "};\n");
    d->constants += (int64_t)(n * sizeof(float));
}

// ---------------------------------------------------------------------------- esarsa

// What decides the size of esarsa on a device.
typedef struct shape {
    int64_t nentry, nplace; // weights, and places of the active set
    int nactive;
    bool momentum, plain, brief, timed; // brief: decision 1; timed: visits have a clock
} shape;

static shape shape_of(const rh_weights_options *opt)
{
    shape s = {
        .nentry = (int64_t)opt->nfeature * opt->naction,
        .nactive = opt->nactive,
        .momentum = !opt->plain && opt->beta1 > 0.0,
        .plain = opt->plain,
        .brief = opt->decay == 0.0,
        .timed = opt->decay <= 0.5, // as in weights.c
    };
    s.nplace = s.brief ? 2 * (int64_t)opt->nactive + 1 : s.nentry + 1;
    return s;
}

static bool small_entries(const shape *s)
{
    return s->nentry <= UINT16_MAX;
}

static bool small_places(const shape *s)
{
    return s->nentry <= INT16_MAX;
}

// Bytes of agent_learner in deploy/device/esarsa_state.c.in.
static int64_t state_of(const shape *s)
{
    int64_t per = 8 + (s->plain ? 0 : 4) + (s->momentum ? 4 : 0); // of a weight
    int64_t entry = small_entries(s) ? 2 : 4, place = small_places(s) ? 2 : 4;
    int64_t n = s->nentry * per + s->nplace * (8 + (s->timed ? 4 : 0) + entry);
    n += s->nactive * entry;
    n += s->brief ? (s->nentry + 7) / 8 : s->nentry * place;
    n += 5 * 8 + 4 * 4;
    return (n + 7) / 8 * 8;
}

int64_t rh_agent__device_room(const rh_task *task, const double *hp)
{
    rh_agent *agent = NULL;
    if (rh_agent_create(&agent, &rh_agent_esarsa, task, hp, NULL))
        return -1;
    shape s = shape_of(&rh_esarsa__show(rh_contract__agent_self(agent)).weights->opt);
    rh_agent_destroy(agent);
    return state_of(&s);
}

// The line of a weight, and its lane there.
static const rh_agent__line *entry_of(const rh_weights *w, int64_t entry, int *lane, int64_t *m)
{
    int64_t feature = entry / w->opt.naction, action = entry % w->opt.naction;
    int64_t line = feature * w->nline + action / RH_LANES;
    *lane = (int)(action % RH_LANES);
    *m = line * RH_LANES + *lane;
    return w->line + line;
}

// All weights of an agent that only acts.
static void write_weights(rh_agent__device *d, const rh_weights *w, const shape *s)
{
    rh_text__format(&d->tables, "static const double agent_w[%lld] = {", (long long)s->nentry);
    for (int64_t i = 0; i < s->nentry; i++) {
        int lane;
        int64_t m;
        const rh_agent__line *line = entry_of(w, i, &lane, &m);
        separate(&d->tables, (size_t)i);
        rh_text__format(&d->tables, "%a", line->w[lane]);
    }
    rh_text__add(&d->tables, "};\n");
    d->constants += s->nentry * 8;
}

// The weights that are not as new, of one that learns.
static void write_learned(rh_agent__device *d, const rh_weights *w, const shape *s)
{
    int64_t n = 0;
    rh_text__add(&d->tables, "static const struct {\n    double w;\n    float v, m;\n"
                             "    uint32_t entry;\n} agent_learned[] = {\n");
    for (int64_t i = 0; i < s->nentry; i++) {
        int lane;
        int64_t at;
        const rh_agent__line *line = entry_of(w, i, &lane, &at);
        double m = w->moment ? (double)w->moment[at] : 0.0, v = (double)line->v[lane];
        if (line->w[lane] == 0.0 && v == 0.0 && m == 0.0)
            continue;
        rh_text__format(&d->tables, "    {%a, %af, %af, %lld},\n", line->w[lane], v, m,
                        (long long)i);
        n++;
    }
    if (!n)
        rh_text__add(&d->tables, "    {0.0, 0.0f, 0.0f, 0},\n");
    rh_text__add(&d->tables, "};\n");
    d->constants += (n ? n : 1) * 24;
    rh_text__format(&d->tables, "#define AGENT_NLEARNED %lld\n", (long long)n);
}

static void write_tiles(rh_agent__device *d, const rh_tiles *tiles)
{
    define(d, "NTILING", tiles->ntiling);
    define(d, "NTILE", (tiles->nvalue - 1) / tiles->ntiling);
    define(d, "JOINT", tiles->mode == RH_TILES_JOINT);
    define(d, "NTILED", tiles->nsensor);
    define(d, "NTILED_PAIR", tiles->npairs);
    define(d, "NACTIVE", tiles->nactive);
    write_doubles(d, "agent_lo", tiles->lo, (size_t)tiles->nobs);
    write_doubles(d, "agent_scale", tiles->scale, (size_t)tiles->nobs);
    write_ints(d, "agent_tiled", tiles->sensor, tiles->nsensor);
    write_ints(d, "agent_tiled_pair", tiles->pair, 2 * tiles->npairs);
}

static void write_learning(rh_agent__device *d, const rh_esarsa__view *e, const shape *s)
{
    const rh_weights *w = e->weights;
    define(d, "MOMENTUM", s->momentum);
    define(d, "PLAIN", s->plain);
    define(d, "BRIEF", s->brief);
    define(d, "STRICT", w->strict);
    define_unsigned(d, "EXTENT", w->extent);
    define_unsigned(d, "EXPIRY", w->expiry);
    define(d, "NPLACE", s->nplace);
    define_real(d, "RATE", w->opt.rate);
    define_real(d, "BETA1", w->opt.beta1);
    define_real(d, "BETA2", w->opt.beta2);
    define_real(d, "LN_BETA2", rh_ln(w->opt.beta2));
    define_real(d, "DECAY", w->opt.decay);
    define_real(d, "GAMMA", e->gamma);
    rh_text__format(&d->tables, "#define AGENT_POWER1 %a\n#define AGENT_POWER2 %a\n", w->power1,
                    w->power2);
    rh_text__format(&d->sizes, "typedef %s agent_place;\n",
                    small_places(s) ? "int16_t" : "int32_t");
    if (!s->brief && !s->plain) {
        write_floats(d, "agent_beta2_low", w->beta2_low, 256);
        write_floats(d, "agent_beta2_high", w->beta2_high, 256);
    }
    write_learned(d, w, s);
}

static void make_esarsa(rh_agent__device *d, const void *self, bool frozen)
{
    rh_esarsa__view e = rh_esarsa__show(self);
    shape s = shape_of(&e.weights->opt);
    d->learns = !frozen;
    d->nweight = frozen ? 0 : s.nentry;
    d->state = frozen ? 8 : state_of(&s);
    d->code[0] = frozen ? "frozen_state" : "esarsa_state";
    d->code[1] = "esarsa";
    d->code[2] = frozen ? "esarsa_frozen" : "esarsa_learning";
    write_tiles(d, e.tiles);
    define(d, "NENTRY", s.nentry);
    define_real(d, "TAU", e.tau);
    define_real(d, "INITIAL", e.initial);
    rh_text__format(&d->sizes, "typedef %s agent_entry;\n",
                    small_entries(&s) ? "uint16_t" : "int32_t");
    if (frozen)
        write_weights(d, e.weights, &s);
    else
        write_learning(d, &e, &s);
}

// ---------------------------------------------------------------------------- networks

// The layers of a network as an array of them called agent_<name>.
static rh_status write_net(rh_agent__device *d, const char *name, const rh_mlp *net,
                           rh_error *err)
{
    int size[RH_MLP_LAYERS + 1];
    rh_text layers = {0};
    char array[64];
    double *x = rh_alloc(rh_mlp__nparam(net), sizeof *x), *at = x;
    if (!x)
        return rh_base__no_memory(err, "export");
    rh_mlp__sizes(net, size);
    rh_mlp__get(net, RH_MLP_WEIGHTS, x);
    for (int l = 0; l < net->nlayer; l++) {
        static const char *const part[] = {"weight", "bias", "gain", "shift"};
        int npart = (net->flags & RH_MLP_NORM) && l < net->nlayer - 1 ? 4 : 2;
        rh_text__format(&layers, "    {%d, %d", size[l], size[l + 1]);
        for (int k = 0; k < npart; k++) {
            size_t n = (size_t)size[l + 1] * (k ? 1 : (size_t)size[l]);
            snprintf(array, sizeof array, "agent_%s_%s_%d", name, part[k], l);
            write_singles(d, array, at, n);
            rh_text__format(&layers, ", %s", array);
            at += n;
        }
        rh_text__add(&layers, npart == 4 ? "},\n" : ", 0, 0},\n");
    }
    rh_text__format(&d->tables, "static const agent_layer_of agent_%s[%d] = {\n%s};\n", name,
                    net->nlayer, layers.data ? layers.data : "");
    bool bad = layers.bad;
    rh_text__clear(&layers);
    rh_free(x);
    return bad ? rh_base__no_memory(err, "export") : RH_OK;
}

static int widest(const rh_mlp *net)
{
    int size[RH_MLP_LAYERS + 1], most = 1;
    rh_mlp__sizes(net, size);
    for (int l = 1; l <= net->nlayer; l++)
        most = size[l] > most ? size[l] : most;
    return most;
}

static void write_scaling(rh_agent__device *d, const rh_scaling *s, const rh_task *task)
{
    size_t n = (size_t)s->nobs;
    define(d, "NLAG", s->nlag);
    define(d, "WIDTH", s->width);
    define(d, "NCODE", s->nlag > 1 ? (s->width - s->nlag * s->nobs) / (s->nlag - 1) : 1);
    define(d, "PLACES", RH_HISTORY_PLACES);
    define(d, "ONLINE_SCALE", s->obs_kind == RH_SCALING_ONLINE);
    write_doubles(d, "agent_middle", s->middle, n);
    write_doubles(d, "agent_half", s->half, n);
    write_floats(d, "agent_centre", s->centre, n);
    write_floats(d, "agent_spread", s->scale, n);
    if (!task->naction) {
        write_doubles(d, "agent_act_lo", task->act_lo, (size_t)task->nact);
        write_doubles(d, "agent_act_hi", task->act_hi, (size_t)task->nact);
    }
    d->state = (s->width + task->nact) * 4;
    d->state = (d->state + 3) / 4 * 4;
}

// The actor, or values; draws: the action is drawn, and not the greatest one's.
static rh_status write_actor(rh_agent__device *d, const rh_mlp *net, const rh_scaling *scaling,
                             const rh_task *task, bool draws, bool squashed, rh_error *err)
{
    d->code[0] = "network_state";
    d->code[1] = "network";
    rh_text__add(&d->tables, "typedef struct agent_layer_of {\n    int nin, nout;\n"
                             "    const float *weight, *bias, *gain, *shift;\n"
                             "} agent_layer_of;\n");
    write_scaling(d, scaling, task);
    define(d, "NACTOR", net->nlayer);
    define(d, "NOUT", rh_mlp__noutput(net));
    define(d, "DRAWS", draws);
    define(d, "SQUASHED", squashed);
    return write_net(d, "actor", net, err);
}

// dqn takes only actions that the clone takes often enough (decision 5 in dqn.c).
static rh_status write_clone(rh_agent__device *d, const rh_neural *s, rh_error *err)
{
    const rh_mlp *net = s->net[2];
    double share = fmin(s->caution, 1.0) * fmax(0.0, 1.0 - (double)s->nstep / s->fade);
    float least = share > 0.0 ? (float)rh_ln(share) : 0.0f;
    define(d, "NCLONE", net->nlayer);
    define(d, "LIMITED", share > 0.0);
    write_floats(d, "agent_least_of", &least, 1);
    rh_text__add(&d->tables, "#define agent_least agent_least_of[0]\n");
    return write_net(d, "clone", net, err);
}

static rh_status untrained(const rh_agent_type *type, rh_error *err)
{
    return rh_fail(err, RH_EINVAL,
                   "export: %s has learned nothing yet, and networks do not learn on a device; "
                   "expected --load FILE with a learned state",
                   type->name);
}

static rh_status make_ppo(rh_agent__device *d, const void *self, const rh_task *task,
                          rh_error *err)
{
    rh_ppo__view p = rh_ppo__show(self);
    if (!p.drawn)
        return untrained(&rh_agent_ppo, err);
    define(d, "WIDEST", widest(p.actor));
    define(d, "CLONED", 0);
    define(d, "SUBTRACTS", task->naction > 0);
    return write_actor(d, p.actor, p.scaling, task, false, false, err);
}

static rh_status make_network(rh_agent__device *d, const rh_agent_type *type,
                              const rh_neural *s, const rh_task *task, rh_error *err)
{
    bool clone = type == &rh_agent_clone || type == &rh_agent_practised;
    bool limited = type == &rh_agent_dqn && s->cloned;
    if (!s->drawn)
        return untrained(type, err);
    rh_status rc =
        write_actor(d, s->net[0], &s->scaling, task, clone && task->naction, true, err);
    if (!rc && limited)
        rc = write_clone(d, s, err);
    int most = widest(s->net[0]), other = limited ? widest(s->net[2]) : 0;
    define(d, "WIDEST", other > most ? other : most);
    define(d, "CLONED", limited);
    define(d, "SUBTRACTS", 0);
    if (clone)
        define_real(d, "COOL", RH_CLONE__COOL);
    return rc;
}

// ---------------------------------------------------------------------------- making

// Whether it begins with an rh_neural.
static bool is_neural(const rh_agent_type *type)
{
    const rh_agent_type *const known[] = {&rh_agent_clone,     &rh_agent_dqn, &rh_agent_ppo,
                                          &rh_agent_practised, &rh_agent_sac, &rh_agent_td3};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (type == known[i])
            return true;
    return false;
}

rh_status rh_agent__device_make(rh_agent__device *device, const rh_agent *agent,
                                const rh_task *task, bool frozen, rh_error *err)
{
    const rh_agent_type *type = rh_contract__agent_type(agent);
    const void *self = rh_contract__agent_self(agent);
    rh_status rc = RH_OK;
    *device = (rh_agent__device){0};
    if (type == &rh_agent_esarsa)
        make_esarsa(device, self, frozen);
    else if (type == &rh_agent_ppo)
        rc = make_ppo(device, self, task, err);
    else if (is_neural(type))
        rc = make_network(device, type, self, task, err);
    else
        return rh_fail(err, RH_EINVAL,
                       "export: agent %s cannot be exported, expected esarsa, clone, dqn, ppo, "
                       "practised, sac or td3",
                       type->name);
    if (!rc && (device->sizes.bad || device->tables.bad))
        rc = rh_base__no_memory(err, "export");
    return rc;
}
