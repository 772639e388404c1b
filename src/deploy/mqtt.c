// mqtt.c - the options of MQTT, with libmosquitto and without.

#include "deploy_internal.h"

#include <string.h>

rh_mqtt_options rh_mqtt_defaults(void)
{
    return (rh_mqtt_options){.host = "localhost",
                             .port = 1883,
                             .prefix = "rehearse",
                             .keepalive = 30,
                             .cookie = RH_DEPLOY__COOKIE};
}

rh_status rh_mqtt__check(const rh_mqtt_options *opt, rh_error *err)
{
    if (opt->cookie != RH_DEPLOY__COOKIE)
        return rh_fail(err, RH_EINVAL,
                       "mqtt: options not set, expected those of rh_mqtt_defaults()");
    if (!opt->host || !*opt->host || opt->port < 1 || opt->port > 65535)
        return rh_fail(err, RH_EINVAL,
                       "mqtt: port %d of host '%s', expected a host and 1 to "
                       "65535",
                       opt->port, opt->host ? opt->host : "");
    if (opt->qos < 0 || opt->qos > 2)
        return rh_fail(err, RH_EINVAL, "mqtt: qos = %d, expected 0, 1 or 2", opt->qos);
    if (!opt->prefix || !*opt->prefix || strpbrk(opt->prefix, "#+") ||
        strlen(opt->prefix) > RH_MQTT__TOPIC - 20)
        return rh_fail(err, RH_EINVAL,
                       "mqtt: prefix '%.60s', expected the beginning of a topic",
                       opt->prefix ? opt->prefix : "");
    return RH_OK;
}
