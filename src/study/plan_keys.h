// plan_keys.h - the keys that need nothing else to be understood, by number.

#ifndef REHEARSE_STUDY_PLAN_KEYS_H
#define REHEARSE_STUDY_PLAN_KEYS_H

#include "plan.h"

typedef enum rh_plan__key_id {
    RH_KEY_NAME,
    RH_KEY_DATA,
    RH_KEY_STARTS,
    RH_KEY_PRESET,
    RH_KEY_GRID,
    RH_KEY_SEED,
    RH_KEY_GAMMA,
    RH_KEY_CONTINUING,
    RH_KEY_AGENT,
    RH_KEY_METHOD,
    RH_KEY_TRIALS,
    RH_KEY_BATCH,
    RH_KEY_GOAL,
    RH_KEY_STEPS,
    RH_KEY_RUNS,
    RH_KEY_CRITERION,
    RH_KEY_ACROSS,
    RH_KEY_POOL,
    RH_KEY_CUTOFF,
    RH_KEY_CUTOFF_AS,
    RH_KEY_CURVE,
    RH_KEY_MODEL,
    RH_KEY_MEMBERS,
    RH_KEY_RESAMPLE,
    RH_KEY_SHARE,
    RH_KEY_REPR,
    RH_KEY_REPR_PRESET,
    RH_KEY_JOINT,
    RH_KEY_TASK,
    RH_KEY_CONFIRM,
    RH_KEY_CONFIRM_SETTINGS,
    RH_KEY_CONFIRM_MEMBERS,
    RH_KEY_CONFIRM_RUNS,
    RH_NKEY
} rh_plan__key_id;

// The number of a full key, or RH_NKEY.
rh_plan__key_id rh_plan__find(const char *key);

#endif
