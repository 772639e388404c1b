// trust_rule.h - written by bench/verdict_fit; do not edit.

#ifndef REHEARSE_STUDY_TRUST_RULE_H
#define REHEARSE_STUDY_TRUST_RULE_H

#include "rehearse/study.h"

#define RULE_BIAS 1.0099

static const struct {
    rh_evidence_name name;
    double weight, centre, spread, lo, hi;
} rule[] = {
    {RH_EVIDENCE_RIVAL, -0.4958, 0.6450, 0.3990, 0, 1},
    {RH_EVIDENCE_PARTS, -0.5013, 0.0598, 0.0996, 0, 0.3},
    {RH_EVIDENCE_HALVES, -0.4799, 0.1139, 0.1643, 0, 0.5},
    {RH_EVIDENCE_VARIANTS, -0.4989, 0.1275, 0.1665, 0, 0.5},
    {RH_EVIDENCE_LEADER, -0.5264, 0.1292, 0.1347, 0, 0.3},
    {RH_EVIDENCE_SEPARATED, 0.4613, 0.6275, 0.3325, 0, 1},
    {RH_EVIDENCE_COVERAGE, -0.4829, 0.0081, 0.0246, 0, 0.2},
    {RH_EVIDENCE_UNPROVEN, -0.5035, 0.4040, 0.4907, 0, 1},
};

#endif
