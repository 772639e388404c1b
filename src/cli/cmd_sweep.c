// cmd_sweep.c - rehearse sweep: run every setting of a grid in a simulator or model, and rank.
//
// 1. All settings go through one call of the evaluator, so no thread waits at the end of one.
//    Runs of equal number share random streams in all settings and are compared in pairs.
// 2. An interrupted sweep reports what it has: settings run in order, the first are complete.

#include "cli_internal.h"
#include "search/search.h"
#include "study/study.h"

#include <limits.h>
#include <math.h>

#define MOST_SETTINGS 100000
#define POINTS 20 // of a run, for the progress display only
#define TOP 20    // rows shown on a terminal

static const rh_key output_option[] = {
    {NULL, "top", 0, RH_KEY_WHOLE, "N", .about = "rows to show",
     .initial = "20 on a terminal, else all", .lo = 1, .hi = INT_MAX},
    {NULL, "json", 0, RH_KEY_FLAG, NULL, .about = "one JSON document on standard output"},
    {NULL, "csv", 0, RH_KEY_FILE, "FILE",
     .about = "one row per setting into FILE; - is standard output"},
    {NULL, "quiet", 'q', RH_KEY_FLAG, NULL, .about = "no progress on standard error"},
    {0},
};

static const cli_group output_group = {"output", output_option};

typedef struct sweeping {
    cli_job job;
    cli_grid grid;
    cli_table table;
    cli_progress progress;
    double *hp;        // owned  (nsetting x nparam)
    rh_result *result; // owned  (nsetting x nmember x nrun)
    double *sum;       // of the scores so far, owned  (nsetting)
    int *count;        // how many, owned              (nsetting)
    double best;       // mean of all runs of the best setting that is whole
} sweeping;

// The axes of the grid: the dimensions of the plan's space, with all their values.
static int read_grid(sweeping *s, const cli_args *args)
{
    const rh_plan *plan = s->job.plan;
    const rh_space *space = rh_plan__searched(plan);
    double count = rh_space__count(space), x[RH_MAX_DIM];
    int nparam = s->job.agent->nparam;
    if (!space->ndim && !cli_has(args, "set") && !cli_has(args, "grid")) {
        cli_refuse("sweep: no values to try, expected --grid NAME or --set NAME=VALUE,...");
        cli_try("rehearse list grids");
        return CLI_USAGE;
    }
    if (count > MOST_SETTINGS) {
        cli_refuse("sweep: %s settings, expected at most %s",
                   cli_count((int64_t)fmin(count, 1e18)).s, cli_count(MOST_SETTINGS).s);
        cli_try("fewer values, or a coarse sweep first and a fine one around its best");
        return CLI_USAGE;
    }
    s->grid.nsetting = (int)count;
    s->grid.axis = rh_alloc((size_t)space->ndim + 1, sizeof *s->grid.axis);
    s->hp = rh_alloc(((size_t)count + 1) * (size_t)nparam + 1, sizeof *s->hp);
    if (!s->grid.axis || !s->hp)
        return cli_fail("out of memory for %s settings", cli_count(s->grid.nsetting).s);
    for (int i = 0; i < s->grid.nsetting; i++) {
        rh_space__at(space, i, x);
        rh_plan__hp(plan, x, s->hp + (size_t)i * (size_t)nparam);
    }

    // the first dimension is the slowest
    for (int d = 0, stride = s->grid.nsetting; d < space->ndim; d++) {
        cli_axis *axis = &s->grid.axis[s->grid.naxis++];
        axis->param = rh_plan__param(plan, d, NULL);
        axis->nvalue = (int)rh_dim__count(&space->dim[d]);
        axis->value = rh_alloc((size_t)axis->nvalue, sizeof *axis->value);
        if (!axis->value)
            return cli_fail("out of memory");
        stride /= axis->nvalue;
        for (int i = 0; i < axis->nvalue; i++)
            axis->value[i] = s->hp[(size_t)(i * stride) * (size_t)nparam + (size_t)axis->param];
    }
    return CLI_OK;
}

static int prepare(sweeping *s, const cli_args *args)
{
    cli_job *job = &s->job;
    const char *csv = cli_value(args, "csv");
    int rc = cli_job_init(job, args, NULL);
    if (!rc)
        rc = read_grid(s, args);
    if (!rc && csv)
        rc = cli_file_probe(csv, true);
    if (rc)
        return rc;

    int nsetting = s->grid.nsetting;
    int64_t nunit = (int64_t)job->opt.nrun * job->world.nmember; // of a setting
    if (nsetting > INT_MAX / nunit)
        return cli_refuse("sweep: %s settings of %s runs are too many", cli_count(nsetting).s,
                          cli_count(nunit).s);
    job->opt.ncurve = job->opt.nstep < POINTS ? (int)job->opt.nstep : POINTS;
    s->best = -INFINITY;
    s->result = rh_alloc((size_t)nsetting * (size_t)nunit, sizeof *s->result);
    s->sum = rh_alloc((size_t)nsetting, sizeof *s->sum);
    s->count = rh_alloc((size_t)nsetting, sizeof *s->count);
    if (!s->result || !s->sum || !s->count)
        return cli_fail("out of memory for %s settings of %s runs", cli_count(nsetting).s,
                        cli_count(nunit).s);
    return CLI_OK;
}

static void clear(sweeping *s)
{
    cli_table_clear(&s->table);
    rh_free(s->hp);
    rh_free(s->result);
    rh_free(s->sum);
    rh_free(s->count);
    for (int i = 0; i < s->grid.naxis; i++)
        rh_free(s->grid.axis[i].value);
    rh_free(s->grid.axis);
    cli_job_clear(&s->job);
}

static void watch(void *context, const rh_event *event)
{
    sweeping *s = context;
    int i = event->setting, nunit = s->job.opt.nrun * s->job.world.nmember;
    if (event->kind == RH_EVENT_RUN && event->result->outcome != RH_STOPPED) {
        s->sum[i] += event->result->score;
        if (++s->count[i] == nunit && s->sum[i] / nunit > s->best) {
            s->best = s->sum[i] / nunit;
            snprintf(s->progress.note, sizeof s->progress.note, "best %s",
                     cli_real(s->best, cli_decimals(NAN, s->best)).s);
        }
    }
    if (cli_progress_count(&s->progress, event))
        cli_progress_draw(&s->progress, NULL);
}

static int sweep_main(const cli_args *args)
{
    sweeping s = {0};
    cli_job *job = &s.job;
    int rc = prepare(&s, args);
    if (rc)
        goto done;
    if (job->words) {
        cli_job_print(job, &s.grid);
        fflush(stdout);
    }
    job->opt.watch = watch;
    job->opt.context = &s;
    rc = cli_job_run(job, &s.progress, s.grid.nsetting, s.hp, s.result, NULL);
    if (rc)
        goto done;

    // files first: a reader that closes the pipe early does not lose them
    s.table = (cli_table){.job = job, .grid = &s.grid, .hp = s.hp};
    s.table.seconds = s.progress.seconds;
    rc = cli_table_init(&s.table, s.result);
    if (rc)
        goto done;
    if (cli_has(args, "csv") && s.table.nrow)
        rc = cli_file_write(cli_value(args, "csv"), cli_table_csv, &s.table);
    if (cli_has(args, "json"))
        cli_table_json(stdout, &s.table);
    else if (job->words)
        cli_table_print(&s.table,
                        (int)cli_number(args, "top", cli_is_terminal(stdout) ? TOP : INT_MAX));
    if (*s.progress.failure)
        cli_say("a run failed: %s", s.progress.failure);
    if (cli_interrupted()) {
        cli_say("interrupted: %s of %s runs finished", cli_count(s.table.nfinished).s,
                cli_count(s.progress.nunit).s);
        rc = CLI_SIGNAL + cli_interrupted();
    }

done:
    clear(&s);
    return rc;
}

const cli_command cli_sweep = {
    .name = "sweep",
    .about = "Run every setting of a grid in a simulator or model, and rank them",
    .operands = "ENV|model:FILE|exec:COMMAND|FILE.yaml --agent NAME (--grid NAME | --set "
                "NAME=VALUE,... "
                "...) [options]",
    .detail =
        "The grid is every combination of the listed values. All settings share their start "
        "states and random streams, so runs are compared in pairs: a ~ marks settings that are "
        "statistically tied with the best (95 %). In a model with several members the score is "
        "the mean of a member's runs, pooled over the members. A YAML file has the keys of a "
        "study file, with env for a simulator or data for model:FILE.",
    .operand = {.type = RH_KEY_CHOICE, .name = cli_env_name},
    .plan = RH_PLAN_SWEEP,
    .group = {&cli_runs_group, &cli_best_group, &output_group, &cli_common_group},
    .example = {"the grid of the paper", "rehearse sweep acrobot --agent esarsa --grid paper",
                "six settings, ten runs each",
                "rehearse sweep acrobot -a esarsa -s alpha=0.01,0.03,0.1 -s tau=1,10 -r 10",
                "the paper's grid with one parameter fixed, as a table for later",
                "rehearse sweep acrobot -a esarsa -g paper -s tau=1 --csv tau1.csv",
                "in a model fitted by `rehearse fit`",
                "rehearse sweep model:plant.model -a esarsa -s alpha=0.01,0.03,0.1,0.3"},
    .see = "`rehearse list grids` shows the published grids, `rehearse list agents esarsa` all "
           "hyperparameters.",
    .single = true,
    .main = sweep_main,
};
