// message.c - one JSON object per line: an observation in, an action out.
//
//     {"seq": 17, "obs": {"temp": 20.5, "level": 1.2}, "reward": -0.3, "action": "off"}
//     {"seq":17,"action":"on","index":1,"source":"agent"}
//
// 1. A parser of its own: it allocates nothing, and a message is read in less than a
//    microsecond.
// 2. null, NaN and Infinity (as Python writes them) are missing numbers. So is a sensor that an
//    object does not name. A list must have all sensors that the plant sends, in the order
//    of best.yaml. A category is sent as its text, {"mode": "auto"}, or as its numbers.
// 3. Keys that are not ours are skipped: plants send more than we need. A value of one of ours
//    that cannot be read makes the message a missing observation, which still gets an action.
//    So does a sensor that is named twice: nobody knows which of the two numbers is true.

#include "base/base_internal.h"
#include "base/number.h"
#include "deploy.h"
#include "deploy_internal.h"

#include <math.h>
#include <string.h>

#define NAME 512 // bytes of a name or text
#define DEPTH 32 // objects and lists inside each other

typedef struct parser {
    const char *at, *end;
    const rh_best *best;
    rh_message *message;
    rh_error *err;
    bool has_obs;           // the observation has been read
    bool named[RH_MAX_OBS]; // so has this sensor                      (nsent)
} parser;

static rh_status refuse(const parser *p, const char *what, const char *expected)
{
    char shown[48];
    size_t n = (size_t)(p->end - p->at);
    rh_text__printable_n(p->at, n < 24 ? n : 24, shown, sizeof shown);
    char key[100]; // that the plant sent
    rh_text__printable(what, key, sizeof key);
    return rh_fail(p->err, RH_EFORMAT, "%s: found '%s', expected %s", key, shown, expected);
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && *p->at && strchr(" \t\r\n", *p->at))
        p->at++;
}

// Whether the next character is c, which is skipped.
static bool accept(parser *p, char c)
{
    skip_blanks(p);
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static bool word(parser *p, const char *text)
{
    size_t n = strlen(text);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

// ---------------------------------------------------------------------------- texts

static int hex4(const char *at)
{
    int x = 0;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef";
        const char *d = strchr(digits, at[i] >= 'A' && at[i] <= 'F' ? at[i] + 32 : at[i]);
        if (!d || !at[i])
            return -1;
        x = 16 * x + (int)(d - digits);
    }
    return x;
}

static size_t put_utf8(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    int n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00 >> n) | code);
    return (size_t)n;
}

// The character of a \u escape, surrogate pairs joined; at is behind the u.
static bool escaped_code(parser *p, uint32_t *code)
{
    int x = p->end - p->at >= 4 ? hex4(p->at) : -1;
    if (x < 0)
        return false;
    p->at += 4;
    *code = (uint32_t)x;
    if (x < 0xd800 || x > 0xdbff || p->end - p->at < 6 || p->at[0] != '\\' || p->at[1] != 'u')
        return true;
    int low = hex4(p->at + 2);
    if (low < 0xdc00 || low > 0xdfff)
        return true;
    p->at += 6;
    *code = 0x10000 + (((uint32_t)x - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
    return true;
}

// A string; what does not fit is cut. False: it is none.
static bool string(parser *p, char text[NAME])
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    size_t n = 0;
    if (!accept(p, '"'))
        return false;
    while (p->at < p->end && *p->at != '"') {
        char piece[4];
        size_t length = 1;
        uint32_t code = 0;
        piece[0] = *p->at++;
        if (piece[0] == '\\' && p->at < p->end) {
            char c = *p->at++;
            const char *at = c ? strchr(from, c) : NULL;
            if (c == 'u' && escaped_code(p, &code))
                length = put_utf8(code, piece);
            else if (at)
                piece[0] = to[at - from];
            else
                return false;
        }
        if (n + length < NAME) {
            memcpy(text + n, piece, length);
            n += length;
        }
    }
    text[n] = 0;
    return accept(p, '"');
}

// ---------------------------------------------------------------------------- values

// A number; NAN where it is missing. False: it is none.
static bool number(parser *p, double *x)
{
    *x = NAN;
    skip_blanks(p);
    if (word(p, "null") || word(p, "NaN") || word(p, "Infinity") || word(p, "-Infinity"))
        return true;
    const char *after = rh_number__parse(p->at, p->end, x);
    if (!after)
        return false;
    p->at = after;
    if (!isfinite(*x))
        *x = NAN;
    return true;
}

static bool truth(parser *p, bool *yes)
{
    double x;
    *yes = true;
    if (word(p, "true"))
        return true;
    *yes = false;
    if (word(p, "false"))
        return true;
    bool known = number(p, &x);
    *yes = x == 1.0;
    return known && (isnan(x) || x == 0.0 || x == 1.0);
}

// Skip any value. False: it is not JSON.
static bool skip(parser *p)
{
    char closing[DEPTH], text[NAME];
    int depth = 0;
    double x;
    bool yes;
    do {
        skip_blanks(p);
        char c = p->at < p->end ? *p->at : 0;
        if (depth > 0 && (c == closing[depth - 1])) {
            depth--;
            p->at++;
        } else if (c == '{' || c == '[') {
            if (depth == DEPTH)
                return false;
            closing[depth++] = c == '{' ? '}' : ']';
            p->at++;
        } else if (c == '"' ? !string(p, text) : !number(p, &x) && !truth(p, &yes))
            return false;
        if (depth > 0 && (accept(p, ',') || accept(p, ':')))
            continue;
    } while (depth > 0);
    return true;
}

// ---------------------------------------------------------------------------- our keys

// A sensor is named for the first time.
static bool is_new(parser *p, int sensor)
{
    bool before = p->named[sensor];
    p->named[sensor] = true;
    return !before;
}

// A text as a sensor's value: of the sensors "mode=auto", "mode=manual" the one that is meant
// is 1 and the others are 0. A text that the log did not have leaves them missing. False: it
// is no text, or one of them has been named before.
static bool category(parser *p, const char *name)
{
    const rh_best *best = p->best;
    char value[NAME];
    int at = -1;
    size_t n = strlen(name);
    if (!string(p, value))
        return false;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < best->nsent; i++) {
            const char *sensor = best->task.obs_name[i];
            if (strncmp(sensor, name, n) != 0 || sensor[n] != '=')
                continue;
            if (pass == 0 && !is_new(p, i))
                return false;
            if (pass == 0 && strcmp(sensor + n + 1, value) == 0)
                at = i;
            if (pass == 1 && at >= 0)
                p->message->obs[i] = i == at;
        }
    return true;
}

static rh_status take_obs(parser *p)
{
    const rh_task *task = &p->best->task;
    double *obs = p->message->obs;
    int nobs = p->best->nsent;
    char name[NAME];
    if (p->has_obs)
        return refuse(p, "obs", "it once");
    p->has_obs = true;
    if (accept(p, '[')) {
        for (int i = 0; i < nobs; i++) {
            if (i > 0 && !accept(p, ','))
                return refuse(p, "obs", "as many numbers as there are sensors");
            if (!number(p, &obs[i]))
                return refuse(p, "obs", "a number");
        }
        return accept(p, ']') ? RH_OK
                              : refuse(p, "obs", "as many numbers as there are sensors");
    }
    if (!accept(p, '{'))
        return refuse(p, "obs", "a list of numbers or an object with a number per sensor");
    if (accept(p, '}'))
        return RH_OK;
    int hint = 0;
    do {
        if (!string(p, name) || !accept(p, ':'))
            return refuse(p, "obs", "a sensor's name and a colon");
        int at = -1;
        for (int i = 0; i < nobs && at < 0; i++) // usually in the same order
            if (strcmp(task->obs_name[(hint + i) % nobs], name) == 0)
                at = (hint + i) % nobs;
        hint = at + 1;
        skip_blanks(p);
        if (at >= 0 && !is_new(p, at))
            return refuse(p, name, "it once");
        bool text = at < 0 && p->at < p->end && *p->at == '"';
        if (text ? !category(p, name) : at < 0 ? !skip(p) : !number(p, &obs[at]))
            return refuse(p, name, text ? "one text" : "a number");
    } while (accept(p, ','));
    return accept(p, '}') ? RH_OK : refuse(p, "obs", ", or }");
}

int rh_message__action_of(const rh_best *best, double x)
{
    bool named = false;
    for (int i = 0; i < best->task.naction; i++) {
        double y;
        bool number = rh_number__read(best->label[i], strlen(best->label[i]), &y) == RH_NUMBER;
        if (number && y == x)
            return i;
        named = named || number;
    }
    return !named && x >= 0.0 && x < best->task.naction && x == floor(x) ? (int)x : -1;
}

// An action of a key: its name, index or vector. *is: act, if there is one.
static rh_status take_action(parser *p, const char *key, double *act, const double **is)
{
    const rh_task *task = &p->best->task;
    char name[NAME];
    skip_blanks(p);
    if (word(p, "null"))
        return RH_OK;
    *is = act;
    if (task->naction) {
        double x = NAN;
        const char *begun = p->at;
        int at = -1;
        if (p->at < p->end && *p->at == '"') {
            if (!string(p, name))
                return refuse(p, key, "the name of an action");
            for (int i = 0; i < task->naction && at < 0; i++)
                at = strcmp(p->best->label[i], name) == 0 ? i : -1;
        } else if (number(p, &x))
            at = rh_message__action_of(p->best, x);
        act[0] = at;
        if (at >= 0)
            return RH_OK;
        p->at = begun;
        return refuse(p, key, "the name or index of an action of best.yaml");
    }
    bool list = accept(p, '[');
    for (int k = 0; k < task->nact; k++)
        if ((k > 0 && !accept(p, ',')) || !number(p, &act[k]))
            return refuse(p, key, "as many numbers as an action has");
    return !list || accept(p, ']') ? RH_OK : refuse(p, key, "as many numbers as an action has");
}

// What is to be done from now on.
static rh_status take_command(parser *p)
{
    static const char *const name[] = {"", "fallback", "agent", "shadow", "advice", "control"};
    char text[NAME];
    const char *begun = p->at;
    if (word(p, "null"))
        return RH_OK;
    if (string(p, text))
        for (int i = 1; i < (int)(sizeof name / sizeof *name); i++)
            if (strcmp(text, name[i]) == 0) {
                p->message->seen.command = (rh_deploy_command)i;
                return RH_OK;
            }
    p->at = begun;
    return refuse(p, "command", "fallback, agent, shadow, advice or control");
}

static rh_status take(parser *p, const char *key)
{
    rh_deploy_seen *seen = &p->message->seen;
    double x;
    if (strcmp(key, "obs") == 0)
        return take_obs(p);
    if (strcmp(key, "action") == 0)
        return take_action(p, key, p->message->act, &seen->act);
    if (strcmp(key, "controller") == 0)
        return take_action(p, key, p->message->controller, &seen->controller);
    if (strcmp(key, "reward") == 0)
        return number(p, &seen->reward) ? RH_OK : refuse(p, key, "a number");
    if (strcmp(key, "time") == 0)
        return number(p, &seen->time) ? RH_OK : refuse(p, key, "seconds, as a number");
    if (strcmp(key, "seq") == 0) {
        if (!number(p, &x) || (!isnan(x) && (x < 0.0 || x != floor(x) || x > 9e15)))
            return refuse(p, key, "a whole number from 0");
        seen->seq = isnan(x) ? -1 : (int64_t)x;
        return RH_OK;
    }
    if (strcmp(key, "command") == 0)
        return take_command(p);
    bool *flag = strcmp(key, "start") == 0       ? &seen->starts
                 : strcmp(key, "terminal") == 0  ? &seen->terminal
                 : strcmp(key, "truncated") == 0 ? &seen->truncated
                                                 : NULL;
    if (flag)
        return truth(p, flag) ? RH_OK : refuse(p, key, "true or false");
    return skip(p) ? RH_OK : refuse(p, key, "a JSON value");
}

static rh_status parse(parser *p)
{
    char key[NAME];
    if (!accept(p, '{'))
        return refuse(p, "message", "a JSON object");
    if (!accept(p, '}')) {
        do {
            if (!string(p, key) || !accept(p, ':'))
                return refuse(p, "message", "a key and a colon");
            rh_status rc = take(p, key);
            if (rc)
                return rc;
        } while (accept(p, ','));
        if (!accept(p, '}'))
            return refuse(p, "message", ", or }");
    }
    skip_blanks(p);
    return p->at == p->end ? RH_OK : refuse(p, "message", "nothing after the object");
}

rh_status rh_message__parse(rh_message *message, const rh_best *best, const char *text,
                            size_t n, rh_error *err)
{
    parser p = {.at = text, .end = text + n, .best = best, .message = message, .err = err};
    message->seen =
        (rh_deploy_seen){.obs = message->obs, .reward = NAN, .seq = -1, .time = NAN};
    for (int i = 0; i < best->nsent; i++)
        message->obs[i] = NAN;
    rh_status rc = parse(&p);
    for (int i = 0; rc && i < best->nsent; i++)
        message->obs[i] = NAN;
    if (rc)
        message->seen = (rh_deploy_seen){.obs = message->obs,
                                         .reward = NAN,
                                         .seq = message->seen.seq,
                                         .time = message->seen.time};
    return rc;
}

size_t rh_message__reply(const rh_best *best, const rh_deploy_seen *seen,
                         const rh_deploy_reply *reply, const char *error, char *text,
                         size_t size)
{
    static const char *const source[] = {"agent",    "guard", "hold",   "nobody",
                                         "fallback", "blend", "advice", "shadow"};
    rh_line line = {.at = text, .size = size - 1};
    rh_line__add(&line, "{");
    if (seen->seq >= 0) {
        rh_line__add(&line, "\"seq\":");
        rh_line__whole(&line, seen->seq);
        rh_line__add(&line, ",");
    }
    rh_line__add(&line, "\"action\":");
    if (reply->source == RH_BY_NOBODY)
        rh_line__add(&line, "null");
    else
        rh_line__action(&line, best, reply->act);
    if (best->task.naction && reply->source != RH_BY_NOBODY) {
        rh_line__add(&line, ",\"index\":");
        rh_line__whole(&line, (int64_t)reply->act[0]);
    }
    rh_line__add(&line, ",\"source\":\"");
    rh_line__add(&line, source[reply->source]);
    rh_line__add(&line, "\"");
    rh_line__bits(&line, "notes", reply->notes, rh_deploy__note_name);
    rh_line__bits(&line, "alarms", reply->alarms, rh_deploy__alarm_name);
    if (error) {
        rh_line__add(&line, ",\"error\":");
        rh_line__string(&line, error);
    }
    rh_line__add(&line, "}\n");
    return line.n;
}
