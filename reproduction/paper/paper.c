// paper.c - a battery: its experiments, its cells, its run.
//
// 1. Cells are listed before any is done, so that cost and progress are those of the whole.
// 2. Experiments share cells: exp1, exp3 and raw need the same choices, and get them once.
// 3. Figures and claims are computed from finished cells only, on one thread, in a fixed order.
//    They do not know whether a cell was done now or found in the folder.

#include "paper_internal.h"

#include "base/base.h"
#include "base/base_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define COOKIE 0x9a9e7001u

static const rh_paper__part *const all[] = {
    &rh_paper__exp1,         &rh_paper__exp2, &rh_paper__exp3,
    &rh_paper__exp4,         &rh_paper__exp5, &rh_paper__raw,
    &rh_paper__actor_critic, &rh_paper__fqi,  &rh_paper__theory,
};
enum { NALL = sizeof all / sizeof *all };

const rh_paper_experiment *rh_paper_at(int i)
{
    return i >= 0 && i < NALL ? &all[i]->is : NULL;
}

rh_paper_options rh_paper_defaults(void)
{
    return (rh_paper_options){.nlog = 30,
                              .ncostly = RH_PAPER_LEAST_LOGS,
                              .seed = 1,
                              .nthread = 1,
                              .nparts = 1,
                              .cookie = COOKIE};
}

static rh_status check_options(const rh_paper_options *opt, rh_error *err)
{
    if (opt->cookie != COOKIE)
        return rh_fail(err, RH_EINVAL, "paper: options were not set by rh_paper_defaults()");
    if (!opt->folder || !*opt->folder)
        return rh_fail(err, RH_EINVAL, "paper: no folder, expected one for the results");
    if (opt->nlog < 1 || opt->nlog > RH_PAPER_MOST_LOGS)
        return rh_fail(err, RH_EINVAL, "paper: logs = %d, expected 1 to %d", opt->nlog,
                       RH_PAPER_MOST_LOGS);
    if (opt->ncostly < 0 || opt->ncostly > RH_PAPER_MOST_LOGS)
        return rh_fail(err, RH_EINVAL, "paper: costly = %d, expected 0 to %d", opt->ncostly,
                       RH_PAPER_MOST_LOGS);
    if (opt->nthread < 1)
        return rh_fail(err, RH_EINVAL, "paper: threads = %d, expected 1 or more", opt->nthread);
    if (opt->nparts < 1 || opt->part < 0 || opt->part >= opt->nparts)
        return rh_fail(err, RH_EINVAL,
                       "paper: part %d of %d, expected 1 to the number of parts", opt->part + 1,
                       opt->nparts);
    if ((unsigned)opt->constants > RH_PAPER_PRINTED)
        return rh_fail(err, RH_EINVAL, "paper: constants = %d, expected 0 or 1",
                       (int)opt->constants);
    return RH_OK;
}

static rh_status find_parts(rh_paper *paper, const char *name, rh_error *err)
{
    const char *names[NALL + 1];
    for (int i = 0; i < NALL; i++) {
        names[i] = all[i]->is.name;
        if (strcmp(name, "all") == 0 || strcmp(name, names[i]) == 0)
            paper->part[paper->npart++] = all[i];
    }
    names[NALL] = "all";
    return paper->npart ? RH_OK : rh_base__unknown(err, "no experiment", name, names, NALL + 1);
}

static rh_status make_folder(const char *path, rh_error *err)
{
    struct stat there;
    if (mkdir(path, 0777) == 0)
        return RH_OK;
    if (errno != EEXIST)
        return rh_fail(err, RH_EIO, "%s: cannot create: %s", rh_base__path_tail(path),
                       strerror(errno));
    if (stat(path, &there) != 0 || !S_ISDIR(there.st_mode))
        return rh_fail(err, RH_EIO, "%s: is a file, expected a folder for the results",
                       rh_base__path_tail(path));
    return RH_OK;
}

// Folders are made by the run; a dry run leaves no trace.
static rh_status make_folders(const rh_paper *paper, rh_error *err)
{
    static const char *const sub[] = {"cells", "models"};
    rh_status rc = make_folder(paper->folder, err);
    for (int i = 0; i < 2 && !rc; i++) {
        rh_text path = {0};
        rh_text__format(&path, "%s/%s", paper->folder, sub[i]);
        rc = path.bad ? rh_base__no_memory(err, "paper") : make_folder(path.data, err);
        rh_text__clear(&path);
    }
    return rc;
}

rh_status rh_paper_create(rh_paper **out, const char *name, const rh_paper_options *opt,
                          rh_error *err)
{
    rh_status rc = check_options(opt, err);
    if (rc)
        return rc;
    rh_paper *paper = rh_alloc(1, sizeof *paper);
    if (!paper)
        return rh_base__no_memory(err, "paper");
    paper->opt = *opt;
    paper->opt.ncostly = opt->ncostly < opt->nlog ? opt->ncostly : opt->nlog;
    rc = find_parts(paper, name, err);
    if (rc)
        goto done;
    paper->folder = rh_base__copy(opt->folder);
    paper->name = rh_base__copy(name);
    if (!paper->folder || !paper->name) {
        rc = rh_base__no_memory(err, "paper");
        goto done;
    }
    paper->opt.folder = paper->folder;
    for (int i = 0; i < paper->npart; i++) {
        paper->now = paper->part[i];
        paper->now->list(paper);
    }
    for (int i = 0; i < paper->ncell; i++)
        rh_paper__read(paper, i);
    rh_paper__read_work(paper);
    if (paper->bad) {
        rc = rh_base__no_memory(err, "paper");
        goto done;
    }
    *out = paper;
    paper = NULL;

done:
    rh_paper_destroy(paper);
    return rc;
}

static void clear_results(rh_paper *paper)
{
    for (int i = 0; i < paper->nfigure; i++)
        for (int k = 0; k < paper->figure[i].nseries; k++)
            rh_free(paper->figure[i].series[k].y);
    paper->nfigure = paper->nfact = paper->nclaim = 0;
}

void rh_paper_destroy(rh_paper *paper)
{
    if (!paper)
        return;
    for (int i = 0; i < paper->ncell; i++)
        rh_state_destroy(paper->cell[i].result);
    clear_results(paper);
    rh_free(paper->cell);
    rh_free(paper->figure);
    rh_free(paper->fact);
    rh_free(paper->claim);
    rh_free(paper->folder);
    rh_free(paper->name);
    rh_free(paper);
}

rh_paper_estimate rh_paper_foresee(const rh_paper *paper)
{
    rh_paper_estimate e = {.ncell = paper->ncell};
    for (int i = 0; i < paper->ncell; i++) {
        const rh_paper__cell *cell = &paper->cell[i];
        e.ndone += cell->done;
        e.nstudy += strcmp(cell->what, "choice") == 0;
        e.nstep += cell->done ? 0 : cell->nstep;
        e.seconds += cell->done ? 0.0 : cell->cost;
    }
    return e;
}

rh_paper_cost rh_paper_spent(const rh_paper *paper)
{
    return paper->cost;
}

rh_status rh_paper_run(rh_paper *paper, rh_error *err)
{
    rh_status rc = make_folders(paper, err);
    if (!rc)
        rc = rh_paper__work(paper, err);
    if (rc)
        return rc;
    clear_results(paper);
    for (int i = 0; i < paper->ncell; i++)
        if (!paper->cell[i].done && !rh_paper__read(paper, i)) // of another part
            return paper->bad ? rh_base__no_memory(err, "paper") : RH_OK;
    for (int i = 0; i < paper->npart; i++) {
        paper->now = paper->part[i];
        paper->now->draw(paper);
    }
    return paper->bad ? rh_base__no_memory(err, "paper") : rh_paper__write(paper, err);
}

const rh_paper_claim *rh_paper_claim_at(const rh_paper *paper, int i)
{
    return i >= 0 && i < paper->nclaim ? &paper->claim[i] : NULL;
}
