// mqtt.c - the options of MQTT, with libmosquitto and without.

#include "base/base_internal.h"
#include "deploy.h"
#include "deploy_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

rh_mqtt_options rh_mqtt_defaults(void)
{
    return (rh_mqtt_options){.host = "localhost",
                             .port = 1883,
                             .prefix = "rehearse",
                             .keepalive = 30,
                             .cookie = RH_DEPLOY__COOKIE};
}

// Certificates and keys are read by libmosquitto, whose messages do not name the file.
static rh_status check_file(const char *what, const char *path, rh_error *err)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    if (path && !file)
        return rh_fail(err, RH_EIO, "mqtt: %s: cannot be read: %s; expected %s",
                       rh_base__path_tail(path), strerror(errno), what);
    if (file)
        fclose(file);
    return RH_OK;
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
    if (!opt->certfile != !opt->keyfile || (opt->certfile && !opt->cafile))
        return rh_fail(err, RH_EINVAL,
                       "mqtt: %s, expected a certificate, its key and the "
                       "certificates of the broker's authority",
                       opt->certfile ? opt->keyfile
                                           ? "no certificates of the broker's authority"
                                           : "a certificate without its key"
                                     : "a key without its certificate");
    rh_status rc = check_file("certificates", opt->cafile, err);
    if (!rc)
        rc = check_file("a certificate", opt->certfile, err);
    return rc ? rc : check_file("a key", opt->keyfile, err);
}
