// inspect_json.c - the report of `inspect` in JSON; null for what is not known.

#include "cli_internal.h"

static void json_numbers(cli_json *json, const char *key, const rh_log_numbers *v)
{
    cli_json_open(json, key, '{', true);
    cli_json_whole(json, "n", v->n);
    cli_json_whole(json, "missing", v->nmissing);
    cli_json_whole(json, "infinite", v->ninfinite);
    cli_json_whole(json, "distinct", v->ndistinct);
    cli_json_flag(json, "integer", v->whole);
    cli_json_real(json, "min", v->min);
    cli_json_real(json, "q25", v->q25);
    cli_json_real(json, "median", v->median);
    cli_json_real(json, "q75", v->q75);
    cli_json_real(json, "max", v->max);
    cli_json_real(json, "mean", v->mean);
    cli_json_real(json, "sd", v->sd);
    cli_json_whole(json, "outliers", v->nabsurd);
    cli_json_real(json, "sentinel", v->sentinel);
    cli_json_whole(json, "sentinel_count", v->nsentinel);
    cli_json_real(json, "histogram_lo", v->lo);
    cli_json_real(json, "histogram_hi", v->hi);
    cli_json_open(json, "histogram", '[', true);
    for (int i = 0; i < RH_LOG_NBAR; i++)
        cli_json_whole(json, NULL, v->bar[i]);
    cli_json_close(json);
    cli_json_close(json);
}

static void json_reading(cli_json *json, const rh_log *log)
{
    const rh_log_reading *r = &log->reading;
    cli_json_open(json, "reading", '{', false);
    cli_json_whole(json, "rows", r->nrow);
    cli_json_whole(json, "no_next_observation", r->nlost);
    cli_json_whole(json, "no_action_or_reward", r->nincomplete);
    cli_json_whole(json, "missing", r->nmissing);
    cli_json_whole(json, "gaps", r->ngap);
    cli_json_whole(json, "mismatches", r->nmismatch);
    cli_json_open(json, "notes", '[', false);
    for (int i = 0; i < r->nnote; i++)
        cli_json_text(json, NULL, r->note[i]);
    cli_json_close(json);
    cli_json_close(json);
}

static void json_clock(cli_json *json, const rh_log_clock *c)
{
    if (c->n == 0) {
        cli_json_null(json, "time");
        return;
    }
    cli_json_open(json, "time", '{', true);
    cli_json_real(json, "begin", c->begin);
    cli_json_real(json, "end", c->end);
    cli_json_real(json, "interval", c->interval);
    cli_json_real(json, "shortest", c->shortest);
    cli_json_real(json, "longest", c->longest);
    cli_json_place(json, "longest_at", c->longest_at);
    cli_json_whole(json, "intervals", c->n);
    cli_json_whole(json, "irregular", c->nirregular);
    cli_json_whole(json, "repeated", c->nrepeat);
    cli_json_place(json, "repeated_at", c->repeat_at);
    cli_json_whole(json, "reversed", c->nreverse);
    cli_json_place(json, "reversed_at", c->reverse_at);
    cli_json_close(json);
}

static void json_episodes(cli_json *json, const rh_log_report *r)
{
    cli_json_open(json, "episodes", '{', false);
    json_numbers(json, "returns", &r->returns);
    json_numbers(json, "lengths", &r->length);
    cli_json_whole(json, "terminal", r->nterminal);
    cli_json_whole(json, "truncated", r->ncut);
    cli_json_whole(json, "after_gap", r->nresumed);
    cli_json_whole(json, "truncations_compared", r->ncut_judged);
    cli_json_whole(json, "truncation_length", r->cut_length);
    cli_json_real(json, "truncation_share", r->cut_share);
    cli_json_real(json, "truncation_spread", r->cut_spread);
    cli_json_whole(json, "starts", r->nstart);
    cli_json_whole(json, "distinct_starts", r->nstart_distinct);
    cli_json_real(json, "start_spread", r->start_spread);
    cli_json_close(json);
}

static void json_sensors(cli_json *json, const rh_log *log, const rh_log_report *r)
{
    cli_json_open(json, "sensors", '[', false);
    for (int j = 0; j < log->nobs; j++) {
        const rh_log_sensor *s = &r->sensor[j];
        cli_json_open(json, NULL, '{', false);
        cli_json_text(json, "name", log->obs_name[j]);
        cli_json_text(json, "unit", log->obs_unit[j]);
        json_numbers(json, "values", &s->value);
        cli_json_place(json, "missing_at", s->missing_at);
        cli_json_place(json, "outlier_at", s->absurd_at);
        cli_json_whole(json, "longest_constant", s->run);
        cli_json_place(json, "longest_constant_at", s->run_at);
        cli_json_real(json, "usual_constant", s->usual_run);
        cli_json_flag(json, "constant", s->constant);
        cli_json_flag(json, "frozen", s->frozen);
        cli_json_flag(json, "wraps", s->wraps);
        cli_json_real(json, "change_per_step", s->pace);
        cli_json_text(json, "twin", s->twin < 0 ? NULL : log->obs_name[s->twin]);
        cli_json_close(json);
    }
    cli_json_close(json);
}

static void json_actions(cli_json *json, const rh_log *log, const rh_log_report *r)
{
    static const char *const third[] = {"low", "middle", "high"};
    cli_json_open(json, "actions", '[', false);
    for (int k = 0; k < log->nact && !log->naction; k++) {
        cli_json_open(json, NULL, '{', false);
        cli_json_text(json, "name", log->act_name[k]);
        json_numbers(json, "values", &r->amount[k]);
        cli_json_real(json, "at_bounds", r->at_bound[k]);
        cli_json_close(json);
    }
    for (int a = 0; a < log->naction; a++) {
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "name", log->label[a]);
        cli_json_whole(json, "steps", r->taken[a]);
        cli_json_real(json, "share", (double)r->taken[a] / (double)log->n);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_real(json, "action_interval", r->hold);

    cli_json_open(json, "coverage", '{', false);
    cli_json_real(json, "step_length", r->step_length);
    cli_json_whole(json, "queries", r->nquery);
    cli_json_whole(json, "references", r->nplace);
    cli_json_open(json, "actions", '[', false);
    for (int i = 0; i < r->ncover; i++) {
        const rh_log_cover *c = &r->cover[i];
        cli_json_open(json, NULL, '{', true);
        cli_json_text(json, "action",
                      c->third < 0 ? log->label[c->action] : log->act_name[c->action]);
        if (c->third >= 0) {
            cli_json_text(json, "third", third[c->third]);
            cli_json_real(json, "from", c->lo);
            cli_json_real(json, "to", c->hi);
        }
        cli_json_whole(json, "steps", c->n);
        cli_json_real(json, "median", c->median);
        cli_json_real(json, "q90", c->q90);
        cli_json_real(json, "q99", c->q99);
        cli_json_real(json, "max", c->max);
        cli_json_close(json);
    }
    cli_json_close(json);
    cli_json_close(json);
}

static void json_alignment(cli_json *json, const rh_log_alignment *a)
{
    cli_json_open(json, "alignment", '{', false);
    cli_json_whole(json, "steps", a->n);
    cli_json_reals(json, "action", a->action, 3);
    cli_json_reals(json, "action_partial", a->partial, 3);
    cli_json_real(json, "action_past", a->past);
    cli_json_reals(json, "reward", a->reward, 3);
    cli_json_reals(json, "reward_standard_errors", a->sure, 3);
    cli_json_reals(json, "next", a->next, 3);
    cli_json_whole(json, "unusual_rewards", a->nspecial);
    cli_json_reals(json, "unusual_reward_position", a->place, 3);
    cli_json_close(json);
}

static void json_regime(cli_json *json, const rh_log *log, const rh_log_regime *r)
{
    cli_json_open(json, "regimes", '{', false);
    cli_json_whole(json, "comparisons", r->n);
    if (r->n > 0) {
        cli_json_text(json, "column",
                      r->sensor == log->nobs ? log->reward_name : log->obs_name[r->sensor]);
        cli_json_whole(json, "later_part", r->at);
        cli_json_real(json, "share", r->share);
        cli_json_real(json, "t", r->t);
        cli_json_real(json, "t_limit", r->t_least);
    }
    cli_json_close(json);
}

static void json_history(cli_json *json, const rh_log *log, const rh_log_history *h)
{
    cli_json_open(json, "history", '{', false);
    cli_json_whole(json, "predictions", h->n);
    if (h->n > 0) {
        cli_json_text(json, "sensor", log->obs_name[h->sensor]);
        cli_json_real(json, "unexplained", h->now);
        cli_json_real(json, "unexplained_stacked", h->stacked);
    }
    cli_json_close(json);
}

void cli_inspect_json(FILE *out, const rh_log *log, const rh_log_report *r,
                      const rh_facts *facts, int64_t size)
{
    cli_json json = {.out = out};
    cli_json_open(&json, NULL, '{', false);
    cli_json_text(&json, "version", rh_version());
    cli_json_open(&json, "log", '{', false);
    cli_log_json(&json, log, log->path);
    cli_json_whole(&json, "bytes", size);
    cli_json_close(&json);
    json_reading(&json, log);
    json_clock(&json, &r->clock);
    json_episodes(&json, r);
    cli_json_text(&json, "reward_name", log->reward_name);
    json_numbers(&json, "reward", &r->reward);
    cli_json_whole(&json, "zero_rewards", r->nzero);
    cli_json_whole(&json, "minimum_rewards", r->nworst);
    json_sensors(&json, log, r);
    json_actions(&json, log, r);
    cli_facts_json(&json, log, facts);
    cli_json_whole(&json, "duplicates", r->nduplicate);
    cli_json_whole(&json, "reached_duplicates", r->nreturn);
    cli_json_whole(&json, "repeated_rows", r->ntwice);
    cli_json_whole(&json, "distinct_states", r->nstate_distinct);
    cli_json_whole(&json, "jumps", r->njump);
    cli_json_whole(&json, "jumps_with_unusual_reward", r->njump_told);
    json_alignment(&json, &r->align);
    json_regime(&json, log, &r->regime);
    json_history(&json, log, &r->history);
    cli_findings_json(&json, r->findings.item, r->findings.n, log);
    cli_json_close(&json);
}
