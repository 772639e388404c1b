// sweep_print.c - the ranked results of `sweep` in words, JSON and CSV.
//
// 1. Settings of equal score keep the order of the grid. After an interruption, unfinished ones
//    follow the finished: a few runs easily score high. Those without a score come last.
// 2. A pooled score other than the mean ranks, and is shown beside the mean and its interval.

#include "cli_internal.h"
#include "eval/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int best_first(const void *a, const void *b)
{
    const cli_row *x = a, *y = b;
    if (x->score.whole != y->score.whole)
        return x->score.whole ? -1 : 1;
    double mx = isnan(x->score.score) ? -INFINITY : x->score.score;
    double my = isnan(y->score.score) ? -INFINITY : y->score.score;
    if (mx != my)
        return mx < my ? 1 : -1;
    return x->setting - y->setting;
}

int cli_table_init(cli_table *table, const rh_result *result)
{
    const cli_job *job = table->job;
    int nsetting = table->grid->nsetting;
    size_t nunit = (size_t)job->opt.nrun * (size_t)job->world.nmember; // of a setting
    table->row = rh_alloc((size_t)nsetting, sizeof *table->row);
    int nmember = job->world.nmember, nrun = job->opt.nrun;
    double *work = rh_alloc(rh_value__nwork(nmember, nrun), sizeof *work);
    if (!table->row || !work) {
        rh_free(work);
        return cli_fail("out of memory");
    }

    // a row for every setting with a finished run
    for (int s = 0; s < nsetting; s++) {
        const rh_result *own = result + (size_t)s * nunit;
        cli_row row = {.setting = s, .score = cli_score_of(job, own, NULL, work)};
        for (size_t i = 0; i < nunit; i++)
            table->nstep += own[i].nstep;
        table->nfinished += row.score.nfinished;
        if (row.score.nfinished)
            table->row[table->nrow++] = row;
    }
    qsort(table->row, (size_t)table->nrow, sizeof *table->row, best_first);

    rh_judge judge = {RH_ACROSS_MEAN, job->world.pool};
    for (int i = 1; i < table->nrow; i++)
        table->row[i].tied =
            rh_value__tied(judge, nmember, nrun, result + (size_t)table->row[0].setting * nunit,
                           nrun, result + (size_t)table->row[i].setting * nunit, work);
    rh_free(work);
    return CLI_OK;
}

void cli_table_clear(cli_table *table)
{
    rh_free(table->row);
}

static int64_t steps_per_second(const cli_table *t)
{
    return t->seconds > 0.0 ? (int64_t)((double)t->nstep / t->seconds) : 0;
}

static const double *hp_of(const cli_table *t, const cli_row *row)
{
    return t->hp + (size_t)row->setting * (size_t)t->job->agent->nparam;
}

// ---------------------------------------------------------------------------- words

// Columns a parameter needs.
static int width_of(const cli_table *t, const cli_axis *axis)
{
    const rh_param *param = &t->job->agent->param[axis->param];
    size_t width = strlen(param->name);
    for (int i = 0; i < axis->nvalue; i++) {
        size_t length = strlen(cli_param(param, axis->value[i]).s);
        width = length > width ? length : width;
    }
    return (int)width;
}

// Which of the optional columns are needed.
typedef struct columns {
    bool runs, diverged, intervals;
    const char *pool; // what ranks, when that is not the mean
    int ndecimal;
    int nscore, nmean, nlo, nhi; // widths of the numbers
} columns;

static int longer(int width, double x, int ndecimal)
{
    int length = (int)strlen(cli_real(x, ndecimal).s);
    return length > width ? length : width;
}

static columns choose_columns(const cli_table *t, int nshown)
{
    const cli_world *world = &t->job->world;
    int npool;
    columns c = {.intervals = (world->nmember > 1 ? world->nmember : t->job->opt.nrun) > 1};
    const rh_summary *best = &t->row[0].score.summary;
    if (world->nmember > 1 && world->pool != RH_POOL_MEAN)
        c.pool = rh_pool__names(&npool)[world->pool];
    c.ndecimal = cli_decimals(best->stderr_, best->mean);
    c.nmean = 4;
    c.nscore = c.pool ? (int)strlen(c.pool) : 0;
    for (int i = 0; i < nshown; i++) {
        const cli_score *s = &t->row[i].score;
        c.nscore = longer(c.nscore, s->score, c.ndecimal);
        c.nmean = longer(c.nmean, s->summary.mean, c.ndecimal);
        if (s->summary.n > 1) {
            c.nlo = longer(c.nlo, s->summary.lo95, c.ndecimal);
            c.nhi = longer(c.nhi, s->summary.hi95, c.ndecimal);
        }
        c.runs = c.runs || !s->whole;
        c.diverged = c.diverged || s->ndiverged > 0;
    }
    int rest = (int)strlen("95 % interval") - c.nlo - (int)strlen(" to ") - c.nhi;
    c.nlo += rest > 0 ? rest : 0; // the heading needs room too
    return c;
}

static void print_head(const cli_table *t, const columns *c)
{
    const rh_param *param = t->job->agent->param;
    fputs(" rank  ", stdout);
    for (int k = 0; k < t->grid->naxis; k++)
        printf("  %*s", width_of(t, &t->grid->axis[k]), param[t->grid->axis[k].param].name);
    if (c->pool)
        printf("  %*s", c->nscore, c->pool);
    printf("  %*s", c->nmean, "mean");
    if (c->intervals)
        printf("  %*s", c->nlo + 4 + c->nhi, "95 % interval");
    if (c->runs)
        fputs("   runs", stdout);
    if (c->diverged)
        fputs("  diverged", stdout);
    putchar('\n');
}

static void print_row(const cli_table *t, int i, const columns *c)
{
    const cli_row *row = &t->row[i];
    const double *hp = hp_of(t, row);
    const rh_summary *s = &row->score.summary;
    long long nfinished = row->score.nfinished, ndiverged = row->score.ndiverged;
    printf("%5d %s", i + 1, row->tied ? "~" : " ");
    for (int k = 0; k < t->grid->naxis; k++) {
        const cli_axis *axis = &t->grid->axis[k];
        printf("  %*s", width_of(t, axis),
               cli_param(&t->job->agent->param[axis->param], hp[axis->param]).s);
    }
    if (c->pool)
        printf("  %*s", c->nscore, cli_real(row->score.score, c->ndecimal).s);
    printf("  %*s", c->nmean, cli_real(s->mean, c->ndecimal).s);
    if (c->intervals && s->n > 1)
        printf("  %*s to %*s", c->nlo, cli_real(s->lo95, c->ndecimal).s, c->nhi,
               cli_real(s->hi95, c->ndecimal).s);
    else if (c->intervals)
        printf("  %*s", c->nlo + 4 + c->nhi, "");
    if (c->runs)
        printf("  %5lld", nfinished);
    if (c->diverged && ndiverged)
        printf("  %lld of %lld", ndiverged, nfinished);
    putchar('\n');
}

// The best setting as options to paste, without the defaults.
static void print_best(const cli_table *t, const cli_style *style)
{
    const rh_agent_type *agent = t->job->agent;
    const double *hp = hp_of(t, &t->row[0]);
    bool any = false;
    putchar('\n');
    cli_heading("best");
    fputs(style->bold, stdout);
    for (int i = 0; i < agent->nparam; i++)
        if (t->job->swept[i] || hp[i] != agent->param[i].initial) {
            printf("%s--set %s=%s", any ? " " : "", agent->param[i].name,
                   cli_param(&agent->param[i], hp[i]).s);
            any = true;
        }
    puts(style->plain);
    cli_line("duration", "%.1f s, %s steps/s", t->seconds, cli_count(steps_per_second(t)).s);
}

void cli_table_print(const cli_table *t, int top)
{
    cli_style style = cli_style_of(stdout);
    int nsetting = t->grid->nsetting, ntied = 0;
    putchar('\n');
    if (t->nrow < nsetting)
        cli_line("finished", "%s of %s settings have finished runs", cli_count(t->nrow).s,
                 cli_count(nsetting).s);
    if (t->nrow == 0)
        return;

    int nshown = t->nrow < top ? t->nrow : top;
    columns c = choose_columns(t, nshown);
    fputs(style.dim, stdout);
    print_head(t, &c);
    fputs(style.plain, stdout);
    for (int i = 0; i < nshown; i++) {
        fputs(i == 0 ? style.bold : "", stdout);
        print_row(t, i, &c);
        fputs(i == 0 ? style.plain : "", stdout);
    }
    char option[32];
    snprintf(option, sizeof option, "--top %d", t->nrow);
    cli_more(t->nrow - nshown, "setting", option);
    for (int i = 0; i < t->nrow; i++)
        ntied += t->row[i].tied;
    if (ntied) {
        char text[160];
        snprintf(text, sizeof text,
                 "~ %d setting%s statistically tied with the best (95 %%, paired by %s)", ntied,
                 cli_plural(ntied), t->job->world.nmember > 1 ? "member" : "run");
        cli_wrap(text, 0, cli_page());
    }
    print_best(t, &style);
}

// ---------------------------------------------------------------------------- JSON and CSV

static void json_axes(rh_doc *json, const cli_table *t)
{
    rh_doc__open(json, "axes", '{', false);
    for (int k = 0; k < t->grid->naxis; k++) {
        const cli_axis *axis = &t->grid->axis[k];
        const rh_param *param = &t->job->agent->param[axis->param];
        rh_param nameless = *param; // the values of an array have no names
        nameless.name = NULL;
        rh_doc__open(json, param->name, '[', true);
        for (int i = 0; i < axis->nvalue; i++)
            rh_doc__param(json, &nameless, axis->value[i]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void write_hp(rh_doc *json, const char *key, const rh_field_at *at)
{
    const cli_table *t = at->outer->data;
    const rh_agent_type *agent = t->job->agent;
    rh_doc__params(json, key, agent->param, agent->nparam, hp_of(t, at->data), NULL);
}

#define AT(member) RH_FIELD__AT(cli_row, member)
static const rh_field row_row[] = {
    {"hyperparameters", RH_FIELD__CALL, NULL, "all of the agent's", .call = write_hp},
    {"finished_runs", AT(score.nfinished), NULL, "of this setting"},
    {"score", AT(score.score), NULL, "the runs of each member, pooled over the members"},
    {"mean", AT(score.summary.mean), NULL, "of the runs, or of the means of the members"},
    {"stderr", AT(score.summary.stderr_), NULL, "standard error of the mean"},
    {"lo95", AT(score.summary.lo95), NULL, "lower end of the 95 % interval"},
    {"hi95", AT(score.summary.hi95), NULL, "upper end"},
    {"diverged", AT(score.ndiverged), NULL, "runs that diverged or failed"},
    {"tied", AT(tied), NULL, "statistically, with the best"},
};
#undef AT
static const rh_fields row_fields = {"setting", sizeof(cli_row), RH_FIELD__ROWS(row_row),
                                     .flat = true};

void cli_table_json(FILE *out, const cli_table *t)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    cli_job_json(&json, t->job);
    json_axes(&json, t);
    rh_doc__whole(&json, "finished_runs", t->nfinished);
    rh_doc__open(&json, "settings", '[', false);
    for (int i = 0; i < t->nrow; i++)
        rh_field__write_at(&json, NULL, &row_fields,
                           &(rh_field_at){&t->row[i], i, NULL, &(rh_field_at){.data = t}});
    rh_doc__close(&json);
    rh_doc__whole(&json, "steps_per_second", steps_per_second(t));
    rh_doc__close(&json);
}

void cli_table_csv(FILE *out, const void *table)
{
    const cli_table *t = table;
    const rh_agent_type *agent = t->job->agent;
    for (int k = 0; k < agent->nparam; k++)
        fprintf(out, "%s,", agent->param[k].name);
    bool members = t->job->world.nmember > 1;
    fputs(members ? "runs,score," : "runs,", out);
    fputs("mean,stderr,lo95,hi95\n", out);
    for (int i = 0; i < t->nrow; i++) {
        const rh_summary *s = &t->row[i].score.summary;
        for (int k = 0; k < agent->nparam; k++)
            fprintf(out, "%s,", cli_param(&agent->param[k], hp_of(t, &t->row[i])[k]).s);
        fprintf(out, "%lld,", (long long)t->row[i].score.nfinished);
        if (members)
            fprintf(out, "%s,", cli_exact(t->row[i].score.score).s);
        fprintf(out, "%s,%s,%s,%s\n", cli_exact(s->mean).s, cli_exact(s->stderr_).s,
                cli_exact(s->lo95).s, cli_exact(s->hi95).s);
    }
}
