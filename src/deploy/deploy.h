// deploy.h - what other modules of the library use of deploy beside its public header.

#ifndef RH_DEPLOY_H
#define RH_DEPLOY_H

#include "rehearse/deploy.h"

const char *rh_deploy__note_name(int bit);  // "missing" for 0; NULL unless 0 .. 10
const char *rh_deploy__alarm_name(int bit); // "promise" for 0; NULL unless 0 .. 3

// Of a folder, at its last save. Nullable: err.
rh_status rh_deploy__health_read(rh_deploy_health *out, const char *folder, rh_error *err);

// Health as a JSON object, as in status.json. Returns the length, or 0 if `size` is too small.
size_t rh_deploy__health_json(const rh_deploy_health *health, const rh_best *best, char *text,
                              size_t size);
bool rh_deploy__mqtt_built(void); // with libmosquitto

#endif
