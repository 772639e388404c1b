// trust_rule.h - written by bench/verdict_fit; do not edit.

#ifndef REHEARSE_STUDY_TRUST_RULE_H
#define REHEARSE_STUDY_TRUST_RULE_H

#include "evidence.h"

#define RULE_BIAS 1.4527 // fitted to bench/verdict.csv

static const struct {
    rh_evidence__name name;
    double weight, centre, spread, lo, hi;
} rule[] = {
    {RH_EVIDENCE_RIVAL, -0.4849, 0.5905, 0.4008, 0, 1},
    {RH_EVIDENCE_PARTS, -0.4853, 0.0556, 0.0928, 0, 0.3},
    {RH_EVIDENCE_HALVES, -0.4742, 0.1120, 0.1590, 0, 0.5},
    {RH_EVIDENCE_VARIANTS, -0.4885, 0.1133, 0.1577, 0, 0.5},
    {RH_EVIDENCE_LEADER, -0.5210, 0.1174, 0.1322, 0, 0.3},
    {RH_EVIDENCE_SEPARATED, 0.4201, 0.6694, 0.3056, 0, 1},
    {RH_EVIDENCE_COVERAGE, -0.4684, 0.0090, 0.0307, 0, 0.2},
    {RH_EVIDENCE_OVERALL, -0.5004, 0.0167, 0.0471, 0, 0.2},
    {RH_EVIDENCE_UNPROVEN, -0.5047, 0.2139, 0.4101, 0, 1},
};

#endif
