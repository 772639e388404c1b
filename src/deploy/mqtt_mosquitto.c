// mqtt_mosquitto.c - a deployment as a client of an MQTT broker, by libmosquitto.
//
//     PREFIX/observation   in: messages as on a pipe (message.c)
//     PREFIX/action        out: one reply for each
//     PREFIX/health        out, retained: status.json, after every save and change of alarms,
//     and
//                          {"state":"offline"} when the connection is lost (the broker's will)
//
// 1. Answers are published in the callback of the observation, and TCP sends them at once
//    (no delay): a step takes the two ways through the broker and nothing else.
// 2. After a lost connection libmosquitto connects again, after 1 to 30 seconds. Observations
//    in between are a gap in the numbers (seq) and not learned over.
// 3. With quality of service 1 an observation may come twice: the second is repeated (seq).
// 4. Observations that the broker had retained are old news and ignored.

#include "base/base_internal.h"
#include "deploy.h"
#include "deploy_internal.h"

#include <errno.h>
#include <mosquitto.h>
#include <string.h>
#include <time.h>

#define WAIT 200 // ms between two looks at stop()

static const char offline[] = "{\"state\":\"offline\"}";

typedef struct client {
    rh_deploy *deploy;
    struct mosquitto *broker; // owned
    const rh_mqtt_options *opt;
    rh_message message;
    char *reply; // owned  (RH_DEPLOY__TEXT)
    char observation[RH_MQTT__TOPIC], action[RH_MQTT__TOPIC], health[RH_MQTT__TOPIC];
    unsigned alarms;    // of the last health message
    int64_t saved_step; //
    bool told;          // there was one
    bool refused;       // the broker refuses this client
    rh_status rc;       // the first failure in a callback
    rh_error err;
} client;

bool rh_deploy__mqtt_built(void)
{
    return true;
}

// ---------------------------------------------------------------------------- messages

static void publish(client *c, const char *topic, const char *text, size_t n, bool retain)
{
    int rc = mosquitto_publish(c->broker, NULL, topic, (int)n, text, c->opt->qos, retain);
    if (rc != MOSQ_ERR_SUCCESS && rc != MOSQ_ERR_NO_CONN && !c->rc)
        c->rc = rh_fail(&c->err, RH_EIO, "mqtt: cannot publish %s: %s", topic,
                        mosquitto_strerror(rc));
}

// Publish health where it changed.
static void tell_health(client *c, bool anyway)
{
    rh_deploy_health h = rh_deploy_health_of(c->deploy);
    if (!anyway && c->told && h.alarms == c->alarms && h.saved_step == c->saved_step)
        return;
    char *text = rh_deploy__health_json(&h, c->deploy->best);
    if (!text)
        return; // later
    publish(c, c->health, text, strcspn(text, "\n"), true);
    rh_free(text);
    c->told = true;
    c->alarms = h.alarms;
    c->saved_step = h.saved_step;
}

static void on_message(struct mosquitto *broker, void *context,
                       const struct mosquitto_message *m)
{
    client *c = context;
    const rh_best *best = c->deploy->best;
    rh_error why = {""};
    rh_deploy_reply reply;
    (void)broker;
    if (!c->rc) // of observations that came at once, each counts
        c->rc = rh_deploy_tick(c->deploy, &c->err);
    if (c->rc || m->retain) // decision 4
        return;
    rh_status bad = rh_message__parse(&c->message, best, m->payload ? m->payload : "",
                                      (size_t)m->payloadlen, &why);
    c->rc = rh_deploy_step(c->deploy, &c->message.seen, &reply, &c->err);
    if (c->rc)
        return;
    size_t n = rh_message__reply(best, &c->message.seen, &reply, bad ? why.text : NULL,
                                 c->reply, RH_DEPLOY__TEXT);
    publish(c, c->action, c->reply, n - 1, false); // without the end of line
}

static void on_connect(struct mosquitto *broker, void *context, int code)
{
    client *c = context;
    if (code != 0) {
        c->refused = true;
        if (!c->rc)
            c->rc = rh_fail(&c->err, RH_EIO, "mqtt: %s:%d refused the connection: %s",
                            c->opt->host, c->opt->port, mosquitto_connack_string(code));
        return;
    }
    mosquitto_subscribe(broker, NULL, c->observation, c->opt->qos);
    tell_health(c, true);
}

// ---------------------------------------------------------------------------- connecting

static rh_status set_up(client *c, rh_error *err)
{
    const rh_mqtt_options *opt = c->opt;
    c->broker = mosquitto_new(opt->client, opt->client == NULL, c);
    c->reply = rh_alloc(RH_DEPLOY__TEXT, 1);
    if (!c->broker || !c->reply)
        return rh_base__no_memory(err, "mqtt");
    snprintf(c->observation, RH_MQTT__TOPIC, "%s/observation", opt->prefix);
    snprintf(c->action, RH_MQTT__TOPIC, "%s/action", opt->prefix);
    snprintf(c->health, RH_MQTT__TOPIC, "%s/health", opt->prefix);
    mosquitto_int_option(c->broker, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_connect_callback_set(c->broker, on_connect);
    mosquitto_message_callback_set(c->broker, on_message);
    mosquitto_reconnect_delay_set(c->broker, 1, 30, true);
    int rc =
        mosquitto_will_set(c->broker, c->health, (int)strlen(offline), offline, opt->qos, true);
    if (!rc && opt->user)
        rc = mosquitto_username_pw_set(c->broker, opt->user, opt->password);
    if (!rc && opt->cafile)
        rc = mosquitto_tls_set(c->broker, opt->cafile, NULL, NULL, NULL, NULL);
    if (rc)
        return rh_fail(err, RH_EIO, "mqtt: %s",
                       rc == MOSQ_ERR_ERRNO ? strerror(errno) : mosquitto_strerror(rc));
    rc = mosquitto_connect(c->broker, opt->host, opt->port, opt->keepalive);
    if (rc)
        return rh_fail(err, RH_EIO, "mqtt: cannot connect to %s:%d: %s", opt->host, opt->port,
                       rc == MOSQ_ERR_ERRNO ? strerror(errno) : mosquitto_strerror(rc));
    return RH_OK;
}

// Connect again after a loss; waits a little first.
static void reconnect(client *c, int *pause)
{
    struct timespec t = {*pause, 0};
    nanosleep(&t, NULL);
    *pause = *pause < 16 ? 2 * *pause : 30;
    if (mosquitto_reconnect(c->broker) == MOSQ_ERR_SUCCESS)
        *pause = 1;
}

rh_status rh_deploy_mqtt(rh_deploy *d, const rh_mqtt_options *opt, bool (*stop)(void *context),
                         void *context, rh_error *err)
{
    client c = {.deploy = d, .opt = opt};
    int pause = 1;
    rh_status rc = rh_mqtt__check(opt, err);
    if (rc)
        return rc;
    mosquitto_lib_init();
    rc = set_up(&c, err);
    while (!rc && !(stop && stop(context))) {
        int lost = mosquitto_loop(c.broker, WAIT, 1);
        while (!lost && mosquitto_want_write(c.broker)) // the reply, before the state is saved
            lost = mosquitto_loop_write(c.broker, 1);
        rc = c.rc ? rh_fail(err, c.rc, "%s", c.err.text) : rh_deploy_tick(d, err);
        if (!rc && lost)
            reconnect(&c, &pause);
        else if (!rc)
            tell_health(&c, false);
    }
    if (c.broker && !c.refused && !rc) {
        publish(&c, c.health, offline, strlen(offline), true);
        mosquitto_disconnect(c.broker);
        while (mosquitto_want_write(c.broker) &&
               mosquitto_loop_write(c.broker, 1) == MOSQ_ERR_SUCCESS)
            ;
    }
    if (c.broker)
        mosquitto_destroy(c.broker);
    mosquitto_lib_cleanup();
    rh_free(c.reply);
    return rc;
}
