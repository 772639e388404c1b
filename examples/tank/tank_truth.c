// tank_truth.c - what the true tank says about a study's promise. `make demo` runs it.
//
//     tank_truth build/tank.study/best.yaml
//
// The operator, the agent with its defaults and the chosen agent run the tank: as many steps as
// the study promised for, twenty times each. Failures are counted by the study's own rule. On a
// real plant nobody can do this; here it shows what an answer is worth.

#include "tank.c"

#include <rehearse/rehearse.h>

#include <stdio.h>
#include <stdlib.h>

enum { NRUN = 20, SHIFT = 48 };

static rh_error err;

static void check(rh_status status)
{
    if (status) {
        fprintf(stderr, "tank_truth: %s\n", err.text);
        exit(1);
    }
}

// The same rule for every agent: that of best.yaml.
static bool fails(const void *rule, const double *obs, double reward, bool terminal)
{
    return rh_failure_step(rule, obs, reward, terminal);
}

// Prints a row; gives the true mean score.
static double row(const rh_best *best, rh_env *env, const char *name,
                  const rh_agent_type *agent, const double *hp, double promised,
                  const rh_rate *promised_failures)
{
    const rh_promise *p = &best->promise;
    rh_result result[NRUN];
    double score[NRUN], work[NRUN], nfailure = 0;
    rh_eval_options opt = rh_eval_defaults(&best->task);
    opt.nrun = NRUN;
    opt.nstep = p->nstep;
    opt.cutoff = SHIFT;
    opt.fails = fails;
    opt.rule = best->failure;
    check(rh_eval_runs(&env, 1, agent, &best->task, 1, hp, &opt, result, NULL, &err));
    for (int i = 0; i < NRUN; i++) {
        score[i] = result[i].score;
        nfailure += (double)result[i].nfailure / NRUN;
    }
    double per = p->fail_per_steps ? (double)p->nstep / 1000 : (double)p->nstep / SHIFT;
    rh_summary s = rh_summarise(score, NRUN, work);
    printf("  %-24s %8.1f  %6.1f   %12.0f  %6.0f\n", name, promised, s.mean,
           promised_failures->rate * per, nfailure);
    return s.mean;
}

int main(int argc, char **argv)
{
    rh_best *best = NULL;
    rh_env *env = NULL;
    double usual[RH_MAX_PARAM];
    if (argc != 2) {
        fprintf(stderr, "usage: tank_truth BEST.yaml\n");
        return 2;
    }
    check(rh_best_read(&best, argv[1], &err));
    check(rh_env_create(&env, &tank_type, NULL, &err));
    if (best->task.nobs != 2 || !best->failure || best->promise.nstep < 1) {
        fprintf(stderr, "tank_truth: %s: expected a study of tank.csv\n", argv[1]);
        return 2;
    }
    const rh_promise *p = &best->promise;
    long long nshift = p->nstep / SHIFT;
    rh_param_initial(best->agent->param, best->agent->nparam, usual);

    printf("On the true tank, %lld shifts, mean of %d runs:\n\n", nshift, NRUN);
    printf("                           score of a shift    failures in %lld shifts\n", nshift);
    printf("                           promised    true       promised    true\n");
    row(best, env, "today's operator", &operator_type, usual, p->logged, &p->fail_logged);
    row(best, env, "the agent's defaults", best->agent, usual, p->defaults, &p->fail_defaults);
    double true_score =
        row(best, env, "the chosen setting", best->agent, best->hp, p->score, &p->fail);
    bool held = true_score >= p->lo95 && true_score <= p->hi95;
    printf("\n  The promise was %.1f, between %.1f and %.1f: it %s.\n", p->score, p->lo95,
           p->hi95, held ? "held" : "DID NOT HOLD");
    rh_env_destroy(env);
    rh_best_destroy(best);
    return !held;
}
