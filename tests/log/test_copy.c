// test_copy.c - copying logs made by hand: the same log, or a message; and hashes of
// transitions.

#include "base/base_internal.h"
#include "log/log.h"
#include "sample.h"

#include <stdint.h>

// ---------------------------------------------------------------------------- by hand

// Two episodes, three steps and one: 0 -> 1 -> 2 -> 3 (terminal), and 4 -> unknown
// (terminal).
typedef struct hand {
    double obs[5 * 2];
    int32_t from[4], to[4];
    double act[4], reward[4], time[4];
    uint8_t flag[4], start[2];
    int64_t first[3];
    rh_log log;
} hand;

static void make(hand *h)
{
    *h = (hand){
        .obs = {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, (double)NAN},
        .from = {0, 1, 2, 4},
        .to = {1, 2, 3, RH_UNKNOWN},
        .act = {0, 1, 0, 2},
        .reward = {-1, -2, -3, (double)INFINITY},
        .time = {0, 10, 20, 0},
        .flag = {0, 0, RH_FLAG_TERMINAL, RH_FLAG_TERMINAL | RH_FLAG_TRUNCATED},
        .start = {1, 0},
        .first = {0, 3, 4},
    };
    h->log = (rh_log){.n = 4,
                      .nstate = 5,
                      .nepisode = 2,
                      .nobs = 2,
                      .naction = 3,
                      .nact = 1,
                      .obs = h->obs,
                      .from = h->from,
                      .to = h->to,
                      .act = h->act,
                      .reward = h->reward,
                      .flag = h->flag,
                      .first = h->first,
                      .start = h->start};
}

static void by_hand(void **unused)
{
    (void)unused;
    hand h;
    make(&h);
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    if (rh_log_copy(&log, &h.log, &err))
        fail_msg("%s", err.text);
    assert_memory_equal(log->obs, h.obs, sizeof h.obs);
    assert_ptr_not_equal(log->obs, h.obs);
    static const int32_t episode[] = {0, 0, 0, 1}, step[] = {0, 1, 2, 0};
    assert_memory_equal(log->episode, episode, sizeof episode);
    assert_memory_equal(log->step, step, sizeof step);
    assert_null(log->time);
    assert_string_equal(log->obs_name[1], "obs_1");
    assert_string_equal(log->obs_unit[1], "");
    assert_string_equal(log->act_name[0], "action");
    assert_string_equal(log->label[2], "2");
    assert_string_equal(log->reward_name, "reward");
    assert_string_equal(log->path, "");
    assert_string_equal(log->reading.format, "");
    assert_int_equal(log->reading.nnote, 0);
    rh_log_destroy(log);
    assert_int_equal(rh_base__alloc_live(), live);
}

// ---------------------------------------------------------------------------- any log

static void as_it_was(void **unused)
{
    (void)unused;
    for (int kind = NAMED; kind <= WHOLE; kind++)
        for (uint64_t seed = 1; seed <= 6; seed++) {
            rh_log *log = random_log(seed, (actions)kind, seed % 2), *copy = NULL;
            rh_error err = {""};
            if (rh_log_copy(&copy, log, &err))
                fail_msg("%s", err.text);
            same_logs(log, copy);
            assert_true(rh_log_fingerprint(log) == rh_log_fingerprint(copy));
            assert_string_equal(copy->path, log->path);
            assert_string_equal(copy->reading.format, "test");
            assert_int_equal(copy->reading.nrow, log->reading.nrow);
            assert_int_equal(copy->reading.nnote, log->reading.nnote);
            same_texts(copy->reading.note, log->reading.note, log->reading.nnote);

            // copy the copy after the first is gone, in case it borrowed from it
            rh_log *again = NULL;
            rh_log_destroy(log);
            assert_int_equal(rh_log_copy(&again, copy, &err), RH_OK);
            same_logs(copy, again);
            rh_log_destroy(copy);
            rh_log_destroy(again);
        }
}

// --------------------------------------------------------------------------- what does not fit

typedef struct fault {
    const char *words;
    void (*make)(hand *h);
} fault;

#define FAULT(name, change)                                                                    \
    static void name(hand *h)                                                                  \
    {                                                                                          \
        change;                                                                                \
    }

FAULT(no_sensors, h->log.nobs = 0)
FAULT(many_sensors, h->log.nobs = RH_MAX_OBS + 1)
FAULT(many_actions, h->log.naction = RH_MAX_ACTIONS + 1)
FAULT(negative_actions, h->log.naction = -1)
FAULT(long_action, h->log.nact = 2)
FAULT(no_action, h->log.naction = h->log.nact = 0)
FAULT(no_transitions, h->log.n = 0)
FAULT(too_many, h->log.n = INT32_MAX)
FAULT(no_states, h->log.nstate = 0)
FAULT(too_many_states, h->log.nstate = INT32_MAX)
FAULT(no_episodes, h->log.nepisode = 0)
FAULT(many_episodes, h->log.nepisode = 5)
FAULT(late_first, h->first[0] = 1)
FAULT(early_last, h->first[2] = 3)
FAULT(empty_episode, h->first[1] = 0)
FAULT(backward_episode, h->first[1] = 5)
FAULT(half_start, h->start[1] = 2)
FAULT(from_nowhere, h->from[1] = -1)
FAULT(from_beyond, h->from[3] = 5)
FAULT(to_nowhere, h->to[0] = -2)
FAULT(to_beyond, h->to[2] = 5)
FAULT(unknown_going, h->to[1] = RH_UNKNOWN)
FAULT(flag_inside, h->flag[1] = RH_FLAG_TRUNCATED)
FAULT(no_flag, h->flag[2] = 0)
FAULT(odd_flag, h->flag[2] = 5)
FAULT(cut_unknown, h->flag[3] = RH_FLAG_TRUNCATED)
FAULT(no_reward, h->reward[2] = NAN)
FAULT(action_beyond, h->act[3] = 3.0)
FAULT(action_below, h->act[3] = -1.0)
FAULT(action_between, h->act[3] = 0.5)
FAULT(action_missing, h->act[3] = NAN)
FAULT(number_missing, (h->log.naction = 0, h->act[3] = NAN))

static const fault faults[] = {
    {"log: 0 numbers in an observation, expected 1 to 256", no_sensors},
    {"log: 257 numbers in an observation", many_sensors},
    {"log: 257 different actions, expected 0 to 256", many_actions},
    {"log: -1 different actions", negative_actions},
    {"log: 2 numbers in an action, expected 1 to 1", long_action},
    {"log: 0 numbers in an action, expected 1 to 32", no_action},
    {"log: 0 transitions, expected 1 to", no_transitions},
    {"log: 2147483647 transitions, expected", too_many},
    {"log: 0 observations", no_states},
    {"log: 2147483647 observations", too_many_states},
    {"log: 0 episodes, expected 1 to", no_episodes},
    {"log: 5 episodes, expected 1 to the number of transitions, 4", many_episodes},
    {"log: episodes cover the transitions 1 to 4, expected 0 to 4", late_first},
    {"log: episodes cover the transitions 0 to 3, expected 0 to 4", early_last},
    {"log: episode 0 begins with transition 0 and the next with 0", empty_episode},
    {"log: episode 1 begins with transition 5 and the next with 4", backward_episode},
    {"log: start of episode 1 is 2, expected 0 or 1", half_start},
    {"log: transition 1: s is observation -1, expected one of 0 to 4", from_nowhere},
    {"log: transition 3: s is observation 5", from_beyond},
    {"log: transition 0: s' is observation -2", to_nowhere},
    {"log: transition 2: s' is observation 5", to_beyond},
    {"log: transition 1: s' is unknown", unknown_going},
    {"log: transition 1: flag 2 before the end of an episode, expected 0", flag_inside},
    {"log: transition 2: flag 0 at the end of an episode, expected 1 to 3", no_flag},
    {"log: transition 2: flag 5 at the end of an episode", odd_flag},
    {"log: transition 3: s' is unknown", cut_unknown},
    {"log: transition 2: the reward is missing", no_reward},
    {"log: transition 3: action 3, expected one of 0 to 2", action_beyond},
    {"log: transition 3: action -1", action_below},
    {"log: transition 3: action 0.5", action_between},
    {"log: transition 3: action nan", action_missing},
    {"log: transition 3: number 0 of the action is missing", number_missing},
};

static void what_does_not_fit(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        hand h;
        make(&h);
        faults[i].make(&h);
        rh_log *log = NULL;
        rh_error err = {""};
        int64_t live = rh_base__alloc_live();
        assert_int_equal(rh_log_copy(&log, &h.log, &err), RH_EFORMAT);
        assert_null(log);
        if (!strstr(err.text, faults[i].words))
            fail_msg("'%s' does not say '%s'", err.text, faults[i].words);
        assert_int_equal(rh_base__alloc_live(), live);
    }
}

static void without_memory(void **unused)
{
    (void)unused;
    rh_log *log = random_log(1, NAMED, true), *copy = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live(), n = 0;
    rh_status rc = RH_ENOMEM;
    while (rc) {
        rh_base__alloc_fail_at(++n);
        rc = rh_log_copy(&copy, log, &err);
        rh_base__alloc_fail_at(0);
        assert_true(rc == RH_OK || (rc == RH_ENOMEM && !copy && rh_base__alloc_live() == live));
    }
    assert_true(n > 20);
    rh_log_destroy(copy);
    assert_int_equal(rh_base__alloc_live(), live);
    rh_log_destroy(log);
}

// ---------------------------------------------------------------------------- fingerprints

static uint64_t of(const hand *h)
{
    return rh_log_fingerprint(&h->log);
}

static void fingerprints(void **unused)
{
    (void)unused;
    hand h, other;
    make(&h);

    // names, times, unused states and the sign of zero do not count
    make(&other);
    const char *name[] = {"a", "b"};
    other.log.obs_name = name;
    other.log.time = other.time;
    assert_true(of(&h) == of(&other));
    other.obs[0] = -0.0;
    other.obs[9] = -(double)NAN;
    assert_true(of(&h) == of(&other));

    // nor whether an s' is stored twice
    double more[6 * 2];
    memcpy(more, h.obs, sizeof h.obs);
    more[10] = 1.0;
    more[11] = 1.5;
    make(&other);
    other.log.obs = more;
    other.log.nstate = 6;
    other.from[1] = 5;
    assert_true(of(&h) == of(&other));

    // every part of a transition does
    uint64_t seen[16];
    int n = 0;
    seen[n++] = of(&h);
#define CHANGED(what)                                                                          \
    do {                                                                                       \
        make(&other);                                                                          \
        what;                                                                                  \
        seen[n++] = of(&other);                                                                \
    } while (0)
    CHANGED(other.obs[3] += 1e-15);
    CHANGED(other.act[1] = 0);
    CHANGED(other.reward[0] = -1.5);
    CHANGED(other.flag[2] |= RH_FLAG_TRUNCATED);
    CHANGED(other.start[1] = 1);
    CHANGED(other.to[3] = 4);
    CHANGED(other.to[2] = RH_UNKNOWN);
    CHANGED((other.log.nepisode = 1, other.first[1] = 4));
    CHANGED(other.log.naction = 4);
    CHANGED(other.obs[9] = 0.0);
    CHANGED((other.log.n = 3, other.log.nepisode = 1));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
}

// A log has as many owners as it was shared; parts filled in by hand have none.
static void shared(void **unused)
{
    (void)unused;
    hand h;
    rh_log *log = NULL;
    rh_error err = {""};
    int64_t live = rh_base__alloc_live();
    make(&h);
    assert_null(rh_log__share(&h.log));
    assert_int_equal(rh_log_copy(&log, &h.log, &err), RH_OK);
    assert_true(rh_log__same(log, &h.log));
    assert_ptr_equal(rh_log__share(log), log);
    rh_log_destroy(log);
    assert_true(rh_log__same(log, &h.log));
    h.obs[0] += 1.0;
    assert_false(rh_log__same(log, &h.log));
    rh_log_destroy(log);
    assert_int_equal(rh_base__alloc_live(), live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),           cmocka_unit_test(as_it_was),
        cmocka_unit_test(what_does_not_fit), cmocka_unit_test(without_memory),
        cmocka_unit_test(fingerprints),      cmocka_unit_test(shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
