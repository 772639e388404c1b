// fields.c - scored runs and their summary, field by field: `run --json`, `sweep --json`.

#include "eval.h"

static const char *outcome_word(int outcome)
{
    return rh_outcome_name((rh_outcome)outcome);
}

#define AT(member) RH_FIELD__AT(rh_result, member)
static const rh_field result_row[] = {
    {"score", AT(score), NULL, "by the criterion"},
    {"total", AT(total), NULL, "sum of all rewards"},
    {"steps", AT(nstep), NULL, "of the run"},
    {"episodes", AT(nepisode), NULL, "completed, at their end or a cutoff"},
    {"ended", AT(nended), NULL, "of these, at their end"},
    {"out_of_coverage", AT(nuncovered), NULL, "steps outside the coverage of the model"},
    {"outcome", RH_FIELD__AS(RH_FIELD_WORD, rh_result, outcome), NULL,
     "finished, diverged or failed", .word = outcome_word},
};
#undef AT
const rh_fields rh_eval__result = {"run", sizeof(rh_result), RH_FIELD__ROWS(result_row),
                                   .flat = true};

#define AT(member) RH_FIELD__AT(rh_summary, member)
static const rh_field summary_row[] = {
    {"mean", AT(mean), NULL, "of the runs, or of the means of several members"},
    {"stderr", AT(stderr_), NULL, "standard error of the mean"},
    {"lo95", AT(lo95), NULL, "lower end of the 95 % interval"},
    {"hi95", AT(hi95), NULL, "upper end"},
    {"min", AT(min), NULL, "the lowest"},
    {"q25", AT(q25), NULL, "lower quartile"},
    {"median", AT(median), NULL, ""},
    {"q75", AT(q75), NULL, "upper quartile"},
    {"max", AT(max), NULL, "the greatest"},
};
#undef AT
const rh_fields rh_eval__summary = {"summary", sizeof(rh_summary), RH_FIELD__ROWS(summary_row),
                                    .flat = true};
