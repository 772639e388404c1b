// test_journal.c - the journal: what is written reads back to the same bits, and a damaged file
// is repaired or refused with a line number.
//
//     study_test_journal <folder> [pause]   write a sample for the real Optuna, with so many
//                                           milliseconds between lines

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "base/in_memory.h"
#include "base/without_sync.h"
#include "study/journal_sample.h"

static char folder[64], path[96];

static int enter(void **unused)
{
    (void)unused;
    if (!folder_in_memory(folder, "journal"))
        return -1;
    snprintf(path, sizeof path, "%s/study.log", folder);
    return 0;
}

static int leave(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(folder); // fails when something else is left
}

// ---------------------------------------------------------------------------- helpers

static char *contents(size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    *n = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void put(const char *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

// What another program appends.
static void append(const char *text)
{
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static rh_journal *opened(const rh_plan *plan)
{
    rh_journal *journal = NULL;
    rh_error err = {""};
    rh_journal__head head = sample_head(plan);
    rh_status rc = rh_journal__open(&journal, folder, &head, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, RH_OK);
    return journal;
}

static void refused(const rh_plan *plan, rh_status expected, const char *words)
{
    rh_journal *journal = NULL;
    rh_error err = {""};
    rh_journal__head head = sample_head(plan);
    int64_t live = rh_base__alloc_live();
    rh_status rc = rh_journal__open(&journal, folder, &head, &err);
    assert_null(journal);
    if (!strstr(err.text, words))
        fail_msg("'%s', expected '%s'", err.text, words);
    assert_int_equal(rc, expected);
    assert_null(strchr(err.text, '\n'));
    assert_int_equal(rh_base__alloc_live(), live);
}

static void put_ok(rh_journal *journal, const rh_plan *plan, const planned *trial, bool end,
                   double value, rh_setting_state state)
{
    rh_error err = {""};
    rh_status rc = put_trial(journal, plan, trial, end, value, state, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, RH_OK);
}

// Four trials: done, dropped, broken down, and under way.
static void write_sample(const rh_plan *plan)
{
    rh_journal *journal = opened(plan);
    for (int i = 0; i < 4; i++) {
        planned trial = sample_trial(i, i == 2);
        put_ok(journal, plan, &trial, i < 3, i == 2 ? -INFINITY : -10.0 + i,
               i == 1 ? RH_SETTING_DROPPED : RH_SETTING_DONE);
    }
    assert_int_equal(rh_journal__sync(journal, NULL), RH_OK);
    rh_journal__close(journal);
}

// The first n trials of the sample are there.
static void check_sample(const rh_journal *journal, int n)
{
    assert_true(rh_journal__ntrial(journal) >= n);
    for (int i = 0; i < n; i++) {
        const rh_journal__entry *t = rh_journal__trial(journal, i);
        planned expected = sample_trial(i, i == 2);
        assert_int_equal(t->setting, i);
        assert_int_equal(t->confirm, i == 2);
        assert_true(same_bits(t->x, expected.x, 5));
        assert_int_equal(t->finished, i < 3);
        assert_int_equal(t->state, i == 1  ? RH_SETTING_DROPPED
                                   : i < 3 ? RH_SETTING_DONE
                                           : RH_SETTING_OPEN);
        assert_int_equal(t->nrun, 2);
        for (int k = 0; k < 2; k++) {
            rh_study__run l = sample_run(i, k, k);
            assert_true(same_run(&t->run[k], &l));
        }
    }
}

// ---------------------------------------------------------------------------- numbers

static void numbers_come_back(void **unused)
{
    (void)unused;
    static const double odd[] = {0.0,   -0.0,     1.0 / 3.0,  5e-324, DBL_MAX, -DBL_MIN,
                                 1e15,  -1e15,    1e22,       1e23,   0x1p53,  0x1p53 + 2,
                                 1e300, INFINITY, -INFINITY,  0.1,    NAN,     123456.75,
                                 1e-5,  2e-308,   -99999.125, 3e22,   1e-22,   1e-23};
    rh_rng rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0);
    for (int i = 0; i < 20000; i++) {
        rh_text text = {0};
        double x, y = 7.0;
        uint64_t bits = rh_rng__bits(&rng);
        memcpy(&x, &bits, sizeof x);
        if (i % 2) // of a size that scores have, and whole ones with many digits
            x = i % 4 == 1 ? rh_rng_range(&rng, -1e3, 1e3) : (double)(bits >> i % 64) * 1e4;
        x = i < (int)LENGTH(odd) ? odd[i] : isfinite(x) ? x : 1.0;
        rh_journal__number(&text, x);
        const char *end = text.data + text.n;
        assert_ptr_equal(rh_scan__number(text.data, end, &y), end);
        assert_true(same_bits(&x, &y, 1));

        // and so says jansson, of what is JSON
        json_t *json = json_loadb(text.data, text.n, JSON_DECODE_ANY, NULL);
        assert_non_null(json);
        y = json_number_value(json);
        assert_true(!isfinite(x) || x == y);
        assert_true(x != 0.0 || !!signbit(x) == !!signbit(y));
        json_decref(json);
        rh_text__clear(&text);
    }
    static const char *const bad[] = {"", "-", "nul", "\"nan\"", ".5", "1e", "1e+", "x"};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        double y;
        const char *end = bad[i] + strlen(bad[i]);
        assert_true(!*bad[i] || rh_scan__number(bad[i], end, &y) != end);
    }
}

// ---------------------------------------------------------------------------- there and back

static void comes_back_to_the_bit(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    int64_t live = rh_base__alloc_live();
    setlocale(LC_ALL, "de_DE.UTF-8"); // where there is one, numbers have a comma
    write_sample(&plan);
    rh_journal *journal = opened(&plan);
    assert_int_equal(rh_journal__ntrial(journal), 4);
    check_sample(journal, 4);
    setlocale(LC_ALL, "C");

    // numbering continues, and a running trial can be finished
    int number = -1;
    planned trial = sample_trial(4, false);
    assert_int_equal(begin_trial(journal, &trial, &number, NULL), RH_OK);
    assert_int_equal(number, 4);
    rh_result result[6];
    double hp[RH_STUDY__NHP];
    trial = sample_trial(3, false);
    rh_trial t = sample_end(&plan, &trial, 1.0, RH_SETTING_DONE, result, hp);
    assert_int_equal(rh_journal__finish(journal, 3, &t, NULL), RH_OK);
    rh_journal__close(journal);

    journal = opened(&plan);
    check_sample(journal, 3);
    assert_int_equal(rh_journal__ntrial(journal), 5);
    assert_true(rh_journal__trial(journal, 3)->finished);
    assert_int_equal(rh_journal__trial(journal, 3)->nrun, 2);
    assert_int_equal(rh_journal__trial(journal, 4)->nrun, 0);
    rh_journal__close(journal);
    assert_int_equal(rh_base__alloc_live(), live);
}

// Errors of the caller are refused in every build, and nothing is written.
static void refuses_wrong_calls(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    write_sample(&plan);
    rh_journal *journal = opened(&plan);
    rh_error err = {""};
    size_t before, after;
    free(contents(&before));
    int number = -1;
    rh_study__run run = sample_run(0, 0, 0);
    assert_int_equal(rh_journal__add_run(journal, 0, &run, &err), RH_EINVAL); // finished
    assert_string_equal(err.text, "study.log: trial 0 of 4, expected one that is not finished");
    assert_int_equal(rh_journal__add_run(journal, 4, &run, &err), RH_EINVAL);
    assert_int_equal(rh_journal__finish(journal, -1, &(rh_trial){0}, &err), RH_EINVAL);
    run.member = RH_MAX_MEMBER;
    assert_int_equal(rh_journal__add_run(journal, 3, &run, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "study.log: run 0 in member"));
    planned trial = sample_trial(4, false);
    trial.x[2] = 0.75; // not in the list
    assert_int_equal(begin_trial(journal, &trial, &number, &err), RH_EINVAL);
    assert_string_equal(err.text, "study.log: lambda = 0.75, expected a value of the space");
    assert_null(rh_journal__trial(journal, 4));
    rh_journal__forget(journal, 4);
    rh_journal__close(journal);
    free(contents(&after));
    assert_int_equal(before, after);
    rh_journal__head head = sample_head(&plan);
    head.ncurve = 65;
    assert_int_equal(rh_journal__open(&journal, folder, &head, &err), RH_EINVAL);
    assert_string_equal(err.text, "study: curve points = 65, expected 0 to 64");
}

static void lines_are_what_optuna_wants(void **unused)
{
    (void)unused;
    static const char *const expected[] = {
        "{\"op_code\":0,\"worker_id\":\"rehearse/"
        "4\",\"study_name\":\"plant\",\"directions\":[2],"
        "\"crc\":\"",
        ",\"study_id\":0,\"user_attr\":{\"fingerprint\":\"0123456789abcdef\"},\"crc\":\"",
        ",\"study_id\":0,\"user_attr\":{\"nstep\":1001},\"crc\":\"",
        "\"alpha\":\"{\\\"name\\\": \\\"FloatDistribution\\\", \\\"attributes\\\": "
        "{\\\"log\\\": "
        "true, \\\"step\\\": null, \\\"low\\\": 0.001, \\\"high\\\": 1}}\"",
        "\"tilings\":\"{\\\"name\\\": \\\"IntDistribution\\\", \\\"attributes\\\": "
        "{\\\"log\\\": "
        "false, \\\"step\\\": 1, \\\"low\\\": 1, \\\"high\\\": 32}}\"",
        "\"tau\":\"{\\\"name\\\": \\\"FloatDistribution\\\", \\\"attributes\\\": {\\\"log\\\": "
        "false, \\\"step\\\": 0.1, \\\"low\\\": 0.1, \\\"high\\\": 1}}\"",
        "\"lambda\":\"{\\\"name\\\": \\\"FloatDistribution\\\", \\\"attributes\\\": "
        "{\\\"log\\\": "
        "false, \\\"step\\\": null, \\\"low\\\": 0, \\\"high\\\": 0.99}}\"",
        "{\\\"choices\\\": [\\\"adam\\\", \\\"sgd\\\"]}}\"",
        "\"params\":{\"alpha\":0.001,\"tilings\":1,\"lambda\":0,\"optimiser\":0,\"tau\":0.1},"
        "\"user_attrs\":{\"stage\":\"search\",\"setting\":0}",
        "{\"op_code\":7,\"worker_id\":\"rehearse/4\",\"trial_id\":0,\"step\":251,"
        "\"intermediate_value\":-9.5,\"crc\":\"",
        "\"trial_id\":0,\"step\":1001,\"intermediate_value\":-0.333333333333333",
        "\"trial_id\":0,\"setting\":\"done\",\"state\":1,\"values\":[-10],\"datetime_"
        "complete\"",
        "\"trial_id\":1,\"setting\":\"dropped\",\"state\":2,\"values\":[-9],\"datetime_"
        "complete\"",
        "\"trial_id\":2,\"setting\":\"done\",\"state\":3,\"values\":null,\"datetime_complete\"",
    };
    rh_plan plan = sample_plan();
    write_sample(&plan);
    size_t n;
    char *bytes = contents(&n);
    for (size_t i = 0; i < LENGTH(expected); i++)
        if (!strstr(bytes, expected[i]))
            fail_msg("not there: %s", expected[i]);
    assert_null(strstr(bytes, "NaN"));
    assert_null(strstr(bytes, "Infinity"));
    free(bytes);
}

static void a_verdict_once(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    write_sample(&plan);
    rh_result result[6];
    double hp[RH_STUDY__NHP];
    planned found = sample_trial(1, false);
    rh_trial trial = sample_end(&plan, &found, -9.0, RH_SETTING_DONE, result, hp);
    int tied[] = {0};
    rh_verdict verdict = {.trial = &trial, .ntrial = 1, .winner = -1, .tied = tied, .ntied = 1};
    struct stat st[4];
    for (int i = 0; i < 4; i++) {
        rh_journal *journal = opened(&plan);
        assert_int_equal(rh_journal__conclude(journal, &verdict, NULL), RH_OK);
        assert_int_equal(rh_journal__conclude(journal, &verdict, NULL), RH_OK);
        rh_journal__close(journal);
        assert_int_equal(stat(path, &st[i]), 0);
        verdict.winner = 0;        // then there is one
        verdict.finished = i == 2; // and another
    }
    assert_true(st[0].st_size < st[1].st_size);
    assert_int_equal(st[1].st_size, st[2].st_size);
    assert_true(st[2].st_size < st[3].st_size);
    size_t n;
    char *bytes = contents(&n);
    assert_non_null(strstr(bytes,
                           "{\"verdict\":{\"study\":\"plant\",\"trial\":1,\"setting\":1,"
                           "\"finished\":false,\"confirmed\":false,\"value\":-9,\"lo95\":-10.5,"
                           "\"hi95\":-7.5,\"tied\":[1]}}"));
    assert_non_null(strstr(bytes, "{\"deploy\":{\"study\":\"plant\",\"trial\":1,\"name\":"
                                  "\"esarsa\",\"hyperparameters\":{"));

    // its last line torn: all of it is written again
    size_t from = 0;
    for (const char *c = bytes; (c = strstr(c, "\"user_attr\":{")) != NULL; c++)
        from = (size_t)(c - bytes);
    put(bytes, from + 40);
    free(bytes);
    verdict.finished = true;
    rh_journal *journal = opened(&plan);
    assert_int_equal(rh_journal__conclude(journal, &verdict, NULL), RH_OK);
    rh_journal__close(journal);
    bytes = contents(&n);
    assert_true(n > from);
    assert_non_null(strstr(bytes + from, "{\"deploy\":"));
    assert_non_null(strstr(bytes + from, "{\"verdict\":"));
    free(bytes);
}

// A run of two steps has two points, whatever the plan hoped for.
static void a_short_run(void **unused)
{
    (void)unused;
    static const double curve[NCURVE] = {1.5, 2.5, NAN, NAN};
    rh_plan plan = sample_plan();
    rh_journal *journal = opened(&plan);
    rh_result result[6];
    double hp[RH_STUDY__NHP];
    int number = -1;
    planned trial = sample_trial(0, false);
    rh_trial t = sample_end(&plan, &trial, 1.0, RH_SETTING_DONE, result, hp);
    t.curve = curve;
    rh_journal__set_steps(journal, 2);
    assert_int_equal(begin_trial(journal, &trial, &number, NULL), RH_OK);
    assert_int_equal(rh_journal__finish(journal, number, &t, NULL), RH_OK);
    rh_journal__close(journal);
    size_t n;
    char *bytes = contents(&n), line[80];
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "\"step\":%d,\"intermediate_value\":%d.5,", i + 1, i + 1);
        assert_non_null(strstr(bytes, line));
    }
    free(bytes);
}

// ---------------------------------------------------------------------------- damage

static void torn_anywhere(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    write_sample(&plan);
    size_t n;
    char *bytes = contents(&n);

    // the last two lines, and with them the last two runs
    size_t last = n - 1;
    for (int line = 0; line < 2; last--)
        line += bytes[last - 1] == '\n';
    for (size_t cut = last + 1; cut <= n; cut++) {
        put(bytes, cut);
        rh_journal *journal = opened(&plan);
        check_sample(journal, 3);
        int nunit = 0;
        for (size_t i = last + 1; i < cut; i++)
            nunit += bytes[i] == '\n';
        assert_int_equal(rh_journal__ntrial(journal), 4);
        assert_int_equal(rh_journal__trial(journal, 3)->nrun, nunit);

        // the rest goes on behind whole lines
        rh_study__run l = sample_run(3, 1, 2);
        assert_int_equal(rh_journal__add_run(journal, 3, &l, NULL), RH_OK);
        rh_journal__close(journal);
        journal = opened(&plan);
        assert_int_equal(rh_journal__trial(journal, 3)->nrun, nunit + 1);
        assert_true(same_run(&rh_journal__trial(journal, 3)->run[nunit], &l));
        rh_journal__close(journal);
    }

    // a head that is not whole is written again
    rh_text head = {0};
    rh_journal__head what = sample_head(&plan);
    rh_journal__head_lines(&head, &what);
    uint32_t crc = 0;
    rh_journal__seal_lines(&head, &crc);
    assert_memory_equal(bytes, head.data, head.n);
    for (size_t cut = 0; cut <= head.n; cut++) {
        put(bytes, cut);
        rh_journal__close(opened(&plan));
        size_t size;
        char *now = contents(&size);
        assert_int_equal(size, head.n);
        assert_memory_equal(now, head.data, size);
        free(now);
    }
    rh_text__clear(&head);
    free(bytes);
}

static void damage_is_found(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    write_sample(&plan);
    size_t n;
    char *bytes = contents(&n);
    int line = 1, nline = 0;
    for (size_t i = 0; i < n; i++)
        nline += bytes[i] == '\n';
    rh_journal__head head = sample_head(&plan);
    for (size_t i = 0; i < n; i++) {
        char was = bytes[i];
        static const char change[] = {1, 8, 32, 0};
        for (const char *c = change; *c; c++) {
            bytes[i] = (char)(was ^ *c);
            put(bytes, n);
            rh_journal *journal = NULL;
            rh_error err = {""};
            rh_status rc = rh_journal__open(&journal, folder, &head, &err);
            if (line == nline || (line == nline - 1 && was == '\n')) {
                assert_int_equal(rc, RH_OK); // the end of the file: cut off
                check_sample(journal, 3);
                assert_true(rh_journal__trial(journal, 3)->nrun < 2);
            } else {
                char place[96];
                snprintf(place, sizeof place, "study.log:%d: damaged: ", line);
                if (rc != RH_EFORMAT || (!strstr(err.text, place) && line > 1))
                    fail_msg("byte %zu of line %d: %d, %s", i, line, rc, err.text);
            }
            rh_journal__close(journal);
        }
        bytes[i] = was;
        line += was == '\n';
        if (line > 2 && line < nline - 3 && was != '\n' && i % 7) // not all of so many
            i += 6 < n - i && !memchr(bytes + i, '\n', 7) ? 6 : 0;
    }
    free(bytes);
}

// The checksum at the end of the last line.
static uint32_t last_crc(const char *bytes, size_t n)
{
    return (uint32_t)strtoul(bytes + n - 11, NULL, 16);
}

// Where line i of the text begins; its end for i = number of lines.
static const char *line_at(const char *text, int i)
{
    for (; i > 0; i--)
        text = strchr(text, '\n') + 1;
    return text;
}

// A text without line a, before line b of it: a itself, twice, or not at all.
static void rearrange(const char *text, int a, int b, int times)
{
    rh_text changed = {0};
    int nline = 0;
    for (const char *c = text; *c; c++)
        nline += *c == '\n';
    for (int i = 0; i <= nline; i++) {
        if (i == b)
            for (int k = 0; k < times; k++)
                rh_text__format(&changed, "%.*s",
                                (int)(line_at(text, a + 1) - line_at(text, a)),
                                line_at(text, a));
        if (i < nline && i != a)
            rh_text__format(&changed, "%.*s", (int)(line_at(text, i + 1) - line_at(text, i)),
                            line_at(text, i));
    }
    put(changed.data, changed.n);
    rh_text__clear(&changed);
}

// Every line lost, doubled, and moved to every other place: refused, or cut off at the end,
// where the journal is one that an earlier kill could have left.
static void lines_out_of_order(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    write_sample(&plan);
    size_t n;
    char *bytes = contents(&n);
    int nline = 0;
    for (size_t i = 0; i < n; i++)
        nline += bytes[i] == '\n';
    for (int a = 1; a < nline; a++)
        for (int b = 1; b <= nline; b += b < nline - 3 ? 3 : 1)
            for (int times = b == 1 ? 0 : 1; times <= 2; times++) {
                if (times == 1 && (b == a || b == a + 1))
                    continue; // where it was
                rearrange(bytes, a, b, times);
                rh_journal *journal = NULL;
                rh_error err = {""};
                rh_journal__head head = sample_head(&plan);
                rh_status rc = rh_journal__open(&journal, folder, &head, &err);
                size_t left;
                rh_journal__close(journal);
                char *now = contents(&left);
                if (rc == RH_OK && (left > n || memcmp(now, bytes, left) != 0))
                    fail_msg("line %d, %d times before line %d: read", a + 1, times, b + 1);
                if (rc && !strstr(err.text, "lost, moved or doubled"))
                    fail_msg("line %d, %d times before line %d: %s", a + 1, times, b + 1,
                             err.text);
                free(now);
            }

    // the message says which line, and what to keep
    rearrange(bytes, 12, 1, 0);
    refused(&plan, RH_EFORMAT,
            "study.log:13: damaged: wrong checksum: this line was changed, or lines before it "
            "were lost, moved or doubled; to resume from there, keep the first 12 lines");
    free(bytes);
}

// Versions that were never released, and those to come, on the first line and further down.
static void another_version(void **unused)
{
    (void)unused;
    static const int version[] = {0, 1, 2, RH_JOURNAL__VERSION + 1};
    rh_plan plan = sample_plan();
    write_sample(&plan);
    size_t n;
    char *bytes = contents(&n);
    int nline = 0;
    for (size_t i = 0; i < n; i++)
        nline += bytes[i] == '\n';
    for (size_t i = 0; i < 2 * LENGTH(version); i++) {
        size_t kept = i % 2 ? n : 0;
        int found = version[i / 2];
        char text[100], line[140], words[120];
        snprintf(text, sizeof text, "{\"op_code\":0,\"worker_id\":\"rehearse/%d\"", found);
        snprintf(line, sizeof line, "%s,\"crc\":\"%08x\"}\n", text,
                 (unsigned)rh_base__crc32(kept ? last_crc(bytes, n) : 0, text, strlen(text)));
        snprintf(words, sizeof words,
                 "study.log:%d: version %d of the journal, expected %d; use another folder",
                 kept ? nline + 1 : 1, found, RH_JOURNAL__VERSION);
        put(bytes, kept);
        append(line);
        refused(&plan, RH_EFORMAT, words);
    }
    free(bytes);
}

#define MORE "\"failures\":[0,0,0],\"ended\":[0,0],\"last\":null,\"caught_up\":0,"

// Correct checksum, wrong content.
static void complete_and_wrong(void **unused)
{
    (void)unused;
    static const struct {
        int op;
        const char *rest, *words;
    } known[] = {
        {8,
         ",\"trial_id\":7,\"user_attr\":{\"run:0:0\":{\"score\":1,\"total\":1,\"steps\":1,"
         "\"episodes\":0,\"out_of_coverage\":0," MORE
         "\"outcome\":\"finished\",\"curve\":[1,1,1,1]}}",
         "a run of a trial that is not running"},
        {8, ",\"trial_id\":0,\"user_attr\":{\"run:0:0\":{\"score\":1}}", "not a line that"},
        {8,
         ",\"trial_id\":3,\"user_attr\":{\"run:0:1\":{\"score\":1,\"total\":1,"
         "\"steps\":1,\"episodes\":0,\"out_of_coverage\":0,\"failures\":[0,0],"
         "\"outcome\":\"finished\",\"curve\":[1,1,1,1]}}",
         "not a line that"},
        {8,
         ",\"trial_id\":3,\"user_attr\":{\"run:0:999999999999\":{\"score\":1,\"total\":1,"
         "\"steps\":1,\"episodes\":0,\"out_of_coverage\":0," MORE
         "\"outcome\":\"finished\",\"curve\":["
         "1,1,"
         "1,1]}}",
         "a run of a trial that is not running"},
        {8,
         ",\"trial_id\":3,\"user_attr\":{\"run:0:1\":{\"score\":1,\"total\":1,"
         "\"steps\":1,\"episodes\":0,\"out_of_coverage\":0," MORE
         "\"outcome\":\"bored\",\"curve\":[1,"
         "1,1,1]}}",
         "not a line that"},
        {6, ",\"trial_id\":0,\"setting\":\"done\",\"state\":1",
         "the end of a trial that is not running"},
        {6, ",\"trial_id\":3,\"setting\":\"gone\",\"state\":1", "not a line that"},
        {4, ",\"params\":{}", "not a line that"},
        {4,
         ",\"study_id\":2,\"params\":{\"alpha\":0.5,\"tilings\":1,\"lambda\":0,\"optimiser\":0,"
         "\"tau\":0.1},\"user_attrs\":{\"stage\":\"confirm\",\"setting\":0}",
         "not a line that"},
        {0, ",\"study_name\":\"b\",\"directions\":[2]", "not a line that"},
        {5, ",\"trial_id\":0", "not a line that"},
    };
    rh_plan plan = sample_plan();
    write_sample(&plan);
    size_t n;
    char *bytes = contents(&n);
    for (size_t i = 0; i < LENGTH(known); i++) {
        rh_text text = {0};
        rh_journal__begin_line(&text, known[i].op);
        rh_text__add(&text, known[i].rest);
        rh_journal__end_line(&text);
        uint32_t crc = last_crc(bytes, n);
        rh_journal__seal_lines(&text, &crc);
        put(bytes, n);
        append(text.data);
        refused(&plan, RH_EFORMAT, known[i].words);
        rh_text__clear(&text);
    }
    free(bytes);
}

// ---------------------------------------------------------------------------- other programs

static void lines_of_others(void **unused)
{
    (void)unused;
    static const char trial_in[] =
        "{\"op_code\":4,\"worker_id\":\"1-2\",\"study_id\":%d,\"datetime_start\":null}\n";
    char line[200];
    rh_plan plan = sample_plan();
    write_sample(&plan); // trials 0 to 3

    // an attribute, a value that is not JSON, a study with a trial, and one of no study at all
    append(
        "{\"op_code\":3,\"worker_id\":\"1-2\",\"study_id\":0,\"system_attr\":{\"n\":\"x\"}}\n"
        "{\"op_code\":7,\"worker_id\":\"1-2\",\"trial_id\":3,\"step\":1,"
        "\"intermediate_value\":NaN}\n"
        "{\"op_code\":0,\"worker_id\":\"1-2\",\"study_name\":\"b\",\"directions\":[1]}\n"
        "{\"op_code\":0,\"worker_id\":\"1-2\",\"study_name\":\"b\",\"directions\":[1]}\n");
    snprintf(line, sizeof line, trial_in, 2); // trial 4
    append(line);
    snprintf(line, sizeof line, trial_in, 3);
    append(line);

    rh_journal *journal = opened(&plan);
    check_sample(journal, 4);
    planned trial = sample_trial(4, false);
    put_ok(journal, &plan, &trial, true, 5.0, RH_SETTING_DONE); // trial 5

    // while it is open: a trial in our study, and one with a NaN
    snprintf(line, sizeof line, trial_in, 0); // trial 6
    append(line);
    append("{\"op_code\":4,\"worker_id\":\"1-2\",\"study_id\":0,\"value\":NaN}\n"); // trial 7
    trial = sample_trial(5, false);
    put_ok(journal, &plan, &trial, true, 6.0, RH_SETTING_DONE); // trial 8
    rh_journal__close(journal);

    size_t n;
    char *bytes = contents(&n);
    assert_non_null(strstr(bytes, "\"trial_id\":5,\"user_attr\":{\"run:0:0\""));
    assert_non_null(strstr(bytes, "\"trial_id\":8,\"user_attr\":{\"run:0:0\""));
    assert_null(strstr(bytes, "\"trial_id\":6,"));
    journal = opened(&plan);
    check_sample(journal, 4);
    assert_int_equal(rh_journal__ntrial(journal), 6);
    assert_int_equal(rh_journal__trial(journal, 5)->nrun, 2);

    // where there are no locks: another of us
    rh_text text = {0};
    rh_journal__trial_attr(&text, 3, "note");
    rh_text__add(&text, "1");
    rh_journal__end_attr(&text);
    append(text.data);
    rh_text__clear(&text);
    rh_error err = {""};
    rh_study__run l = sample_run(3, 0, 0);
    assert_int_equal(rh_journal__add_run(journal, 3, &l, &err), RH_EIO);
    assert_non_null(strstr(err.text, "another process writes to this study"));
    assert_int_equal(rh_journal__add_run(journal, 3, &l, &err), RH_EIO); // and no more
    rh_journal__close(journal);

    // what cannot be resumed
    put(bytes, n);
    append("{\"op_code\":1,\"worker_id\":\"1-2\",\"study_id\":0}\n");
    refused(&plan, RH_EINVAL, "another program deleted the study");
    put(bytes, n);
    append("{\"op_code\":1,\"worker_id\":\"1-2\",\"study_id\":1}\n");
    refused(&plan, RH_EINVAL, "another program deleted the study");
    put(bytes, n);
    append("{\"op_code\":1,\"worker_id\":\"1-2\",\"study_id\":2}\n"); // not ours
    rh_journal__close(opened(&plan));
    put(bytes, n);
    append("rubbish\n{\"op_code\":3,\"worker_id\":\"1-2\"}\n");
    refused(&plan, RH_EFORMAT, "damaged: not a line of a journal");
    free(bytes);
}

// The trials of the study of the confirmations, wherever it comes in the file, and its note.
static void confirmations_are_a_study(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    rh_journal *journal = opened(&plan);
    planned trial = sample_trial(0, false);
    put_ok(journal, &plan, &trial, true, -3.0, RH_SETTING_DONE);

    // another program's study and trial come before ours, and a trial of it in ours
    append("{\"op_code\":0,\"worker_id\":\"1-2\",\"study_name\":\"b\",\"directions\":[1]}\n"
           "{\"op_code\":4,\"worker_id\":\"1-2\",\"study_id\":1,\"datetime_start\":null}\n");
    planned confirmed = sample_trial(0, true);
    put_ok(journal, &plan, &confirmed, true, -4.0, RH_SETTING_DONE);
    append("{\"op_code\":4,\"worker_id\":\"1-2\",\"study_id\":2,\"datetime_start\":null}\n");
    confirmed = sample_trial(1, true);
    put_ok(journal, &plan, &confirmed, true, -5.0, RH_SETTING_DONE);
    for (int again = 0; again < 2; again++) {
        const rh_journal__entry *t[3];
        assert_int_equal(rh_journal__ntrial(journal), 3);
        for (int i = 0; i < 3; i++)
            t[i] = rh_journal__trial(journal, i);
        assert_int_equal(t[0]->study, 0);
        assert_int_equal(t[0]->number, 0);
        assert_int_equal(t[0]->id, 0);
        assert_int_equal(t[1]->study, 2);
        assert_int_equal(t[1]->number, 0);
        assert_int_equal(t[1]->id, 2);
        assert_int_equal(t[2]->study, 2);
        assert_int_equal(t[2]->number, 2);
        assert_int_equal(t[2]->id, 4);
        rh_journal__close(journal);
        journal = opened(&plan);
    }

    // the notes; one that somebody wrote stays
    rh_result result[6];
    double hp[RH_STUDY__NHP];
    rh_trial end = sample_end(&plan, &confirmed, -5.0, RH_SETTING_DONE, result, hp);
    rh_verdict verdict = {
        .trial = &end, .ntrial = 1, .tied = (int[]){0}, .ntied = 1, .finished = true};
    append("{\"op_code\":3,\"worker_id\":\"1-2\",\"study_id\":0,"
           "\"system_attr\":{\"dashboard:note_ver\":1}}\n");
    rh_journal__close(journal);
    journal = opened(&plan);
    assert_int_equal(rh_journal__conclude(journal, &verdict, NULL), RH_OK);
    rh_journal__close(journal);
    size_t n;
    char *bytes = contents(&n);
    assert_non_null(strstr(bytes, "\"study_name\":\"plant-confirmed\""));
    assert_non_null(strstr(
        bytes, "\"study_id\":2,\"system_attr\":{\"dashboard:note_str:0\":\"**Deploy trial 2**: "
               "setting 1 (alpha 0.03433, tilings 2, lambda 0.5, optimiser sgd, tau 0.2), "
               "value -5, 95 % interval -6.5 to -3.5."));
    assert_null(strstr(bytes, "\"study_id\":0,\"system_attr\":{\"dashboard:note_str"));
    assert_non_null(strstr(bytes, "{\"verdict\":{\"study\":\"plant-confirmed\",\"trial\":2,"));
    free(bytes);
}

// The same in a journal that was new when it was opened: Optuna looks on from the first line.
static void others_from_the_first(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    rh_journal *journal = opened(&plan);
    append("{\"op_code\":2,\"worker_id\":\"1-2\",\"study_id\":0,\"user_attr\":{\"n\":1}}\n"
           "{\"op_code\":4,\"worker_id\":\"1-2\",\"study_id\":0,\"datetime_start\":null}\n");
    planned trial = sample_trial(0, false);
    put_ok(journal, &plan, &trial, true, 5.0, RH_SETTING_DONE); // trial 1
    append("{\"op_code\":1,\"worker_id\":\"1-2\",\"study_id\":0}\n");
    rh_error err = {""};
    int number;
    assert_int_equal(begin_trial(journal, &trial, &number, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "another program deleted the study"));
    rh_journal__close(journal);
    size_t n;
    char *bytes = contents(&n);
    assert_non_null(strstr(bytes, "\"trial_id\":1,\"user_attr\":{\"run:0:0\""));
    assert_null(strstr(bytes, "\"trial_id\":0,"));
    free(bytes);
}

static void not_ours_at_all(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    static const char *const text[] = {
        "{\"op_code\":0,\"worker_id\":\"1-2\",\"study_name\":\"a\",\"directions\":[1]}\n",
        "2026-01-01 12:00:00 started\n",
        "a diary\nof two lines\n",
        "one line without an end",
    };
    for (size_t i = 0; i < LENGTH(text); i++) {
        put(text[i], strlen(text[i]));
        refused(&plan, i == 0 ? RH_EINVAL : RH_EFORMAT,
                i == 0 ? "study.log:1: rehearse did not write this journal; use another folder"
                       : "study.log: not the journal of a study; move it away or use another");
        size_t n;
        char *now = contents(&n);
        assert_string_equal(now, text[i]);
        free(now);
    }
}

// ---------------------------------------------------------------------------- another study

static void differences_are_named(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    write_sample(&plan);
    strcpy(runs_value, "20");
    refused(&plan, RH_EINVAL,
            "/study.log: the study has evaluation.runs = 10, the plan has 20; use another "
            "folder or "
            "the same options");
    sample_book.nline--;
    refused(&plan, RH_EINVAL,
            "evaluation.runs = 10, the plan has 20 (and 1 more difference); use");
    strcpy(runs_value, "10");
    refused(&plan, RH_EINVAL,
            "the study has name = it's \"\xc3\xa4\", \xef\xbf\xbd and ? and "
            "100 %, the plan has none; use");
    sample_book.nline++;
    rh_plan__line extra[LENGTH(sample_line) + 1];
    memcpy(extra, sample_line, sizeof sample_line);
    extra[LENGTH(sample_line)] =
        (rh_plan__line){.key = (char[]){"model.k"}, .value = runs_value};
    sample_book.line = extra;
    sample_book.nline++;
    refused(&plan, RH_EINVAL, "the study has no model.k, the plan has model.k = 10; use");
    sample_book.line = sample_line;
    sample_book.nline--;

    // long values are shown from their first difference
    char *usual = sample_line[1].value;
    char list[] = "{values: [0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008]}";
    sample_line[1].value = list;
    unlink(path);
    write_sample(&plan);
    strcpy(strstr(list, "6, "), "7, 0.008]}");
    refused(&plan, RH_EINVAL,
            "the study has parameters.alpha = ...0.005, 0.006, 0.007, 0.008]}, the plan has "
            "...0.005, 0.007, 0.008]}; use");
    sample_line[1].value = usual;
    unlink(path);
    write_sample(&plan);

    // another log, other starts; another name is allowed
    rh_journal *journal = NULL;
    rh_error err;
    rh_journal__head head = sample_head(&plan);
    head.fingerprint++;
    head.log = "b.csv";
    assert_int_equal(rh_journal__open(&journal, folder, &head, &err), RH_EINVAL);
    assert_non_null(strstr(err.text,
                           "the study is of another log: path logs/plant \"1\".csv, this one "
                           "b.csv; fingerprint 0123456789abcdef, this one 0123456789abcdf0; "));
    head = sample_head(&plan);
    head.starts = 5;
    assert_int_equal(rh_journal__open(&journal, folder, &head, &err), RH_EINVAL);
    assert_non_null(
        strstr(err.text, "has another log of starts (none), this one is 0000000000000005"));
    head = sample_head(&plan);
    head.ncurve--;
    assert_int_equal(rh_journal__open(&journal, folder, &head, &err), RH_EINVAL);
    assert_non_null(strstr(err.text, "the study has ncurve = 4, the plan has 3"));
    head = sample_head(&plan);
    head.name = "other";
    head.log = "moved.csv";
    assert_int_equal(rh_journal__open(&journal, folder, &head, &err), RH_OK);
    rh_journal__close(journal);
}

static void open_entries_may_change(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    struct stat st[4];
    write_sample(&plan);
    assert_int_equal(stat(path, &st[0]), 0);
    for (int i = 1; i < 4; i++) {
        strcpy(trials_value, i < 3 ? "200" : "100");
        rh_journal *journal = opened(&plan);
        check_sample(journal, 4);
        rh_journal__close(journal);
        assert_int_equal(stat(path, &st[i]), 0);
    }
    assert_true(st[1].st_size > st[0].st_size); // it is noted
    assert_true(st[2].st_size == st[1].st_size);
    assert_true(st[3].st_size > st[2].st_size); // the last one counts
}

// ---------------------------------------------------------------------------- the world

static void places_that_will_not_do(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    rh_journal__head head = sample_head(&plan);
    rh_journal *journal = NULL;
    rh_error err;
    char other[128];

    snprintf(other, sizeof other, "%s/a/b", folder);
    assert_int_equal(rh_journal__open(&journal, other, &head, &err), RH_EIO);
    assert_non_null(
        strstr(err.text, "/a/b: cannot create the folder: No such file or directory"));
    put("", 0); // a file in the place of the folder
    assert_int_equal(rh_journal__open(&journal, path, &head, &err), RH_EIO);
    assert_non_null(strstr(err.text, "study.log: is a file, expected a folder for the study"));
    unlink(path);
    assert_int_equal(mkdir(path, 0777), 0);
    refused(&plan, RH_EIO, "study.log: cannot open for writing: Is a directory");
    rmdir(path);
    assert_int_equal(mkfifo(path, 0666), 0);
    refused(&plan, RH_EIO, "study.log: is a device, pipe or socket, expected a file");
    unlink(path);
    bool root = geteuid() == 0; // to whom all is open
    chmod(folder, 0555);
    assert_true(!root || seteuid(65534) == 0);
    refused(&plan, RH_EIO, "study.log: cannot open for writing: Permission denied");
    assert_true(!root || seteuid(0) == 0);
    chmod(folder, 0755);

    // a new folder, and a slash behind its name
    snprintf(other, sizeof other, "%s/new/", folder);
    assert_int_equal(rh_journal__open(&journal, other, &head, &err), RH_OK);
    rh_journal__close(journal);
    strcat(other, "study.log");
    assert_int_equal(unlink(other), 0);
    *strrchr(other, '/') = 0;
    assert_int_equal(rmdir(other), 0);
}

// What a process that was killed was writing is gone, and nothing else.
static void left_over(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        bool gone;
    } file[] = {
        {"runs.csv.4711-0.tmp", true},
        {"best.yaml.1-12.tmp", true},
        {"log_next.csv.7-0.tmp", true},
        {"study.model.9-9.tmp", true},
        {"runs.csv", false},
        {"runs.csv.-0.tmp", false},
        {"runs.csv.4711-.tmp", false},
        {"runs.csv.4711.tmp", false},
        {"runs.csv.4711-0.tmp2", false},
        {"other.csv.4711-0.tmp", false},
        {"best.yaml.", false},
    };
    char name[128];
    rh_plan plan = sample_plan();
    for (size_t i = 0; i < LENGTH(file); i++) {
        snprintf(name, sizeof name, "%s/%s", folder, file[i].name);
        FILE *made = fopen(name, "w");
        assert_non_null(made);
        fclose(made);
    }
    rh_journal__close(opened(&plan));
    for (size_t i = 0; i < LENGTH(file); i++) {
        snprintf(name, sizeof name, "%s/%s", folder, file[i].name);
        assert_int_equal(unlink(name), file[i].gone ? -1 : 0);
    }
}

static bool cannot_begin(void)
{
    rh_plan plan = sample_plan();
    rh_journal__head head = sample_head(&plan);
    rh_journal *journal = NULL;
    rh_error err = {""};
    return rh_journal__open(&journal, folder, &head, &err) == RH_EIO &&
           strstr(err.text, "study.log: cannot write: ") != NULL;
}

// A journal whose name may be lost is not begun.
static void folder_not_synced(void **unused)
{
    (void)unused;
    without_sync(cannot_begin);
    unlink(path);
}

// The folder is moved and another study's is put there; or the journal is cut off.
static void places_that_change(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    planned trial = sample_trial(0, false);
    char aside[96], note[96], *bytes;
    rh_error err = {""};
    int number;
    size_t n;
    snprintf(aside, sizeof aside, "%s.aside", folder);
    snprintf(note, sizeof note, "%s/study.lock", folder);

    rh_journal *journal = opened(&plan);
    assert_int_equal(rename(folder, aside), 0);
    assert_int_equal(begin_trial(journal, &trial, &number, &err), RH_EIO);
    assert_non_null(strstr(err.text, "study.log: deleted, moved or replaced while the study"));
    assert_int_equal(mkdir(folder, 0700), 0);
    put("another study\n", 14);
    FILE *file = fopen(note, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(rh_journal__check_place(journal, &err), RH_EIO);
    rh_journal__close(journal);
    bytes = contents(&n);
    assert_int_equal(n, 14);
    assert_int_equal(access(note, F_OK), 0);
    free(bytes);
    unlink(path);
    unlink(note);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(rename(aside, folder), 0);
    unlink(note);

    journal = opened(&plan);
    assert_int_equal(begin_trial(journal, &trial, &number, &err), RH_OK);
    assert_int_equal(truncate(path, 100), 0);
    assert_int_equal(rh_journal__check_place(journal, &err), RH_EIO);
    assert_non_null(strstr(err.text, "study.log: cut off while the study ran: 100 bytes"));
    rh_study__run run = sample_run(0, 0, 0);
    assert_int_equal(rh_journal__add_run(journal, number, &run, &err), RH_EIO);
    bytes = contents(&n);
    assert_int_equal(n, 100);
    free(bytes);
    rh_journal__close(journal);
    unlink(note);
}

static void full_disk(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    struct rlimit before, limit;
    struct stat st;
    write_sample(&plan);
    signal(SIGXFSZ, SIG_IGN); // a file that would be too long is an error, not the end
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    rh_journal *journal = opened(&plan);
    assert_int_equal(stat(path, &st), 0);
    rh_error err = {""};
    rh_result result[6];
    double hp[RH_STUDY__NHP];
    planned trial = sample_trial(3, false);
    rh_trial t = sample_end(&plan, &trial, 1.0, RH_SETTING_DONE, result, hp);
    for (rlim_t room = 0; room < 1200; room += 37) {
        struct stat now;
        limit = (struct rlimit){(rlim_t)st.st_size + room, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        rh_status rc = rh_journal__finish(journal, 3, &t, &err);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(rc, RH_EIO);
        assert_non_null(strstr(err.text, "study.log: cannot write: File too large"));
        assert_int_equal(stat(path, &now), 0);
        assert_int_equal(now.st_size, st.st_size);
    }
    assert_int_equal(rh_journal__finish(journal, 3, &t, &err), RH_OK); // room again
    rh_journal__close(journal);
    journal = opened(&plan);
    check_sample(journal, 3);
    assert_true(rh_journal__trial(journal, 3)->finished);
    rh_journal__close(journal);
}

static void no_memory(void **unused)
{
    (void)unused;
    rh_plan plan = sample_plan();
    rh_journal__head head = sample_head(&plan);
    for (int old = 0; old < 2; old++) {
        bool whole = false;
        for (int64_t nth = 1; !whole; nth++) {
            rh_journal *journal = NULL;
            rh_error err = {""};
            unlink(path);
            if (old)
                write_sample(&plan);
            int64_t live = rh_base__alloc_live();
            rh_base__alloc_fail_at(nth);
            rh_status rc = rh_journal__open(&journal, folder, &head, &err);
            for (int i = 0; i < 20 && !rc; i++) {
                planned trial = sample_trial(old * 4 + i, i % 7 == 3);
                rc = put_trial(journal, &plan, &trial, true, i, RH_SETTING_DONE, &err);
            }
            whole = rc == RH_OK;
            rh_base__alloc_fail_at(0);
            assert_true(whole || (rc == RH_ENOMEM && strstr(err.text, "out of memory")));
            rh_journal__close(journal);
            assert_int_equal(rh_base__alloc_live(), live);

            // what is in the file is still a journal
            journal = opened(&plan);
            if (old)
                check_sample(journal, 4);
            rh_journal__close(journal);
        }
    }
}

// ---------------------------------------------------------------------------- for Optuna

// Twelve trials with all that there is, and a verdict.
static int write_for_optuna(const char *where, int pause)
{
    rh_plan plan = sample_plan();
    rh_journal__head head = sample_head(&plan);
    rh_journal *journal = NULL;
    rh_error err = {""};
    rh_result result[6];
    double hp[RH_STUDY__NHP];
    rh_status rc = rh_journal__open(&journal, where, &head, &err);
    for (int i = 0; i < 12 && !rc; i++) {
        planned trial = sample_trial(i % 10, i >= 10);
        int number = -1;
        rc = begin_trial(journal, &trial, &number, &err);
        for (int k = 0; k < 6 && !rc; k++) {
            rh_study__run l = sample_run(i, k / 3, k % 3);
            rc = rh_journal__add_run(journal, number, &l, &err);
            usleep((useconds_t)pause * 1000);
        }
        double value = i == 4 ? -INFINITY : -20.0 + i / 3.0;
        rh_trial t = sample_end(&plan, &trial, value,
                                i % 3 == 1 ? RH_SETTING_DROPPED : RH_SETTING_DONE, result, hp);
        if (!rc && (i < 9 || i >= 10))
            rc = rh_journal__finish(journal, number, &t, &err);
        rh_verdict verdict = {
            .trial = &t, .ntrial = 1, .tied = (int[]){0}, .ntied = 1, .finished = true};
        if (!rc && i == 11)
            rc = rh_journal__conclude(journal, &verdict, &err);
    }
    rh_journal__close(journal);
    if (rc)
        fprintf(stderr, "%s\n", err.text);
    return rc != RH_OK;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return write_for_optuna(argv[1], argc > 2 ? atoi(argv[2]) : 0);
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),
        IN_A_FOLDER(comes_back_to_the_bit),
        IN_A_FOLDER(refuses_wrong_calls),
        IN_A_FOLDER(places_that_change),
        IN_A_FOLDER(lines_are_what_optuna_wants),
        IN_A_FOLDER(a_verdict_once),
        IN_A_FOLDER(a_short_run),
        IN_A_FOLDER(torn_anywhere),
        IN_A_FOLDER(damage_is_found),
        IN_A_FOLDER(lines_out_of_order),
        IN_A_FOLDER(another_version),
        IN_A_FOLDER(complete_and_wrong),
        IN_A_FOLDER(lines_of_others),
        IN_A_FOLDER(confirmations_are_a_study),
        IN_A_FOLDER(others_from_the_first),
        IN_A_FOLDER(not_ours_at_all),
        IN_A_FOLDER(differences_are_named),
        IN_A_FOLDER(open_entries_may_change),
        IN_A_FOLDER(places_that_will_not_do),
        IN_A_FOLDER(left_over),
        IN_A_FOLDER(folder_not_synced),
        IN_A_FOLDER(full_disk),
        IN_A_FOLDER(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
