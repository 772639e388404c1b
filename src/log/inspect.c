// inspect.c - measures a log and lists its problems.
//
// 1. Every number is measured once, by one part (columns, episodes, alignment, coverage);
//    findings only compare them with thresholds.
// 2. Quadratic work is sampled (coverage), sorting is limited to a million values (medians),
//    the rest is linear in all rows. Nothing is random: inspecting twice gives the same report.
// 3. 1,000,000 transitions of 8 sensors take 1.3 s of processor time, 10,000,000 take 7 s, and
//    so do 100,000 of 256 sensors (one core of a 2.3 GHz Xeon).

#include "inspect.h"
#include "base/base_internal.h"

void rh_log_report_destroy(rh_log_report *report)
{
    if (!report)
        return;
    rh_free(report->sensor);
    rh_free(report->taken);
    rh_free(report->amount);
    rh_free(report->at_bound);
    rh_free(report->cover);
    rh_findings__clear(&report->findings);
    rh_free(report);
}

static rh_log_report *make_report(const rh_log *log)
{
    size_t nact = log->naction ? 0 : (size_t)log->nact;
    rh_log_report *report = rh_alloc(1, sizeof *report);
    if (!report)
        return NULL;
    report->sensor = rh_alloc((size_t)log->nobs, sizeof *report->sensor);
    report->taken = rh_alloc((size_t)log->naction + 1, sizeof *report->taken);
    report->amount = rh_alloc(nact + 1, sizeof *report->amount);
    report->at_bound = rh_alloc(nact + 1, sizeof *report->at_bound);
    report->cover = rh_alloc((size_t)log->naction + 3 * nact, sizeof *report->cover);
    if (report->sensor && report->taken && report->amount && report->at_bound && report->cover)
        return report;
    rh_log_report_destroy(report);
    return NULL;
}

// Whether the task is episodic or continuing, as the models treat it.
static bool judge_ends(rh_log_report *report, const rh_log *log)
{
    bool anew = false;
    bool good = report->nterminal > 0 || rh_log__begins_anew(log, &anew);
    report->time_limit = rh_log__time_limit(log);
    report->continuing = report->nterminal == 0 && !anew;
    return good;
}

rh_status rh_log_inspect(rh_log_report **out, const rh_log *log, rh_error *err)
{
    rh_inspect__room room = {0};
    rh_log_report *report = make_report(log);
    bool good = report != NULL;
    good = good && rh_inspect__room_init(&room, log->n > log->nstate ? log->n : log->nstate);
    good = good && rh_inspect__sensors(report, log, &room);
    good = good && rh_inspect__actions(report, log, &room);
    good = good && rh_inspect__episodes(report, log, &room);
    good = good && judge_ends(report, log);
    good = good && rh_inspect__steps(report, log, &room);
    good = good && rh_inspect__cover(report, log, &room);
    rh_inspect__room_clear(&room);
    good = good && rh_inspect__copies(report, log);
    good = good && rh_inspect__align(report, log);
    good = good && rh_inspect__regime(report, log);
    good = good && rh_inspect__history(report, log);
    good = good && rh_inspect__findings(report, log);
    if (!good) {
        rh_log_report_destroy(report);
        return rh_fail(err, RH_ENOMEM, "%s: out of memory for %lld steps",
                       rh_base__path_tail(log->path), (long long)log->n);
    }
    *out = report;
    return RH_OK;
}
