// device.h - what src/agent/device.c shows of agents.

#ifndef AGENT_DEVICE_H
#define AGENT_DEVICE_H

#include "neural.h"
#include "weights.h"

typedef struct rh_esarsa__view {
    const rh_tiles *tiles;
    const rh_weights *weights;
    double gamma, tau, initial;
} rh_esarsa__view;
rh_esarsa__view rh_esarsa__show(const void *self);

typedef struct rh_ppo__view {
    bool drawn;
    const rh_mlp *actor;
    const rh_scaling *scaling;
} rh_ppo__view;
rh_ppo__view rh_ppo__show(const void *self);

#endif
