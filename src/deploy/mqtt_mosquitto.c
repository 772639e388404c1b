// mqtt_mosquitto.c - a deployment as a client of an MQTT broker, by libmosquitto.
//
//     PREFIX/observation   in: messages as on a pipe (message.c)
//     PREFIX/action        out: one reply for each
//     PREFIX/deployer      in and out: who answers
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
// 5. One deployment answers. On PREFIX/deployer each one claims the topics before it listens to
//    observations, {"claim":"ID"}, and hears its own claim. Who hears another claim before that
//    stops. Who hears another claim later answers it, {"held":"ID","against":"ID"}, and who is
//    answered stops. All hear the messages of a topic in one order, so the first one is left. A
//    claim is won after ANSWER ms without an answer. Nothing is retained: what a killed one
//    left cannot be in the way. After a lost connection it is claimed again.
// 6. A connection that ends before the broker has answered is refused: ports for TLS end one
//    without it, or without the certificate that they want.
// 7. Silence of the sensors is answered without being asked: the fallback's action.
// 8. A key with a passphrase is refused. OpenSSL would ask for it on the terminal.

#include "base/base_internal.h"
#include "deploy.h"
#include "deploy_internal.h"

#include <ctype.h>
#include <errno.h>
#include <mosquitto.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT 200     // ms between two looks at stop()
#define ANSWER 1000  // ms; decision 5, by hand
#define SILENCE 30.0 // seconds that a broker may take to accept a connection; by hand

static const char offline[] = "{\"state\":\"offline\"}";

typedef struct client {
    rh_deploy *deploy;
    struct mosquitto *broker; // owned
    const rh_mqtt_options *opt;
    rh_message message;
    char *reply; // owned  (RH_DEPLOY__TEXT)
    char observation[RH_MQTT__TOPIC], action[RH_MQTT__TOPIC], health[RH_MQTT__TOPIC];
    char deployer[RH_MQTT__TOPIC];
    char id[80];        // "host, process 123, 0x..."
    bool accepted;      // the broker accepted a connection, once
    bool claimed;       // our own claim was heard,
    double when;        // at this time
    bool listens;       // it was won: observations are answered
    bool yields;        // another one answers
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

// Claim the topics; other (n bytes): or tell another claim that they are held.
static void tell_deployer(client *c, const char *other, size_t n)
{
    char text[RH_MQTT__TOPIC];
    int size = other ? snprintf(text, sizeof text, "{\"held\":\"%s\",\"against\":\"%.*s\"}",
                                c->id, (int)n, other)
                     : snprintf(text, sizeof text, "{\"claim\":\"%s\"}", c->id);
    int rc = mosquitto_publish(c->broker, NULL, c->deployer, size, text, 1, false);
    if (rc != MOSQ_ERR_SUCCESS && rc != MOSQ_ERR_NO_CONN && !c->rc)
        c->rc = rh_fail(&c->err, RH_EIO, "mqtt: cannot publish %s: %s", c->deployer,
                        mosquitto_strerror(rc));
}

// The text of a key in such a message, of n bytes; NULL: none. Ours need no escapes.
static const char *value_of(const char *text, const char *key, size_t *n)
{
    char begins[24];
    snprintf(begins, sizeof begins, "\"%s\":\"", key);
    const char *at = strstr(text, begins);
    at = at ? at + strlen(begins) : NULL;
    *n = at ? strcspn(at, "\"\\") : 0;
    return at;
}

// Decision 5.
static void hear_deployer(client *c, const char *bytes, size_t size)
{
    char text[RH_MQTT__TOPIC];
    size_t n, nagainst;
    snprintf(text, sizeof text, "%.*s", (int)(size < sizeof text ? size : 0), bytes);
    const char *by = value_of(text, "claim", &n), *against;
    bool claims = by;
    if (!claims)
        by = value_of(text, "held", &n);
    against = value_of(text, "against", &nagainst);
    bool own = by && n == strlen(c->id) && memcmp(by, c->id, n) == 0;
    bool hits = against && nagainst == strlen(c->id) && memcmp(against, c->id, nagainst) == 0;
    if (claims && own) {
        c->when = rh_deploy__now();
        c->claimed = true;
    } else if (claims && c->claimed && n < sizeof c->id)
        tell_deployer(c, by, n);
    else if ((claims || hits) && by && !own && !c->rc) {
        char shown[sizeof c->id];
        c->yields = true;
        rh_text__printable_n(by, n, shown, sizeof shown);
        c->rc =
            rh_fail(&c->err, RH_EIO, "mqtt: another deployment answers %s (%s), expected one",
                    c->observation, shown);
    }
}

static void on_message(struct mosquitto *broker, void *context,
                       const struct mosquitto_message *m)
{
    client *c = context;
    const rh_best *best = c->deploy->best;
    const char *text = m->payload ? m->payload : "";
    rh_error why = {""};
    rh_deploy_reply reply;
    (void)broker;
    if (!c->rc) // of observations that came at once, each counts
        c->rc = rh_deploy_tick(c->deploy, &c->err);
    if (c->rc || m->retain) // decision 4
        return;
    if (strcmp(m->topic, c->deployer) == 0) {
        hear_deployer(c, text, (size_t)m->payloadlen);
        return;
    }
    rh_status bad = rh_message__parse(&c->message, best, text, (size_t)m->payloadlen, &why);
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
    c->accepted = true;
    c->claimed = c->listens = false;
    mosquitto_subscribe(broker, NULL, c->deployer, 1);
}

static void on_subscribe(struct mosquitto *broker, void *context, int id, int n, const int *qos)
{
    client *c = context;
    (void)broker;
    (void)id;
    (void)n;
    (void)qos;
    if (!c->listens)
        tell_deployer(c, NULL, 0);
}

// What is to be done while no observation comes in.
static void tell_unasked(client *c)
{
    rh_deploy_seen none = {.seq = -1};
    rh_deploy_reply reply;
    if (!rh_deploy__unasked(c->deploy, &reply))
        return;
    size_t n =
        rh_message__reply(c->deploy->best, &none, &reply, NULL, c->reply, RH_DEPLOY__TEXT);
    publish(c, c->action, c->reply, n - 1, false);
}

// Listen to observations, once the claim is won.
static void listen(client *c)
{
    if (!c->claimed || c->listens || rh_deploy__now() - c->when < 1e-3 * ANSWER)
        return;
    c->listens = true;
    mosquitto_subscribe(c->broker, NULL, c->observation, c->opt->qos);
    tell_health(c, true);
}

// ---------------------------------------------------------------------------- connecting

// A name that no other deployment has.
static void name_client(client *c)
{
    char host[40] = "";
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    gethostname(host, sizeof host - 1);
    for (char *at = host; *at; at++)
        *at = isalnum((unsigned char)*at) || *at == '.' ? *at : '-';
    snprintf(c->id, sizeof c->id, "%s, process %ld, %llx%lx", host, (long)getpid(),
             (unsigned long long)now.tv_sec, (unsigned long)now.tv_nsec);
}

// Decision 6. fault: of libmosquitto.
static rh_status refuse_silence(const client *c, int fault, rh_error *err)
{
    const rh_mqtt_options *opt = c->opt;
    char ours[RH_MQTT__TOPIC] = "wants no certificate of ours (--mqtt-cert)";
    if (!opt->cafile)
        return rh_fail(
            err, RH_EIO,
            "mqtt: %s:%d gave no answer; if it is a port for TLS, use --mqtt-ca FILE",
            opt->host, opt->port);
    if (opt->certfile)
        snprintf(ours, sizeof ours,
                 "takes the certificate %.100s with the key %.100s, which "
                 "has no passphrase",
                 rh_base__path_tail(opt->certfile), rh_base__path_tail(opt->keyfile));
    return rh_fail(err, RH_EIO,
                   "mqtt: %s:%d: no encrypted connection: %s; expected a port for TLS, a "
                   "certificate of %s and a broker that %s",
                   opt->host, opt->port, mosquitto_strerror(fault), opt->cafile, ours);
}

// Decision 8.
static int no_passphrase(char *text, int size, int writes, void *context)
{
    (void)text;
    (void)size;
    (void)writes;
    (void)context;
    return 0;
}

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
    snprintf(c->deployer, RH_MQTT__TOPIC, "%s/deployer", opt->prefix);
    name_client(c);
    mosquitto_int_option(c->broker, MOSQ_OPT_TCP_NODELAY, 1);
    mosquitto_connect_callback_set(c->broker, on_connect);
    mosquitto_message_callback_set(c->broker, on_message);
    mosquitto_subscribe_callback_set(c->broker, on_subscribe);
    mosquitto_reconnect_delay_set(c->broker, 1, 30, true);
    int rc =
        mosquitto_will_set(c->broker, c->health, (int)strlen(offline), offline, opt->qos, true);
    if (!rc && opt->user)
        rc = mosquitto_username_pw_set(c->broker, opt->user, opt->password);
    if (!rc && opt->cafile)
        rc = mosquitto_tls_set(c->broker, opt->cafile, NULL, opt->certfile, opt->keyfile,
                               no_passphrase);
    if (rc)
        return rh_fail(err, RH_EIO, "mqtt: %s",
                       rc == MOSQ_ERR_ERRNO ? strerror(errno) : mosquitto_strerror(rc));
    rc = mosquitto_connect(c->broker, opt->host, opt->port, opt->keepalive);
    if (opt->cafile && (rc == MOSQ_ERR_TLS || (rc == MOSQ_ERR_ERRNO && errno == EPROTO)))
        return refuse_silence(c, MOSQ_ERR_TLS, err);
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
    double begun = rh_deploy__now();
    rc = set_up(&c, err);
    while (!rc && !(stop && stop(context))) {
        int lost = mosquitto_loop(c.broker, WAIT, 1);
        while (!lost && mosquitto_want_write(c.broker)) // the reply, before the state is saved
            lost = mosquitto_loop_write(c.broker, 1);
        rc = c.rc ? rh_fail(err, c.rc, "%s", c.err.text) : rh_deploy_tick(d, err);
        if (!rc && !c.accepted && (lost || rh_deploy__now() - begun > SILENCE))
            rc = refuse_silence(&c, lost, err);
        else if (!rc && lost)
            reconnect(&c, &pause);
        else if (!rc)
            listen(&c);
        if (!rc && c.listens) {
            tell_unasked(&c);
            tell_health(&c, false);
        }
    }
    if (c.broker && c.accepted && !c.refused) {
        if (c.listens && !c.yields)
            publish(&c, c.health, offline, strlen(offline), true);
        mosquitto_disconnect(c.broker); // without the will
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
