// fqi.c - fitted Q iteration: a policy learned from the log alone, and deployed as it is.
//
// Every log trains the settings of the paper's grid with the decay of its figures (1e-3): five
// step sizes, for the network also two widths. The one with the least TD error on another log
// is deployed, epsilon-greedy with 0.1, 30 runs. The other log is the next one, of the 30th the
// first.
//
// 1. The authors' code stops an episode of FQI after 2,000 steps, and none of the others: both
//    with and without that limit are measured. Figures show the limit, as theirs do.
// 2. Linear: tile coding of 2 tiles, Experiments 1 and 3. Network: raw states, the appendix.

#include "paper_internal.h"

#include "base/base_internal.h"
#include "offline/offline.h"

#include <math.h>

#define DECAY 1e-3 // of the paper's figures
#define LIMIT 2000 // steps of an episode
#define ROUND 30   // logs: the next of the last is the first
#define QUICK_UPDATES 2000

static const rh_paper__method by_tiles = {.name = "fqi-tiles", .title = "FQI, tiles"};
static const rh_paper__method by_network = {.name = "fqi-network", .title = "FQI, network"};

// ---------------------------------------------------------------------------- the cell

static int next_of(int log)
{
    return log % ROUND == ROUND - 1 ? log - (ROUND - 1) : log + 1;
}

// The settings to train. Returns how many.
static int options_of(const rh_paper *paper, rh_fqi_kind kind, int log, rh_fqi_options *opt,
                      int most)
{
    int n = 0;
    for (int i = 0; i < rh_fqi_ngrid(kind) && n < most; i++) {
        rh_fqi_options one = rh_fqi_defaults(kind);
        rh_fqi_grid(kind, i, &one);
        if (one.decay != DECAY || (paper->opt.quick && one.width > 64))
            continue;
        if (paper->opt.quick)
            one.nupdate = QUICK_UPDATES;
        one.seed = paper->opt.seed + (uint64_t)log;
        one.watch = (rh_watch){.stop = paper->opt.stop, .context = paper->opt.context};
        opt[n++] = one;
    }
    return n;
}

// Run the policy in one world: with the limit, and without.
static rh_status deploy(const rh_paper *paper, const rh_paper__world *world, const rh_fqi *fqi,
                        const rh_task *task, rh_state *out, const char *limited,
                        const char *unlimited, rh_error *err)
{
    const rh_agent_type *agent = rh_fqi_agent(fqi);
    rh_eval_options opt = rh_eval_defaults(task);
    double score[RH_PAPER__NTRUE], hp[RH_MAX_PARAM];
    size_t n = (size_t)rh_paper__ntrue(paper);
    rh_param_initial(agent->param, agent->nparam, hp);
    opt.frozen = true;
    rh_status rc = rh_paper__deploy(paper, world, agent, 1, hp, &opt, score, err);
    if (!rc)
        rc = rh_state_put(out, unlimited, score, n, err);
    opt.cutoff = LIMIT;
    if (!rc)
        rc = rh_paper__deploy(paper, world, agent, 1, hp, &opt, score, err);
    return rc ? rc : rh_state_put(out, limited, score, n, err);
}

static rh_status learn(const rh_paper *paper, const rh_paper__cell *cell, rh_state *out,
                       rh_error *err)
{
    const rh_paper__world *world = cell->problem->world;
    rh_fqi_kind kind = cell->method == &by_network ? RH_FQI_NETWORK : RH_FQI_TILES;
    rh_fqi_options opt[RH_PAPER__NSETTING];
    rh_log *log[2] = {NULL}, *starts[2] = {NULL};
    rh_env *env = NULL;
    rh_fqi *fqi = NULL;
    double error[2 * RH_PAPER__NSETTING], steps = 0.0;
    int chosen = 0, n = options_of(paper, kind, cell->log, opt, RH_PAPER__NSETTING);
    rh_status rc = rh_paper__env(&env, paper, world, false, err);
    for (int i = 0; i < 2 && !rc; i++)
        rc = rh_paper__collect(&log[i], &starts[i], paper, world, cell->data,
                               i ? next_of(cell->log) : cell->log, err);
    if (!rc)
        rc = rh_fqi_choose(&fqi, &chosen, log[0], log[1], rh_env_task(env), opt, n,
                           RH_FQI_BY_VALIDATION, 1, error, err);
    if (!rc)
        rc = deploy(paper, world, fqi, rh_env_task(env), out, "deployed", "unlimited", err);
    if (!rc && world == &rh_paper__acrobot)
        rc = deploy(paper, &rh_paper__changed, fqi, rh_env_task(env), out, "changed",
                    "changed_unlimited", err);
    double setting[3] = {opt[chosen].rate, opt[chosen].decay, opt[chosen].width};
    if (!rc)
        rc = rh_state_put(out, "setting", setting, 3, err);
    if (!rc)
        rc = rh_state_put(out, "error", error, 2 * (size_t)n, err);
    if (!rc)
        rc = rh_state_put(out, "steps", &steps, 1, err);
    rh_fqi_destroy(fqi);
    rh_env_destroy(env);
    for (int i = 0; i < 2; i++) {
        rh_log_destroy(log[i]);
        rh_log_destroy(starts[i]);
    }
    return rc;
}

static rh_paper__cell cell_of(const rh_paper *paper, const rh_paper__problem *problem,
                              bool network, int log)
{
    double frozen =
        2.0 * rh_paper__ntrue(paper) * (double)rh_paper__nstep(paper, problem->world);
    double train = network ? 5.0 : problem->world == &rh_paper__puddle ? 2.0 : 12.0;
    return (rh_paper__cell){.run = learn,
                            .what = "policy",
                            .problem = problem,
                            .method = network ? &by_network : &by_tiles,
                            .data = &rh_paper__near_5000,
                            .log = log,
                            .after = -1,
                            .cost = (paper->opt.quick ? 0.05 : 1.0) * train +
                                    0.1 * frozen * problem->world->in_env};
}

void rh_paper__policies(rh_paper *paper, const rh_paper__problem *problem, bool network)
{
    for (int i = 0; i < paper->opt.nlog; i++)
        rh_paper__add(paper, cell_of(paper, problem, network, i));
}

void rh_paper__policy_scores(const rh_paper *paper, const rh_paper__problem *problem,
                             bool network, const char *what, double *y)
{
    for (int i = 0; i < paper->opt.nlog; i++) {
        rh_paper__cell like = cell_of(paper, problem, network, i);
        size_t n = 0;
        const double *score = rh_paper__array(paper, rh_paper__find(paper, &like), what, &n);
        double sum = 0.0;
        for (size_t k = 0; score && k < n; k++)
            sum += score[k];
        y[i] = score ? sum / (double)n : NAN;
    }
}

// ---------------------------------------------------------------------------- the experiment

static const struct {
    const rh_paper__problem *problem;
    const char *figure, *title;
    const char *better, *linear, *nonlinear, *best;
} side[] = {
    {&rh_paper__esarsa_acrobot, "fqi-acrobot", "Acrobot", "A4.1 acrobot",
     "A4.2 acrobot, linear", "A4.2 acrobot, network", "1.10 acrobot"},
    {&rh_paper__esarsa_puddle, "fqi-puddle", "Puddle World", "A4.1 puddle",
     "A4.2 puddle, linear", "A4.2 puddle, network", "1.10 puddle"},
};

static void list(rh_paper *paper)
{
    for (int k = 0; k < 2; k++) {
        rh_paper__truth(paper, side[k].problem);
        rh_paper__choices(paper, side[k].problem, &rh_paper__near_5000, &rh_paper__knn);
        rh_paper__policies(paper, side[k].problem, false);
        rh_paper__policies(paper, side[k].problem, true);
    }
}

static void draw_side(rh_paper *paper, int k)
{
    const rh_paper__problem *p = side[k].problem;
    int nlog = paper->opt.nlog;
    double knn[RH_PAPER_MOST_LOGS], tiles[RH_PAPER_MOST_LOGS], network[RH_PAPER_MOST_LOGS],
        other[RH_PAPER_MOST_LOGS];
    rh_paper__table table;
    if (!rh_paper__table_of(paper, p, &table))
        return;
    rh_paper__figure *f = rh_paper__figure_add(
        paper, side[k].figure, side[k].title,
        "True return per episode of policies learned by FQI from each log, with the authors' "
        "limit of 2,000 steps per episode and without, beside settings that learn online. "
        "Line: the best setting of the grid.",
        RH_PAPER__BOX, table.mean[table.best]);
    rh_paper__column(paper, f, "kNN, Laplacian", p, &rh_paper__near_5000, &rh_paper__knn, p,
                     knn);
    rh_paper__policy_scores(paper, p, false, "deployed", tiles);
    rh_paper__series_add(paper, f, "FQI, tiles", tiles, nlog);
    rh_paper__policy_scores(paper, p, true, "deployed", network);
    rh_paper__series_add(paper, f, "FQI, network", network, nlog);
    rh_paper__policy_scores(paper, p, false, "unlimited", other);
    rh_paper__series_add(paper, f, "FQI, tiles, no limit", other, nlog);
    rh_paper__policy_scores(paper, p, true, "unlimited", other);
    rh_paper__series_add(paper, f, "FQI, network, no limit", other, nlog);

    static const char which[] = "The linear function approximator performs better in Acrobot, "
                                "while the nonlinear function approximator performs better in "
                                "Puddle World.";
    static const char worse[] = "When comparing them with the KNN based calibration model as "
                                "baselines, both settings perform worse.";
    bool puddle = k == 1;
    rh_paper__claim_better(paper, side[k].better, which, puddle ? "FQI, network" : "FQI, tiles",
                           puddle ? network : tiles, puddle ? "FQI, tiles" : "FQI, network",
                           puddle ? tiles : network);
    rh_paper__claim_better(paper, side[k].best,
                           "We tested FQI with a tile coded representation and a NN "
                           "representation; the tile coded version performed best.",
                           "FQI, tiles", tiles, "FQI, network", network);
    rh_paper__claim_better(paper, side[k].linear, worse, "kNN", knn, "FQI, tiles", tiles);
    rh_paper__claim_better(paper, side[k].nonlinear, worse, "kNN", knn, "FQI, network",
                           network);
}

static void draw(rh_paper *paper)
{
    draw_side(paper, 0);
    draw_side(paper, 1);
}

const rh_paper__part rh_paper__fqi = {
    .is = {"fqi", "Appendix: fitted Q iteration with tiles and with a network",
           "policies learned from the log alone, with and without a limit of 2,000 steps"},
    .list = list,
    .draw = draw,
};
