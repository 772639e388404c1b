// inspect_json.c - the report of `inspect` in JSON; null for what is not known.

#include "cli_internal.h"

static void json_numbers(rh_doc *json, const char *key, const rh_log_numbers *v)
{
    rh_doc__open(json, key, '{', true);
    rh_doc__whole(json, "n", v->n);
    rh_doc__whole(json, "missing", v->nmissing);
    rh_doc__whole(json, "infinite", v->ninfinite);
    rh_doc__whole(json, "distinct", v->ndistinct);
    rh_doc__flag(json, "integer", v->whole);
    rh_doc__real(json, "min", v->min);
    rh_doc__real(json, "q25", v->q25);
    rh_doc__real(json, "median", v->median);
    rh_doc__real(json, "q75", v->q75);
    rh_doc__real(json, "max", v->max);
    rh_doc__real(json, "mean", v->mean);
    rh_doc__real(json, "sd", v->sd);
    rh_doc__whole(json, "outliers", v->nabsurd);
    rh_doc__real(json, "sentinel", v->sentinel);
    rh_doc__whole(json, "sentinel_count", v->nsentinel);
    rh_doc__real(json, "histogram_lo", v->lo);
    rh_doc__real(json, "histogram_hi", v->hi);
    rh_doc__open(json, "histogram", '[', true);
    for (int i = 0; i < RH_LOG_NBAR; i++)
        rh_doc__whole(json, NULL, v->bar[i]);
    rh_doc__close(json);
    rh_doc__close(json);
}

static void json_reading(rh_doc *json, const rh_log *log)
{
    const rh_log_reading *r = &log->reading;
    rh_doc__open(json, "reading", '{', false);
    rh_doc__whole(json, "rows", r->nrow);
    rh_doc__whole(json, "no_next_observation", r->nlost);
    rh_doc__whole(json, "no_action_or_reward", r->nincomplete);
    rh_doc__whole(json, "missing", r->nmissing);
    rh_doc__whole(json, "gaps", r->ngap);
    rh_doc__whole(json, "mismatches", r->nmismatch);
    rh_doc__open(json, "notes", '[', false);
    for (int i = 0; i < r->nnote; i++)
        rh_doc__text(json, NULL, r->note[i]);
    rh_doc__close(json);
    rh_doc__close(json);
}

static void json_clock(rh_doc *json, const rh_log_clock *c)
{
    if (c->n == 0) {
        rh_doc__null(json, "time");
        return;
    }
    rh_doc__open(json, "time", '{', true);
    rh_doc__real(json, "begin", c->begin);
    rh_doc__real(json, "end", c->end);
    rh_doc__real(json, "interval", c->interval);
    rh_doc__real(json, "shortest", c->shortest);
    rh_doc__real(json, "longest", c->longest);
    rh_doc__place(json, "longest_at", c->longest_at);
    rh_doc__whole(json, "intervals", c->n);
    rh_doc__whole(json, "irregular", c->nirregular);
    rh_doc__whole(json, "repeated", c->nrepeat);
    rh_doc__place(json, "repeated_at", c->repeat_at);
    rh_doc__whole(json, "reversed", c->nreverse);
    rh_doc__place(json, "reversed_at", c->reverse_at);
    rh_doc__close(json);
}

static void json_episodes(rh_doc *json, const rh_log_report *r)
{
    rh_doc__open(json, "episodes", '{', false);
    json_numbers(json, "returns", &r->returns);
    json_numbers(json, "lengths", &r->length);
    rh_doc__whole(json, "terminal", r->nterminal);
    rh_doc__whole(json, "truncated", r->ncut);
    rh_doc__whole(json, "after_gap", r->nresumed);
    rh_doc__whole(json, "truncations_compared", r->ncut_judged);
    rh_doc__whole(json, "truncation_length", r->cut_length);
    rh_doc__real(json, "truncation_share", r->cut_share);
    rh_doc__real(json, "truncation_spread", r->cut_spread);
    rh_doc__whole(json, "starts", r->nstart);
    rh_doc__whole(json, "distinct_starts", r->nstart_distinct);
    rh_doc__real(json, "start_spread", r->start_spread);
    rh_doc__close(json);
}

static void json_sensors(rh_doc *json, const rh_log *log, const rh_log_report *r)
{
    rh_doc__open(json, "sensors", '[', false);
    for (int j = 0; j < log->nobs; j++) {
        const rh_log_sensor *s = &r->sensor[j];
        rh_doc__open(json, NULL, '{', false);
        rh_doc__text(json, "name", log->obs_name[j]);
        rh_doc__text(json, "unit", log->obs_unit[j]);
        json_numbers(json, "values", &s->value);
        rh_doc__place(json, "missing_at", s->missing_at);
        rh_doc__place(json, "outlier_at", s->absurd_at);
        rh_doc__whole(json, "longest_constant", s->run);
        rh_doc__place(json, "longest_constant_at", s->run_at);
        rh_doc__real(json, "usual_constant", s->usual_run);
        rh_doc__flag(json, "constant", s->constant);
        rh_doc__flag(json, "frozen", s->frozen);
        rh_doc__flag(json, "wraps", s->wraps);
        rh_doc__real(json, "change_per_step", s->pace);
        rh_doc__text(json, "twin", s->twin < 0 ? NULL : log->obs_name[s->twin]);
        rh_doc__close(json);
    }
    rh_doc__close(json);
}

static void json_actions(rh_doc *json, const rh_log *log, const rh_log_report *r)
{
    static const char *const third[] = {"low", "middle", "high"};
    rh_doc__open(json, "actions", '[', false);
    for (int k = 0; k < log->nact && !log->naction; k++) {
        rh_doc__open(json, NULL, '{', false);
        rh_doc__text(json, "name", log->act_name[k]);
        json_numbers(json, "values", &r->amount[k]);
        rh_doc__real(json, "at_bounds", r->at_bound[k]);
        rh_doc__close(json);
    }
    for (int a = 0; a < log->naction; a++) {
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "name", log->label[a]);
        rh_doc__whole(json, "steps", r->taken[a]);
        rh_doc__real(json, "share", (double)r->taken[a] / (double)log->n);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_doc__real(json, "action_interval", r->hold);

    rh_doc__open(json, "coverage", '{', false);
    rh_doc__real(json, "step_length", r->step_length);
    rh_doc__whole(json, "queries", r->nquery);
    rh_doc__whole(json, "references", r->nplace);
    rh_doc__open(json, "actions", '[', false);
    for (int i = 0; i < r->ncover; i++) {
        const rh_log_cover *c = &r->cover[i];
        rh_doc__open(json, NULL, '{', true);
        rh_doc__text(json, "action",
                     c->third < 0 ? log->label[c->action] : log->act_name[c->action]);
        if (c->third >= 0) {
            rh_doc__text(json, "third", third[c->third]);
            rh_doc__real(json, "from", c->lo);
            rh_doc__real(json, "to", c->hi);
        }
        rh_doc__whole(json, "steps", c->n);
        rh_doc__real(json, "median", c->median);
        rh_doc__real(json, "q90", c->q90);
        rh_doc__real(json, "q99", c->q99);
        rh_doc__real(json, "max", c->max);
        rh_doc__close(json);
    }
    rh_doc__close(json);
    rh_doc__close(json);
}

static void json_alignment(rh_doc *json, const rh_log_alignment *a)
{
    rh_doc__open(json, "alignment", '{', false);
    rh_doc__whole(json, "steps", a->n);
    rh_doc__reals(json, "action", a->action, 3);
    rh_doc__reals(json, "action_partial", a->partial, 3);
    rh_doc__real(json, "action_past", a->past);
    rh_doc__reals(json, "reward", a->reward, 3);
    rh_doc__reals(json, "reward_standard_errors", a->sure, 3);
    rh_doc__reals(json, "next", a->next, 3);
    rh_doc__whole(json, "unusual_rewards", a->nspecial);
    rh_doc__reals(json, "unusual_reward_position", a->place, 3);
    rh_doc__close(json);
}

static void json_regime(rh_doc *json, const rh_log *log, const rh_log_regime *r)
{
    rh_doc__open(json, "regimes", '{', false);
    rh_doc__whole(json, "comparisons", r->n);
    if (r->n > 0) {
        rh_doc__text(json, "column",
                     r->sensor == log->nobs ? log->reward_name : log->obs_name[r->sensor]);
        rh_doc__whole(json, "later_part", r->at);
        rh_doc__real(json, "share", r->share);
        rh_doc__real(json, "t", r->t);
        rh_doc__real(json, "t_limit", r->t_least);
    }
    rh_doc__close(json);
}

static void json_history(rh_doc *json, const rh_log *log, const rh_log_history *h)
{
    rh_doc__open(json, "history", '{', false);
    rh_doc__whole(json, "predictions", h->n);
    if (h->n > 0) {
        rh_doc__text(json, "sensor", log->obs_name[h->sensor]);
        rh_doc__real(json, "unexplained", h->now);
        rh_doc__real(json, "unexplained_stacked", h->stacked);
    }
    rh_doc__close(json);
}

void cli_inspect_json(FILE *out, const rh_log *log, const rh_log_report *r,
                      const rh_facts *facts, int64_t size)
{
    rh_doc json = {.out = out};
    rh_doc__open(&json, NULL, '{', false);
    rh_doc__text(&json, "version", rh_version());
    rh_doc__open(&json, "log", '{', false);
    cli_log_json(&json, log, log->path);
    rh_doc__whole(&json, "bytes", size);
    rh_doc__close(&json);
    json_reading(&json, log);
    json_clock(&json, &r->clock);
    json_episodes(&json, r);
    rh_doc__text(&json, "reward_name", log->reward_name);
    json_numbers(&json, "reward", &r->reward);
    rh_doc__whole(&json, "zero_rewards", r->nzero);
    rh_doc__whole(&json, "minimum_rewards", r->nworst);
    json_sensors(&json, log, r);
    json_actions(&json, log, r);
    cli_facts_json(&json, log, facts);
    rh_doc__whole(&json, "duplicates", r->nduplicate);
    rh_doc__whole(&json, "reached_duplicates", r->nreturn);
    rh_doc__whole(&json, "repeated_rows", r->ntwice);
    rh_doc__whole(&json, "distinct_states", r->nstate_distinct);
    rh_doc__whole(&json, "jumps", r->njump);
    rh_doc__whole(&json, "jumps_with_unusual_reward", r->njump_told);
    json_alignment(&json, &r->align);
    json_regime(&json, log, &r->regime);
    json_history(&json, log, &r->history);
    cli_findings_json(&json, r->findings.item, r->findings.n, log);
    rh_doc__close(&json);
}
