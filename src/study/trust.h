// trust.h - what the files of the trust in a study share.
//
//     claims.c: probabilities ──▶ trust.c: level, advice ◀── vetoes.c: what excludes a level
//                                     └──▶ reasons.c: for and against, in words

#ifndef REHEARSE_STUDY_TRUST_H
#define REHEARSE_STUDY_TRUST_H

#include "study_internal.h"

#define RH_TRUST__DEPENDS 0.1  // a possible regret that speaks against the choice
#define RH_TRUST__IGNORANT 0.8 // an error of replays that does; by hand
#define RH_TRUST__BESIDE 2.0   // how much worse the model is beside the logged path; by hand
#define RH_TRUST__SHOWN 0.5    // share of the predicted effects that came; by hand
#define RH_TRUST__UNLOGGED 0.2 // a share of steps whose effect is unknown that does; by hand

// The highest level that the findings and the evidence allow. Nullable: model, the findings of
// the study's model. vetoes.c
rh_trust_level rh_trust__bound(const rh_verdict *v, const rh_findings *model);
// Whether the table there has a level beside the finding.
bool rh_trust__bounds(const rh_finding *f);
// The reasons of those that do, and of errors.
void rh_trust__say_vetoes(rh_verdict *v, const rh_findings *model);

// The agent that was judged is not to be deployed, but a clone of the controller. trust.c
void rh_trust__keep(rh_verdict *v);

// Add a reason. Nothing happens where there are too many.
void rh_trust__say(rh_verdict *v, const char *id, bool good, const char *format, ...)
    RH_PRINTF(4, 5);

// All reasons that come from the evidence. reasons.c
void rh_trust__explain(rh_verdict *v);

#endif
