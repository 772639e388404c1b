// test_message.c - observations as JSON, as plants and programs write them; replies.

#include "deploy/deploy_sample.h"

static rh_best *best;
static rh_message message;

static int begin(void **state)
{
    return enter(state) || rh_best_read(&best, best_path, NULL) != RH_OK ? -1 : 0;
}

static int end(void **state)
{
    rh_best_destroy(best);
    return leave(state);
}

static rh_status parsed(const char *text, rh_error *err)
{
    size_t n = strlen(text);
    char *exact = malloc(n ? n : 1); // without a 0 behind it, for the sanitizers
    assert_non_null(exact);
    memcpy(exact, text, n);
    rh_status rc = rh_message__parse(&message, best, exact, n, err);
    free(exact);
    return rc;
}

static void reads(const char *text, double temp, double level)
{
    rh_error err = {""};
    if (parsed(text, &err) != RH_OK)
        fail_msg("%s: %s", text, err.text);
    assert_true(isnan(temp) ? isnan(message.obs[0]) : message.obs[0] == temp);
    assert_true(isnan(level) ? isnan(message.obs[1]) : message.obs[1] == level);
}

static void observations(void **unused)
{
    (void)unused;
    reads("{\"obs\":[1.5,-2e1]}", 1.5, -20.0);
    reads(" { \"obs\" : { \"level\" : 3 , \"temp\" : 0.1 } } ", 0.1, 3.0);
    reads("{\"obs\":{\"temp\":1,\"other\":[{\"a\":[1,2,\"]\"]},true,null,0,1]}}", 1.0, NAN);
    reads("{\"obs\":[NaN,Infinity]}", NAN, NAN);
    reads("{\"obs\":[null,-Infinity]}", NAN, NAN);
    reads("{\"obs\":[1e999,1]}", NAN, 1.0);
    reads("{\"obs\":{\"t\\u0065mp\":7,\"level\":1}}", 7.0, 1.0);
    reads("{}", NAN, NAN);
    reads("{\"obs\":{}}", NAN, NAN);
    assert_int_equal(message.seen.seq, -1);
    assert_true(isnan(message.seen.reward));
    assert_true(isnan(message.seen.time));
    assert_null(message.seen.act);
    reads("{\"seq\":12,\"time\":1.75e9,\"reward\":-0.5,\"action\":\"on\",\"start\":true,"
          "\"terminal\":false,\"truncated\":1,\"mode\":\"auto\",\"x\":{},\"obs\":[1,2]}",
          1.0, 2.0);
    const rh_deploy_seen *s = &message.seen;
    assert_int_equal(s->seq, 12);
    assert_true(s->time == 1.75e9);
    assert_true(s->reward == -0.5);
    assert_non_null(s->act);
    assert_true(s->act[0] == 1.0);
    assert_true(s->starts);
    assert_false(s->terminal);
    assert_true(s->truncated);
    reads("{\"obs\":[1,2],\"action\":1}", 1.0, 2.0); // an index
    assert_true(message.seen.act[0] == 1.0);
    const char **names = best->label;
    const char *numbers[] = {"1", "2"}; // names that are numbers are no indices
    best->label = numbers;
    reads("{\"obs\":[1,2],\"action\":1}", 1.0, 2.0);
    assert_true(message.seen.act[0] == 0.0);
    reads("{\"obs\":[1,2],\"action\":2.0}", 1.0, 2.0);
    assert_true(message.seen.act[0] == 1.0);
    best->label = names;
    reads("{\"obs\":[1,2],\"action\":null,\"seq\":null,\"reward\":null}", 1.0, 2.0);
    assert_null(message.seen.act);
    assert_int_equal(message.seen.seq, -1);
}

// What the plant's controller would do, beside what was done.
static void controller(void **unused)
{
    (void)unused;
    reads("{\"obs\":[1,2],\"action\":\"on\",\"controller\":\"off\"}", 1.0, 2.0);
    assert_true(message.seen.act[0] == 1.0);
    assert_true(message.seen.controller[0] == 0.0);
    reads("{\"obs\":[1,2],\"controller\":1}", 1.0, 2.0); // an index
    assert_null(message.seen.act);
    assert_true(message.seen.controller[0] == 1.0);
    reads("{\"obs\":[1,2],\"controller\":null}", 1.0, 2.0);
    assert_null(message.seen.controller);
}

static void refused(void **unused)
{
    (void)unused;
    rh_error nothing = {""};
    assert_int_equal(rh_message__parse(&message, best, "\0\0\0", 3, &nothing), RH_EFORMAT);
    static const struct {
        const char *text, *why;
    } fault[] = {
        {"", "message: found '', expected a JSON object"},
        {"[1,2]", "message: found '[1,2]', expected a JSON object"},
        {"{\"obs\":[1]}", "expected as many numbers as there are sensors"},
        {"{\"obs\":[1,2,3]}", "expected as many numbers as there are sensors"},
        {"{\"obs\":[1,\"x\"]}", "obs: found '\"x\"]}', expected a number"},
        {"{\"obs\":{\"temp\":\"hot\"}}", "temp: found '\"hot\"}}', expected a number"},
        {"{\"obs\":{\"temp\":200,\"temp\":40}}", "temp: found '40}}', expected it once"},
        {"{\"obs\":[1,2],\"obs\":[3,4]}", "obs: found '[3,4]}', expected it once"},
        {"{\"obs\":[1,2]", "message: found '', expected , or }"},
        {"{\"obs\":[1,2]} x", "expected nothing after the object"},
        {"{\"obs\":[1,2],\"seq\":-1}", "expected a whole number from 0"},
        {"{\"obs\":[1,2],\"seq\":1.5}", "expected a whole number from 0"},
        {"{\"obs\":[1,2],\"action\":\"half\"}", "the name or index of an action of best.yaml"},
        {"{\"obs\":[1,2],\"action\":2}", "the name or index of an action of best.yaml"},
        {"{\"obs\":[1,2],\"action\":0.5}", "the name or index of an action of best.yaml"},
        {"{\"obs\":[1,2],\"controller\":\"up\"}",
         "controller: found '\"up\"}', expected the name"},
        {"{\"obs\":[1,2],\"terminal\":\"no\"}", "terminal: found '\"no\"}', expected true or"},
        {"{\"obs\":[1,2],\"time\":\"noon\"}", "time: found '\"noon\"}', expected seconds"},
        {"{\"obs\" [1,2]}", "expected a key and a colon"},
        {"{\"a\":\"\\x\"}", "expected a JSON value"},
        {"{\"a\":\"\\u12", "expected a JSON value"},
        {"{\"a\\u001b\n\":x}", "a??: found 'x}', expected a JSON value"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "expected a JSON value"},
    };
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) {
        rh_error err = {""};
        assert_int_equal(parsed(fault[i].text, &err), RH_EFORMAT);
        if (!strstr(err.text, fault[i].why))
            fail_msg("%s: '%s', expected '%s'", fault[i].text, err.text, fault[i].why);
        assert_true(isnan(message.obs[0]));
        assert_true(isnan(message.obs[1]));
        assert_null(message.seen.act);
        assert_null(message.seen.controller);
    }
}

static void replies(void **unused)
{
    (void)unused;
    char text[400];
    rh_deploy_seen seen = {.seq = 7};
    rh_deploy_reply reply = {.act = {1.0},
                             .notes = RH_NOTE_GAP | RH_NOTE_OUTSIDE,
                             .alarms = RH_ALARM_PROMISE | RH_ALARM_DISK};
    size_t n = rh_message__reply(best, &seen, &reply, "a \"word\"\n", text, sizeof text);
    assert_string_equal(text,
                        "{\"seq\":7,\"action\":\"on\",\"index\":1,\"source\":\"agent\","
                        "\"notes\":[\"gap\",\"outside\"],\"alarms\":[\"promise\",\"disk\"],"
                        "\"error\":\"a \\u0022word\\u0022\\u000a\"}\n");
    assert_int_equal(n, strlen(text));
    seen.seq = -1;
    reply = (rh_deploy_reply){.source = RH_BY_NOBODY};
    rh_message__reply(best, &seen, &reply, NULL, text, sizeof text);
    assert_string_equal(text, "{\"action\":null,\"source\":\"nobody\"}\n");
    best->label[1] = "2.50"; // a label that is a number
    reply = (rh_deploy_reply){.act = {1.0}, .source = RH_BY_GUARD};
    rh_message__reply(best, &seen, &reply, NULL, text, sizeof text);
    assert_string_equal(text, "{\"action\":2.5,\"index\":1,\"source\":\"guard\"}\n");
    assert_int_equal(parsed("{\"obs\":[1,2],\"action\":2.5}", NULL), RH_OK);
    assert_true(message.seen.act[0] == 1.0);
}

// Every prefix and every changed byte of a message is read or refused; the sanitizers watch.
static void damaged(void **unused)
{
    (void)unused;
    static const char whole[] = "{\"seq\":12,\"obs\":{\"temp\":1.5,\"l\\u0065vel\":null},"
                                "\"action\":\"on\",\"x\":[{\"y\":\"\\ud83d\\ude00\"}]}";
    char text[sizeof whole];
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        memcpy(text, whole, sizeof whole);
        text[i] = 0;
        assert_true(parsed(text, NULL) != RH_OK);
        for (int c = 1; c < 256; c += 7) {
            memcpy(text, whole, sizeof whole);
            text[i] = (char)c;
            (void)parsed(text, NULL);
        }
    }
}

// A category is sent as its text.
static void categories(void **unused)
{
    (void)unused;
    const char *const before[2] = {best->task.obs_name[0], best->task.obs_name[1]};
    best->task.obs_name[0] = "mode=auto";
    best->task.obs_name[1] = "mode=manual";
    reads("{\"obs\":{\"mode\":\"auto\"}}", 1.0, 0.0);
    reads("{\"obs\":{\"mode\": \"manual\", \"x\": \"y\"}}", 0.0, 1.0);
    reads("{\"obs\":{\"mode\":\"off\"}}", NAN, NAN); // not in the log
    reads("{\"obs\":{\"mode\":null}}", NAN, NAN);
    reads("{\"obs\":{\"mod\":\"auto\"}}", NAN, NAN);
    reads("{\"obs\":{\"mode=auto\":0,\"mode=manual\":1}}", 0.0, 1.0);
    rh_error err = {""};
    assert_int_equal(parsed("{\"obs\":{\"mode\":\"auto}}", &err), RH_EFORMAT);
    best->task.obs_name[0] = before[0];
    best->task.obs_name[1] = before[1];
}

int main(void)
{
#define WITH_BEST(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_BEST(observations), WITH_BEST(refused),    WITH_BEST(replies),
        WITH_BEST(damaged),      WITH_BEST(categories), WITH_BEST(controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
