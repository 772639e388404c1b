// cmd_run.c - rehearse run: the online performance of one setting, in a simulator or a model.
//
// 1. Everything that can be refused is refused before the first run: names, ranges, an agent
//    that does not fit, a file that cannot be written.
// 2. Files are written before results are printed: closing the pipe early (`| head`) is safe.
// 3. --save writes the agent of run 0 (in the first member), whichever run finishes first.

#include "cli_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const rh_key agent_option[] = {
    {NULL, "load", 0, RH_KEY_FILE, "FILE",
     .about = "start every run with the agent state in FILE"},
    {NULL, "save", 0, RH_KEY_FILE, "FILE",
     .about = "write the agent state that the first run learned"},
    {NULL, "freeze", 0, RH_KEY_FLAG, NULL, .about = "act without learning"},
    {0},
};

static const rh_key output_option[] = {
    {NULL, "points", 0, RH_KEY_WHOLE, "N", .about = "points of the learning curve",
     .initial = "60", .lo = 1, .hi = 100000},
    {NULL, "live", 0, RH_KEY_FLAG, NULL, .about = "draw the learning curve during the runs"},
    {NULL, "pace", 0, RH_KEY_WHOLE, "SECONDS", .about = "with --live: take at least this long",
     .initial = "full speed", .lo = 1, .hi = 3600},
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "one JSON document on standard output"},
    {NULL, "csv", 0, RH_KEY_FILE, "FILE",
     .about = "one row per run into FILE; - is standard output"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL, .about = "no progress on standard error"},
    {0},
};

static const cli_group agent_group = {"agent state", agent_option};
static const cli_group output_group = {"output", output_option};

// Everything of one run of the command.
typedef struct running {
    cli_job job;
    cli_progress progress;
    const char *save;  // path, NULL for none
    rh_state *learned; // what --save is to write, owned
    rh_error why;      // there is nothing to write, if the library refused
    bool refused;
    bool live;
    double pace;       // seconds that all the runs are to take at least
    double *sum;       // of the curve's known values, for --live, owned  (ncurve)
    int *count;        // how many they are, owned                        (ncurve)
    rh_result *result; // owned                                           (nlife)
    double *curve;     // owned                                           (nlife x ncurve)
    double *mean;      // of the runs' curves, owned                     (ncurve)
    double *member;    // mean score in each member, owned               (nmember)
    int64_t nunit;     // in all members
} running;

// ---------------------------------------------------------------------------- before

static int prepare(running *r, const cli_args *args)
{
    cli_job *job = &r->job;
    const char *csv = cli_value(args, "csv");
    if (cli_has(args, "live") && cli_has(args, "quiet"))
        return cli_refuse("--live and --quiet cannot be used together");
    if (cli_has(args, "pace") && !cli_has(args, "live"))
        return cli_refuse("--pace needs --live");

    int rc = cli_job_init(job, args, cli_value(args, "load"));
    if (!rc && csv)
        rc = cli_file_probe(csv, true);
    r->save = cli_value(args, "save");
    if (!rc && r->save)
        rc = cli_file_probe(r->save, false);
    if (!rc && csv && r->save && strcmp(csv, r->save) == 0)
        rc = cli_refuse("--csv and --save name the same file, '%s'", csv);
    if (rc)
        return rc;

    int64_t npoint = cli_number(args, "points", 60);
    rh_eval_options *opt = &job->opt;
    opt->ncurve = (int)(npoint < opt->nstep ? npoint : opt->nstep);
    opt->frozen = cli_has(args, "freeze");
    opt->state = job->state;
    r->live = cli_has(args, "live");
    r->pace = cli_is_terminal(stderr) ? (double)cli_number(args, "pace", 0) : 0.0;

    r->nunit = (int64_t)opt->nrun * job->world.nmember;
    size_t nunit = (size_t)r->nunit, ncurve = (size_t)opt->ncurve;
    r->result = rh_alloc(nunit, sizeof *r->result);
    r->curve = rh_alloc(nunit * ncurve, sizeof *r->curve);
    r->member = rh_alloc((size_t)job->world.nmember, sizeof *r->member);
    r->mean = rh_alloc(ncurve, sizeof *r->mean);
    r->sum = rh_alloc(ncurve, sizeof *r->sum);
    r->count = rh_alloc(ncurve, sizeof *r->count);
    if (!r->result || !r->curve || !r->mean || !r->member || !r->sum || !r->count)
        return cli_fail("out of memory for %s runs of %d points", cli_count(r->nunit).s,
                        opt->ncurve);
    return CLI_OK;
}

static void clear(running *r)
{
    rh_state_destroy(r->learned);
    rh_free(r->result);
    rh_free(r->curve);
    rh_free(r->mean);
    rh_free(r->member);
    rh_free(r->sum);
    rh_free(r->count);
    cli_job_clear(&r->job);
}

// ---------------------------------------------------------------------------- meanwhile

// The curve so far, above the line of progress; NULL where it does not fit.
static char *draw_live(running *r)
{
    int n = r->job.opt.ncurve;
    char *text = NULL;
    size_t size;
    if (!r->progress.terminal || cli_rows(stderr) < CLI_CHART_HEIGHT + 4)
        return NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (int i = 0; i < n; i++)
        r->mean[i] = r->count[i] ? r->sum[i] / r->count[i] : NAN;
    cli_style style = cli_style_of(stderr);
    cli_chart(out, r->mean, n, r->job.opt.nstep, cli_columns(stderr), cli_utf8(), &style);
    fclose(out);
    return text;
}

// A run takes milliseconds, too fast to watch.
static void keep_pace(const running *r)
{
    double share = cli_progress_share(&r->progress);
    const struct timespec blink = {.tv_nsec = 20000000};
    while (cli_now() < r->progress.begun + share * r->pace && !cli_interrupted())
        nanosleep(&blink, NULL);
}

static void watch(void *context, const rh_event *event)
{
    running *r = context;
    bool point = event->kind == RH_EVENT_POINT;
    if (point && isfinite(event->value)) {
        r->sum[event->point] += event->value;
        r->count[event->point]++;
        if (r->live && !r->progress.terminal)
            snprintf(r->progress.note, sizeof r->progress.note, "now %s",
                     cli_real(event->value, cli_decimals(NAN, event->value)).s);
    }
    if (!point && r->save && event->member == 0 && event->run == 0 &&
        event->result->outcome == RH_FINISHED)
        r->refused = rh_agent_save(event->agent, &r->learned, &r->why) != RH_OK;

    bool due = cli_progress_count(&r->progress, event);
    if (r->pace > 0.0)
        keep_pace(r);
    if (due) {
        char *chart = r->live ? draw_live(r) : NULL;
        cli_progress_draw(&r->progress, chart);
        free(chart);
    }
}

// ---------------------------------------------------------------------------- afterwards

// Mean over the finished runs of every point that is known, in the order of the runs.
static void average_curve(running *r)
{
    int n = r->job.opt.ncurve;
    for (int p = 0; p < n; p++) {
        double sum = 0.0;
        int count = 0;
        for (int64_t i = 0; i < r->nunit; i++) {
            double value = r->curve[(size_t)i * (size_t)n + (size_t)p];
            if (isfinite(value) && r->result[i].outcome != RH_STOPPED) {
                sum += value;
                count++;
            }
        }
        r->mean[p] = count ? sum / count : NAN;
    }
}

static int summarise(running *r, cli_result *result)
{
    size_t n = (size_t)r->job.opt.nrun + (size_t)r->job.world.nmember;
    double *work = rh_alloc(2 * n, sizeof *work);
    if (!work)
        return cli_fail("out of memory");
    average_curve(r);
    *result = (cli_result){.job = &r->job,
                           .result = r->result,
                           .curve = r->mean,
                           .mean = r->member,
                           .seconds = r->progress.seconds,
                           .failure = r->progress.failure};
    result->score = cli_score_of(&r->job, r->result, r->member, work);
    rh_free(work);
    return CLI_OK;
}

static int write_state(const running *r)
{
    rh_error err;
    if (r->refused)
        return cli_fail("%s", r->why.text);
    if (!r->learned)
        return cli_fail("nothing saved to '%s': run 0 ended as %s", r->save,
                        rh_outcome_name(r->result[0].outcome));
    return cli_pass_file(rh_state_write(r->learned, r->save, &err), &err);
}

static int run_main(const cli_args *args)
{
    running r = {0};
    cli_job *job = &r.job;
    cli_result result = {0};
    int rc = prepare(&r, args), kept = CLI_OK;
    if (rc)
        goto done;
    if (job->words) {
        cli_job_print(job, NULL);
        fflush(stdout);
    }
    job->opt.watch = watch;
    job->opt.context = &r;
    rc = cli_job_run(job, &r.progress, 1, job->hp, r.result, r.curve);
    if (!rc)
        rc = summarise(&r, &result);
    if (rc)
        goto done;
    if (r.pace > 0.0)
        result.seconds = NAN;

    // files first
    if (r.save)
        kept = write_state(&r);
    if (cli_has(args, "csv") && result.score.nfinished)
        rc = cli_file_write(cli_value(args, "csv"), cli_result_csv, &result);
    if (cli_has(args, "json"))
        cli_result_json(stdout, &result);
    else if (job->words)
        cli_result_print(&result);
    rc = rc ? rc : kept;
    if (!rc && cli_result_failed(&result))
        rc = cli_fail("every run failed: %s", result.failure);
    if (cli_interrupted()) {
        cli_say("interrupted: %lld of %lld runs finished", (long long)result.score.nfinished,
                (long long)r.nunit);
        rc = CLI_SIGNAL + cli_interrupted();
    }

done:
    clear(&r);
    return rc;
}

const cli_command cli_run = {
    .name = "run",
    .about = "Run one setting of an agent in a simulator or model, and score it",
    .operands =
        "ENV|model:FILE|exec:COMMAND|FILE.yaml --agent NAME [--set NAME=VALUE ...] [options]",
    .detail = "Every run starts untrained and learns for the given number of steps. By default "
              "the score of a run is its average return per episode from the first step on, so "
              "the cost of learning counts. A YAML file has the keys of a study file, with env "
              "for a simulator or data for model:FILE.",
    .operand = {.type = RH_KEY_CHOICE, .name = cli_env_name},
    .plan = RH_PLAN_RUN,
    .group = {&cli_runs_group, &cli_best_group, &agent_group, &output_group, &cli_common_group},
    .example = {"the agent with its default hyperparameters",
                "rehearse run acrobot --agent esarsa",
                "another step size, three runs, drawn live",
                "rehearse run acrobot -a esarsa --set alpha=0.03 --runs 3 --live",
                "train once and save the agent",
                "rehearse run acrobot -a esarsa -r 1 --save arm.state",
                "evaluate the trained agent", "rehearse run acrobot --load arm.state --freeze"},
    .see = "`rehearse list envs acrobot` and `rehearse list agents esarsa` show all options.",
    .single = true,
    .main = run_main,
};
