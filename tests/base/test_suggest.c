// test_suggest.c - typos find their word, and other words find none.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "base/base.h"
#include "base/base_internal.h"
#include "rehearse/base.h"

static const char *const known[] = {
    "acrobot", "puddle_world", "cartpole", "mountain_car", "pendulum",
    "esarsa",  "lambda",       "epsilon",  "weight_decay", "k"};
#define NKNOWN ((int)(sizeof known / sizeof *known))

static void slips(void **unused)
{
    (void)unused;
    static const char *const slip[][2] = {
        {"acrobat", "acrobot"},           // a character changed
        {"acobot", "acrobot"},            // left out
        {"carttpole", "cartpole"},        // doubled
        {"esrasa", "esarsa"},             // swapped
        {"puddleworld", "puddle_world"},  // no underscore
        {"puddle-world", "puddle_world"}, // another one
        {"pudle_wrold", "puddle_world"},  // two slips
        {"mountain", "mountain_car"},     // the beginning
        {"pend", "pendulum"},             // the beginning
        {"lambda_", "lambda"},            // and too much
        {"epsilon_greedy", "epsilon"},    // and far too much
        {"acrobot", "acrobot"},
    };
    for (size_t i = 0; i < sizeof slip / sizeof *slip; i++) {
        const char *found = rh_base__suggest(slip[i][0], known, NKNOWN);
        assert_non_null(found);
        assert_string_equal(found, slip[i][1]);
    }
}

static void strangers(void **unused)
{
    (void)unused;
    static const char *const stranger[] = {"", "x", "q", "zz", "helicopter", "--help", "1e-3"};
    for (size_t i = 0; i < sizeof stranger / sizeof *stranger; i++)
        assert_null(rh_base__suggest(stranger[i], known, NKNOWN));
    assert_null(rh_base__suggest("acrobot", known, 0));
}

static void nearest_wins(void **unused)
{
    (void)unused;
    static const char *const close[] = {"alpha_actor", "alpha_critic", "alpha"};
    assert_string_equal(rh_base__suggest("alpha_crtic", close, 3), "alpha_critic");
    assert_string_equal(rh_base__suggest("alfa", close, 3), "alpha");
    assert_ptr_equal(rh_base__suggest("alfa", close, 3),
                     close[2]); // one of the candidates itself
}

static void long_words(void **unused)
{
    (void)unused;
    char word[5000], other[5000];
    memset(word, 'a', sizeof word - 1);
    memset(other, 'b', sizeof other - 1);
    word[sizeof word - 1] = other[sizeof other - 1] = 0;
    const char *both[2] = {other, word};
    assert_ptr_equal(rh_base__suggest(word, both, 2), word);
    assert_null(rh_base__suggest(word, known, NKNOWN));
    assert_null(rh_base__suggest("k", both, 2));
}

static void message(void **unused)
{
    (void)unused;
    static const char *const two[] = {"esarsa", "random"};
    rh_error err;
    assert_int_equal(rh_base__unknown(&err, "no agent", "sarsa", two, 2), RH_EINVAL);
    assert_string_equal(err.text, "no agent 'sarsa'; did you mean 'esarsa'? (esarsa, random)");
    assert_int_equal(rh_base__unknown(&err, "no agent", "dqn", two, 2), RH_EINVAL);
    assert_string_equal(err.text, "no agent 'dqn'; expected one of esarsa, random");
    assert_int_equal(rh_base__unknown(NULL, "no agent", "dqn", two, 2), RH_EINVAL);

    // more than a message holds: the list is cut, what was typed is not
    const char *many[100];
    for (int i = 0; i < 100; i++)
        many[i] = "a_name_of_thirty_or_so_letters";
    rh_base__unknown(&err, "no agent", "dqn", many, 100);
    assert_non_null(strstr(err.text, "no agent 'dqn'; expected one of a_name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slips),        cmocka_unit_test(strangers),
        cmocka_unit_test(nearest_wins), cmocka_unit_test(long_words),
        cmocka_unit_test(message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
