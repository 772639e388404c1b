// run_print.c - the results of `run` in words, JSON and CSV.

#include "cli_internal.h"
#include "eval/eval.h"

#include <math.h>
#include <string.h>

#define FEW_MEMBERS 12 // lines

static int64_t count_runs(const cli_result *r)
{
    return (int64_t)r->job->opt.nrun * r->job->world.nmember;
}

static bool has_members(const cli_result *r)
{
    return r->job->world.nmember > 1;
}

static int64_t count_outcome(const cli_result *r, rh_outcome outcome)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count_runs(r); i++)
        n += r->result[i].outcome == outcome;
    return n;
}

static double steps_per_second(const cli_result *r)
{
    double nstep = 0.0;
    for (int64_t i = 0; i < count_runs(r); i++)
        nstep += (double)r->result[i].nstep;
    return floor(nstep / r->seconds);
}

static double mean_episodes(const cli_result *r)
{
    double n = 0.0;
    for (int64_t i = 0; i < count_runs(r); i++)
        if (r->result[i].outcome != RH_STOPPED)
            n += (double)r->result[i].nepisode;
    return n / (double)r->score.nfinished;
}

// ---------------------------------------------------------------------------- words

static void print_members(const cli_result *r)
{
    const rh_summary *s = &r->score.summary;
    cli_style style = cli_style_of(stdout);
    int n = cli_decimals(s->stderr_, s->mean), npool, nmember = r->job->world.nmember;
    cli_heading("score");
    printf("%s%s%s   %s of %d members\n", style.bold, cli_real(r->score.score, n).s,
           style.plain, rh_pool__names(&npool)[r->job->world.pool], r->score.nmember);
    if (s->n > 1)
        cli_line("  members", "mean %s, 95 %% interval %s to %s, standard error %s",
                 cli_real(s->mean, n).s, cli_real(s->lo95, n).s, cli_real(s->hi95, n).s,
                 cli_real(s->stderr_, n).s);
    int shown = nmember <= FEW_MEMBERS + 1 ? nmember : FEW_MEMBERS;
    for (int m = 0; m < shown; m++) {
        char label[24];
        snprintf(label, sizeof label, "  member %d", m);
        cli_line(label, "%s", isnan(r->mean[m]) ? "-" : cli_real(r->mean[m], n).s);
    }
    cli_more(nmember - shown, "member", "--json");
}

static void print_score(const cli_result *r)
{
    const rh_summary *s = &r->score.summary;
    cli_style style = cli_style_of(stdout);
    int n = cli_decimals(s->stderr_, s->mean);
    if (has_members(r)) {
        print_members(r);
        return;
    }
    cli_heading("score");
    printf("%s%s%s", style.bold, cli_real(s->mean, n).s, style.plain);
    if (s->n == 1) {
        puts("   (one run: no interval)");
        return;
    }
    if (!isfinite(s->lo95)) {
        puts("   (no interval)");
        return;
    }
    char text[200];
    int column = CLI_LABEL + (int)strlen(cli_real(s->mean, n).s) + 3;
    snprintf(text, sizeof text, "95 %% interval %.40s to %.40s, standard error %.40s",
             cli_real(s->lo95, n).s, cli_real(s->hi95, n).s, cli_real(s->stderr_, n).s);
    printf("   ");
    cli_wrap(text, column, cli_page());
    cli_line("  spread", "%s | %s %s %s | %s (minimum, quartiles, maximum)",
             cli_real(s->min, n).s, cli_real(s->q25, n).s, cli_real(s->median, n).s,
             cli_real(s->q75, n).s, cli_real(s->max, n).s);
}

static void print_failed(const cli_result *r)
{
    int64_t n = count_outcome(r, RH_FAILED);
    if (n)
        cli_line("failed", "%s of %s runs: %s", cli_count(n).s, cli_count(r->score.nfinished).s,
                 r->failure);
}

static void print_diverged(const cli_result *r)
{
    static const struct {
        rh_outcome outcome;
        const char *whose;
    } kind[] = {{RH_DIVERGED, "agent"}, {RH_ENV_NONFINITE, "environment"}};
    for (int i = 0; i < 2; i++) {
        int64_t n = count_outcome(r, kind[i].outcome);
        if (n)
            cli_line("diverged", "%s of %s runs: numbers of the %s were no longer finite",
                     cli_count(n).s, cli_count(r->score.nfinished).s, kind[i].whose);
    }
}

static void print_curve(const cli_result *r)
{
    const rh_eval_options *opt = &r->job->opt;
    cli_style style = cli_style_of(stdout);
    bool utf8 = cli_utf8();
    int columns = cli_columns_or(stdout, 80);
    if (r->job->task.continuing)
        printf("\nlearning curve: reward per %s steps, by step%s\n",
               cli_count(opt->nstep / opt->ncurve).s, columns < 70 ? "" : " of the run");
    else
        puts("\nlearning curve: mean return per episode, by step of the run");
    int outside = cli_chart(stdout, r->curve, opt->ncurve, opt->nstep, columns, utf8, &style);
    if (outside)
        printf("%s%s %d point%s off the axis%s\n", style.dim, utf8 ? "\u25bc\u25b2" : "v^",
               outside, cli_plural(outside), style.plain);
}

static bool curve_is_known(const cli_result *r)
{
    for (int i = 0; i < r->job->opt.ncurve; i++)
        if (isfinite(r->curve[i]))
            return true;
    return false;
}

bool cli_result_failed(const cli_result *r)
{
    return r->score.nfinished > 0 && count_outcome(r, RH_FAILED) == r->score.nfinished;
}

void cli_result_print(const cli_result *r)
{
    putchar('\n');
    if (!r->score.whole)
        cli_line("finished", "%s of %s runs; the results below are of these",
                 cli_count(r->score.nfinished).s, cli_count(count_runs(r)).s);
    if (r->score.nfinished) {
        print_score(r);
        if (!r->job->task.continuing)
            cli_line("episodes", "%s completed per run",
                     cli_real(mean_episodes(r), mean_episodes(r) < 100.0).s);
        print_diverged(r);
        print_failed(r);
    }
    if (isfinite(r->seconds))
        cli_line("duration", "%.1f s, %s steps/s", r->seconds,
                 cli_count((int64_t)steps_per_second(r)).s);
    if (curve_is_known(r))
        print_curve(r);
    else
        puts("\nno learning curve: no episode was completed");
}

// ---------------------------------------------------------------------------- JSON and CSV

static void json_summary(rh_doc *json, const cli_result *r)
{
    const rh_summary *s = &r->score.summary;
    if (!r->score.nfinished) {
        rh_doc__null(json, "summary");
        return;
    }
    rh_doc__open(json, "summary", '{', false);
    rh_field__write_within(json, &rh_eval__summary, s, NULL);
    rh_doc__real(json, "episodes", mean_episodes(r));
    rh_doc__close(json);
}

static void json_runs(rh_doc *json, const cli_result *r)
{
    int nrun = r->job->opt.nrun;
    rh_doc__open(json, "results", '[', false);
    for (int64_t i = 0; i < count_runs(r); i++) {
        const rh_result *result = &r->result[i];
        if (result->outcome == RH_STOPPED)
            continue;
        rh_doc__open(json, NULL, '{', true);
        if (has_members(r))
            rh_doc__whole(json, "member", i / nrun);
        rh_doc__whole(json, "run", i % nrun);
        rh_field__write_within(json, &rh_eval__result, result, NULL);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_curve(rh_doc *json, const cli_result *r)
{
    const rh_eval_options *opt = &r->job->opt;
    rh_doc__open(json, "curve", '{', false);
    rh_doc__open(json, "step", '[', true);
    for (int64_t i = 1; i <= opt->ncurve; i++) // the step with which the point is complete
        rh_doc__whole(json, NULL, (i * opt->nstep + opt->ncurve - 1) / opt->ncurve);
    rh_doc__close(json);
    rh_doc__reals(json, "mean", r->curve, opt->ncurve);
    rh_doc__close(json);
}

void cli_result_json(FILE *out, const cli_result *r)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    cli_job_json(&json, r->job);
    rh_doc__flag(&json, "loaded", r->job->state != NULL);
    rh_doc__flag(&json, "frozen", r->job->opt.frozen);
    rh_doc__whole(&json, "finished_runs", r->score.nfinished);
    rh_doc__whole(&json, "diverged",
                  count_outcome(r, RH_DIVERGED) + count_outcome(r, RH_ENV_NONFINITE));
    rh_doc__whole(&json, "failed", count_outcome(r, RH_FAILED));
    rh_doc__text(&json, "failure", *r->failure ? r->failure : NULL);
    rh_doc__real(&json, "score", r->score.score);
    if (has_members(r))
        rh_doc__reals(&json, "member_scores", r->mean, r->job->world.nmember);
    json_summary(&json, r);
    json_runs(&json, r);
    json_curve(&json, r);
    rh_doc__real(&json, "steps_per_second", steps_per_second(r));
    rh_doc__real(&json, "seconds", r->seconds);
    rh_doc__close(&json);
}

void cli_result_csv(FILE *out, const void *result)
{
    const cli_result *r = result;
    long long nrun = r->job->opt.nrun;
    fprintf(out, "%srun,score,total,steps,episodes,outcome\n", has_members(r) ? "member," : "");
    for (long long i = 0; i < count_runs(r); i++) {
        const rh_result *run = &r->result[i];
        if (run->outcome == RH_STOPPED)
            continue;
        if (has_members(r))
            fprintf(out, "%lld,", i / nrun);
        fprintf(out, "%lld,%s,%s,%lld,%lld,%s\n", i % nrun, cli_exact(run->score).s,
                cli_exact(run->total).s, (long long)run->nstep, (long long)run->nepisode,
                rh_outcome_name(run->outcome));
    }
}
