// trust_rule.h - written by bench/verdict_fit; do not edit.

#ifndef REHEARSE_STUDY_TRUST_RULE_H
#define REHEARSE_STUDY_TRUST_RULE_H

#include "rehearse/study.h"

#define RULE_BIAS 1.5

static const struct {
    rh_evidence_name name;
    double weight, centre, spread, lo, hi;
} rule[] = {
    {RH_EVIDENCE_RIVAL, -1.0, 0.1, 0.1, 0, 0.5},
};

#endif
