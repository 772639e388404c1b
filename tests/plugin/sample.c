// sample.c - plug-ins of the tests, good ones and broken ones: one source, compiled once per
// SAMPLE_<NAME>.

#include <rehearse/plugin.h>

#include <signal.h>

typedef struct sample {
    int naction;
    int nstep;
} sample;

static rh_status sample_init(void *self, const rh_task *task, const double *hp, rh_error *err)
{
    (void)hp;
    (void)err;
    sample *s = self;
    s->naction = task->naction;
    return RH_OK;
}

static bool sample_act(void *self, const double *obs, rh_rng *rng, double *act)
{
    (void)obs;
    sample *s = self;
    act[0] = rh_rng_below(rng, (uint32_t)s->naction);
#ifdef SAMPLE_CRASH_STEP
    if (++s->nstep > 10)
        raise(SIGSEGV);
#endif
#ifdef SAMPLE_LOOP
    for (volatile int on = ++s->nstep > 10; on;)
        ;
#endif
#ifdef SAMPLE_ILLEGAL
    if (++s->nstep > 10)
        act[0] = 7;
#endif
    return true;
}

static bool sample_step(void *self, double reward, const double *obs, rh_rng *rng, double *act)
{
    (void)reward;
    return sample_act(self, obs, rng, act);
}

static bool sample_end(void *self, double reward)
{
    (void)self;
    (void)reward;
    return true;
}

#ifdef SAMPLE_CRASH_LOAD
__attribute__((constructor)) static void crash(void)
{
    raise(SIGSEGV);
}
#endif

static const rh_param param[] = {
    {"bias", "does nothing", .lo = 0.0, .hi = 1.0, .initial = 0.5, .usual_lo = 0.1,
#ifdef SAMPLE_BAD_TABLE
     .usual_hi = 2.0
#else
     .usual_hi = 0.9
#endif
    },
};

static const rh_agent_type type = {
#ifdef SAMPLE_TAKEN
    .name = "esarsa",
#else
    .name = "sample",
#endif
    .about = "an agent of the tests",
    .actions = RH_DISCRETE,
    .self_size = sizeof(sample),
    .param = param,
    .nparam = 1,
    .init = sample_init,
    .start = sample_act,
    .step = sample_step,
    .end = sample_end,
    .act = sample_act,
};

#ifdef SAMPLE_NO_FUNCTION
extern const rh_agent_type *const sample_unused;
const rh_agent_type *const sample_unused = &type;
#else
const rh_plugin *rehearse_plugin(void)
{
    static const rh_agent_type *const agent[] = {&type, NULL};
    static const rh_plugin plugin = {
#ifdef SAMPLE_OTHER_ABI
        .abi = 99,
#else
        .abi = RH_PLUGIN_ABI,
#endif
        .version = "0",
#ifdef SAMPLE_EMPTY
        .agent = agent + 1,
#else
        .agent = agent,
#endif
    };
#ifdef SAMPLE_NULL
    return (void)&plugin, NULL;
#else
    return &plugin;
#endif
}
#endif
