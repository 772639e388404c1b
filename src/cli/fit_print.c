// fit_print.c - a fitted model in words: inputs, fidelity to the log, the command to run next.

#include "cli_internal.h"
#include "model/model.h"
#include "repr/repr.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

#define FEW_SENSORS 12
#define FEW_ACTIONS 10
#define FEW_TRIALS 5

// What is printed, and how.
typedef struct page {
    const cli_fitting *fit;
    const rh_model *model;
    const rh_log *log; // as the model has it
    const rh_fidelity *f;
    cli_style style;
    int name; // columns of a sensor's or action's name
} page;

// ---------------------------------------------------------------------------- the model

static void print_log(const page *p)
{
    const rh_log *log = p->fit->log.log;
    int64_t excluded = log->n - p->log->n;
    cli_log_print(log, log->path);
    cli_log_left_out(log);
    if (excluded > 0)
        cli_line("  excluded", "%s step%s with missing or infinite numbers",
                 cli_count(excluded).s, cli_plural(excluded));
}

static void print_task(const page *p)
{
    const rh_task *task = rh_model_task(p->model);
    const rh_env_type *of = rh_plan__task(p->fit->plan);
    cli_line("task", "%s, discount %s, %s steps per run%s%s",
             task->continuing ? "continuing" : "episodic", cli_exact(task->gamma).s,
             cli_count(task->nstep).s, of ? ", as in " : "", of ? of->name : "");
}

static void print_trials(const page *p)
{
    int shown = p->fit->ntrial < FEW_TRIALS + 2 ? p->fit->ntrial : FEW_TRIALS;
    for (int i = 0; i < shown; i++) {
        const rh_repr_trial *t = &p->fit->trial[i];
        char text[400];
        snprintf(text, sizeof text, "%s", t->type->name);
        cli_add_set(text, sizeof text, t->type->param, t->type->nparam, t->param, "");
        cli_line(t->chosen ? "  chosen" : "  compared",
                 "%s: awareness %s, standard error %s, blur %s, in held-out episodes", text,
                 cli_cell(t->awareness).s, cli_cell(t->awareness_err).s, cli_cell(t->blur).s);
    }
    cli_more(p->fit->ntrial - shown, "representation", "--json");
}

static void print_repr(const page *p)
{
    const rh_repr *repr = rh_model_repr(p->model);
    const rh_repr_type *type = rh_repr_type_of(repr);
    rh_repr__training t = rh_repr__trained(repr);
    char text[400], held[64] = "";
    snprintf(text, sizeof text, "%s", type->name);
    cli_add_set(text, sizeof text, type->param, type->nparam, rh_repr__params(repr), "");
    cli_line("representation", "%s, %d dimension%s%s", text, rh_repr__ncode(repr),
             cli_plural(rh_repr__ncode(repr)), rh_repr__nact(repr) ? ", state and action" : "");
    if (!isnan(t.held_out))
        snprintf(held, sizeof held, ", %s in held-out episodes", cli_cell(t.held_out).s);
    cli_line("  awareness", "%s%s (dynamics awareness: 0 none, 1 most)",
             cli_cell(t.awareness).s, held);
    if (t.nstep)
        cli_line("  training", "%s steps%s", cli_count(t.nstep).s,
                 t.early ? ", stopped when the loss rose" : "");
    print_trials(p);
}

static void print_model(const page *p)
{
    const rh_model_type *type = rh_model_type_of(p->model);
    rh_resample resample = rh_model__resample(p->model);
    char text[400], actions[64] = "continuous actions";
    snprintf(text, sizeof text, "%s", type->name);
    cli_add_set(text, sizeof text, type->param, type->nparam, rh_model_params(p->model), "k");
    if (p->log->naction)
        snprintf(actions, sizeof actions, "%d action%s", p->log->naction,
                 cli_plural(p->log->naction));
    cli_line("model", "%s: %s states, %s", text, cli_count(p->log->nstate).s, actions);
    if (rh_model_nmember(p->model) > 1 || resample != RH_RESAMPLE_ALL)
        cli_line("  members", "%d, each fitted to %s%s", rh_model_nmember(p->model),
                 resample == RH_RESAMPLE_SUBSET
                     ? cli_share(rh_plan__real(p->fit->plan, "model.share")).s
                 : resample == RH_RESAMPLE_BOOTSTRAP ? "a bootstrap of the episodes"
                 : resample == RH_RESAMPLE_PARTS     ? "its own part of the log, in order"
                                                     : "all of the log",
                 resample == RH_RESAMPLE_SUBSET ? " of the steps" : "");
}

// A fitted reward and its error: what it leaves of the spread of the rewards.
static void print_reward(const page *p)
{
    rh_text text = {0};
    char off[160] = "";
    if (p->f && p->f->reward.mean > 0.0)
        snprintf(off, sizeof off, "off by %s of the spread of rewards on held-out steps: ",
                 cli_share(p->f->reward.model / p->f->reward.mean).s);
    if (rh_model__reward_words(&text, p->model) && !text.bad)
        cli_line("  reward", "fitted, %s%s", off, text.data);
    rh_text__clear(&text);
}

// The value of a parameter of the model; "" when it has none of that name.
static cli_text value_of(const page *p, const char *name)
{
    const rh_model_type *type = rh_model_type_of(p->model);
    int i = rh_param_find(type->param, type->nparam, name);
    if (i < 0)
        return (cli_text){""};
    return cli_param(&type->param[i], rh_model_params(p->model)[i]);
}

// What the model does out of coverage.
static void print_coverage(const page *p)
{
    cli_text how = value_of(p, "out_of_coverage");
    bool continuing = rh_model_task(p->model)->continuing;
    char share[128] = "out of coverage: ";
    if (p->f)
        snprintf(share, sizeof share, "%s of states and actions are out of coverage; there ",
                 cli_share(p->f->out_of_coverage).s);
    if (strcmp(how.s, "cost") == 0)
        cli_line("  coverage", "%sthe nearest logged steps cost %s per median step of distance",
                 share, value_of(p, "cost").s);
    else
        cli_line("  coverage", "%s%s the log's %s return%s", share,
                 continuing ? "the agent receives" : "the episode ends with",
                 strcmp(how.s, "optimistic") == 0 ? "highest" : "lowest",
                 continuing ? " and starts again" : "");
}

// The coverage radius, in the representation and in median steps of the log. Without fidelity
// the radius of auto and quantile is not known.
static void print_reach(const page *p)
{
    cli_text how = value_of(p, "reach");
    double reach = p->f ? p->f->reach : NAN;
    char steps[64] = "";
    if (!*how.s)
        return;
    if (strcmp(how.s, "none") == 0 || isinf(reach)) {
        cli_line("  reach", "none: neighbours at any distance count");
        return;
    }
    if (isnan(reach) && strcmp(how.s, "fixed") == 0) {
        cli_line("  reach", "%s in the representation", value_of(p, "reach_distance").s);
    } else if (isnan(reach) && strcmp(how.s, "quantile") == 0) {
        cli_line("  reach", "covers %s of states and actions", value_of(p, "reach_quantile").s);
    } else if (isnan(reach)) {
        cli_line("  reach", "chosen from the log");
    } else {
        if (p->f->step > 0.0)
            snprintf(steps, sizeof steps, ", %s median steps", cli_cell(reach / p->f->step).s);
        cli_line("  reach", "%s in the representation%s", cli_cell(reach).s, steps);
    }
    print_coverage(p);
}

// ---------------------------------------------------------------------------- fidelity

static void print_error(const page *p, const char *name, const rh_fidelity_error *e)
{
    if (isnan(e->model) && isnan(e->mean))
        return;
    fputs("  ", stdout);
    cli_print_name(name, p->name);
    printf("%12s%12s%13s\n", cli_cell(e->model).s, cli_cell(e->mean).s,
           cli_cell(e->persistence).s);
}

static void print_errors(const page *p)
{
    const rh_fidelity *f = p->f;
    int shown = p->log->nobs <= FEW_SENSORS + 1 ? p->log->nobs : FEW_SENSORS;
    if (f->nheld == 0)
        return;
    printf("\n%s%-*s%s%12s%12s%13s\n", p->style.bold, p->name + 2, "held-out", p->style.plain,
           "model", "mean", "persistence");
    for (int i = 0; i < shown; i++) {
        char name[300];
        cli_sensor_name(p->log, i, name);
        print_error(p, name, &f->sensor[i]);
    }
    cli_more(p->log->nobs - shown, "sensor", "--json");
    print_error(p, "representation", &f->state);
    print_error(p, "reward", &f->reward);
    if (!rh_model_task(p->model)->continuing)
        print_error(p, "termination", &f->terminal);
    cli_remark("root mean square error on %s held-out steps; %s of them are out of coverage "
               "and do not count",
               cli_count(f->nheld).s, cli_share(f->held_out_of_coverage).s);
}

// Columns of a number.
static int cell_of(const page *p)
{
    return p->name + 2 + 4 * 12 > cli_page() ? 10 : 12;
}

static void print_spread(const page *p, const char *name, const rh_fidelity_spread *s)
{
    if (s->n == 0)
        return;
    fputs("  ", stdout);
    cli_print_name(name, p->name);
    int cell = cell_of(p);
    printf("%*s%*s%*s%*s\n", cell, cli_cell(s->q25).s, cell, cli_cell(s->median).s, cell,
           cli_cell(s->q75).s, cell, cli_count(s->n).s);
}

static void print_imitation(const page *p)
{
    const rh_fidelity *f = p->f;
    if (f->logged_return.n == 0 && f->simulated_return.n == 0)
        return;
    int cell = cell_of(p);
    printf("\n%s%-*s%s%*s%*s%*s%*s\n", p->style.bold, p->name + 2,
           rh_model_task(p->model)->continuing ? "segments" : "episodes", p->style.plain, cell,
           "25 %", cell, "median", cell, "75 %", cell, "count");
    print_spread(p, "return, log", &f->logged_return);
    print_spread(p, "return, model", &f->simulated_return);
    print_spread(p, "length, log", &f->logged_length);
    print_spread(p, "length, model", &f->simulated_length);
    cli_remark("model: the log's behaviour, imitated in the model");
}

static void print_actions(const page *p)
{
    int n = p->log->naction, shown = n <= FEW_ACTIONS + 1 ? n : FEW_ACTIONS;
    if (n == 0)
        return;
    printf("\n%s%-*s%s%12s%17s%12s\n", p->style.bold, p->name + 2, "actions", p->style.plain,
           "share", "out of coverage", "nearest");
    for (int a = 0; a < shown; a++) {
        const rh_fidelity_action *x = &p->f->action[a];
        fputs("  ", stdout);
        cli_print_name(p->log->label[a], p->name);
        printf("%12s%17s%12s\n", cli_share(x->share).s, cli_share(x->out_of_coverage).s,
               cli_cell(x->nearest).s);
    }
    cli_more(n - shown, "action", "--json");
    cli_remark("out of coverage: share of states; nearest: median distance to the action's "
               "nearest logged step, in median steps");
}

static void print_stitches(const page *p)
{
    const rh_fidelity *f = p->f;
    char jump[160] = "";
    putchar('\n');
    if (!isnan(f->jump))
        snprintf(jump, sizeof jump, "; the median jump is %s median steps, 90 %% are below %s",
                 cli_cell(f->jump).s, cli_cell(f->jump90).s);
    if (!isnan(f->stitched))
        cli_line("stitching", "%s of imitated steps leave a logged trajectory%s",
                 cli_share(f->stitched).s, jump);
    if (!isnan(f->random_return))
        cli_line("random", "mean return %s by random actions; %s of %s beat the log's median",
                 cli_cell(f->random_return).s, cli_share(f->random_better).s,
                 rh_model_task(p->model)->continuing ? "segments" : "episodes");
}

// ---------------------------------------------------------------------------- next

static void print_file(const page *p)
{
    const rh_env_type *env = rh_plan__task(p->fit->plan);
    const rh_axis *grid = env && env->ngrid ? &env->grid[0] : NULL;
    char world[4200];
    snprintf(world, sizeof world, "model:%s", p->fit->output);
    putchar('\n');
    cli_line("file", "%s (%s), fitted in %.1f s", p->fit->output, cli_bytes(p->fit->size).s,
             p->fit->seconds);
    cli_heading("next");
    printf("rehearse %s ", grid || p->log->naction ? "sweep" : "run");
    cli_print_word(world);
    if (grid)
        printf(" --agent %s --grid %s:%s\n", grid->agent, env->name, grid->grid);
    else if (p->log->naction)
        puts(" --agent esarsa --set alpha=0.01,0.03,0.1,0.3");
    else
        puts(" --agent td3");
}

void cli_fit_print(const cli_fitting *fit)
{
    page p = {.fit = fit, .model = fit->model, .log = rh_model_log(fit->model)};
    p.f = rh_model_fidelity(fit->model);
    p.style = cli_style_of(stdout);
    int room = cli_page() - 42; // beside the widest table
    p.name = cli_name_columns(p.log, (int)strlen("representation"), room < 28 ? room : 28);
    print_log(&p);
    print_task(&p);
    if (p.f)
        cli_experiments_print(p.log, &p.f->experiments, &p.f->beside, "--json");
    cli_facts_print(p.log, rh_model_facts(p.model), "--json");
    if (rh_model_facts(p.model)->nlimit)
        putchar('\n');
    print_repr(&p);
    print_model(&p);
    print_reward(&p);
    print_reach(&p);
    if (rh_model_compared(p.model))
        cli_compared_print(rh_model_compared(p.model), rh_model_task(p.model)->continuing);
    if (p.f) {
        print_errors(&p);
        print_imitation(&p);
        print_actions(&p);
        print_stitches(&p);
        cli_findings_print(p.f->findings.item, p.f->findings.n, p.f->findings.n,
                           p.f->findings.count);
    }
    print_file(&p);
}
