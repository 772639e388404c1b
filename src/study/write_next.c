// write_next.c - log_next.csv: suggested trials, for those who operate the plant.
//
//     trial,region,<sensors>,<actions>,hold,why
//
// A trial: bring the plant to about this state, take this action, and hold it for so many
// steps, or until the plant leaves what is safe.
//
// 1. A trial starts from a logged state, because the plant is known to get there: one inside
//    the region, evenly spread over the log where there are more than trials, otherwise the
//    nearest ones. Distances are in standard deviations of the sensors.
// 2. A trial holds its action for 5 steps, as `collect --advice` does. Steps of a region are
//    multiples of 10.
// 3. Values of a continuous action are spread evenly over its range, by multiples of the golden
//    ratio, which differ between its numbers.

#include "journal.h"

#include <math.h>
#include <stdlib.h>

#define GOLDEN 0.6180339887498949 // (sqrt(5) - 1) / 2: evenly spread points

// A logged step whose state may be a start.
typedef struct candidate {
    double distance; // from the region; 0: inside
    int64_t step;
} candidate;

static int by_distance(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

// The standard deviation of a sensor over the logged steps; 1 if it is constant.
static double deviation(const rh_log *log, int sensor)
{
    double mean = 0.0, square = 0.0;
    for (int64_t i = 0; i < log->n; i++) {
        double x = log->obs[(int64_t)log->from[i] * log->nobs + sensor], gap = x - mean;
        mean += gap / (double)(i + 1);
        square += gap * (x - mean);
    }
    double sd = sqrt(square / (double)log->n);
    return sd > 0.0 && isfinite(sd) ? sd : 1.0;
}

// All logged steps, those whose state is nearest to the region first. Returns how many are
// inside.
static int64_t sort_steps(const rh_log *log, const rh_next *row, candidate *all)
{
    double scale[RH_NEXT_SIDES];
    int64_t ninside = 0;
    for (int k = 0; k < row->nside; k++)
        scale[k] = deviation(log, row->side[k].sensor);
    for (int64_t i = 0; i < log->n; i++) {
        double sum = 0.0;
        for (int k = 0; k < row->nside; k++) {
            double x = log->obs[(int64_t)log->from[i] * log->nobs + row->side[k].sensor];
            double below = fmax(row->side[k].lo - x, 0.0),
                   above = fmax(x - row->side[k].hi, 0.0);
            sum += (below + above) / scale[k] * ((below + above) / scale[k]);
        }
        all[i] = (candidate){sum, i};
        ninside += sum == 0.0;
    }
    qsort(all, (size_t)log->n, sizeof *all, by_distance);
    return ninside;
}

static void add_number(rh_text *t, double x)
{
    rh_text__number(t, x);
    rh_text__add(t, ",");
}

static void add_trial(rh_text *t, const rh_log *log, const rh_next *row, int64_t step, int j)
{
    const double *obs = log->obs + (int64_t)log->from[step] * log->nobs;
    for (int k = 0; k < log->nobs; k++)
        add_number(t, obs[k]);
    if (row->action >= 0) {
        rh_write__field(t, log->label[row->action]);
        rh_text__add(t, ",");
    }
    for (int k = 0; row->action < 0 && k < log->nact; k++) {
        double at = (j + 1) * GOLDEN * (k + 1);
        add_number(t, row->act_lo[k] + (row->act_hi[k] - row->act_lo[k]) * (at - floor(at)));
    }
    rh_text__format(t, "%d,", RH_ADVICE_HOLD);
    rh_write__field(t, row->why);
    rh_text__add(t, "\n");
}

static void add_head(rh_text *t, const rh_log *log)
{
    rh_text__add(t, "trial,region,");
    for (int k = 0; k < log->nobs + log->nact; k++) {
        rh_write__field(t, k < log->nobs ? log->obs_name[k] : log->act_name[k - log->nobs]);
        rh_text__add(t, ",");
    }
    rh_text__add(t, "hold,why\n");
}

rh_status rh_study__write_next(const char *path, const rh_log *log, const rh_next *row,
                               int nrow, rh_error *err)
{
    rh_file *file = NULL;
    rh_text t = {0};
    int trial = 0;
    candidate *all = rh_alloc((size_t)log->n, sizeof *all);
    if (!all)
        return rh_base__no_memory(err, "study");
    rh_status rc = rh_write__begin(&file, path, err);
    if (rc)
        goto done;
    add_head(&t, log);
    for (int i = 0; i < nrow; i++) {
        int ntrial = row[i].steps / RH_ADVICE_HOLD;
        int64_t nnear = sort_steps(log, &row[i], all);
        nnear = nnear > ntrial ? nnear : ntrial < log->n ? ntrial : log->n;
        for (int j = 0; j < ntrial; j++) {
            rh_text__format(&t, "%d,%d,", ++trial, i + 1);
            add_trial(&t, log, &row[i], all[j * nnear / ntrial].step, j);
        }
    }
    rc = rh_write__finish(file, &t, 0, path, err);

done:
    rh_free(all);
    return rc;
}
