// bench_bayes.c - Bayesian optimisation of two functions with known maxima, Branin (2
// dimensions) and Hartmann-6: regret after 60 and 200 evaluations over 20 seeds, time of a
// whole search and of the last proposal. bench/bayes_libraries.py measures bayes_opt and
// Optuna's TPE. Processor time on one thread.
//
//     bench_bayes [seeds, 20 [first seed, 1 [parameter=value ...]]]
//     bench_bayes overhead SETTINGS ...
//     bench_bayes agents [seeds, 20 [trials, 100]]
//
// The second form measures what the method itself takes for so many settings of Hartmann-6 with
// noise, four at a time, and what it takes again when the settings are known (a resumed study).
//
// The third form compares bayes with random search in the space of the default agents: which
// agent, and the searched parameters of each. The function is drawn anew for every seed: a
// level for each agent, lost where IMPORTANT of its parameters are far from their best values;
// the others hardly matter. Values have noise. Regret of the answer: what is lost, without
// noise, by what the method would choose.

#include "seconds.h"

#include "rehearse/agent.h"
#include "rehearse/search.h"
#include "search/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EARLY = 60, ALL = 200, MANY = 1000 };

static double branin(const double *x)
{
    double a = x[0], b = x[1] - 5.1 / (4.0 * M_PI * M_PI) * a * a + 5.0 / M_PI * a - 6.0;
    return -(b * b + 10.0 * (1.0 - 1.0 / (8.0 * M_PI)) * cos(a) + 10.0);
}

static double hartmann(const double *x)
{
    static const double weight[4] = {1.0, 1.2, 3.0, 3.2};
    static const double a[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                   {0.05, 10, 17, 0.1, 8, 14},
                                   {3, 3.5, 1.7, 10, 17, 8},
                                   {17, 8, 0.05, 10, 0.1, 14}};
    static const double p[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                   {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                   {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                   {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        double away = 0.0;
        for (int k = 0; k < 6; k++)
            away += a[i][k] * (x[k] - p[i][k]) * (x[k] - p[i][k]);
        sum += weight[i] * exp(-away);
    }
    return sum;
}

typedef struct function {
    const char *name;
    double (*value)(const double *x);
    double best;
    rh_space space;
} function;

#define UNIT                                                                                   \
    {                                                                                          \
        .name = "a", .hi = 1.0                                                                 \
    }
static const function known_function[] = {
    {"branin",
     branin,
     -0.39788735772973816,
     {{{.name = "x", .lo = -5.0, .hi = 10.0}, {.name = "y", .lo = 0.0, .hi = 15.0}}, 2}},
    {"hartmann-6",
     hartmann,
     3.322368011415515,
     {{{.name = "a", .hi = 1.0},
       {.name = "b", .hi = 1.0},
       {.name = "c", .hi = 1.0},
       {.name = "d", .hi = 1.0},
       {.name = "e", .hi = 1.0},
       {.name = "f", .hi = 1.0}},
      6}},
};

static void must(rh_status rc, const rh_error *err)
{
    if (rc) {
        fprintf(stderr, "bench_bayes: %s\n", err->text);
        exit(1);
    }
}

// One search: regret after the early and after all evaluations, and seconds of the last ten
// questions.
static void run(const function *f, const double *param, uint64_t seed, double *early,
                double *late, double *last)
{
    rh_error err;
    rh_search *search = NULL;
    rh_search__options opt = rh_search__defaults();
    opt.budget = ALL;
    opt.nrun = 1;
    opt.seed = seed;
    opt.param = param;
    must(rh_search__create(&search, rh_search_find("bayes", NULL), &f->space, &opt, &err),
         &err);
    double best = -INFINITY;
    *last = 0.0;
    for (int n = 0;;) {
        const rh_search__asked *asked;
        int nasked;
        double began = seconds(CLOCK_THREAD_CPUTIME_ID);
        must(rh_search__ask(search, &asked, &nasked, &err), &err);
        if (n >= ALL - 10 && n < ALL)
            *last += (seconds(CLOCK_THREAD_CPUTIME_ID) - began) / 10.0;
        if (nasked == 0)
            break;
        for (int i = 0; i < nasked; i++) {
            double score = f->value(rh_search__proposed(search, asked[i].setting));
            rh_search__told told = {asked[i].setting, 1, &score, score, 0.0, 0};
            must(rh_search__tell(search, &told, &err), &err);
            best = fmax(best, score);
            if (++n == EARLY)
                *early = f->best - best;
        }
    }
    *late = f->best - best;
    rh_search__destroy(search);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const function *f, int at, double *regret, int n, double took, double last)
{
    double mean = 0.0;
    for (int i = 0; i < n; i++)
        mean += regret[i] / n;
    qsort(regret, (size_t)n, sizeof *regret, compare);
    double median = 0.5 * (regret[(n - 1) / 2] + regret[n / 2]);
    printf("%-12s %-11s %4d  regret mean %9.2e  median %9.2e  worst %9.2e  %7.2f s for %d, "
           "%.1f ms for the last\n",
           "rehearse", f->name, at, mean, median, regret[n - 1], took, ALL, 1e3 * last);
}

// ---------------------------------------------------------------------------- overhead

// Write the settings to x (n x 6) and return the processor time of the search. With `known`, x
// holds those of an earlier one.
static double search_long(int n, double *x, bool known)
{
    const function *f = &known_function[1];
    rh_error err;
    rh_search *search = NULL;
    rh_search__options opt = rh_search__defaults();
    rh_search__lead_entry leader[10];
    opt.budget = n;
    opt.nrun = 1;
    opt.batch = 4;
    must(rh_search__create(&search, rh_search_find("bayes", NULL), &f->space, &opt, &err),
         &err);
    rh_rng rng = rh_rng_stream(1, RH_STREAM_START, 0, 0);
    double began = seconds(CLOCK_THREAD_CPUTIME_ID);
    if (known)
        must(rh_search__recall(search, n, x, &err), &err);
    for (int nasked = 1; nasked > 0;) {
        const rh_search__asked *asked;
        must(rh_search__ask(search, &asked, &nasked, &err), &err);
        for (int i = 0; i < nasked; i++) {
            const double *at = rh_search__proposed(search, asked[i].setting);
            double z[2], score;
            rh_rng_normal(&rng, z);
            score = f->value(at) + 0.1 * z[0];
            memcpy(x + (size_t)asked[i].setting * 6, at, 6 * sizeof *x);
            rh_search__told told = {asked[i].setting, 1, &score, score, 0.01, 0};
            must(rh_search__tell(search, &told, &err), &err);
        }
    }
    rh_search__lead(search, 10, leader);
    double took = seconds(CLOCK_THREAD_CPUTIME_ID) - began;
    if (!known)
        printf("%5d settings: regret of the answer %.2g, ", n,
               f->best - f->value(rh_search__proposed(search, leader[0].setting)));
    rh_search__destroy(search);
    return took;
}

static int overhead(int narg, char **arg)
{
    for (int i = 2; i < narg; i++) {
        int n = atoi(arg[i]);
        double *x = calloc((size_t)(n > 0 ? n : 1), 6 * sizeof *x);
        if (!x || n < 1)
            return 2;
        double took = search_long(n, x, false);
        printf("%.2f s; again, known: %.2f s\n", took, search_long(n, x, true));
        fflush(stdout);
        free(x);
    }
    return 0;
}

// ---------------------------------------------------------------------------- agents

enum { NAGENT = 5, IMPORTANT = 3, RESAMPLES = 2000 };

#define NOISE 0.1  // standard deviation of a value; an agent that is good has about 1
#define MINOR 0.01 // what a parameter that hardly matters costs at most; by hand

static const char *const agent_name[NAGENT] = {"dqn", "td3", "esarsa", "practised", "clone"};
static const double agent_number[NAGENT] = {0.0, 1.0, 2.0, 3.0, 4.0};
static const double places[] = {0.0, 1.0, 2.0, 3.0};

// The agents, and what a study would search of each.
static rh_space space_of_agents(void)
{
    static char name[RH_MAX_DIM][40];
    rh_space s = {
        {{.name = "agent", .kind = RH_DIM_NAMES, .value = agent_number, .nvalue = NAGENT}}, 1};
    for (int a = 0; a < NAGENT; a++) {
        const rh_agent_type *type = rh_agent_find(agent_name[a], NULL);
        for (int i = 0; type && i < type->nparam; i++) {
            const rh_param *p = &type->param[i];
            if (p->usual_lo == p->usual_hi)
                continue;
            rh_dim *dim = &s.dim[s.ndim];
            snprintf(name[s.ndim], sizeof *name, "%s.%s", agent_name[a], p->name);
            *dim = (rh_dim){.name = name[s.ndim++], .lo = p->usual_lo, .hi = p->usual_hi};
            dim->branch = a + 1;
            dim->scale = p->scale;
            dim->step = p->whole && p->scale != RH_LOG ? 1.0 : 0.0;
            if (p->choice) {
                dim->kind = RH_DIM_NAMES;
                dim->scale = RH_LINEAR;
                dim->value = places + (int)p->usual_lo;
                dim->nvalue = (int)(p->usual_hi - p->usual_lo) + 1;
            }
        }
    }
    return s;
}

typedef struct landscape {
    const rh_space *space;
    double level[NAGENT];
    double at[RH_MAX_DIM], weight[RH_MAX_DIM]; // best places, what it costs to be 1 away
    double best;
} landscape;

static landscape draw(const rh_space *space, uint64_t seed)
{
    static const double weight[IMPORTANT] = {2.0, 1.0, 0.5};
    landscape l = {.space = space, .best = -INFINITY};
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_START, 0, 0);
    for (int a = 0; a < NAGENT; a++) {
        int own[RH_MAX_DIM], n = 0;
        for (int d = 1; d < space->ndim; d++)
            if (space->dim[d].branch == a + 1)
                own[n++] = d;
        l.level[a] = n ? 0.8 + 0.2 * rh_rng_uniform(&rng) : 0.5 + 0.2 * rh_rng_uniform(&rng);
        l.best = fmax(l.best, l.level[a]);
        for (int i = 0; i < n; i++) { // in random order
            int k = i + (int)rh_rng_below(&rng, (uint32_t)(n - i)), d = own[k];
            int count = space->dim[d].nvalue;
            own[k] = own[i];
            l.weight[d] = i < IMPORTANT ? weight[i] : MINOR;
            l.at[d] = count ? (rh_rng_below(&rng, (uint32_t)count) + 0.5) / count
                            : 0.1 + 0.8 * rh_rng_uniform(&rng);
        }
    }
    return l;
}

static double height(const landscape *l, const double *x)
{
    double u[RH_MAX_DIM], value = l->level[(int)x[0]];
    rh_space__unit(l->space, x, u);
    for (int d = 1; d < l->space->ndim; d++)
        if (rh_space__has(l->space, x, d))
            value -= l->weight[d] * (u[d] - l->at[d]) * (u[d] - l->at[d]);
    return value;
}

// What the answer of a method loses.
static double regret_of(const landscape *l, const char *method, int trials, uint64_t seed)
{
    rh_error err;
    rh_search *search = NULL;
    rh_search__options opt = rh_search__defaults();
    rh_search__lead_entry leader;
    rh_rng rng = rh_rng_stream(seed, RH_STREAM_NOISE, 0, 0);
    opt.budget = trials;
    opt.nrun = 1;
    opt.seed = seed;
    must(rh_search__create(&search, rh_search_find(method, NULL), l->space, &opt, &err), &err);
    for (int nasked = 1; nasked > 0;) {
        const rh_search__asked *asked;
        must(rh_search__ask(search, &asked, &nasked, &err), &err);
        for (int i = 0; i < nasked; i++) {
            double z[2], score;
            rh_rng_normal(&rng, z);
            score = height(l, rh_search__proposed(search, asked[i].setting)) + NOISE * z[0];
            rh_search__told told = {asked[i].setting, 1, &score, score, NOISE * NOISE, 0};
            must(rh_search__tell(search, &told, &err), &err);
        }
    }
    rh_search__lead(search, 1, &leader);
    double regret = l->best - height(l, rh_search__proposed(search, leader.setting));
    rh_search__destroy(search);
    return regret;
}

// Ratio of the mean regrets, and its 95 % interval from resampled seeds.
static void print_ratio(const double *a, const double *b, int n)
{
    static double ratio[RESAMPLES];
    double sum[2] = {0.0, 0.0};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_START, 0, 0);
    for (int r = 0; r < RESAMPLES; r++) {
        double x = 0.0, y = 0.0;
        for (int i = 0; i < n; i++) {
            uint32_t k = rh_rng_below(&rng, (uint32_t)n);
            x += a[k];
            y += b[k];
        }
        ratio[r] = x / y;
    }
    for (int i = 0; i < n; i++) {
        sum[0] += a[i];
        sum[1] += b[i];
    }
    qsort(ratio, RESAMPLES, sizeof *ratio, compare);
    printf("mean regret: bayes %.4f, random %.4f; ratio %.3f (%.3f to %.3f)\n", sum[0] / n,
           sum[1] / n, sum[0] / sum[1], ratio[RESAMPLES / 40],
           ratio[RESAMPLES - 1 - RESAMPLES / 40]);
}

static int agents(int narg, char **arg)
{
    static double bayes[MANY], any[MANY];
    int seeds = narg > 2 ? atoi(arg[2]) : 20, trials = narg > 3 ? atoi(arg[3]) : 100, won = 0;
    rh_space space = space_of_agents();
    if (seeds < 1 || seeds > MANY || trials < 1)
        return 2;
    for (int s = 0; s < seeds; s++) {
        landscape l = draw(&space, (uint64_t)s + 1);
        bayes[s] = regret_of(&l, "bayes", trials, (uint64_t)s + 1);
        any[s] = regret_of(&l, "random", trials, (uint64_t)s + 1);
        won += bayes[s] < any[s];
    }
    printf("%d dimensions, %d trials, %d seeds; bayes is better in %d\n", space.ndim, trials,
           seeds, won);
    print_ratio(bayes, any, seeds);
    return 0;
}

int main(int narg, char **arg)
{
    if (narg > 1 && strcmp(arg[1], "agents") == 0)
        return agents(narg, arg);
    if (narg > 2 && strcmp(arg[1], "overhead") == 0)
        return overhead(narg, arg);
    int seeds = narg > 1 ? atoi(arg[1]) : 20, first = narg > 2 ? atoi(arg[2]) : 1;
    if (seeds < 1 || seeds > MANY) {
        fprintf(stderr, "bench_bayes: 1 to %d seeds\n", MANY);
        return 2;
    }

    const rh_search_type *type = rh_search_find("bayes", NULL);
    double param[32];
    rh_error err;
    rh_param_initial(type->param, type->nparam, param);
    for (int i = 3; i < narg; i++) {
        char *value = strchr(arg[i], '=');
        int index = 0;
        if (!value)
            return 2;
        *value++ = '\0';
        must(rh_param_lookup(type->param, type->nparam, type->name, arg[i], &index, &err),
             &err);
        must(rh_param_parse(&type->param[index], type->name, value, &param[index], &err), &err);
    }

    for (size_t f = 0; f < sizeof known_function / sizeof *known_function; f++) {
        static double early[MANY], late[MANY];
        double took = 0.0, last = 0.0;
        for (int s = 0; s < seeds; s++) {
            double began = seconds(CLOCK_THREAD_CPUTIME_ID), part;
            run(&known_function[f], param, (uint64_t)(first + s), &early[s], &late[s], &part);
            took += (seconds(CLOCK_THREAD_CPUTIME_ID) - began) / seeds;
            last += part / seeds;
        }
        print(&known_function[f], EARLY, early, seeds, took, last);
        print(&known_function[f], ALL, late, seeds, took, last);
        fflush(stdout);
    }
    return 0;
}
