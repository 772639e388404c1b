// deploy.h - what other modules of the library use of deploy beside its public header.

#ifndef RH_DEPLOY_H
#define RH_DEPLOY_H

#include "rehearse/deploy.h"

const char *rh_deploy__note_name(int bit);             // "missing" for 0; NULL unless 0 .. 11
const char *rh_deploy__alarm_name(int bit);            // "promise" for 0; NULL unless 0 .. 8
const char *rh_deploy__mode_name(rh_deploy_mode mode); // "shadow"; NULL for RH_MODE_KEPT

const rh_fields *rh_deploy__health_fields(void); // of an rh_deploy_health

// Of a folder, at its last save. Nullable: err.
rh_status rh_deploy__health_read(rh_deploy_health *out, const char *folder, rh_error *err);

// Health as JSON in one line, as in status.json. Owned: the text; NULL without memory.
// Nullable: best.
char *rh_deploy__health_json(const rh_deploy_health *health, const rh_best *best);
bool rh_deploy__mqtt_built(void); // with libmosquitto

// Once after silence began while the agent controls: what to do instead (turn.c, guard.c).
bool rh_deploy__unasked(rh_deploy *deploy, rh_deploy_reply *reply);

// Whether options can be used, and their files read. Nullable: err.
rh_status rh_mqtt__check(const rh_mqtt_options *opt, rh_error *err);

#endif
