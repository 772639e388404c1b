// write.c - the files of a battery: CSV of everything, and the data of the page.
//
//     results.csv    one line per box, bar or cloud and log: a true score, or an estimate
//     settings.csv   one line per cell and setting: estimate, runs, true score
//     claims.csv     one line per claim
//     paper.json     all of it for the page
//
// 1. Files hold no dates. The CSV files and everything in paper.json but `spent` are the same
//    bytes for the same options, on any number of threads, resumed or not.

#include "paper_internal.h"

#include "base/base_internal.h"
#include "base/file.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- texts

// A field of CSV, in quotes.
static void add_field(rh_text *text, const char *value, bool last)
{
    rh_text__add(text, "\"");
    for (const char *c = value; *c; c++)
        rh_text__add_n(text, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    rh_text__add(text, last ? "\"\n" : "\",");
}

// A number of CSV; nothing where it is not known.
static void add_number(rh_text *text, double x, bool last)
{
    if (isfinite(x))
        rh_text__number(text, x);
    rh_text__add(text, last ? "\n" : ",");
}

static rh_status write_file(const rh_paper *paper, const char *name, const rh_text *text,
                            rh_error *err)
{
    rh_text path = {0};
    rh_file *file = NULL;
    rh_text__format(&path, "%s/%s", paper->folder, name);
    rh_status rc = path.bad || text->bad ? rh_base__no_memory(err, "paper") : RH_OK;
    if (!rc)
        rc = rh_file__create(&file, path.data, err);
    if (rc)
        goto done;
    FILE *out = rh_file__stream(file);
    if (out && fwrite(text->data, 1, text->n, out) == text->n) {
        rc = rh_file__commit(file, err);
        goto done;
    }
    rc = rh_fail(err, RH_EIO, "%s: cannot write: %s", rh_base__path_tail(path.data),
                 strerror(errno));
    rh_file__discard(file);

done:
    rh_text__clear(&path);
    return rc;
}

// ---------------------------------------------------------------------------- CSV

static void add_results(const rh_paper *paper, rh_text *text)
{
    rh_text__add(text, "experiment,figure,series,number,value\n");
    for (int i = 0; i < paper->nfigure; i++) {
        const rh_paper__figure *f = &paper->figure[i];
        for (int k = 0; k < f->nseries; k++)
            for (int j = 0; j < f->series[k].n; j++) {
                if (!isfinite(f->series[k].y[j]))
                    continue;
                rh_text__format(text, "%s,%s,", f->experiment, f->id);
                add_field(text, f->series[k].name, false);
                rh_text__format(text, "%d,", j + 1);
                add_number(text, f->series[k].y[j], true);
            }
    }
}

static bool is_chosen(const double *chosen, const double *x, int nparam)
{
    bool same = chosen != NULL;
    for (int k = 0; k < nparam && same; k++)
        same = chosen[k] == x[k];
    return same;
}

static void add_cell(const rh_paper *paper, int i, rh_text *text)
{
    const rh_paper__cell *cell = &paper->cell[i];
    size_t size = 0, nscore = 0;
    const double *x = rh_paper__array(paper, i, "x", &size);
    const double *estimate = rh_paper__array(paper, i, "estimate", NULL);
    const double *runs = rh_paper__array(paper, i, "runs", NULL);
    const double *score = rh_paper__array(paper, i, "score", &nscore);
    const double *chosen = rh_paper__array(paper, i, "chosen", NULL);
    if (!x || !cell->problem)
        return;
    int nparam = rh_paper__nparam(cell->problem), n = (int)size / nparam;
    rh_paper__table table;
    bool known = rh_paper__table_of(paper, cell->problem, &table);
    for (int s = 0; s < n; s++) {
        const double *at = x + (size_t)s * nparam;
        int row = known ? rh_paper__row_of(paper, cell->problem, at) : -1;
        rh_text__format(text, "%s,%d,", cell->name, s + 1);
        for (int k = 0; k < nparam; k++) {
            rh_text__format(text, "%s%s=", k ? " " : "", cell->problem->param[k]);
            rh_text__number(text, at[k]);
        }
        rh_text__add(text, ",");
        add_number(text, estimate ? estimate[s] : NAN, false);
        add_number(text, runs ? runs[s] : score ? (double)nscore / n : NAN, false);
        add_number(text, row >= 0 ? table.mean[row] : NAN, false);
        add_number(text, row >= 0 ? table.error[row] : NAN, false);
        rh_text__add(text, is_chosen(chosen, at, nparam) ? "1\n" : "0\n");
    }
}

static void add_settings(const rh_paper *paper, rh_text *text)
{
    rh_text__add(text, "cell,setting,parameters,estimate,runs,true,true_error,chosen\n");
    for (int i = 0; i < paper->ncell; i++)
        add_cell(paper, i, text);
}

static void add_claims(const rh_paper *paper, rh_text *text)
{
    rh_text__add(text,
                 "claim,experiment,verdict,value,lo95,hi95,logs,measured,rule,sentence\n");
    for (int i = 0; i < paper->nclaim; i++) {
        const rh_paper_claim *c = &paper->claim[i];
        add_field(text, c->id, false);
        rh_text__format(text, "%s,%s,", c->experiment, rh_paper_verdict_name(c->verdict));
        add_number(text, c->value, false);
        add_number(text, c->lo95, false);
        add_number(text, c->hi95, false);
        rh_text__format(text, "%d,", c->nlog);
        add_field(text, c->measured, false);
        add_field(text, c->rule, false);
        add_field(text, c->sentence, true);
    }
}

// ---------------------------------------------------------------------------- JSON

static void json_real(rh_text *text, double x)
{
    char digits[RH_NUMBER__SIZE];
    rh_number__json(x, digits);
    rh_text__add(text, digits);
}

static void json_pair(rh_text *text, const char *key, const char *value)
{
    rh_text__format(text, "\"%s\": ", key);
    rh_text__json(text, value);
    rh_text__add(text, ", ");
}

static void json_number(rh_text *text, const char *key, double x)
{
    rh_text__format(text, "\"%s\": ", key);
    json_real(text, x);
    rh_text__add(text, ", ");
}

static void json_list(rh_text *text, const char *key, const double *x, int n)
{
    rh_text__format(text, "\"%s\": [", key);
    for (int i = 0; i < n; i++) {
        rh_text__add(text, i ? ", " : "");
        json_real(text, x[i]);
    }
    rh_text__add(text, "]");
}

static void json_figure(rh_text *text, const rh_paper__figure *f)
{
    static const char *const draw[] = {
        [RH_PAPER__BOX] = "box", [RH_PAPER__BAR] = "bar", [RH_PAPER__DOTS] = "dots"};
    rh_text__add(text, "    {");
    json_pair(text, "experiment", f->experiment);
    json_pair(text, "id", f->id);
    json_pair(text, "title", f->title);
    json_pair(text, "about", f->about);
    json_pair(text, "draw", draw[f->draw]);
    json_number(text, "best", f->best);
    rh_text__add(text, "\"series\": [");
    for (int k = 0; k < f->nseries; k++) {
        const rh_paper__series *s = &f->series[k];
        rh_text__add(text, k ? ",\n      {" : "\n      {");
        json_pair(text, "name", s->name);
        json_list(text, "y", s->y, s->n);
        rh_text__add(text, ", ");
        json_list(text, "released", s->released, 3);
        rh_text__add(text, "}");
    }
    rh_text__add(text, "]}");
}

static void json_claim(rh_text *text, const rh_paper_claim *c)
{
    rh_text__add(text, "    {");
    json_pair(text, "id", c->id);
    json_pair(text, "experiment", c->experiment);
    json_pair(text, "sentence", c->sentence);
    json_pair(text, "rule", c->rule);
    json_pair(text, "measured", c->measured);
    json_pair(text, "verdict", rh_paper_verdict_name(c->verdict));
    json_number(text, "value", c->value);
    json_number(text, "lo95", c->lo95);
    json_number(text, "hi95", c->hi95);
    rh_text__format(text, "\"logs\": %d}", c->nlog);
}

static void json_fact(rh_text *text, const rh_paper__fact *f)
{
    rh_text__add(text, "    {");
    json_pair(text, "experiment", f->experiment);
    json_pair(text, "what", f->what);
    json_number(text, "ours", f->ours);
    json_number(text, "error", f->error);
    json_number(text, "released", f->theirs);
    rh_text__add(text, "\"note\": ");
    rh_text__json(text, f->note);
    rh_text__add(text, "}");
}

// The command that makes these results again.
static void json_command(const rh_paper *paper, rh_text *text)
{
    const rh_paper_options *opt = &paper->opt;
    rh_text command = {0};
    rh_text__format(&command, "rehearse paper %s --logs %d --costly %d%s%s --seed %llu -o ",
                    paper->name, opt->nlog, opt->ncostly, opt->quick ? " --quick" : "",
                    opt->constants == RH_PAPER_PRINTED ? " --constants printed" : "",
                    (unsigned long long)opt->seed);
    rh_text__shell(&command, paper->folder);
    if (command.bad)
        text->bad = true;
    else
        json_pair(text, "command", command.data);
    rh_text__clear(&command);
}

static void json_head(const rh_paper *paper, rh_text *text)
{
    const rh_paper_options *opt = &paper->opt;
    double nstep = 0.0;
    for (int i = 0; i < paper->ncell; i++) {
        const double *steps = rh_paper__array(paper, i, "steps", NULL);
        nstep += steps ? *steps : 0.0;
    }
    rh_text__add(text, "{\n  \"paper\": 1, ");
    json_pair(text, "version", rh_version());
    json_pair(text, "name", paper->name);
    json_command(paper, text);
    rh_text__format(text,
                    "\n  \"logs\": %d, \"costly_logs\": %d, \"quick\": %s, \"constants\": "
                    "\"%s\", \"seed\": %llu, \"cells\": %d, \"learning_steps\": %.0f,\n",
                    opt->nlog, opt->ncostly, opt->quick ? "true" : "false",
                    opt->constants == RH_PAPER_PRINTED ? "printed" : "released",
                    (unsigned long long)opt->seed, paper->ncell, nstep);
    rh_text__format(text,
                    "  \"spent\": {\"cells\": %d, \"cpu_seconds\": %.1f, \"learning_steps\": "
                    "%lld},\n",
                    paper->cost.ncell, paper->cost.cpu, (long long)paper->cost.nstep);
}

static void add_data(const rh_paper *paper, rh_text *text)
{
    json_head(paper, text);
    rh_text__add(text, "  \"experiments\": [");
    for (int i = 0; i < paper->npart; i++) {
        rh_text__add(text, i ? ",\n    {" : "\n    {");
        json_pair(text, "name", paper->part[i]->is.name);
        json_pair(text, "title", paper->part[i]->is.title);
        rh_text__add(text, "\"about\": ");
        rh_text__json(text, paper->part[i]->is.about);
        rh_text__add(text, "}");
    }
    rh_text__add(text, "],\n  \"figures\": [");
    for (int i = 0; i < paper->nfigure; i++) {
        rh_text__add(text, i ? ",\n" : "\n");
        json_figure(text, &paper->figure[i]);
    }
    rh_text__add(text, "],\n  \"facts\": [");
    for (int i = 0; i < paper->nfact; i++) {
        rh_text__add(text, i ? ",\n" : "\n");
        json_fact(text, &paper->fact[i]);
    }
    rh_text__add(text, "],\n  \"claims\": [");
    for (int i = 0; i < paper->nclaim; i++) {
        rh_text__add(text, i ? ",\n" : "\n");
        json_claim(text, &paper->claim[i]);
    }
    rh_text__add(text, "]\n}\n");
}

rh_status rh_paper__write(rh_paper *paper, rh_error *err)
{
    static const struct {
        const char *name;
        void (*add)(const rh_paper *paper, rh_text *text);
    } file[] = {{"results.csv", add_results},
                {"settings.csv", add_settings},
                {"claims.csv", add_claims},
                {RH_PAPER_DATA, add_data}};
    rh_status rc = RH_OK;
    for (size_t i = 0; i < sizeof file / sizeof *file && !rc; i++) {
        rh_text text = {0};
        file[i].add(paper, &text);
        rc = write_file(paper, file[i].name, &text, err);
        rh_text__clear(&text);
    }
    return rc;
}
