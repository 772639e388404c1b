// tune_print.c - a study in words: what will be done, and the result.
//
// 1. The first screen answers three questions in at most 40 lines: is the agent better than the
//    logged controller, how often does it fail, can this be believed? The library words the
//    answers. Then a table on one scale, at most three reasons against the choice, the setting
//    as options to paste, and the files. --verbose prints the evidence below it.
// 2. The score is the confirmation's where there was one. The search's is part of the evidence:
//    the best of many trials overestimates, and the difference shows by how much.

#include "cli_internal.h"
#include "search/search.h"
#include "study/study.h"

#include <math.h>
#include <string.h>

#define FEW_TIED 8
#define FEW_REASONS 3
#define QUESTION 26 // columns of the questions
#define SCALE 80    // and of the table with intervals
#define OVERESTIMATES "the best of many trials overestimates its score"
#define BAR 20 // columns of the longest bar

// What is printed, and how.
typedef struct page {
    const cli_tuning *tune;
    const rh_plan *plan;
    const rh_verdict *v;
    cli_style style;
    int decimals; // of scores
} page;

// ---------------------------------------------------------------------------- settings

static cli_text value_of(const rh_param *param, double value, int digits)
{
    cli_text text;
    if (param->choice || digits == 0)
        return cli_param(param, value);
    snprintf(text.s, sizeof text.s, "%.*g", digits, value + 0.0);
    return text;
}

void cli_tune_setting(const rh_plan *plan, int agent, const double *hp, const char *before,
                      int digits, char *text, size_t size)
{
    for (int d = 0; d < rh_plan__searched(plan)->ndim; d++) {
        int own;
        const rh_param *param = rh_plan__dim(plan, d, &own, NULL);
        if (own == agent)
            rh_text__put(text, size, "%s%s=%s", before, param->name,
                         value_of(param, hp[rh_plan__param(plan, d, NULL)], digits).s);
    }
}

// ---------------------------------------------------------------------------- before

static void print_log(const page *p)
{
    const rh_log *log = p->tune->model ? rh_model_log(p->tune->model) : p->tune->log.log;
    cli_log_print(log, p->tune->model ? rh_plan_text(p->plan, "data") : log->path);
    cli_log_left_out(log);
}

// "alpha 0.001 to 1 (log)", "tau 1, 10, 100", "optimiser adam, sgd"
static void describe(const rh_plan *plan, int d, char *text, size_t size)
{
    const rh_dim *dim = &rh_plan__searched(plan)->dim[d];
    rh_plan__form form;
    const rh_param *param = rh_plan__dim(plan, d, NULL, &form);
    bool plain = form == RH_FORM_PLAIN, one = rh_plan__nagent(plan) == 1;
    snprintf(text, size, "%s", plain && one ? param->name : dim->name);
    if (dim->kind == RH_DIM_RANGE) {
        char step[64] = "";
        if (dim->step > 0.0)
            snprintf(step, sizeof step, " by %s", cli_cell(dim->step).s);
        rh_text__put(text, size, " %s to %s%s%s", cli_cell(dim->lo).s, cli_cell(dim->hi).s,
                     dim->scale == RH_LOG ? " (log)" : "", step);
        return;
    }
    int shown = dim->nvalue <= 9 ? dim->nvalue : 6;
    for (int i = 0; i < shown; i++)
        rh_text__put(text, size, "%s%s", i ? ", " : " ",
                     plain ? value_of(param, dim->value[i], 4).s : cli_cell(dim->value[i]).s);
    if (shown < dim->nvalue)
        rh_text__put(text, size, " ... %s (%d)",
                     value_of(param, dim->value[dim->nvalue - 1], 4).s, dim->nvalue);
}

static void print_space(const page *p)
{
    const rh_plan *plan = p->plan;
    char text[700] = "";
    for (int d = 0; d < rh_plan__searched(plan)->ndim; d++) {
        describe(plan, d, text, sizeof text);
        cli_line(d ? "" : "  searched", "%s", text);
    }
    const char *key, *value, *fixed = "agent.";
    bool open;
    text[0] = 0;
    for (int i = 0; rh_plan_entry(plan, i, &key, &value, &open); i++) {
        if (strncmp(key, fixed, strlen(fixed)) == 0 && strcmp(key, "agent.name") != 0)
            rh_text__put(text, sizeof text, "%s%s=%s", *text ? " " : "", key + strlen(fixed),
                         value);
    }
    if (*text)
        cli_line("  fixed", "%s", text);
}

static void print_method(const page *p)
{
    const rh_plan *plan = p->plan;
    double count = rh_space__count(rh_plan__searched(plan));
    const double *param;
    const rh_search_type *method = rh_plan__method(plan, &param);
    int64_t trials = rh_plan_number(plan, "budget.trials");
    char text[400];
    snprintf(text, sizeof text, "%s", method->name);
    cli_add_set(text, sizeof text, method->param, method->nparam, param, "");
    if (method->finite && isfinite(count))
        cli_line("method", "%s: all %s settings", text, cli_count((int64_t)count).s);
    else
        cli_line("method", "%s: %s setting%s", text, cli_count(trials).s, cli_plural(trials));
}

// " of 2 kinds (carrying, network)", or nothing where there is one. Returns how many.
static int list_kinds(const page *p, char *text, size_t size)
{
    int n = 0;
    while (rh_study__kind(p->tune->study, n))
        n++;
    text[0] = 0;
    if (n < 2)
        return n;
    rh_text__put(text, size, " of %d kinds (", n);
    for (int k = 0; k < n; k++)
        rh_text__put(text, size, "%s%s", k ? ", " : "", rh_study__kind(p->tune->study, k));
    rh_text__put(text, size, ")");
    return n;
}

static void print_runs(const page *p)
{
    const rh_plan *plan = p->plan;
    const rh_model *model = rh_study__model(p->tune->study);
    rh_eval_options how;
    if (rh_plan__eval(plan, rh_model_task(model), rh_model_log(model), &how, NULL) != RH_OK)
        return;
    bool means = rh_plan__judge(plan).across == RH_ACROSS_MEAN;
    int confirm = (int)rh_plan_number(plan, "confirm.settings"),
        nmodel = (int)rh_plan_number(plan, "confirm.members"),
        nrun = (int)rh_plan_number(plan, "confirm.runs");
    cli_runs_line run = {
        .opt = &how,
        .before = strcmp(rh_plan__method(plan, NULL)->name, "race") == 0 ? "up to " : "",
        .across = means ? NULL : rh_plan_text(plan, "evaluation.across"),
        .nmember = rh_model_nmember(model),
        .pool = rh_plan_text(plan, "evaluation.pool"),
        .settings = true,
        .continuing = rh_model_task(model)->continuing,
    };
    cli_runs_print(&run);
    if (confirm > 0) {
        char kinds[160];
        nmodel *= list_kinds(p, kinds, sizeof kinds);
        cli_line("confirmation",
                 "%d leading settings that differ, %d run%s in each of %d new model%s%s, each "
                 "fitted to "
                 "another part of the log",
                 confirm, nrun, cli_plural(nrun), nmodel, cli_plural(nmodel), kinds);
    }
}

static void print_agents(const page *p)
{
    char text[400] = "";
    for (int i = 0; i < rh_plan__nagent(p->plan); i++)
        rh_text__put(text, sizeof text, "%s%s", i ? ", " : "",
                     rh_plan__agent_at(p->plan, i)->name);
    cli_line(rh_plan__nagent(p->plan) > 1 ? "agents" : "agent", "%s", text);
}

void cli_tune_head(const cli_tuning *tune)
{
    page p = {.tune = tune, .plan = tune->plan};
    print_log(&p);
    print_agents(&p);
    if (cli_has(tune->args, "verbose")) {
        print_space(&p);
        print_method(&p);
        print_runs(&p);
    }
    cli_line("study", "%s", tune->folder);
    if (tune->ranks)
        cli_line("ranks",
                 "%d; if one is killed, finished runs are kept: rerun the same command to "
                 "resume",
                 rh_ranks_count(tune->ranks));
    fflush(stdout);
}

// ---------------------------------------------------------------------------- the winner

static cli_text number(const page *p, double x)
{
    return isfinite(x) ? cli_real(x, p->decimals) : cli_cell(x);
}

// ---------------------------------------------------------------------------- the answers

static void print_answer(const page *p, const char *question, const char *answer)
{
    char shown[600];
    printf("%s%-*s%s", p->style.bold, QUESTION, question, p->style.plain);
    cli_wrap(rh_text__printable(answer, shown, sizeof shown), QUESTION, cli_page());
}

// "12.5 %", "0.31"
static cli_text rate_cell(const page *p, double rate)
{
    cli_text text;
    snprintf(text.s, sizeof text.s, "%.3g", rate);
    return p->v->failing.per_steps && isfinite(rate) ? text : cli_share(rate);
}

// A row; the intervals only where the page has space for them. Texts may be "".
static void print_cells(const page *p, const char *label, const char *score, const char *scores,
                        const char *rate, const char *rates)
{
    char text[400];
    bool wide = cli_page() >= SCALE, rated = p->v->failing.rule->known;
    int n = snprintf(text, sizeof text, "  %-22s%9s%*s", label, score, wide ? 20 : 0,
                     wide ? scores : "");
    if (rated && n > 0 && n < (int)sizeof text)
        n += snprintf(text + n, sizeof text - (size_t)n, "%9s%*s", rate, wide ? 17 : 0,
                      wide ? rates : "");
    while (n > 0 && n < (int)sizeof text && text[n - 1] == ' ')
        text[--n] = 0;
    puts(text);
}

static void print_compared(const page *p, const char *label, const rh_reference *score,
                           const rh_rate *rate)
{
    char scores[100] = "", rates[100] = "";
    if (isfinite(score->lo95) && isfinite(score->hi95))
        snprintf(scores, sizeof scores, "%s to %s", number(p, score->lo95).s,
                 number(p, score->hi95).s);
    if (rate && isfinite(rate->lo95) && p->v->failing.per_steps)
        snprintf(rates, sizeof rates, "%.3g to %.3g", rate->lo95, rate->hi95);
    else if (rate && isfinite(rate->lo95))
        snprintf(rates, sizeof rates, "%.1f to %.1f %%", 100.0 * rate->lo95,
                 100.0 * rate->hi95);
    print_cells(p, label, number(p, score->score).s, scores,
                rate ? rate_cell(p, rate->rate).s : "-", rates);
}

// The best confirmed setting of every agent that was not chosen.
static void print_others(const page *p)
{
    const rh_verdict *v = p->v;
    for (int a = 0; v->winner >= 0 && a < rh_plan__nagent(p->plan); a++) {
        const rh_trial *best = NULL;
        char label[40];
        for (int i = v->ntrial - v->nconfirm; i < v->ntrial; i++)
            if (v->trial[i].agent == a && isfinite(v->trial[i].value) &&
                (!best || v->trial[i].value > best->value))
                best = &v->trial[i];
        if (!best || a == v->trial[v->winner].agent)
            continue;
        snprintf(label, sizeof label, "best of %.16s", rh_plan__agent_at(p->plan, a)->name);
        print_compared(p, label, &(rh_reference){best->value, best->lo95, best->hi95}, NULL);
    }
}

// All scores and rates of failures, on one scale.
static void print_scale(const page *p)
{
    const rh_verdict *v = p->v;
    const rh_failing *f = &v->failing;
    rh_reference none = {NAN, NAN, NAN};
    char unit[60] = "per episode";
    if (v->per_steps)
        snprintf(unit, sizeof unit, "per %s steps", cli_count(v->per_steps).s);
    fputs(p->style.dim, stdout);
    print_cells(p, unit, "score", "95 % interval", f->per_steps ? "in 1,000" : "fails",
                "95 % interval");
    fputs(p->style.plain, stdout);
    print_compared(p, "logged controller", &v->logged, &f->logged);
    print_compared(p,
                   rh_study__clone_won(p->tune->study) ? "its clone, a whole run"
                                                       : "chosen, a whole run",
                   &v->today.learning, &f->all);
    if (f->rule->known)
        print_compared(p, "  its first tenth", &none, &f->first);
    print_compared(p, "  its last tenth", &v->today.end, &f->last);
    print_compared(p, "the agent's defaults", &v->today.defaults, &f->defaults);
    print_others(p);
    print_compared(p, "random actions", &v->random, NULL);
}

// What speaks against the choice, and what to do: the most important first.
static void print_doubts(const page *p)
{
    const rh_trust *t = &p->v->trust;
    int n = 0;
    for (int i = 0; i < t->nreason; i++)
        if (!t->reason[i].good && n++ < FEW_REASONS) {
            fputs("  - ", stdout);
            cli_wrap(t->reason[i].text, 4, cli_page());
        }
    cli_more(n - FEW_REASONS, "reason", "--verbose");
}

static void print_setting(const page *p)
{
    const rh_trial *t = &p->v->trial[p->v->winner];
    char text[1400] = "";
    cli_tune_setting(p->plan, t->agent, t->hp, " --set ", 0, text, sizeof text);
    if (rh_study__clone_won(p->tune->study)) {
        cli_line("deploy", "nothing: keep the controller you have");
        return;
    }
    cli_heading(rh_trust__deploys(&p->v->trust) ? "deploy" : "best setting");
    printf("%s--agent ", p->style.bold); // one line, to paste
    cli_print_word(rh_plan__agent_at(p->plan, t->agent)->name);
    printf("%s%s\n", text, p->style.plain);
}

// The score in every kind of model, where there are several.
static void print_kinds(const page *p, const rh_trial *t)
{
    for (int k = 0; k < t->nkind && t->nkind > 1; k++) {
        const rh_kind_score *kind = &t->kind[k];
        char label[40], interval[120] = "";
        snprintf(label, sizeof label, "    %.30s", p->v->kind[k]);
        if (isfinite(kind->lo95) && isfinite(kind->hi95))
            snprintf(interval, sizeof interval, "   %s to %s", number(p, kind->lo95).s,
                     number(p, kind->hi95).s);
        cli_line(label, "%s%s", number(p, kind->value).s, interval);
    }
}

static void print_rare(const page *p, const rh_trial *t)
{
    const rh_verdict *v = p->v;
    if (v->rare.n)
        cli_line("rare", "%d of %d runs scored %s on average; the median run %s", v->rare.n,
                 t->nmember * t->nrun, number(p, v->rare.score).s, number(p, v->rare.usual).s);
}

#define MATTERS 0.1 // share of what was learned that is worth a line

static void print_transfer(const page *p)
{
    const rh_transfer *t = &p->v->transfer;
    if (t->share >= MATTERS) // false where it is unknown
        cli_line("transfer",
                 "agents that learned in a model of half of the log score %s there and %s in a "
                 "model of the other half",
                 number(p, t->same).s, number(p, t->other).s);
}

// What the start lost between the two parts of the log.
static void print_practice(const page *p)
{
    const rh_transfer *t = &p->v->transfer;
    if (isfinite(t->practice) && isfinite(t->practised))
        cli_line("practice",
                 "scored %s in the models it was in, and %s, frozen, in models of the other "
                 "part of the log",
                 number(p, t->practice).s, number(p, t->practised).s);
}

static void print_score(const page *p)
{
    const rh_verdict *v = p->v;
    const rh_trial *t = &v->trial[v->winner], *found = &v->trial[v->winner_search];
    print_rare(p, t);
    print_transfer(p);
    print_practice(p);
    if (v->imitation.n)
        cli_line("clone", "%s", v->imitation.text);
    if (t->confirm) {
        char kinds[40] = "";
        if (t->nkind > 1)
            snprintf(kinds, sizeof kinds, " of %d kinds", t->nkind);
        cli_line("confirmed",
                 "by %d run%s in each of %d new model%s%s, each fitted to another part of the "
                 "log",
                 t->nrun, cli_plural(t->nrun), t->nmember, cli_plural(t->nmember), kinds);
        print_kinds(p, t);
        if (v->optimism > 0.0)
            cli_line(
                "optimism",
                "%s, in the interval: so much better than in the log, the logged behaviour "
                "or random actions score in the model",
                number(p, v->optimism).s);
        cli_line("search", "%s%s", number(p, found->value).s,
                 found->value > t->value ? "; " OVERESTIMATES : "");
    } else {
        cli_line("unconfirmed", "%s",
                 v->finished && rh_plan_number(p->plan, "confirm.settings") == 0
                     ? OVERESTIMATES
                     : "the study is not finished");
    }
    if (t->out_of_coverage > 0.0)
        cli_line("coverage", "%s of its steps were out of coverage",
                 cli_share(t->out_of_coverage).s);
    if (t->ndiverged)
        cli_line("diverged", "%d of %d runs", t->ndiverged, t->nmember * t->nrun);
}

// ---------------------------------------------------------------------------- trust

// The reasons for or against the choice.
static void print_reasons(const page *p, bool good)
{
    bool any = false;
    for (int i = 0; i < p->v->trust.nreason; i++)
        if (p->v->trust.reason[i].good == good) {
            cli_line(any ? "" : good ? "for" : "against", "%s", p->v->trust.reason[i].text);
            any = true;
        }
}

// ---------------------------------------------------------------------------- tied settings

static const char *name_of(const page *p, int d)
{
    return rh_plan__nagent(p->plan) > 1 ? rh_plan__searched(p->plan)->dim[d].name
                                        : rh_plan__dim(p->plan, d, NULL, NULL)->name;
}

// Columns of each dimension in a table; false when it is too wide.
static bool columns_of(const page *p, int shown, int *column)
{
    const rh_plan *plan = p->plan;
    int sum = 4 + 12 + 26;
    for (int d = 0; d < rh_plan__searched(plan)->ndim; d++) {
        const rh_param *param = rh_plan__dim(plan, d, NULL, NULL);
        column[d] = (int)strlen(name_of(p, d));
        for (int i = 0; i < shown; i++) {
            double x = rh_plan__value_of(plan, &p->v->trial[p->v->tied[i]], d);
            int n = isnan(x) ? 0 : (int)strlen(value_of(param, x, 4).s);
            column[d] = n > column[d] ? n : column[d];
        }
        column[d] += 2;
        sum += column[d];
    }
    return sum <= cli_page();
}

static void print_row(const page *p, const rh_trial *t, const int *column)
{
    const rh_plan *plan = p->plan;
    char interval[100] = "-";
    if (isfinite(t->lo95) && isfinite(t->hi95))
        snprintf(interval, sizeof interval, "%s to %s", number(p, t->lo95).s,
                 number(p, t->hi95).s);
    if (column) {
        for (int d = 0; d < rh_plan__searched(plan)->ndim; d++) {
            double x = rh_plan__value_of(plan, t, d);
            printf("%*s", column[d],
                   isnan(x) ? "" : value_of(rh_plan__dim(plan, d, NULL, NULL), x, 4).s);
        }
        printf("%12s%26s\n", number(p, t->value).s, interval);
        return;
    }
    char text[1024];
    snprintf(text, sizeof text, "%s (%s)", number(p, t->value).s, interval);
    if (rh_plan__nagent(plan) > 1)
        rh_text__put(text, sizeof text, " %s", rh_plan__agent_at(plan, t->agent)->name);
    cli_tune_setting(plan, t->agent, t->hp, " ", 4, text, sizeof text);
    fputs("  ", stdout);
    cli_wrap(text, 4, cli_page());
}

static void print_tied(const page *p)
{
    const rh_verdict *v = p->v;
    int column[RH_MAX_DIM];
    int shown = v->ntied <= FEW_TIED + 1 ? v->ntied : FEW_TIED;
    if (v->ntied < 2) {
        cli_line("tied", "no other %s setting is statistically tied (95 %%)",
                 v->nconfirm ? "confirmed" : "tried");
        return;
    }
    cli_line("tied", "%d statistically tied settings (95 %%), the chosen one first", v->ntied);
    bool table = columns_of(p, shown, column);
    if (table) {
        printf("  %s", p->style.dim);
        for (int d = 0; d < rh_plan__searched(p->plan)->ndim; d++)
            printf("%*s", column[d], name_of(p, d));
        printf("%12s%26s%s\n", "score", "95 % interval", p->style.plain);
    }
    for (int i = 0; i < shown; i++) {
        fputs("  ", stdout);
        print_row(p, &v->trial[v->tied[i]], table ? column : NULL);
    }
    cli_more(v->ntied - shown, "setting", "--json");
}

// ---------------------------------------------------------------------------- importance

static void print_bar(const page *p, double share)
{
    static const char *const part[] = {"",       "\u258f", "\u258e", "\u258d",
                                       "\u258c", "\u258b", "\u258a", "\u2589"};
    bool utf8 = cli_utf8();
    int eighths = (int)(share * BAR * 8.0 + 0.5), columns = 0;
    fputs(p->style.curve, stdout);
    for (; columns < eighths / 8; columns++)
        fputs(utf8 ? "\u2588" : "#", stdout);
    if (utf8 && eighths % 8) {
        fputs(part[eighths % 8], stdout);
        columns++;
    }
    fputs(p->style.plain, stdout);
    printf("%*s", BAR + 1 - columns, "");
}

static void print_share(const page *p, int d, int column)
{
    const rh_verdict *v = p->v;
    printf("  %-*s ", column, name_of(p, d));
    print_bar(p, v->importance.alone[d] > 0.0 ? v->importance.alone[d] : 0.0);
    printf("%7s alone, %7s with interactions%s\n", cli_share(v->importance.alone[d]).s,
           cli_share(v->importance.total[d]).s, v->bound[d] ? "; at the end of its range" : "");
}

static void print_importance(const page *p)
{
    const rh_verdict *v = p->v;
    int order[RH_MAX_DIM], n = 0; // the largest first
    int column = CLI_LABEL - 3;
    if (!v->importance.known)
        return;
    for (int d = 0; d < rh_plan__searched(p->plan)->ndim; d++) {
        if (isnan(v->importance.total[d]))
            continue;
        int at = n++, length = (int)strlen(name_of(p, d));
        column = length > column ? length : column;
        for (; at > 0 && v->importance.total[order[at - 1]] < v->importance.total[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    cli_line("importance", "share of the score's variance, by %s",
             v->importance.exact ? "analysis of variance" : "a Gaussian process");
    for (int i = 0; i < n; i++)
        print_share(p, order[i], column);
}

// ---------------------------------------------------------------------------- the rest

// Errors and warnings of the model.
static void print_model(const page *p)
{
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(p->tune->study));
    bool any = false;
    for (int i = 0; f && i < f->findings.n; i++) {
        const rh_finding *finding = &f->findings.item[i];
        if (finding->severity == RH_NOTICE)
            continue;
        cli_line(any ? "" : "model", "%s %s: %s", rh_severity_name(finding->severity),
                 rh_finding_name(finding->id), finding->evidence);
        any = true;
    }
    if (any)
        cli_line("", "rehearse fit prints the remedies");
}

static void print_findings(const page *p)
{
    cli_findings_print(p->v->findings.item, p->v->findings.n, p->v->findings.n,
                       p->v->findings.count);
}

// How many there are, of the study and its model.
static void count_findings(const page *p)
{
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(p->tune->study));
    int n[] = {[RH_NOTICE] = 0, [RH_WARNING] = 0, [RH_ERROR] = 0};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        n[i] = p->v->findings.count[i] + (f ? f->findings.count[i] : 0);
    if (n[RH_ERROR] + n[RH_WARNING])
        cli_line("findings", "%d error%s, %d warning%s: --verbose prints them", n[RH_ERROR],
                 cli_plural(n[RH_ERROR]), n[RH_WARNING], cli_plural(n[RH_WARNING]));
}

static void print_files(const page *p)
{
    const rh_verdict *v = p->v;
    const char *best = v->winner < 0 ? ""
                       : rh_study__clone_won(p->tune->study)
                           ? "best.yaml (a clone of the controller, not to deploy), "
                       : rh_trust__deploys(&v->trust) ? "best.yaml (the setting to deploy), "
                                                      : "best.yaml (not to deploy yet), ";
    cli_line("files", "%s/: %sreport.html (all of this as a page), runs.csv, study.log%s",
             p->tune->folder, best, v->nnext > 0 ? ", log_next.csv (what to log next)" : "");
}

static void print_effort(const page *p)
{
    const rh_verdict *v = p->v;
    char resumed[96] = "";
    if (v->nrun_resumed)
        snprintf(resumed, sizeof resumed, ", %s of them from earlier sessions",
                 cli_count(v->nrun_resumed).s);
    cli_line("duration", "%s, %s settings, %s runs%s", cli_seconds(v->seconds).s,
             cli_count(v->ntrial - v->nconfirm).s, cli_count(v->nrun).s, resumed);
}

// The command that runs the winner in the model.
static void print_run(const page *p)
{
    const rh_plan *plan = p->plan;
    const rh_trial *t = &p->v->trial[p->v->winner];
    char text[1400] = "", world[4200];
    if (p->tune->model)
        snprintf(world, sizeof world, "%s", rh_plan_text(p->tune->plan, "data"));
    else
        snprintf(world, sizeof world, "model:%s/study.model", p->tune->folder);
    cli_tune_setting(plan, t->agent, t->hp, " --set ", 0, text, sizeof text);
    cli_heading("run it again");
    fputs("rehearse run ", stdout);
    cli_print_word(world);
    fputs(" --agent ", stdout);
    cli_print_word(rh_plan__agent_at(plan, t->agent)->name);
    printf("%s\n", text);
}

static void print_next(const page *p)
{
    rh_text command = {0};
    rh_study__deploy_command(&command, p->tune->study);
    if (command.data) {
        cli_heading("next");
        puts(command.data);
    } else if (p->v->nnext > 0) {
        cli_line("next", "log what log_next.csv lists, and tune again");
    }
    rh_text__clear(&command);
}

static void print_evidence(const page *p)
{
    putchar('\n');
    print_score(p);
    print_reasons(p, true);
    print_reasons(p, false);
    if (p->v->limiting.n)
        cli_limits_print(p->plan, p->v);
    if (!rh_study__clone_won(p->tune->study))
        print_tied(p);
    print_importance(p);
    print_model(p);
    print_findings(p);
    cli_next_print(p->v, rh_model_log(rh_study__model(p->tune->study)));
    print_run(p);
}

void cli_tune_print(const cli_tuning *tune)
{
    page p = {.tune = tune, .plan = tune->plan, .v = tune->verdict};
    p.style = cli_style_of(stdout);
    putchar('\n');
    if (p.v->winner < 0) {
        bool limited = p.v->limiting.nearest >= 0;
        if (limited)
            print_answer(&p, "Does it keep the limits?", p.v->limiting.text);
        cli_line("deploy", "nothing: no setting %s",
                 limited ? "keeps the limits" : "has a finite score");
        if (limited)
            cli_limits_print(p.plan, p.v);
        print_findings(&p);
        print_files(&p);
        print_effort(&p);
        return;
    }
    const rh_trial *t = &p.v->trial[p.v->winner];
    bool verbose = cli_has(tune->args, "verbose");
    p.decimals = cli_decimals((t->hi95 - t->lo95) / 4.0, t->value);
    print_answer(&p, "Is it better than today?", p.v->today.text);
    if (p.v->limiting.n)
        print_answer(&p, "Does it keep the limits?", p.v->limiting.text);
    print_answer(&p, "How often does it fail?", p.v->failing.text);
    print_answer(&p, "Can it be believed?", p.v->trust.text);
    print_doubts(&p);
    putchar('\n');
    print_scale(&p);
    putchar('\n');
    cli_scores_print(p.plan, p.v, p.decimals);
    print_setting(&p);
    if (!verbose)
        count_findings(&p);
    print_files(&p);
    print_effort(&p);
    print_next(&p);
    if (verbose)
        print_evidence(&p);
}
