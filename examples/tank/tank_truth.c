// tank_truth.c - what the true tank says about a study's promise. `make demo` runs it.
//
//     tank_truth build/tank.study/best.yaml
//
// The operator, the agent with its defaults and the chosen agent run the tank: as many steps as
// the study promised for, twenty times each. Failures are counted by the study's own rule. On a
// real plant nobody can do this; here it shows what an answer is worth.

#include <rehearse/rehearse.h>

#include <stdio.h>
#include <stdlib.h>

enum { NRUN = 20, SHIFT = 48, NPART = 10 };

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

// What the first tenth of the runs was like, when learning has only begun.
static void first_tenth(const rh_result *result, const double *curve)
{
    double score = 0, nfailure = 0, nepisode = 0;
    for (int i = 0; i < NRUN; i++) {
        score += curve[i * NPART] / NRUN;
        nfailure += (double)result[i].nfailure_first;
        nepisode += (double)result[i].nepisode_first;
    }
    printf("  %-22s %20.1f %24.3g\n", "  its first tenth", score, 100 * nfailure / nepisode);
}

// Prints a row. Gives the true mean score and the failures in a run.
static double row(const rh_best *best, rh_env *env, const char *name,
                  const rh_agent_type *agent, const double *hp, double promised,
                  const rh_rate *promised_failures, double *nfailure)
{
    const rh_promise *p = &best->promise;
    rh_result result[NRUN];
    double score[NRUN], curve[NRUN * NPART], work[NRUN], nepisode = 0;
    rh_eval_options opt = rh_eval_defaults(&best->task);
    opt.nrun = NRUN;
    opt.nstep = p->nstep;
    opt.cutoff = SHIFT;
    opt.ncurve = NPART;
    opt.fails = fails;
    opt.rule = best->failure;
    check(rh_eval_runs(&env, 1, agent, &best->task, 1, hp, &opt, result, curve, &err));
    *nfailure = 0;
    for (int i = 0; i < NRUN; i++) {
        score[i] = result[i].score;
        nepisode += (double)result[i].nepisode / NRUN;
        *nfailure += (double)result[i].nfailure / NRUN;
    }
    double unit = p->fail_per_steps ? 1 : 100; // in 1,000 steps, or per cent of the episodes
    double of = p->fail_per_steps ? (double)p->nstep / 1000 : nepisode;
    rh_summary s = rh_summarise(score, NRUN, work);
    printf("  %-22s %10.1f%10.1f %14.3g%10.3g\n", name, promised, s.mean,
           unit * promised_failures->rate, unit * *nfailure / of);
    if (hp == best->hp && !p->fail_per_steps)
        first_tenth(result, curve);
    return s.mean;
}

int main(int argc, char **argv)
{
    const rh_plugin *plant = rehearse_plugin(); // tank.c, linked with this
    rh_best *best = NULL;
    rh_env *env = NULL;
    double usual[RH_MAX_PARAM];
    if (argc != 2) {
        fprintf(stderr, "usage: tank_truth BEST.yaml\n");
        return 2;
    }
    check(rh_best_read(&best, argv[1], &err));
    check(rh_env_create(&env, plant->env[0], NULL, &err));
    if (best->task.nobs != 2 || !best->failure || best->promise.nstep < 1) {
        fprintf(stderr, "tank_truth: %s: expected a study of tank.csv\n", argv[1]);
        return 2;
    }
    const rh_promise *p = &best->promise;
    rh_param_initial(best->agent->param, best->agent->nparam, usual);

    printf("%-24s    score of an episode   failures %s\n", "",
           p->fail_per_steps ? "in 1,000 steps" : "in % of episodes");
    printf("%-24s   promised      true       promised      true\n", "");
    double before, usually, now;
    row(best, env, "logged controller", plant->agent[0], usual, p->logged, &p->fail_logged,
        &before);
    row(best, env, "the agent's defaults", best->agent, usual, p->defaults, &p->fail_defaults,
        &usually);
    double score =
        row(best, env, "chosen, a whole run", best->agent, best->hp, p->score, &p->fail, &now);
    bool held = score >= p->lo95 && score <= p->hi95;
    printf("\nThe promise of %.1f (95 %% interval %.1f to %.1f) %s. In the %lld steps of %lld "
           "shifts "
           "the\nplant trips %.0f times, with its operator %.0f times (means of %d runs).\n",
           p->score, p->lo95, p->hi95, held ? "held" : "DID NOT HOLD", (long long)p->nstep,
           (long long)p->nstep / SHIFT, now, before, NRUN);
    rh_env_destroy(env);
    rh_best_destroy(best);
    return !held;
}
