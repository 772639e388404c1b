// test_plants.c - the plants of bench/plants: legal controllers, runs that repeat, good above
// poor. test_registry.c has the contract of environments.

#include "env/env_test.h"
#include "plant.h"

enum { NSTEP = 3000, NRUN = 8 };

// Mean reward of a step; checks every action of the controller.
static double mean_reward(const plant *p, bool good, uint64_t number)
{
    rh_rng begin = rh_rng_stream(1, RH_STREAM_START, 0, number);
    rh_rng noise = rh_rng_stream(1, RH_STREAM_NOISE, 0, number);
    rh_rng hand = rh_rng_stream(1, RH_STREAM_AGENT, 0, number);
    plant_controller c = {.plant = p, .good = good};
    double s[PLANT_STATE], obs[PLANT_SENSORS], act[PLANT_ACTIONS], cost[PLANT_COSTS];
    double sum = 0, reward;
    for (int i = 0, age = 0; i < NSTEP; i++) {
        if (age == 0) {
            plant_start(p, s, &begin, obs);
            plant_control_start(&c);
        }
        plant_control(&c, obs, &hand, act);
        for (int k = 0; p->action[k].name; k++)
            if (!(act[k] >= p->action[k].lo && act[k] <= p->action[k].hi) ||
                (p->nlevel && act[k] != floor(act[k])))
                fail_msg("%s: %s = %g, expected a value from %g to %g", p->name,
                         p->action[k].name, act[k], p->action[k].lo, p->action[k].hi);
        bool trip = plant_step(p, s, act, &noise, obs, cost, &reward);
        assert_true(isfinite(reward));
        sum += reward;
        age = trip || age + 1 == p->nstep ? 0 : age + 1;
    }
    return sum / NSTEP;
}

static void test_controllers(void **unused)
{
    (void)unused;
    for (int i = 0; plants[i]; i++) {
        const plant *p = plants[i];
        double good = 0, poor = 0;
        for (uint64_t r = 0; r < NRUN; r++) {
            good += mean_reward(p, true, r) / NRUN;
            poor += mean_reward(p, false, r) / NRUN;
        }
        if (!(good > poor))
            fail_msg("%s: the good controller earns %g, the poor one %g", p->name, good, poor);
        assert_true(mean_reward(p, true, 3) == mean_reward(p, true, 3));
        assert_true(mean_reward(p, true, 3) != mean_reward(p, true, 4));
    }
}

// What the README of the plants says of all of them; plant_log relies on the order.
static void test_tables(void **unused)
{
    (void)unused;
    int n = 0;
    for (; plants[n]; n++) {
        const plant *p = plants[n];
        int nsensor = plant_nsensor(p);
        assert_true(n == 0 || strcmp(plants[n - 1]->name, p->name) < 0);
        assert_true(nsensor >= 3);
        assert_true(nsensor <= PLANT_SENSORS);
        assert_true(plant_naction(p) >= 1);
        assert_true(plant_naction(p) <= PLANT_ACTIONS);
        assert_true(plant_ncost(p) >= 1);
        assert_true(plant_ncost(p) <= PLANT_COSTS);
        assert_true(p->seconds > 0);
        assert_true(p->trip >= 0);
        assert_true(p->nlevel == 0 || (plant_naction(p) == 1 && p->action[0].lo == 0 &&
                                       p->action[0].hi == p->nlevel - 1));
        assert_true((p->nstep > 0) == (p->episode != NULL));
        assert_true(p->nstep > 0 || p->trip == 0); // a plant that never stops cannot trip
    }
    assert_true(n >= 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_controllers),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
