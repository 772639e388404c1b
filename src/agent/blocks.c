// blocks.c - the tile coder and the weights with traces, for agents outside the library.
//
// The same code as the built-in agents use: an agent made of these parts gives the same bits
// (tests/agent/test_blocks.c rebuilds esarsa). What is checked here was checked by the
// parameter tables of the built-in agents before.

#include "agent_internal.h"
#include "base/text.h"
#include "weights.h"

#define COOKIE 0x77656967u

// ---------------------------------------------------------------------------- tile coder

rh_status rh_tiles_create(rh_tiles **out, const rh_task *task, int ntiling, int ntile,
                          rh_tiles_mode mode, const char *owner, rh_error *err)
{
    if (ntiling < 1 || ntiling > 64)
        return rh_fail(err, RH_EINVAL, "%s: %d tilings, expected 1 to 64", owner, ntiling);
    if (ntile < 1 || ntile > 256)
        return rh_fail(err, RH_EINVAL, "%s: %d tiles, expected 1 to 256", owner, ntile);
    const double value[] = {ntiling, ntile, mode};
    return rh_tiles__create(out, value, task, owner, err);
}

void rh_tiles_destroy(rh_tiles *tiles)
{
    rh_tiles__destroy(tiles);
}

int rh_tiles_nactive(const rh_tiles *tiles)
{
    return tiles->nactive;
}

int32_t rh_tiles_nfeature(const rh_tiles *tiles)
{
    return tiles->nfeature;
}

void rh_tiles_active(const rh_tiles *tiles, const double *obs, int32_t *active)
{
    rh_tiles__active(tiles, obs, active);
}

// ---------------------------------------------------------------------------- weights

rh_weights_options rh_weights_defaults(void)
{
    return (rh_weights_options){.rate = 0.1 / 16, .beta2 = 0.999, .cookie = COOKIE};
}

static rh_status check(const rh_weights_options *o, const char *owner, rh_error *err)
{
    if (o->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "%s: options must start from rh_weights_defaults()",
                       owner);
    if (o->nfeature < 1 || o->nactive < 1 || o->nactive > o->nfeature || o->naction < 1)
        return rh_fail(err, RH_EINVAL,
                       "%s: %d features, %d of them active, %d actions; expected 1 or more",
                       owner, (int)o->nfeature, o->nactive, o->naction);
    if (!(o->rate >= 0.0 && o->rate <= 1e6))
        return rh_fail(err, RH_EINVAL, "%s: rate = %g, expected 0 to 1e6", owner, o->rate);
    if (!(o->beta1 >= 0.0 && o->beta1 < 1.0) || !(o->beta2 >= 0.5 && o->beta2 < 1.0))
        return rh_fail(err, RH_EINVAL,
                       "%s: beta1 = %g and beta2 = %g, expected 0 and 0.5 to below 1", owner,
                       o->beta1, o->beta2);
    if (!(o->decay >= 0.0 && o->decay <= 1.0))
        return rh_fail(err, RH_EINVAL, "%s: decay = %g, expected 0 to 1", owner, o->decay);
    return RH_OK;
}

rh_status rh_weights_create(rh_weights **out, const rh_weights_options *opt, const char *owner,
                            rh_error *err)
{
    rh_status rc = check(opt, owner, err);
    if (rc)
        return rc;
    rh_weights *weights = rh_alloc(1, sizeof *weights);
    if (!weights)
        return rh_base__no_memory(err, owner);
    rc = rh_weights__init(weights, opt, owner, err);
    if (rc)
        rh_weights_destroy(weights);
    else
        *out = weights;
    return rc;
}

void rh_weights_destroy(rh_weights *weights)
{
    if (!weights)
        return;
    rh_weights__clear(weights);
    rh_free(weights);
}

size_t rh_weights_nlist(const rh_weights *weights)
{
    return rh_weights__list_size(weights->opt.nactive);
}

size_t rh_weights_nvalue(const rh_weights *weights)
{
    return (size_t)weights->nline * RH_LANES;
}

void rh_weights_prepare(const rh_weights *weights, int32_t *list)
{
    rh_weights__address(&weights->opt, list);
}

void rh_weights_read(rh_weights *weights, const int32_t *list, double *q)
{
    rh_weights__read(weights, list, q);
}

void rh_weights_aim(rh_weights *weights, const int32_t *list, int action)
{
    rh_weights__aim(weights, list, action);
}

double rh_weights_visit(rh_weights *weights)
{
    return rh_weights__visit(weights);
}

void rh_weights_learn(rh_weights *weights, double delta)
{
    rh_weights__learn(weights, delta);
}

void rh_weights_tick(rh_weights *weights)
{
    rh_weights__tick(weights);
}

void rh_weights_rest(rh_weights *weights)
{
    rh_weights__rest(weights);
}

rh_status rh_weights_save(rh_weights *weights, rh_state *state, rh_error *err)
{
    return rh_weights__save(weights, 0.0, state, err);
}

rh_status rh_weights_load(rh_weights *weights, const rh_state *state, rh_error *err)
{
    return rh_weights__load(weights, 0.0, state, err);
}
