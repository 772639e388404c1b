// results.c - figures and facts of finished cells.

#include "paper_internal.h"

#include "base/base_internal.h"

#include <math.h>
#include <string.h>

rh_paper__figure *rh_paper__figure_add(rh_paper *paper, const char *id, const char *title,
                                       const char *about, rh_paper__draw draw, double best)
{
    rh_paper__figure *more =
        rh_base__alloc_more(paper->figure, &paper->figure_room, paper->nfigure, sizeof *more);
    if (!more) {
        paper->bad = true;
        return NULL;
    }
    paper->figure = more;
    rh_paper__figure *f = &paper->figure[paper->nfigure++];
    *f = (rh_paper__figure){.experiment = paper->now->is.name,
                            .id = id,
                            .about = about,
                            .draw = draw,
                            .best = best};
    snprintf(f->title, sizeof f->title, "%s", title);
    return f;
}

int rh_paper__series_add(rh_paper *paper, rh_paper__figure *figure, const char *name,
                         const double *y, int n)
{
    if (!figure || figure->nseries == RH_PAPER__NSERIES)
        return -1;
    rh_paper__series *s = &figure->series[figure->nseries];
    *s = (rh_paper__series){.n = n, .released = {NAN, NAN, NAN}};
    s->y = rh_alloc((size_t)n, sizeof *s->y);
    if (!s->y) {
        paper->bad = true;
        return -1;
    }
    memcpy(s->y, y, (size_t)n * sizeof *y);
    snprintf(s->name, sizeof s->name, "%s", name);
    return figure->nseries++;
}

void rh_paper__released(rh_paper__figure *figure, int series, double q25, double median,
                        double q75)
{
    if (figure && series >= 0)
        memcpy(figure->series[series].released, (double[]){q25, median, q75},
               sizeof figure->series[series].released);
}

void rh_paper__fact_add(rh_paper *paper, const char *what, double ours, double error,
                        double theirs, const char *note)
{
    rh_paper__fact *more =
        rh_base__alloc_more(paper->fact, &paper->fact_room, paper->nfact, sizeof *more);
    if (!more) {
        paper->bad = true;
        return;
    }
    paper->fact = more;
    rh_paper__fact *f = &paper->fact[paper->nfact++];
    *f = (rh_paper__fact){
        .experiment = paper->now->is.name, .ours = ours, .error = error, .theirs = theirs};
    snprintf(f->what, sizeof f->what, "%s", what);
    snprintf(f->note, sizeof f->note, "%s", note ? note : "");
}

// ---------------------------------------------------------------------------- columns

int rh_paper__column(rh_paper *paper, rh_paper__figure *figure, const char *title,
                     const rh_paper__problem *problem, const rh_paper__data *data,
                     const rh_paper__method *method, const rh_paper__problem *table, double *y)
{
    int n = rh_paper__true_of_logs(paper, problem, data, method, table, y);
    if (n > 0)
        rh_paper__series_add(paper, figure, title, y, paper->opt.nlog);
    return n;
}
