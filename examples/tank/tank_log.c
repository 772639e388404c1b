// tank_log.c - write tank.csv, the log of the demo: a hundred shifts of the operator.
//
//     tank_log > examples/tank/tank.csv
//
// Like real transmitters, that of the level writes -9999 when it has no value.

#include <rehearse/rehearse.h>

#include <stdio.h>
#include <time.h>

enum { NSHIFT = 100, LENGTH = 48, TRIP_COST = 50, SEED = 7 };

int main(void)
{
    static const char *const name[] = {"off", "low", "high"};
    rh_streams streams = {rh_rng_stream(SEED, RH_STREAM_START, 0, 0),
                          rh_rng_stream(SEED, RH_STREAM_NOISE, 0, 0)};
    rh_rng hand = rh_rng_stream(SEED, RH_STREAM_AGENT, 0, 0);
    rh_rng fault = rh_rng_stream(SEED, RH_STREAM_FIT, 0, 0);
    const rh_env_type *tank = rehearse_plugin()->env[0]; // tank.c, linked with this
    const rh_agent_type *who = rehearse_plugin()->agent[0];
    _Alignas(64) char state[64]; // more than the tank needs
    double obs[2], act, reward;

    printf("time,shift,level [m],outflow [m/step],pump,energy [kWh],trip\n");
    for (int shift = 0; shift < NSHIFT; shift++) {
        bool trip = false;
        tank->start(NULL, state, &streams, obs);
        who->start(NULL, obs, &hand, &act);
        for (int i = 0; i < LENGTH && !trip; i++) {
            time_t when = 1772409600 + (shift * LENGTH + i) * 600; // Monday 2026-03-02
            struct tm utc;
            char stamp[32];
            strftime(stamp, sizeof stamp, "%Y-%m-%d %H:%M", gmtime_r(&when, &utc));
            printf("%s,s%03d,", stamp, shift + 1);
            if (rh_rng_uniform(&fault) < 0.003)
                printf("-9999");
            else
                printf("%.3f", obs[0]);
            printf(",%.3f,%s,", obs[1], name[(int)act]);
            trip = tank->step(NULL, state, &act, &streams, obs, &reward);
            printf("%.3f,%d\n", -reward - TRIP_COST * trip, trip);
            who->act(NULL, obs, &hand, &act);
        }
    }
    return 0;
}
