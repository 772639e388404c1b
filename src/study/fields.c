// fields.c - the result of a study, field by field: `tune --json`, the report, Python.
//
// The rows are those of an rh_study whose verdict is known. Inside a trial or a score the study
// is the outermost struct.

#include "core.h"
#include "describe/field.h"
#include "log/log.h"
#include "model/model.h"

#include <inttypes.h>
#include <math.h>

// ---------------------------------------------------------------------------- a trial

static const char *state_word(int state)
{
    static const char *const word[] = {[RH_SETTING_OPEN] = "open",
                                       [RH_SETTING_DONE] = "done",
                                       [RH_SETTING_DROPPED] = "dropped"};
    return word[state];
}

static void write_stage(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, ((const rh_trial *)at->data)->confirm ? "confirm" : "search");
}

static void write_agent_of(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_plan__agents *agents = &rh_study__of(at)->plan->agents;
    rh_doc__text(doc, key, agents->type[((const rh_trial *)at->data)->agent]->name);
}

static void write_searched(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_plan *plan = rh_study__of(at)->plan;
    const rh_trial *t = at->data;
    rh_doc__open(doc, key, '{', true);
    for (int d = 0; d < plan->space.ndim; d++) {
        int agent;
        const rh_param *param = rh_plan__dim(plan, d, &agent, NULL);
        if (agent == t->agent)
            rh_doc__param(doc, param, t->hp[plan->dim[d].param]);
    }
    rh_doc__close(doc);
}

int64_t rh_study__count_runs(const rh_trial *t)
{
    int64_t n = 0;
    for (int i = 0; t->result && i < t->nmember * t->nrun; i++)
        n += t->result[i].outcome != RH_STOPPED;
    return n;
}

static void write_finished(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__whole(doc, key, rh_study__count_runs(at->data));
}

static void write_kind(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, rh_study__of(at)->verdict.kind[at->index]);
}

#define AT(member) RH_FIELD__AT(rh_kind_score, member)
static const rh_field kind_row[] = {
    {"kind", RH_FIELD__CALL, NULL, "kind of model", .call = write_kind},
    {"score", AT(value), NULL, "in this kind"},
    {"lo95", AT(lo95), NULL, "lower end of the 95 % interval"},
    {"hi95", AT(hi95), NULL, "upper end"},
    {"regret", AT(regret), NULL,
     "behind the best of the kind, in units of how much settings differ"},
};
#undef AT
static const rh_fields kind_fields = {"score in a kind of model", sizeof(rh_kind_score),
                                      RH_FIELD__ROWS(kind_row), .flat = true};

#define AT(member) RH_FIELD__AT(rh_trial, member)
static const rh_field trial_row[] = {
    {"setting", AT(setting), NULL, "its number, in the order of the search"},
    {"stage", RH_FIELD__CALL, NULL, "search or confirm", .call = write_stage},
    {"state", RH_FIELD__AS(RH_FIELD_WORD, rh_trial, state), NULL, "open, done or dropped",
     .word = state_word},
    {"agent", RH_FIELD__CALL, NULL, "whose setting it is", .call = write_agent_of},
    {"parameters", RH_FIELD__CALL, NULL, "those that were searched", .call = write_searched},
    {"score", AT(value), NULL, "in the model's own kind"},
    {"lo95", AT(lo95), NULL, "lower end of the 95 % interval over all kinds"},
    {"hi95", AT(hi95), NULL, "upper end"},
    {"members", AT(nmember), NULL, "models that it ran in"},
    {"finished_runs", RH_FIELD__CALL, NULL, "runs that are finished", .call = write_finished},
    {"out_of_coverage", AT(out_of_coverage), NULL, "share of its steps outside the coverage"},
    {"diverged", AT(ndiverged), NULL, "runs that diverged or failed"},
    {"keeps", AT(keeps), NULL, "all limits", .known = rh_study__has_limits},
    {"limits", RH_FIELD__CALL, NULL, "rate and its upper bound, in the order of the limits",
     .known = rh_study__has_limits, .call = rh_study__write_kept},
    {"also", RH_FIELD__CALL, NULL, "its further scores", .known = rh_study__has_also,
     .call = rh_study__write_also},
    {"front", AT(front), NULL, "no other setting beats it in one score and in none is worse",
     .known = rh_study__has_also},
    {"kinds", RH_FIELD__LIST(rh_trial, kind), NULL, "its score in every kind of model",
     .fields = &kind_fields, .count = RH_COUNT_MEMBER, .n = offsetof(rh_trial, nkind)},
};
#undef AT
static const rh_fields trial_fields = {"trial", sizeof(rh_trial), RH_FIELD__ROWS(trial_row),
                                       .flat = true};

// Trial i of the verdict under a key; -1: null.
static void write_trial(rh_doc *doc, const char *key, const rh_field_at *at, int i)
{
    const rh_verdict *v = &rh_study__of(at)->verdict;
    rh_field__write_at(doc, key, &trial_fields,
                       &(rh_field_at){i < 0 ? NULL : &v->trial[i], 0, at->names, at});
}

static void write_winner(rh_doc *doc, const char *key, const rh_field_at *at)
{
    write_trial(doc, key, at, rh_study__of(at)->verdict.winner);
}

static void write_candidate(rh_doc *doc, const char *key, const rh_field_at *at)
{
    write_trial(doc, key, at, rh_study__of(at)->verdict.candidate);
}

static void write_winner_search(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_verdict *v = &rh_study__of(at)->verdict;
    write_trial(doc, key, at, v->winner < 0 ? -1 : v->winner_search);
}

static void write_search_best(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_verdict *v = &rh_study__of(at)->verdict;
    write_trial(doc, key, at, v->winner < 0 ? -1 : v->search_best);
}

static void write_hp(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_study *study = rh_study__of(at);
    const rh_verdict *v = &study->verdict;
    if (v->winner < 0) {
        rh_doc__null(doc, key);
        return;
    }
    const rh_agent_type *agent = rh_study__agent(study, &v->trial[v->winner]);
    rh_doc__params(doc, key, agent->param, agent->nparam, v->trial[v->winner].hp, NULL);
}

static void write_curve(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_study *study = rh_study__of(at);
    const rh_verdict *v = &study->verdict;
    const double *curve = v->winner < 0 ? NULL : v->trial[v->winner].curve;
    if (v->winner < 0)
        rh_doc__null(doc, key);
    else
        rh_doc__reals(doc, key, curve, curve ? study->plan->ncurve : 0);
}

// ---------------------------------------------------------------------------- trust

static const char *level_word(int level)
{
    return rh_trust_name((rh_trust_level)level);
}

#define AT(member) RH_FIELD__AT(rh_reason, member)
static const rh_field reason_row[] = {
    {"id", AT(id), NULL, "of the evidence"},
    {"good", AT(good), NULL, "it speaks for the choice"},
    {"text", AT(text), NULL, "the reason"},
};
#undef AT
static const rh_fields reason_fields = {"reason", sizeof(rh_reason), RH_FIELD__ROWS(reason_row),
                                        .flat = true};

#define AT(member) RH_FIELD__AT(rh_evidence, member)
static const rh_field evidence_row[] = {
    {"name", AT(name), NULL, "of the evidence"},
    {"value", AT(value), NULL, "what the study shows"},
    {"about", AT(about), NULL, "what it is"},
};
#undef AT
static const rh_fields evidence_fields = {"evidence", sizeof(rh_evidence),
                                          RH_FIELD__ROWS(evidence_row), .flat = true};

static void write_range(rh_doc *doc, const char *name, double lo, double hi)
{
    rh_doc__open(doc, NULL, '{', true);
    rh_doc__text(doc, "name", name);
    rh_doc__real(doc, "lo", lo);
    rh_doc__real(doc, "hi", hi);
    rh_doc__close(doc);
}

static bool is_continuous(const rh_field_at *at)
{
    return ((const rh_next *)at->data)->action < 0;
}

static void write_amounts(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_next *row = at->data;
    rh_doc__open(doc, key, '[', true);
    for (int k = 0; k < at->names->namount; k++)
        write_range(doc, at->names->amount[k], row->act_lo[k], row->act_hi[k]);
    rh_doc__close(doc);
}

static void write_sides(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_next *row = at->data;
    rh_doc__open(doc, key, '[', true);
    for (int k = 0; k < row->nside; k++)
        write_range(doc, at->names->sensor[row->side[k].sensor], row->side[k].lo,
                    row->side[k].hi);
    rh_doc__close(doc);
}

#define AT(member) RH_FIELD__AT(rh_next, member)
static const rh_field next_row[] = {
    {"action", AT(what), NULL, "to take"},
    {"action_ranges", RH_FIELD__CALL, NULL, "of continuous actions", .known = is_continuous,
     .call = write_amounts},
    {"sensors", RH_FIELD__CALL, NULL, "the region to take it in", .call = write_sides},
    {"steps", AT(steps), NULL, "to log"},
    {"why", AT(why), NULL, "in words"},
};
#undef AT
static const rh_fields next_fields = {"row of what to log next", sizeof(rh_next),
                                      RH_FIELD__ROWS(next_row), .flat = true};

static const char *decision_word(int decision)
{
    return rh_decision_name((rh_decision)decision);
}

#define AT(member) RH_FIELD__AT(rh_claim, member)
static const rh_field claim_row[] = {
    {"name", AT(name), NULL, "better, failures or best"},
    {"probability", AT(probability), NULL, "that it holds on the plant"},
    {"limit", AT(limit), NULL, "the score or rate that it is about"},
    {"text", AT(text), NULL, "in words"},
};
#undef AT
static const rh_fields claim_fields = {"claim", sizeof(rh_claim), RH_FIELD__ROWS(claim_row),
                                       .flat = true};

#define AT(member) RH_FIELD__AT(rh_advantage, member)
static const rh_field advantage_row[] = {
    {"score", AT(score), NULL, "how much more it scores, corrected for the choice"},
    {"within", AT(within), NULL, "standard deviation of the mean over members"},
    {"between", AT(between), NULL, "from model to model"},
    {"lost", AT(lost), NULL, "what agents lose in a model of other data"},
    {"missed", AT(missed), NULL, "what no model of this log shows"},
};
#undef AT
static const rh_fields advantage_fields = {"advantage", sizeof(rh_advantage),
                                           RH_FIELD__ROWS(advantage_row), .flat = true};

// `collect --advice` reads log_next.
#define AT(member) RH_FIELD__AT(rh_study, verdict.trust.member)
static const rh_field trust_row[] = {
    {"level", RH_FIELD__AS(RH_FIELD_WORD, rh_study, verdict.trust.level), NULL,
     "how far to believe the choice", .word = level_word},
    {"decision", RH_FIELD__AS(RH_FIELD_WORD, rh_study, verdict.trust.decision), NULL,
     "what to do after the study", .word = decision_word},
    {"probability", AT(probability), NULL,
     "that the agent is better and fails no more than stated"},
    {"advantage", AT(advantage), NULL, "of the best agent on the logged controller",
     .fields = &advantage_fields},
    {"claims", RH_FIELD__ARRAY(rh_study, verdict.trust.claim), NULL,
     "what is claimed of the agent", .fields = &claim_fields, .count = RH_COUNT_FIXED,
     .n = RH_NCLAIM},
    {"text", AT(text), NULL, "the answer in words"},
    {"reasons", RH_FIELD__ARRAY(rh_study, verdict.trust.reason), NULL, "for and against",
     .fields = &reason_fields, .count = RH_COUNT_MEMBER,
     .n = offsetof(rh_study, verdict.trust.nreason)},
    {"evidence", RH_FIELD__ARRAY(rh_study, verdict.trust.evidence), NULL,
     "what the study shows about the reliability of its choice", .fields = &evidence_fields,
     .count = RH_COUNT_FIXED, .n = RH_NEVIDENCE},
    {"log_next", RH_FIELD__LIST(rh_study, verdict.next), NULL,
     "what to log next, the most needed first", .fields = &next_fields,
     .count = RH_COUNT_MEMBER, .n = offsetof(rh_study, verdict.nnext)},
};
#undef AT
static const rh_fields trust_fields = {"trust", sizeof(rh_study), RH_FIELD__ROWS(trust_row)};

// ---------------------------------------------------------------------------- the scale

#define AT(member) RH_FIELD__AT(rh_reference, member)
static const rh_field reference_row[] = {
    {"score", AT(score), NULL, "on the winner's scale"},
    {"lo95", AT(lo95), NULL, "lower end of the 95 % interval"},
    {"hi95", AT(hi95), NULL, "upper end"},
};
#undef AT
static const rh_fields reference_fields = {"reference", sizeof(rh_reference),
                                           RH_FIELD__ROWS(reference_row), .flat = true};

#define AT(member) RH_FIELD__AT(rh_rare, member)
static const rh_field rare_row[] = {
    {"runs", AT(n), NULL, "runs far below the others"},
    {"mean_score", AT(score), NULL, "of these"},
    {"median_of_all", AT(usual), NULL, "median score of all runs"},
};
#undef AT
static const rh_fields rare_fields = {"rare failures", sizeof(rh_rare),
                                      RH_FIELD__ROWS(rare_row), .flat = true};

#define AT(member) RH_FIELD__AT(rh_transfer, member)
static const rh_field transfer_row[] = {
    {"agents", AT(n), NULL, "that learned in a model of one half of the log"},
    {"same_model", AT(same), NULL, "their median score in it"},
    {"other_model", AT(other), NULL, "and in a model of the other half"},
    {"lost", AT(lost), NULL, "how much lower this is"},
    {"share", AT(share), NULL, "of what they gained on random actions"},
    {"practice", AT(practice), NULL,
     "score of what was practised (start=model), in the models it was practised in"},
    {"practised", AT(practised), NULL, "and, frozen, in models of the other part of the log"},
};
#undef AT
static const rh_fields transfer_fields = {"transfer", sizeof(rh_transfer),
                                          RH_FIELD__ROWS(transfer_row), .flat = true};

#define AT(member) RH_FIELD__AT(rh_imitation, member)
static const rh_field imitation_row[] = {
    {"steps", AT(n), NULL, "held-out steps of the log"},
    {"agreement", AT(agreement), NULL,
     "share of them with the logged action, or within a twentieth of its range"},
    {"constant", AT(constant), NULL, "the agreement of the best constant action"},
    {"error", AT(error), NULL,
     "of a continuous action, in standard deviations; 1: the best constant action"},
    {"poor", AT(poor), NULL, "nothing should rest on it"},
    {"text", AT(text), NULL, "this in words"},
};
#undef AT
static const rh_fields imitation_fields = {"imitation", sizeof(rh_imitation),
                                           RH_FIELD__ROWS(imitation_row)};

static bool has_clone(const rh_field_at *at)
{
    return rh_study__of(at)->verdict.imitation.n > 0;
}

static void write_catch_up(rh_doc *doc, const char *key, const rh_field_at *at)
{
    int64_t step = ((const rh_today *)at->data)->catch_up;
    rh_doc__place(doc, key, step ? step : -1);
}

#define AT(member) RH_FIELD__AT(rh_today, member)
static const rh_field today_row[] = {
    {"better", RH_FIELD__AS(RH_FIELD_WORD, rh_today, better), NULL,
     "than the logged controller, over a whole run: yes, no or not known",
     .word = rh_answer__name},
    {"text", AT(text), NULL, "the answer in words"},
    {"learning", AT(learning), NULL, "the chosen agent in a whole run",
     .fields = &reference_fields},
    {"end", AT(end), NULL, "in the last tenth of it", .fields = &reference_fields},
    {"defaults", AT(defaults), NULL, "the agent with its defaults in a whole run",
     .fields = &reference_fields},
    {"clone", AT(clone), NULL, "a clone of the logged controller, in the same models",
     .fields = &reference_fields},
    {"caught_up", AT(caught_up), NULL,
     "share of the runs that got as much as the logged controller"},
    {"catch_up", RH_FIELD__CALL, "steps", "after which half of them had; null: never in a run",
     .call = write_catch_up},
};
#undef AT
static const rh_fields today_fields = {"today", sizeof(rh_today), RH_FIELD__ROWS(today_row)};

#define AT(member) RH_FIELD__AT(rh_rate, member)
static const rh_field rate_row[] = {
    {"rate", AT(rate), NULL, "share of episodes, or failures in 1,000 steps"},
    {"lo95", AT(lo95), NULL, "lower end of the 95 % interval"},
    {"hi95", AT(hi95), NULL, "upper end"},
    {"failures", AT(n), NULL, "that were counted"},
    {"of", AT(of), NULL, "so many episodes or steps"},
};
#undef AT
static const rh_fields rate_fields = {"rate", sizeof(rh_rate), RH_FIELD__ROWS(rate_row),
                                      .flat = true};

static void write_rule(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_failure *rule = ((const rh_failing *)at->data)->rule;
    rh_doc__open(doc, key, '{', false);
    rh_doc__flag(doc, "known", rule->known);
    rh_doc__text(doc, "words", rule->words);
    rh_doc__flag(doc, "ends", rule->ends);
    rh_doc__real(doc, "below", rule->below);
    rh_doc__text(doc, "formula", rule->formula);
    rh_doc__close(doc);
}

static void write_unit(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key,
                 ((const rh_failing *)at->data)->per_steps ? "1000 steps" : "episode");
}

#define AT(member) RH_FIELD__AT(rh_failing, member)
static const rh_field failing_row[] = {
    {"rule", RH_FIELD__CALL, NULL, "what a failure is", .call = write_rule},
    {"text", AT(text), NULL, "the answer in words"},
    {"per", RH_FIELD__CALL, NULL, "rates are of episodes or 1000 steps", .call = write_unit},
    {"first", AT(first), NULL, "the chosen agent in the first tenth of a run",
     .fields = &rate_fields},
    {"all", AT(all), NULL, "in a whole run", .fields = &rate_fields},
    {"last", AT(last), NULL, "in the last tenth", .fields = &rate_fields},
    {"defaults", AT(defaults), NULL, "the agent with its defaults", .fields = &rate_fields},
    {"logged", AT(logged), NULL, "the logged controller, in the log", .fields = &rate_fields},
    {"often", RH_FIELD__AS(RH_FIELD_WORD, rh_failing, often), NULL,
     "the chosen agent in a whole run, compared with the logged controller",
     .word = rh_often__name},
};
#undef AT
static const rh_fields failing_fields = {"failures", sizeof(rh_failing),
                                         RH_FIELD__ROWS(failing_row)};

static void write_per(rh_doc *doc, const char *key, const rh_field_at *at)
{
    rh_doc__text(doc, key, rh_study__of(at)->verdict.per_steps ? "steps" : "episode");
}

static void write_per_steps(rh_doc *doc, const char *key, const rh_field_at *at)
{
    int64_t n = rh_study__of(at)->verdict.per_steps;
    rh_doc__place(doc, key, n ? n : -1);
}

// ---------------------------------------------------------------------------- importance

static void write_method(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_shares *of = &rh_study__of(at)->verdict.importance;
    rh_doc__text(doc, key,
                 !of->known  ? NULL
                 : of->exact ? "analysis_of_variance"
                             : "gaussian_process");
}

static void write_shares(rh_doc *doc, const char *key, const rh_field_at *at)
{
    static const char *const end[] = {"lower", NULL, "upper"};
    const rh_plan *plan = rh_study__of(at)->plan;
    const rh_verdict *v = &rh_study__of(at)->verdict;
    const rh_shares *of = &v->importance;
    rh_doc__open(doc, key, '[', false);
    for (int d = 0; d < plan->space.ndim; d++) {
        rh_doc__open(doc, NULL, '{', true);
        rh_doc__text(doc, "name", plan->space.dim[d].name);
        rh_doc__real(doc, "main_effect", of->known ? of->alone[d] : NAN);
        rh_doc__real(doc, "total_effect", of->known ? of->total[d] : NAN);
        rh_doc__text(doc, "at_bound", v->winner >= 0 ? end[v->bound[d] + 1] : NULL);
        rh_doc__close(doc);
    }
    rh_doc__close(doc);
}

static const rh_field importance_row[] = {
    {"method", RH_FIELD__CALL, NULL, "of the estimate", .call = write_method},
    {"parameters", RH_FIELD__CALL, NULL, "share of the score's variance that each explains",
     .call = write_shares},
};
static const rh_fields importance_fields = {"importance", sizeof(rh_study),
                                            RH_FIELD__ROWS(importance_row)};

// ---------------------------------------------------------------------------- the sources

static void write_version(rh_doc *doc, const char *key, const rh_field_at *at)
{
    (void)at;
    rh_doc__text(doc, key, rh_version());
}

static void write_log(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_study *study = rh_study__of(at);
    rh_log log = *rh_study__whole_log(study);
    char text[32];
    if (!study->log)
        log.path = rh_plan_text(study->plan, "data");
    snprintf(text, sizeof text, "%016" PRIx64, rh_model__fingerprint(rh_study__model(study)));
    rh_doc__open(doc, key, '{', false);
    rh_field__write_within(doc, rh_log__fields(), &log, NULL);
    rh_doc__text(doc, "fingerprint", text);
    rh_doc__text(doc, "starts", study->starts ? study->starts->path : NULL);
    rh_doc__close(doc);
}

static void write_agent(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_study *study = rh_study__of(at);
    int winner = study->verdict.winner;
    rh_doc__text(doc, key,
                 winner < 0 ? study->plan->agent->name
                            : rh_study__agent(study, &study->verdict.trial[winner])->name);
}

static void write_findings(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_findings *list = &rh_study__of(at)->verdict.findings;
    rh_field__write_list(doc, key, &rh_field__finding, list->item, list->n, NULL);
}

static void write_model(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const rh_fidelity *f = rh_model_fidelity(rh_study__model(rh_study__of(at)));
    rh_doc__open(doc, key, '{', false);
    rh_field__write_list(doc, "findings", &rh_field__finding, f ? f->findings.item : NULL,
                         f ? f->findings.n : 0, at->names);
    rh_doc__close(doc);
}

static void write_plan(rh_doc *doc, const char *key, const rh_field_at *at)
{
    const char *name, *value;
    bool open;
    rh_doc__open(doc, key, '{', false);
    for (int i = 0; rh_plan_entry(rh_study__of(at)->plan, i, &name, &value, &open); i++)
        rh_doc__text(doc, name, value);
    rh_doc__close(doc);
}

// ---------------------------------------------------------------------------- the study

#define AT(member) RH_FIELD__AT(rh_study, member)
static const rh_field head_row[] = {
    {"version", RH_FIELD__CALL, NULL, "of rehearse", .call = write_version},
    {"study", AT(opt.folder), NULL, "its folder"},
    {"finished", AT(verdict.finished), NULL, "the study is complete"},
    {"log", RH_FIELD__CALL, NULL, "the log", .call = write_log},
    {"agent", RH_FIELD__CALL, NULL, "its name", .call = write_agent},
    {"winner", RH_FIELD__CALL, NULL, "the setting to deploy", .call = write_winner},
    {"candidate", RH_FIELD__CALL, NULL, "the best agent beside a clone of the controller",
     .call = write_candidate},
    {"hyperparameters", RH_FIELD__CALL, NULL, "all of the winner", .call = write_hp},
    {"curve", RH_FIELD__CALL, NULL, "the winner's mean learning curve", .call = write_curve},
    {"winner_in_search", RH_FIELD__CALL, NULL, "its trial in the search",
     .call = write_winner_search},
    {"best_in_search", RH_FIELD__CALL, NULL, "what the search alone would choose",
     .call = write_search_best},
    {"optimism", AT(verdict.optimism), NULL,
     "how much better than in the log the logged behaviour scores in the model"},
    {"score_per", RH_FIELD__CALL, NULL, "scores are rewards of steps or an episode",
     .call = write_per},
    {"score_steps", RH_FIELD__CALL, "steps", "of so many", .call = write_per_steps},
    {"logged", AT(verdict.logged), NULL, "the logged controller, in the log",
     .fields = &reference_fields},
    {"random", AT(verdict.random), NULL, "random actions in the models",
     .fields = &reference_fields},
    {"today", AT(verdict.today), NULL, "is it better than the logged controller?",
     .fields = &today_fields},
    {"failures", AT(verdict.failing), NULL, "how often does it fail?",
     .fields = &failing_fields},
    {"overrated", AT(verdict.selected), NULL,
     "how much the confirmed scores were lowered, because the best of several is chosen"},
    {"limits", RH_FIELD__GROUP, NULL, "does it keep the limits?", .known = rh_study__has_limits,
     .fields = &rh_study__limits_fields},
    {"also", RH_FIELD__CALL, NULL, "further scores, and those of the logged controller",
     .known = rh_study__has_also, .call = rh_study__write_scores},
    {"rare_failures", AT(verdict.rare), NULL, "runs of the winner far below its others",
     .fields = &rare_fields},
    {"transfer", AT(verdict.transfer), NULL, "agents moved to a model of other data",
     .fields = &transfer_fields},
    {"imitation", AT(verdict.imitation), NULL, "how well a clone imitates the controller",
     .known = has_clone, .fields = &imitation_fields},
    {"trust", RH_FIELD__GROUP, NULL, "how far to believe the choice", .fields = &trust_fields},
    {"importance", RH_FIELD__GROUP, NULL, "what the parameters explain of the score",
     .fields = &importance_fields},
};
static const rh_fields head = {"study", sizeof(rh_study), RH_FIELD__ROWS(head_row)};

static const rh_field tail_row[] = {
    {"findings", RH_FIELD__CALL, NULL, "what to know before deploying", .call = write_findings},
    {"model", RH_FIELD__CALL, NULL, "findings of the model", .call = write_model},
    {"plan", RH_FIELD__CALL, NULL, "every key of the study file", .call = write_plan},
    {"runs", AT(verdict.nrun), NULL, "finished runs"},
    {"steps", AT(verdict.nstep), NULL, "of all runs of trials"},
};
static const rh_fields tail = {"study", sizeof(rh_study), RH_FIELD__ROWS(tail_row)};

// What two runs of one command differ in.
static const rh_field effort_row[] = {
    {"resumed_runs", AT(verdict.nrun_resumed), NULL, "runs from earlier sessions"},
    {"seconds", AT(verdict.seconds), "s", "duration of this session"},
};
static const rh_fields effort = {"study", sizeof(rh_study), RH_FIELD__ROWS(effort_row)};
#undef AT

static void write_trials(rh_doc *doc, const char *key, const rh_study *study, const int *which,
                         int n)
{
    rh_field_at at = {study, 0, NULL, NULL};
    rh_doc__open(doc, key, '[', false);
    for (int i = 0; i < n; i++)
        write_trial(doc, NULL, &at, which ? which[i] : i);
    rh_doc__close(doc);
}

void rh_study__write_fields(rh_doc *doc, const rh_study *study, int most_tied)
{
    const rh_verdict *v = &study->verdict;
    rh_names names = rh_log_names(rh_model_log(rh_study__model(study)));
    bool all = most_tied < 0;
    rh_field__write_within(doc, &head, study, &names);
    write_trials(doc, "tied", study, v->tied,
                 all || v->ntied < most_tied ? v->ntied : most_tied);
    if (all)
        write_trials(doc, "trials", study, NULL, v->ntrial);
    rh_field__write_within(doc, &tail, study, &names);
    if (all)
        rh_field__write_within(doc, &effort, study, &names);
}

char *rh_study_json(rh_study *study)
{
    rh_text text = {0};
    rh_doc doc = {.text = &text};
    if (!rh_study_verdict(study))
        return NULL;
    rh_doc__open(&doc, NULL, '{', false);
    rh_study__write_fields(&doc, study, -1);
    rh_doc__close(&doc);
    if (text.bad)
        rh_text__clear(&text);
    return text.data;
}
