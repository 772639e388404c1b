// collect_print.c - the logs of `collect`, planned and written, in words and JSON.

#include "base/base.h"
#include "base/text.h"
#include "cli_internal.h"
#include "log/log.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- in words

static const char *counted(const cli_collection *c)
{
    return rh_env_task(c->train_env)->continuing ? "failure" : "episode";
}

// Whether there is anything to count: a truncated continuing task has no ends and no failures.
static bool counts(const cli_collection *c)
{
    return !rh_env_task(c->train_env)->continuing || c->opt.cutoff == INT64_MAX;
}

// "20 to 30 episodes"
static void say_window(const cli_collection *c, char *text, size_t size)
{
    const rh_collect_options *o = &c->opt;
    if (o->most == INT64_MAX)
        snprintf(text, size, "%s or more %ss", cli_count(o->least).s, counted(c));
    else if (o->least == o->most)
        snprintf(text, size, "%s %s%s", cli_count(o->least).s, counted(c),
                 cli_plural(o->least));
    else
        snprintf(text, size, "%s to %s %ss", cli_count(o->least).s, cli_count(o->most).s,
                 counted(c));
}

// When training ends: "an episode takes at most 100 steps, over the last 2,000 steps".
static void say_enough(const cli_collection *c, char *text, size_t size)
{
    const rh_collect_options *o = &c->opt;
    switch (o->enough) {
    case RH_ENOUGH_STEPS:
        if (o->span)
            snprintf(text, size, "for %s step%s", cli_count(o->span).s, cli_plural(o->span));
        else
            snprintf(text, size, "none");
        return;
    case RH_ENOUGH_LENGTH:
        snprintf(text, size, "an episode takes at most %s steps", cli_exact(o->level).s);
        break;
    case RH_ENOUGH_RETURN:
        snprintf(text, size, "an episode returns at least %s", cli_exact(o->level).s);
        break;
    case RH_ENOUGH_REWARD:
        snprintf(text, size, "a step earns at least %s", cli_exact(o->level).s);
        break;
    }
    rh_text__put(text, size, ", over the last %s steps", cli_count(o->span).s);
}

static const char *window_source(const cli_collection *c)
{
    switch (c->wanted) {
    case CLI_WANTED_ANY:
        return "none";
    case CLI_WANTED_BY_USER:
        return "requested";
    case CLI_WANTED_BY_RECIPE:
        return c->recipe->paper ? "as in the paper" : "not from the paper";
    case CLI_WANTED_IN_PROPORTION:
        return c->recipe->paper ? "scaled from the paper's" : "scaled, not from the paper";
    }
    return "";
}

void cli_collection_plan(const cli_collection *c)
{
    const cli_recipe *r = c->recipe;
    const rh_env_type *type = rh_contract__env_type(c->train_env);
    char text[700], cutoff[96] = "";
    snprintf(text, sizeof text, "%s", type->name);
    cli_add_set(text, sizeof text, type->param, type->nparam,
                rh_contract__env_options(c->train_env), "");
    cli_line("environment", "%s", text);
    cli_line("policy", "%s, after %s", r->policy, r->source);
    snprintf(text, sizeof text, "%s", r->agent);
    for (int i = 0; r->hp[i].name; i++)
        rh_text__put(text, sizeof text, " %s=%s", r->hp[i].name, r->hp[i].value);
    cli_line("  agent", "%s", text);
    say_enough(c, text, sizeof text);
    cli_line("  training", "%s%s", c->opt.enough == RH_ENOUGH_STEPS ? "" : "until ", text);
    if (c->opt.cutoff != INT64_MAX)
        snprintf(cutoff, sizeof cutoff, ", episodes truncated after %s steps",
                 cli_count(c->opt.cutoff).s);
    cli_line("log", "%s step%s, %s starts%s", cli_count(c->opt.nstep).s,
             cli_plural(c->opt.nstep), c->random ? "random" : "normal", cutoff);
    if (c->opt.advice)
        cli_line("  advice", "%s steps in %d region%s, followed a quarter of the time there",
                 cli_count(rh_advice__steps(c->opt.advice)).s, rh_advice__nrow(c->opt.advice),
                 cli_plural(rh_advice__nrow(c->opt.advice)));
    say_window(c, text, sizeof text);
    if (c->wanted != CLI_WANTED_ANY)
        cli_line("  required", "%s, %s", text, window_source(c));
    else if (counts(c))
        cli_line("  required", "any number of %ss", counted(c));
    putchar('\n');
    fflush(stdout);
}

// The mean over the last steps of training.
static void print_quality(const cli_collection *c, double quality)
{
    static const char *const text[][2] = {[RH_ENOUGH_LENGTH] = {", to ", " steps per episode"},
                                          [RH_ENOUGH_RETURN] = {", to a return of ", ""},
                                          [RH_ENOUGH_REWARD] = {", to ", " per step"}};
    if (c->opt.enough != RH_ENOUGH_STEPS)
        printf("%s%s%s", text[c->opt.enough][0],
               cli_real(quality, cli_decimals(NAN, quality)).s, text[c->opt.enough][1]);
}

void cli_collection_log(const cli_collection *c, const cli_made *m)
{
    const rh_collected *how = &m->how;
    char file[1024];
    printf("%s  ", rh_text__printable(m->file, file, sizeof file));
    if (counts(c))
        printf("%s %s%s, ", cli_count(how->nended).s, counted(c), cli_plural(how->nended));
    if (isfinite(how->returned))
        printf("mean return %s", cli_real(how->returned, cli_decimals(NAN, how->returned)).s);
    else
        printf("mean reward %s", cli_real(how->reward / (double)c->opt.nstep, 4).s);
    printf("; seed %" PRIu64 ", try %d", m->seed, how->ntry);
    if (how->trained)
        printf("; trained for %s step%s", cli_count(how->trained).s, cli_plural(how->trained));
    if (isfinite(how->quality))
        print_quality(c, how->quality);
    if (c->opt.advice)
        printf("; %s step%s by the advice", cli_count(how->nadvised).s,
               cli_plural(how->nadvised));
    putchar('\n');
    fflush(stdout);
}

// Several logs together.
int cli_collection_summary(const cli_collection *c)
{
    size_t n = (size_t)c->nmade;
    double *x = rh_alloc(4 * n, sizeof *x), tries = 0.0; // x: counts, returns, rewards, scratch
    if (!x)
        return cli_fail("out of memory");
    for (size_t i = 0; i < n; i++) {
        const rh_collected *how = &c->made[i].how;
        x[i] = (double)how->nended;
        x[n + i] = how->returned;
        x[2 * n + i] = how->reward / (double)c->opt.nstep;
        tries += how->ntry;
    }
    rh_summary count = rh_summarise(x, (int)n, x + 3 * n);
    rh_summary returned = rh_summarise(x + n, (int)n, x + 3 * n);
    rh_summary reward = rh_summarise(x + 2 * n, (int)n, x + 3 * n);
    char range[240] = "", mean[96];
    if (counts(c))
        snprintf(range, sizeof range, ", %ss %s | %s | %s (minimum, median, maximum)",
                 counted(c), cli_count((int64_t)count.min).s, cli_exact(count.median).s,
                 cli_count((int64_t)count.max).s);
    if (isfinite(returned.mean))
        snprintf(mean, sizeof mean, "return %s",
                 cli_real(returned.mean, cli_decimals(NAN, returned.mean)).s);
    else
        snprintf(mean, sizeof mean, "reward %s", cli_real(reward.mean, 4).s);
    putchar('\n');
    cli_line("logs", "%s%s, mean %s", cli_count(c->nmade).s, range, mean);
    cli_line("duration", "%.1f s, %s tries", c->seconds, cli_count((int64_t)tries).s);
    rh_free(x);
    return CLI_OK;
}

// ---------------------------------------------------------------------------- as JSON

static void json_plan(rh_doc *json, const cli_collection *c)
{
    static const char *const until[] = {[RH_ENOUGH_STEPS] = "steps",
                                        [RH_ENOUGH_LENGTH] = "length",
                                        [RH_ENOUGH_RETURN] = "return",
                                        [RH_ENOUGH_REWARD] = "reward"};
    const rh_env_type *type = rh_contract__env_type(c->train_env);
    const rh_collect_options *o = &c->opt;
    rh_doc__text(json, "version", rh_version());
    rh_doc__text(json, "env", type->name);
    rh_doc__params(json, "env_options", type->param, type->nparam,
                   rh_contract__env_options(c->train_env), NULL);
    rh_doc__text(json, "policy", c->recipe->policy);
    rh_doc__text(json, "source", c->recipe->source);
    rh_doc__text(json, "agent", c->agent->name);
    rh_doc__params(json, "hyperparameters", c->agent->param, c->agent->nparam, c->hp, NULL);
    rh_doc__open(json, "training", '{', true);
    rh_doc__text(json, "until", until[o->enough]);
    if (o->enough == RH_ENOUGH_STEPS)
        rh_doc__null(json, "threshold");
    else
        rh_doc__real(json, "threshold", o->level);
    rh_doc__whole(json, "window", o->span);
    rh_doc__close(json);
    rh_doc__text(json, "restarts", c->random ? "random" : "normal");
    rh_doc__whole(json, "steps", o->nstep);
    rh_doc__open(json, "required", '{', true);
    rh_doc__text(json, "unit", rh_env_task(c->train_env)->continuing ? "failures" : "episodes");
    rh_doc__whole(json, "min", o->least);
    rh_doc__place(json, "max", o->most == INT64_MAX ? -1 : o->most);
    rh_doc__text(json, "source", window_source(c));
    rh_doc__close(json);
}

static bool has_starts(const rh_field_at *at)
{
    return ((const cli_made *)at->data)->starts != NULL;
}

#define AT(member) RH_FIELD__AT(cli_made, member)
static const rh_field made_row[] = {
    {"file", AT(file), NULL, "the log"},
    {"starts", AT(starts), NULL, "the log of start states", .known = has_starts},
    {"seed", RH_FIELD__AS(RH_FIELD_WHOLE, cli_made, seed), NULL, "of its random streams"},
    {"episodes", AT(nepisode), NULL, "in the log, the last one included"},
    {"completed", AT(how.nended), NULL, "episodes, or failures"},
    {"mean_return", AT(how.returned), NULL, "of completed episodes"},
    {"reward", AT(how.reward), NULL, "sum over the log"},
    {"tries", AT(how.ntry), NULL, "until this log"},
    {"untrained_tries", AT(how.nuntaught), NULL, "in which the agent did not learn enough"},
    {"training_steps", AT(how.trained), NULL, "before the log"},
    {"quality", AT(how.quality), NULL, "the measure that ended the training"},
    {"advised_steps", AT(how.nadvised), NULL, "that follow the advice"},
};
#undef AT
static const rh_fields made_fields = {"log", sizeof(cli_made), RH_FIELD__ROWS(made_row),
                                      .flat = true};

void cli_collection_json(FILE *out, const cli_collection *c)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    json_plan(&json, c);
    rh_field__write_list(&json, "logs", &made_fields, c->made, c->nmade, NULL);
    rh_doc__close(&json);
}

// ---------------------------------------------------------------------------- no log

int cli_collection_explain(const cli_collection *c, const rh_collected *how, uint64_t seed)
{
    char text[160];
    if (how->outcome == RH_COLLECT_UNTAUGHT && c->opt.enough == RH_ENOUGH_STEPS)
        return cli_fail("collect: seed %" PRIu64
                        ": numbers of the agent or the environment became infinite or "
                        "undefined in all %d tries",
                        seed, how->ntry);
    if (how->outcome == RH_COLLECT_UNTAUGHT) {
        say_enough(c, text, sizeof text);
        cli_fail("collect: seed %" PRIu64
                 ": the agent reached the policy's level in none of %d tries of %s steps, "
                 "expected that %s",
                 seed, how->ntry, cli_count(c->opt.patience).s, text);
        cli_try("--train N, to log the policy after N training steps");
        return CLI_FAILED;
    }
    say_window(c, text, sizeof text);
    cli_fail("collect: seed %" PRIu64 ": logs of %d tries had %s to %s %ss, expected %s", seed,
             how->ntry, cli_count(how->fewest).s, cli_count(how->greatest).s, counted(c), text);
    cli_try("--episodes LO:HI or --episodes any, more --tries, or another --steps");
    return CLI_FAILED;
}
