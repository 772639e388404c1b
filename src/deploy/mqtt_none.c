// mqtt_none.c - without libmosquitto: MQTT is refused.

#include "deploy.h"
#include "deploy_internal.h"

bool rh_deploy__mqtt_built(void)
{
    return false;
}

rh_status rh_deploy_mqtt(rh_deploy *deploy, const rh_mqtt_options *opt,
                         bool (*stop)(void *context), void *context, rh_error *err)
{
    (void)deploy;
    (void)stop;
    (void)context;
    rh_status rc = rh_mqtt__check(opt, err);
    if (rc)
        return rc;
    return rh_fail(err, RH_EINVAL,
                   "mqtt: this build has no MQTT, expected one with libmosquitto");
}
