// fit_print.c - a fitted model in words: what it was made of, whether it behaves like its log,
// and what to do with it.

#include "cli_internal.h"

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
    int width;
    int name; // columns of a sensor's or action's name
} page;

// ---------------------------------------------------------------------------- pieces

// A remark under a table.
static void remark(const page *p, const char *text)
{
    printf("  %s", p->style.dim);
    cli_wrap(text, 2, p->width);
    fputs(p->style.plain, stdout);
}

static int letters_of(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

// A name of the file's in a cell, cut when it is long; what would move the cursor is a '?'.
static void print_name(const char *name, int width)
{
    int n = 0, length = letters_of(name);
    for (; *name; name++) {
        n += ((unsigned char)*name & 0xC0) != 0x80;
        if (length > width && n > width - 2)
            break;
        putchar((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
    }
    if (length > width)
        fputs("..", stdout);
    printf("%*s", length > width ? 0 : width - length, "");
}

// " name=value" of the parameters that are not as they initially are, and of `always`.
static void add_set(char *text, size_t size, const rh_param *param, int nparam,
                    const double *value, const char *always)
{
    for (int i = 0; i < nparam; i++) {
        size_t used = strlen(text);
        if (value[i] != param[i].initial || strcmp(param[i].name, always) == 0)
            snprintf(text + used, size - used, " %s=%s", param[i].name,
                     cli_param(&param[i], value[i]).s);
    }
}

static void more(const page *p, int n, const char *what)
{
    if (n > 0)
        printf("  %s... %d more %s, --json has them all%s\n", p->style.dim, n, what,
               p->style.plain);
}

// ---------------------------------------------------------------------------- what it is

static void print_log(const page *p)
{
    const rh_log *log = p->fit->log.log;
    char actions[64];
    if (log->naction)
        snprintf(actions, sizeof actions, "%d action%s", log->naction,
                 cli_plural(log->naction));
    else
        snprintf(actions, sizeof actions, "actions of %d number%s", log->nact,
                 cli_plural(log->nact));
    cli_line(p->width, "log", "%.300s: %s step%s in %s episode%s, %d sensor%s, %s", log->path,
             cli_count(log->n).s, cli_plural(log->n), cli_count(log->nepisode).s,
             cli_plural(log->nepisode), log->nobs, cli_plural(log->nobs), actions);
    int64_t left = log->n - p->log->n;
    if (left > 0)
        cli_line(p->width, "  left out", "%s step%s with missing or infinite numbers",
                 cli_count(left).s, cli_plural(left));
}

static void print_task(const page *p)
{
    const rh_task *task = rh_model_task(p->model);
    const rh_env_type *of = p->fit->task_of;
    cli_line(p->width, "task", "%s, discount %s, runs of %s steps%s%s",
             task->continuing ? "continuing" : "episodes end", cli_exact(task->gamma).s,
             cli_count(task->nstep).s, of ? ", as told by " : "", of ? of->name : "");
}

static void print_trials(const page *p)
{
    int shown = p->fit->ntrial < FEW_TRIALS + 2 ? p->fit->ntrial : FEW_TRIALS;
    for (int i = 0; i < shown; i++) {
        const rh_repr_trial *t = &p->fit->trial[i];
        char text[400];
        snprintf(text, sizeof text, "%s", t->type->name);
        add_set(text, sizeof text, t->type->param, t->type->nparam, t->param, "");
        cli_line(p->width, t->chosen ? "  chosen" : "  compared",
                 "%s: awareness %s, standard error %s, blur %s in held-out episodes", text,
                 cli_cell(t->awareness).s, cli_cell(t->awareness_err).s, cli_cell(t->blur).s);
    }
    more(p, p->fit->ntrial - shown, "were compared");
}

static void print_repr(const page *p)
{
    const rh_repr *repr = rh_model_repr(p->model);
    const rh_repr_type *type = rh_repr_kind(repr);
    rh_repr_training t = rh_repr_trained(repr);
    char text[400], held[64] = "";
    snprintf(text, sizeof text, "%s", type->name);
    add_set(text, sizeof text, type->param, type->nparam, rh_repr_params(repr), "");
    cli_line(p->width, "seen as", "%s: %d number%s a %s", text, rh_repr_ncode(repr),
             cli_plural(rh_repr_ncode(repr)),
             rh_repr_nact(repr) ? "state and action" : "state");
    if (!isnan(t.held_out))
        snprintf(held, sizeof held, ", %s in held-out episodes", cli_cell(t.held_out).s);
    cli_line(p->width, "  awareness", "%s of the dynamics%s (0: none, 1: most)",
             cli_cell(t.awareness).s, held);
    if (t.nstep)
        cli_line(p->width, "  training", "%s steps%s", cli_count(t.nstep).s,
                 t.early ? ", until its loss rose" : "");
    print_trials(p);
}

static void print_model(const page *p)
{
    const rh_model_type *type = rh_model_kind(p->model);
    rh_resample resample = rh_model_resample(p->model);
    char text[400], actions[64] = "continuous actions";
    snprintf(text, sizeof text, "%s", type->name);
    add_set(text, sizeof text, type->param, type->nparam, rh_model_params(p->model), "k");
    if (p->log->naction)
        snprintf(actions, sizeof actions, "%d action%s", p->log->naction,
                 cli_plural(p->log->naction));
    cli_line(p->width, "model", "%s: %s states, %s", text, cli_count(p->log->nstate).s,
             actions);
    if (rh_model_nmember(p->model) > 1 || resample != RH_RESAMPLE_ALL)
        cli_line(p->width, "  members", "%d, each fitted to %s%s", rh_model_nmember(p->model),
                 resample == RH_RESAMPLE_SUBSET      ? cli_share(p->fit->opt.share).s
                 : resample == RH_RESAMPLE_BOOTSTRAP ? "a bootstrap of the episodes"
                                                     : "all of the log",
                 resample == RH_RESAMPLE_SUBSET ? " of the steps" : "");
}

// The value of a parameter of the model; "" when it has none of that name.
static cli_text value_of(const page *p, const char *name)
{
    const rh_model_type *type = rh_model_kind(p->model);
    int i = rh_param_find(type->param, type->nparam, name);
    if (i < 0)
        return (cli_text){""};
    return cli_param(&type->param[i], rh_model_params(p->model)[i]);
}

// What an agent gets where nothing is near enough.
static void print_beyond(const page *p)
{
    cli_text how = value_of(p, "beyond");
    bool continuing = rh_model_task(p->model)->continuing;
    char share[128] = "";
    if (p->f)
        snprintf(share, sizeof share, "%s of all states and actions; there ",
                 cli_share(p->f->beyond).s);
    if (strcmp(how.s, "cost") == 0)
        cli_line(p->width, "  beyond it",
                 "%ssteps of the log are believed at a cost of %s a real step", share,
                 value_of(p, "cost").s);
    else
        cli_line(p->width, "  beyond it", "%s%s the log's %s return%s", share,
                 continuing ? "an agent is given" : "the episode ends with",
                 strcmp(how.s, "optimistic") == 0 ? "highest" : "lowest",
                 continuing ? ", and run goes on from a start" : "");
}

// How far is believed, in codes and in steps of the log. Without fidelity nobody has measured
// what auto and quantile come to.
static void print_reach(const page *p)
{
    cli_text how = value_of(p, "reach");
    double reach = p->f ? p->f->reach : NAN;
    char steps[64] = "";
    if (!*how.s)
        return;
    if (strcmp(how.s, "none") == 0 || isinf(reach)) {
        cli_line(p->width, "  reach", "none: every neighbour is believed, however far");
        return;
    }
    if (isnan(reach) && strcmp(how.s, "fixed") == 0) {
        cli_line(p->width, "  reach", "%s between codes", value_of(p, "reach_distance").s);
    } else if (isnan(reach) && strcmp(how.s, "quantile") == 0) {
        cli_line(p->width, "  reach", "what holds %s of all states and actions",
                 value_of(p, "reach_quantile").s);
    } else if (isnan(reach)) {
        cli_line(p->width, "  reach", "chosen from the log");
    } else {
        if (p->f->step > 0.0)
            snprintf(steps, sizeof steps, ", %s real steps", cli_cell(reach / p->f->step).s);
        cli_line(p->width, "  reach", "%s between codes%s", cli_cell(reach).s, steps);
    }
    print_beyond(p);
}

// ---------------------------------------------------------------------------- fidelity

static void print_error(const page *p, const char *name, const rh_fidelity_error *e)
{
    if (isnan(e->model) && isnan(e->mean))
        return;
    fputs("  ", stdout);
    print_name(name, p->name);
    printf("%12s%12s%12s\n", cli_cell(e->model).s, cli_cell(e->mean).s, cli_cell(e->copy).s);
}

static void print_errors(const page *p)
{
    const rh_fidelity *f = p->f;
    int shown = p->log->nobs <= FEW_SENSORS + 1 ? p->log->nobs : FEW_SENSORS;
    char text[200];
    if (f->nheld == 0)
        return;
    printf("\n%s%-*s%s%12s%12s%12s\n", p->style.bold, p->name + 2, "held-out", p->style.plain,
           "model", "mean", "no change");
    for (int i = 0; i < shown; i++) {
        char name[300];
        const char *unit = p->log->obs_unit[i];
        snprintf(name, sizeof name, *unit ? "%.200s [%.40s]" : "%.200s%.40s",
                 p->log->obs_name[i], unit);
        print_error(p, name, &f->sensor[i]);
    }
    more(p, p->log->nobs - shown, "sensors");
    print_error(p, "in codes", &f->state);
    print_error(p, "reward", &f->reward);
    if (!rh_model_task(p->model)->continuing)
        print_error(p, "episode ends", &f->terminal);
    snprintf(text, sizeof text,
             "root mean square error of %s steps that were held out; %s of them were beyond "
             "reach and do not count",
             cli_count(f->nheld).s, cli_share(f->held_beyond).s);
    remark(p, text);
}

static void print_spread(const page *p, const char *name, const rh_fidelity_spread *s)
{
    if (s->n == 0)
        return;
    fputs("  ", stdout);
    print_name(name, p->name);
    printf("%12s%12s%12s%12s\n", cli_cell(s->q25).s, cli_cell(s->median).s, cli_cell(s->q75).s,
           cli_count(s->n).s);
}

static void print_imitation(const page *p)
{
    const rh_fidelity *f = p->f;
    if (f->logged_return.n == 0 && f->simulated_return.n == 0)
        return;
    printf("\n%s%-*s%s%12s%12s%12s%12s\n", p->style.bold, p->name + 2,
           rh_model_task(p->model)->continuing ? "stretches" : "episodes", p->style.plain,
           "quarter", "median", "3 quarters", "number");
    print_spread(p, "return, log", &f->logged_return);
    print_spread(p, "return, model", &f->simulated_return);
    print_spread(p, "length, log", &f->logged_length);
    print_spread(p, "length, model", &f->simulated_length);
    remark(p, "model: the log's own behaviour, imitated in the model");
}

static void print_actions(const page *p)
{
    int n = p->log->naction, shown = n <= FEW_ACTIONS + 1 ? n : FEW_ACTIONS;
    if (n == 0)
        return;
    printf("\n%s%-*s%s%12s%12s%12s\n", p->style.bold, p->name + 2, "actions", p->style.plain,
           "of steps", "beyond", "nearest");
    for (int a = 0; a < shown; a++) {
        const rh_fidelity_action *x = &p->f->action[a];
        fputs("  ", stdout);
        print_name(p->log->label[a], p->name);
        printf("%12s%12s%12s\n", cli_share(x->share).s, cli_share(x->beyond).s,
               cli_cell(x->nearest).s);
    }
    more(p, n - shown, "actions");
    remark(p,
           "beyond: states from which it is out of reach; nearest: how far its nearest trial "
           "is, in real steps (median)");
}

static void print_stitches(const page *p)
{
    const rh_fidelity *f = p->f;
    putchar('\n');
    if (!isnan(f->stitched) && isnan(f->jump))
        cli_line(p->width, "stitches", "%s of the imitation's steps leave a logged path",
                 cli_share(f->stitched).s);
    else if (!isnan(f->stitched))
        cli_line(p->width, "stitches",
                 "%s of the imitation's steps leave a logged path; the median jump is %s real "
                 "steps, nine tenths are below %s",
                 cli_share(f->stitched).s, cli_cell(f->jump).s, cli_cell(f->jump90).s);
    if (!isnan(f->random_return))
        cli_line(p->width, "at random",
                 "mean return %s; %s of the %s are better than the log's median",
                 cli_cell(f->random_return).s, cli_share(f->random_better).s,
                 rh_model_task(p->model)->continuing ? "stretches" : "episodes");
}

static void print_findings(const page *p)
{
    const rh_fidelity *f = p->f;
    char count[80];
    if (f->nfinding == 0) {
        cli_line(p->width, "findings", "none");
        return;
    }
    cli_findings_count(f->ncount, count);
    cli_line(p->width, "findings", "%s", count);
    cli_findings_print(f->finding, f->nfinding, p->width);
}

// ---------------------------------------------------------------------------- what next

static void print_file(const page *p)
{
    const rh_env_type *env = p->fit->task_of;
    const rh_axis *grid = env && env->ngrid ? &env->grid[0] : NULL;
    bool small = p->fit->size < 10000;
    char world[4200];
    snprintf(world, sizeof world, "model:%s", p->fit->output);
    putchar('\n');
    cli_heading("file");
    printf("%s%s%s (%s %s), fitted in %.1f s\n", p->style.bold, p->fit->output, p->style.plain,
           cli_count(small ? p->fit->size : (p->fit->size + 512) / 1024).s,
           small ? "bytes" : "KB", p->fit->seconds);
    cli_heading("next");
    printf("rehearse %s ", grid || p->log->naction ? "sweep" : "run");
    cli_print_word(world);
    if (grid)
        printf(" --agent %s --grid %s:%s\n", grid->agent, env->name, grid->grid);
    else if (p->log->naction)
        puts(" --agent esarsa --set alpha=0.01,0.03,0.1,0.3");
    else
        puts(" --agent gaussian_actor_critic");
}

// Columns for names: what the longest needs.
static int name_columns(const page *p)
{
    int most = (int)strlen("return, model ");
    for (int j = 0; j < p->log->nobs; j++) {
        int n = letters_of(p->log->obs_name[j]) + letters_of(p->log->obs_unit[j]);
        n += p->log->obs_unit[j][0] ? 3 : 0;
        most = n > most ? n : most;
    }
    for (int a = 0; a < p->log->naction; a++)
        most = letters_of(p->log->label[a]) > most ? letters_of(p->log->label[a]) : most;
    return most < 28 ? most : 28;
}

void cli_fit_print(const cli_fitting *fit)
{
    page p = {.fit = fit, .model = fit->model, .log = rh_model_log(fit->model)};
    p.f = rh_model_fidelity(fit->model);
    p.style = cli_style_of(stdout);
    p.width = cli_page();
    p.name = name_columns(&p);
    print_log(&p);
    print_task(&p);
    print_repr(&p);
    print_model(&p);
    print_reach(&p);
    if (p.f) {
        print_errors(&p);
        print_imitation(&p);
        print_actions(&p);
        print_stitches(&p);
        print_findings(&p);
    }
    print_file(&p);
}
