// collect_print.c - what `collect` makes and has made, in words and JSON.

#include "cli_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- in words

static const char *counted(const cli_collection *c)
{
    return rh_env_task(c->school)->continuing ? "failure" : "episode";
}

// Whether there is anything to count: a task without end whose episodes are cut off has
// neither ends nor failures.
static bool counts(const cli_collection *c)
{
    return !rh_env_task(c->school)->continuing || c->opt.cutoff == INT64_MAX;
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

// When training ends: "an episode takes 100 steps at most, over the last 2,000".
static void say_enough(const cli_collection *c, char *text, size_t size)
{
    const rh_collect_options *o = &c->opt;
    switch (o->enough) {
    case RH_ENOUGH_STEPS:
        if (o->span)
            snprintf(text, size, "for %s step%s", cli_count(o->span).s, cli_plural(o->span));
        else
            snprintf(text, size, "nothing");
        return;
    case RH_ENOUGH_LENGTH:
        snprintf(text, size, "an episode takes %s steps at most", cli_exact(o->level).s);
        break;
    case RH_ENOUGH_RETURN:
        snprintf(text, size, "an episode returns %s at least", cli_exact(o->level).s);
        break;
    case RH_ENOUGH_REWARD:
        snprintf(text, size, "a step brings %s at least", cli_exact(o->level).s);
        break;
    }
    size_t used = strlen(text);
    snprintf(text + used, size - used, ", over the last %s", cli_count(o->span).s);
}

static const char *window_source(const cli_collection *c)
{
    switch (c->wanted) {
    case CLI_WANTED_ANY:
        return "none";
    case CLI_WANTED_BY_USER:
        return "asked for";
    case CLI_WANTED_BY_RECIPE:
        return c->recipe->paper ? "as in the paper" : "our choice, not the paper's";
    case CLI_WANTED_IN_PROPORTION:
        return c->recipe->paper ? "in proportion to the paper's"
                                : "in proportion to our choice";
    }
    return "";
}

// name=value of the options that are not the environment's own.
static void print_env(FILE *out, const cli_collection *c)
{
    const rh_env_type *type = rh_env_kind(c->school);
    const double *opt = rh_env_options(c->school);
    fprintf(out, "environment  %s", type->name);
    for (int i = 0; i < type->nparam; i++)
        if (opt[i] != type->param[i].initial)
            fprintf(out, " %s=%s", type->param[i].name, cli_param(&type->param[i], opt[i]).s);
    fputc('\n', out);
}

void cli_collection_plan(FILE *out, const cli_collection *c)
{
    const rh_recipe *r = c->recipe;
    char text[160];
    print_env(out, c);
    fprintf(out, "policy       %s, after %s\n", r->policy, r->source);
    fprintf(out, "  agent      %s", r->agent);
    for (int i = 0; r->hp[i].name; i++)
        fprintf(out, " %s=%s", r->hp[i].name, r->hp[i].value);
    say_enough(c, text, sizeof text);
    fprintf(out, "\n  learns     %s%s\n", c->opt.enough == RH_ENOUGH_STEPS ? "" : "until ",
            text);
    fprintf(out, "log          %s step%s, %s starts", cli_count(c->opt.nstep).s,
            cli_plural(c->opt.nstep), c->random ? "random" : "normal");
    if (c->opt.cutoff != INT64_MAX)
        fprintf(out, ", cut off after %s steps", cli_count(c->opt.cutoff).s);
    say_window(c, text, sizeof text);
    if (c->wanted != CLI_WANTED_ANY)
        fprintf(out, "\n  wanted     %s, %s", text, window_source(c));
    else if (counts(c))
        fprintf(out, "\n  wanted     any number of %ss", counted(c));
    fputs("\n\n", out);
    fflush(out);
}

// What the learning had come to.
static void print_quality(FILE *out, const cli_collection *c, double quality)
{
    cli_text x = cli_real(quality, cli_decimals(NAN, quality));
    switch (c->opt.enough) {
    case RH_ENOUGH_STEPS:
        break;
    case RH_ENOUGH_LENGTH:
        fprintf(out, ", to %s steps an episode", x.s);
        break;
    case RH_ENOUGH_RETURN:
        fprintf(out, ", to a return of %s", x.s);
        break;
    case RH_ENOUGH_REWARD:
        fprintf(out, ", to %s a step", x.s);
        break;
    }
}

void cli_collection_log(FILE *out, const cli_collection *c, const cli_made *m)
{
    const rh_collected *how = &m->how;
    fprintf(out, "%s  ", m->file);
    if (counts(c))
        fprintf(out, "%s %s%s, ", cli_count(how->nended).s, counted(c),
                cli_plural(how->nended));
    if (isfinite(how->returned))
        fprintf(out, "mean return %s",
                cli_real(how->returned, cli_decimals(NAN, how->returned)).s);
    else
        fprintf(out, "mean reward %s", cli_real(how->reward / (double)c->opt.nstep, 4).s);
    fprintf(out, "; seed %" PRIu64 ", try %d", m->seed, how->ntry);
    if (how->trained)
        fprintf(out, ", learned for %s step%s", cli_count(how->trained).s,
                cli_plural(how->trained));
    if (isfinite(how->quality))
        print_quality(out, c, how->quality);
    fputc('\n', out);
    fflush(out);
}

// Several logs together.
int cli_collection_summary(FILE *out, const cli_collection *c)
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
    fprintf(out, "\nlogs         %s, ", cli_count(c->nmade).s);
    if (counts(c))
        fprintf(out, "%ss %s | %s | %s (least, median, most), ", counted(c),
                cli_count((int64_t)count.min).s, cli_exact(count.median).s,
                cli_count((int64_t)count.max).s);
    if (isfinite(returned.mean))
        fprintf(out, "mean return %s",
                cli_real(returned.mean, cli_decimals(NAN, returned.mean)).s);
    else
        fprintf(out, "mean reward %s", cli_real(reward.mean, 4).s);
    fprintf(out, "\n  tries      %s, %.1f s in all\n", cli_count((int64_t)tries).s, c->seconds);
    rh_free(x);
    return CLI_OK;
}

// ---------------------------------------------------------------------------- as JSON

static void json_plan(cli_json *json, const cli_collection *c)
{
    static const char *const until[] = {[RH_ENOUGH_STEPS] = "steps",
                                        [RH_ENOUGH_LENGTH] = "length",
                                        [RH_ENOUGH_RETURN] = "return",
                                        [RH_ENOUGH_REWARD] = "reward"};
    const rh_env_type *type = rh_env_kind(c->school);
    const double *opt = rh_env_options(c->school);
    const rh_collect_options *o = &c->opt;
    cli_json_text(json, "version", rh_version());
    cli_json_text(json, "env", type->name);
    cli_json_open(json, "env_options", '{', true);
    for (int i = 0; i < type->nparam; i++)
        cli_json_param(json, &type->param[i], opt[i]);
    cli_json_close(json);
    cli_json_text(json, "policy", c->recipe->policy);
    cli_json_text(json, "source", c->recipe->source);
    cli_json_text(json, "agent", c->agent->name);
    cli_json_open(json, "hyperparameters", '{', true);
    for (int i = 0; i < c->agent->nparam; i++)
        cli_json_param(json, &c->agent->param[i], c->hp[i]);
    cli_json_close(json);
    cli_json_open(json, "training", '{', true);
    cli_json_text(json, "until", until[o->enough]);
    if (o->enough == RH_ENOUGH_STEPS)
        cli_json_null(json, "level");
    else
        cli_json_real(json, "level", o->level);
    cli_json_whole(json, "span", o->span);
    cli_json_close(json);
    cli_json_text(json, "restarts", c->random ? "random" : "normal");
    cli_json_whole(json, "steps", o->nstep);
    cli_json_open(json, "wanted", '{', true);
    cli_json_text(json, "of", rh_env_task(c->school)->continuing ? "failures" : "episodes");
    cli_json_whole(json, "least", o->least);
    if (o->most == INT64_MAX)
        cli_json_null(json, "most");
    else
        cli_json_whole(json, "most", o->most);
    cli_json_text(json, "source", window_source(c));
    cli_json_close(json);
}

static void json_made(cli_json *json, const cli_made *m)
{
    const rh_collected *how = &m->how;
    cli_json_open(json, NULL, '{', true);
    cli_json_text(json, "file", m->file);
    if (m->starts)
        cli_json_text(json, "starts", m->starts);
    cli_json_whole(json, "seed", (int64_t)m->seed);
    cli_json_whole(json, "episodes", m->nepisode);
    cli_json_whole(json, "counted", how->nended);
    cli_json_real(json, "mean_return", how->returned);
    cli_json_real(json, "reward", how->reward);
    cli_json_whole(json, "tries", how->ntry);
    cli_json_whole(json, "untaught", how->nuntaught);
    cli_json_whole(json, "trained", how->trained);
    cli_json_real(json, "quality", how->quality);
    cli_json_close(json);
}

void cli_collection_json(FILE *out, const cli_collection *c)
{
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{', false);
    json_plan(&json, c);
    cli_json_open(&json, "logs", '[', false);
    for (int i = 0; i < c->nmade; i++)
        json_made(&json, &c->made[i]);
    cli_json_close(&json);
    cli_json_close(&json);
}

// ---------------------------------------------------------------------------- no log

int cli_collection_explain(const cli_collection *c, const rh_collected *how, uint64_t seed)
{
    char text[160];
    if (how->outcome == RH_COLLECT_UNTAUGHT && c->opt.enough == RH_ENOUGH_STEPS)
        return cli_fail("collect: seed %" PRIu64
                        ": in each of %d tries numbers of the agent or "
                        "the environment were not finite",
                        seed, how->ntry);
    if (how->outcome == RH_COLLECT_UNTAUGHT) {
        say_enough(c, text, sizeof text);
        cli_fail("collect: seed %" PRIu64
                 ": in none of %d tries did the agent learn, in %s steps, "
                 "that %s",
                 seed, how->ntry, cli_count(c->opt.patience).s, text);
        cli_try("--train N, to log whatever it has learned after N steps");
        return CLI_FAILED;
    }
    say_window(c, text, sizeof text);
    cli_fail("collect: seed %" PRIu64 ": no log of %d tries had %s; they had %s to %s", seed,
             how->ntry, text, cli_count(how->fewest).s, cli_count(how->greatest).s);
    cli_try("--episodes LO:HI or --episodes any, more --tries, or another --steps");
    return CLI_FAILED;
}
