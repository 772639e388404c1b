// drive.h - runs an exported agent on a small plant and prints what it did, in plain C: the
// same program for the host and for a Cortex-M without an operating system.

#ifndef DRIVE_H
#define DRIVE_H

#include "agent.c"

#if !defined(DRIVE_STEPS)
#define DRIVE_STEPS 10000
#endif

static agent drive_agent;

static uint64_t drive_hash(uint64_t hash, const void *from, uint32_t n)
{
    const uint8_t *byte = from;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u; // FNV-1a
    return hash;
}

static double drive_noise(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return (double)(*s >> 11) * 0x1p-53 - 0.5;
}

static void drive_put(char *line, uint64_t x, int digits)
{
    for (int i = digits - 1; i >= 0; i--, x >>= 4)
        line[i] = "0123456789abcdef"[x & 15];
}

// begin() and end() are called around each step, print() with a line every 100 steps: the
// number of steps, and a hash of all actions and of the agent's memory.
static void drive(void (*begin)(void), void (*end)(void), void (*print)(const char *line))
{
    double x[AGENT_NSENSOR] = {5.0}, act[AGENT_NACT];
    uint64_t noise = 7, hash = 0xcbf29ce484222325u;
    int fresh = 1;
    agent_init(&drive_agent);
    for (int t = 0; t < DRIVE_STEPS; t++) {
        double off = x[0] - 5.0, reward = off < 0.0 ? off : -off;
        begin();
        if (fresh)
            agent_start(&drive_agent, x, act);
        else
            agent_step(&drive_agent, reward, x, act);
        end();
        hash = drive_hash(hash, act, sizeof act);
        fresh = t % 500 == 499;
        if (fresh)
            agent_end(&drive_agent, reward);
        double push = AGENT_NACTION ? act[0] / (AGENT_NACTION - 1) : act[0] / 10.0;
        x[0] += 0.8 * (push - 0.45) + 0.6 * drive_noise(&noise);
        x[0] = x[0] < 0.0 ? 0.0 : x[0] > 10.0 ? 10.0 : x[0];
        for (int i = 1; i < AGENT_NSENSOR; i++)
            x[i] = 0.9 * x[i] + 0.2 * (push - 0.5) + 0.2 * drive_noise(&noise);
        if (t % 100 == 99) {
            char line[] = "00000 0000000000000000 0000000000000000\n";
            drive_put(line, (uint64_t)t + 1, 5);
            drive_put(line + 6, hash, 16);
            drive_put(line + 23, drive_hash(0, &drive_agent, sizeof drive_agent), 16);
            print(line);
        }
    }
}

#endif
