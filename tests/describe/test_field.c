// A result of its own: a row in its table is all that a field needs to be in words, JSON, YAML
// and the numbers of files.

#include "describe/field.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct leak {
    double rate;
    int64_t since; // -1: unknown
    int sensor;
} leak;

typedef enum mood { CALM, BUSY } mood;

typedef struct pump {
    int nleak;
    double flow;
    int64_t nstart;
    int stage;
    bool running;
    const char *maker;
    char place[8];
    mood mood;
    double load[3];
    leak worst;
    leak *leak; // (nleak)
    double spare;
} pump;

static const char *mood_word(int value)
{
    return value == BUSY ? "busy" : "calm";
}

static bool is_running(const rh_field_at *at)
{
    return ((const pump *)at->data)->running;
}

static void write_twice(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__real(doc, key, 2.0 * ((const pump *)at->data)->flow);
}

#define AT(member) RH_FIELD__AT(leak, member)
static const rh_field leak_row[] = {
    {"rate", AT(rate), "l/h", "how much is lost"},
    {"since", RH_FIELD__AS(RH_FIELD_PLACE, leak, since), "h", "when it began"},
    {"sensor", RH_FIELD__AS(RH_FIELD_SENSOR, leak, sensor), NULL, "what shows it"},
};
#undef AT
static const rh_fields leak_fields = {"leak", sizeof(leak), RH_FIELD__ROWS(leak_row),
                                      .flat = true};

#define AT(member) RH_FIELD__AT(pump, member)
static const rh_field state_row[] = {
    {"running", AT(running), NULL, "it turns"},
    {"mood", RH_FIELD__AS(RH_FIELD_WORD, pump, mood), NULL, "how it turns", .word = mood_word},
};
static const rh_fields state_fields = {"state", sizeof(pump), RH_FIELD__ROWS(state_row)};

#define FIRST_ROWS                                                                             \
    {"flow", AT(flow), "m3/h", "what it moves"},                                               \
        {"twice", RH_FIELD__CALL, "m3/h", "double of it", .call = write_twice},                \
        {"starts", AT(nstart), NULL, "how often it was started"},                              \
        {"stage", AT(stage), NULL, "which it is on", .known = is_running},                     \
        {"maker", AT(maker), NULL, "who made it"}, {"place", AT(place), NULL, "where it is"},  \
        {"state", RH_FIELD__GROUP, NULL, "how it is", .fields = &state_fields},                \
        {"load",          RH_FIELD__ARRAY(pump, load), NULL,                                   \
         "of each phase", .count = RH_COUNT_FIXED,     .n = 3},                                \
        {"worst", AT(worst), NULL, "the worst leak", .fields = &leak_fields},                  \
    {                                                                                          \
        "leaks", RH_FIELD__LIST(pump, leak), NULL, "all leaks",                                \
            .fields = &leak_fields, .count = RH_COUNT_MEMBER, .n = offsetof(pump, nleak)       \
    }

static const rh_field row[] = {FIRST_ROWS};
static const rh_fields fields = {"pump", sizeof(pump), RH_FIELD__ROWS(row)};

// The same with one row more.
static const rh_field longer_row[] = {FIRST_ROWS, {"spare", AT(spare), "kW", "kept back"}};
static const rh_fields longer = {"pump", sizeof(pump), RH_FIELD__ROWS(longer_row)};

static const char *const sensor[] = {"level", "heat"};
static const rh_names names = {
    .nsensor = 2, .sensor = sensor, .unit = sensor, .reward = "profit"};
static leak two[] = {{0.5, 7, 1}, {1e-05, -1, 2}};
static const pump sample = {.nleak = 2,
                            .flow = 0.1,
                            .nstart = 3,
                            .stage = 4,
                            .running = true,
                            .maker = "A \"B\"",
                            .place = "hall: 2",
                            .mood = BUSY,
                            .load = {1.0, 0.25, NAN},
                            .worst = {INFINITY, -1, -1},
                            .leak = two,
                            .spare = 2.5};

static void check(rh_doc_form form, const rh_fields *of, const pump *p, const char *expected)
{
    char *text = rh_describe(form, of, p, &names);
    assert_non_null(text);
    assert_string_equal(text, expected);
    rh_free(text);
}

// ---------------------------------------------------------------------------- texts

static void test_json(void **state)
{
    (void)state;
    check(RH_DOC_JSON, &fields, &sample,
          "{\n"
          "  \"flow\": 0.1,\n"
          "  \"twice\": 0.2,\n"
          "  \"starts\": 3,\n"
          "  \"stage\": 4,\n"
          "  \"maker\": \"A \\\"B\\\"\",\n"
          "  \"place\": \"hall: 2\",\n"
          "  \"state\": {\n"
          "    \"running\": true,\n"
          "    \"mood\": \"busy\"\n"
          "  },\n"
          "  \"load\": [1, 0.25, null],\n"
          "  \"worst\": {\"rate\": null, \"since\": null, \"sensor\": null},\n"
          "  \"leaks\": [\n"
          "    {\"rate\": 0.5, \"since\": 7, \"sensor\": \"heat\"},\n"
          "    {\"rate\": 1e-05, \"since\": null, \"sensor\": \"profit\"}\n"
          "  ]\n"
          "}\n");
}

static void test_yaml(void **state)
{
    (void)state;
    check(RH_DOC_YAML, &fields, &sample,
          "flow: 0.1\n"
          "twice: 0.2\n"
          "starts: 3\n"
          "stage: 4\n"
          "maker: \"A \\\"B\\\"\"\n"
          "place: \"hall: 2\"\n"
          "state:\n"
          "  running: true\n"
          "  mood: busy\n"
          "load: [1, 0.25, null]\n"
          "worst: {rate: null, since: null, sensor: null}\n"
          "leaks:\n"
          "  - {rate: 0.5, since: 7, sensor: heat}\n"
          "  - {rate: 1.0e-05, since: null, sensor: profit}\n");
}

static void test_words(void **state)
{
    (void)state;
    check(RH_DOC_WORDS, &fields, &sample,
          "flow                          0.1 m3/h\n"
          "twice                         0.2 m3/h\n"
          "starts                        3\n"
          "stage                         4\n"
          "maker                         A \"B\"\n"
          "place                         hall: 2\n"
          "state\n"
          "  running                     yes\n"
          "  mood                        busy\n"
          "load                          1, 0.25, -\n"
          "worst                         rate -, since -, sensor -\n"
          "leaks\n"
          "  - rate 0.5 l/h, since 7 h, sensor heat\n"
          "  - rate 1e-05 l/h, since -, sensor profit\n");
}

// Lists of structs over several lines, empty groups, structs in a list in a struct.
static void test_blocks(void **state)
{
    static const rh_field inner[] = {
        {"rate", RH_FIELD__AT(leak, rate), NULL, ""},
        {"since", RH_FIELD__AT(leak, since), NULL, ""},
    };
    static const rh_fields broad = {"leak", sizeof(leak), RH_FIELD__ROWS(inner)};
    static const rh_field outer[] = {
        {"leaks", RH_FIELD__LIST(pump, leak), NULL, "", .fields = &broad,
         .count = RH_COUNT_MEMBER, .n = offsetof(pump, nleak)},
        {"starts", RH_FIELD__AT(pump, nstart), NULL, ""},
    };
    static const rh_fields all = {"pump", sizeof(pump), RH_FIELD__ROWS(outer)};
    (void)state;
    pump empty = sample;
    empty.nleak = 0;
    check(RH_DOC_YAML, &all, &sample,
          "leaks:\n"
          "  - rate: 0.5\n"
          "    since: 7\n"
          "  - rate: 1.0e-05\n"
          "    since: -1\n"
          "starts: 3\n");
    check(RH_DOC_YAML, &all, &empty, "leaks: []\nstarts: 3\n");
    check(RH_DOC_JSON, &all, &empty, "{\n  \"leaks\": [],\n  \"starts\": 3\n}\n");
    check(RH_DOC_JSON, &all, NULL, "null");
}

static void test_without_names(void **state)
{
    (void)state;
    char *text = rh_describe(RH_DOC_JSON, &leak_fields, &two[0], NULL);
    assert_string_equal(text, "{\"rate\": 0.5, \"since\": 7, \"sensor\": null}\n");
    rh_free(text);
}

static void test_zero_has_no_sign(void **state)
{
    (void)state;
    leak none = {.rate = -0.0, .since = 7};
    char *json = rh_describe(RH_DOC_JSON, &leak_fields, &none, &names);
    char *words = rh_describe(RH_DOC_WORDS, &leak_fields, &none, &names);
    assert_non_null(strstr(json, "\"rate\": 0,"));
    assert_non_null(strstr(words, "0 l/h"));
    assert_null(strstr(words, "-0"));
    rh_free(json);
    rh_free(words);
}

static void test_unknown_is_left_out(void **state)
{
    (void)state;
    pump still = sample;
    still.running = false;
    char *text = rh_describe(RH_DOC_JSON, &fields, &still, &names);
    assert_null(strstr(text, "stage"));
    assert_non_null(strstr(text, "\"running\": false"));
    rh_free(text);
}

// ---------------------------------------------------------------------------- numbers

static int find(char (*name)[RH_FIELD__NAME], int n, const char *wanted)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name[i], wanted) == 0)
            return i;
    return -1;
}

static void test_numbers(void **state)
{
    (void)state;
    char name[16][RH_FIELD__NAME];
    double x[16];
    static const char *const expected[] = {
        "flow", "starts", "stage", "state.running", "state.mood", "worst.rate", "worst.since"};
    assert_int_equal(rh_field__nnumber(&fields), 7);
    rh_field__get(&fields, &sample, name, x);
    for (int i = 0; i < 7; i++)
        assert_string_equal(name[i], expected[i]);
    pump copy = {0};
    for (int i = 0; i < 7; i++)
        assert_true(rh_field__put(&fields, &copy, name[i], x[i]));
    assert_true(copy.flow == 0.1);
    assert_int_equal(copy.nstart, 3);
    assert_int_equal(copy.stage, 4);
    assert_true(copy.running);
    assert_int_equal(copy.mood, BUSY);
    assert_true(isinf(copy.worst.rate));
    assert_int_equal(copy.worst.since, -1);
}

static void test_numbers_that_do_not_fit(void **state)
{
    (void)state;
    pump p = sample;
    assert_true(rh_field__put(&fields, &p, "no such field", 1.0));
    assert_false(rh_field__put(&fields, &p, "stage", -1.0));
    assert_false(rh_field__put(&fields, &p, "stage", 3e9));
    assert_false(rh_field__put(&fields, &p, "starts", NAN));
    assert_false(rh_field__put(&fields, &p, "starts", 1e300));
    assert_false(rh_field__put(&fields, &p, "worst.since", -2.0));
    assert_true(rh_field__put(&fields, &p, "flow", NAN));
    assert_int_equal(p.stage, 4);
    assert_int_equal(p.nstart, 3);
}

// ---------------------------------------------------------------------------- one row

static void test_a_row_is_all_a_field_needs(void **state)
{
    static const struct {
        rh_doc_form form;
        const char *line;
    } at[] = {{RH_DOC_JSON, "\"spare\": 2.5\n"},
              {RH_DOC_YAML, "spare: 2.5\n"},
              {RH_DOC_WORDS, "spare                         2.5 kW\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        char *before = rh_describe(at[i].form, &fields, &sample, &names);
        char *after = rh_describe(at[i].form, &longer, &sample, &names);
        assert_null(strstr(before, "spare"));
        assert_non_null(strstr(after, at[i].line));
        rh_free(before);
        rh_free(after);
    }
    char name[16][RH_FIELD__NAME];
    double x[16];
    int n = rh_field__nnumber(&longer);
    rh_field__get(&longer, &sample, name, x);
    int spare = find(name, n, "spare");
    assert_true(spare >= 0);
    assert_true(x[spare] == 2.5);
    pump p = {0};
    assert_true(rh_field__put(&longer, &p, "spare", 1.5));
    assert_true(p.spare == 1.5);
}

// ---------------------------------------------------------------------------- findings

static void test_finding(void **state)
{
    (void)state;
    rh_finding f = {.severity = RH_WARNING,
                    .id = RH_FINDING_JUMPS,
                    .count = 2,
                    .first = 4,
                    .dim = 0,
                    .line = -1,
                    .evidence = "two jumps",
                    .remedy = "look"};
    char *text = rh_describe(RH_DOC_YAML, &rh_field__finding, &f, &names);
    assert_string_equal(
        text,
        "severity: warning\nid: jumps\norigin: log\nevidence: \"two jumps\"\nremedy: look\n"
        "count: 2\nfirst_step: 4\nfirst_line: null\nsensor: level\n");
    rh_free(text);
    text = rh_describe(RH_DOC_YAML, &rh_field__finding, &f, NULL);
    assert_null(strstr(text, "first_step"));
    rh_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_without_names),
        cmocka_unit_test(test_zero_has_no_sign),
        cmocka_unit_test(test_unknown_is_left_out),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_that_do_not_fit),
        cmocka_unit_test(test_a_row_is_all_a_field_needs),
        cmocka_unit_test(test_finding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
