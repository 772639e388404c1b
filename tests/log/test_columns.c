// test_columns.c - roles of columns: from options, from the usual names, from what remains.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/base_internal.h"
#include "log/columns.h"

// Columns of a header split at ;. All are numeric except those that end in ! (which is
// removed).
static void init(rh_columns *c, const char *text)
{
    const char *header[64] = {NULL};
    size_t length[64] = {0};
    bool words[64] = {false};
    int n = 0;
    for (const char *p = text; p; n++) {
        const char *end = strchr(p, ';');
        header[n] = p;
        length[n] = end ? (size_t)(end - p) : strlen(p);
        if (length[n] > 0 && p[length[n] - 1] == '!') {
            words[n] = true;
            length[n]--;
        }
        p = end ? end + 1 : NULL;
    }
    assert_int_equal(rh_columns__init(c, "t.csv", n, header, length, NULL), RH_OK);
    for (int i = 0; i < n; i++) {
        c->numeric[i] = !words[i];
        c->wordy[i] = words[i];
    }
}

// "obs=temp,level action=pump reward=r ..." for the roles that are set.
static void describe(const rh_columns__plan *plan, const rh_columns *c, char *text, size_t size)
{
    const struct {
        const char *name;
        const int *column;
        int n;
    } part[] = {{"obs", plan->obs, plan->nobs},
                {"next", plan->next, plan->nnext},
                {"action", plan->act, plan->nact},
                {"reward", plan->term, plan->nterm},
                {"episode", &plan->episode, plan->episode >= 0},
                {"terminal", &plan->terminal, plan->terminal >= 0},
                {"truncated", &plan->truncated, plan->truncated >= 0},
                {"time", &plan->time, plan->time >= 0},
                {"step", &plan->step, plan->step >= 0},
                {"start", &plan->start, plan->start >= 0}};
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++)
        for (int k = 0; k < part[i].n; k++) {
            const char *name = c->name[part[i].column[k]], *gap = used ? " " : "";
            if (k > 0)
                used += (size_t)snprintf(text + used, size - used, ",%s", name);
            else
                used += (size_t)snprintf(text + used, size - used, "%s%s=%s", gap, part[i].name,
                                         name);
        }
}

static void planned_with(const char *header, const rh_log_options *opt, const char *expected)
{
    rh_columns c;
    rh_columns__plan plan;
    rh_error err = {""};
    char text[1000];
    int64_t live = rh_base__alloc_live();
    init(&c, header);
    if (rh_columns__plan_make(&plan, &c, opt, &err) != RH_OK)
        fail_msg("%s: %s", header, err.text);
    describe(&plan, &c, text, sizeof text);
    assert_string_equal(text, expected);
    rh_columns__plan_clear(&plan);
    rh_columns__clear(&c);
    assert_int_equal(rh_base__alloc_live(), live);
}

static void planned(const char *header, const char *expected)
{
    rh_log_options opt = rh_log_defaults();
    planned_with(header, &opt, expected);
}

static void refused_with(const char *header, const rh_log_options *opt, const char *message)
{
    rh_columns c;
    rh_columns__plan plan;
    rh_error err = {""};
    init(&c, header);
    assert_int_not_equal(rh_columns__plan_make(&plan, &c, opt, &err), RH_OK);
    assert_string_equal(err.text, message);
    rh_columns__plan_clear(&plan);
    rh_columns__clear(&c);
}

// ---------------------------------------------------------------------------- names

static void units(void **unused)
{
    (void)unused;
    static const struct {
        const char *header, *name, *unit;
    } cases[] = {{"temp [degC]", "temp", "degC"},
                 {"flow (m3/h)", "flow", "m3/h"},
                 {"temp[degC]", "temp", "degC"},
                 {"obs[0]", "obs[0]", ""},
                 {"state(12)", "state(12)", ""},
                 {"plain", "plain", ""},
                 {"[x]", "[x]", ""},
                 {"a]", "a]", ""},
                 {"a [b] [c]", "a [b]", "c"},
                 {"a (b (c))", "a", "b (c)"},
                 {"x []", "x", ""},
                 {"", "", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rh_columns c;
        init(&c, cases[i].header);
        assert_string_equal(c.header[0], cases[i].header);
        assert_string_equal(c.name[0], cases[i].name);
        assert_string_equal(c.unit[0], cases[i].unit);
        rh_columns__clear(&c);
    }
    rh_columns c;
    init(&c, "T [a];T [b];U [a]");
    assert_string_equal(c.name[0], "T [a]");
    assert_string_equal(c.name[1], "T [b]");
    assert_string_equal(c.unit[1], "");
    assert_string_equal(c.name[2], "U");
    rh_columns__clear(&c);
}

static void usual_names(void **unused)
{
    (void)unused;
    planned("obs_0;obs_1;action;reward", "obs=obs_0,obs_1 action=action reward=reward");
    planned("Obs 0;OBS[1];obs.2;obs3;a;r", "obs=Obs 0,OBS[1],obs.2,obs3 action=a reward=r");
    planned("observation.x;observation.y;action.0;action.1;next.reward;next.done;"
            "episode_index;frame_index;index;task_index;timestamp",
            "obs=observation.x,observation.y action=action.0,action.1 reward=next.reward "
            "episode=episode_index terminal=next.done time=timestamp");
    planned(
        "episode_id;state_feature_a;state_feature_b;action;reward;all_action_probabilities!",
        "obs=state_feature_a,state_feature_b action=action reward=reward "
        "episode=episode_id");
    planned("state_0;s1;feature_2;u_0;u_1;rew;dones;timeouts;eps_id;t;ts",
            "obs=state_0,s1,feature_2 action=u_0,u_1 reward=rew episode=eps_id "
            "terminal=dones truncated=timeouts time=ts");
    planned("state;action;reward;next_state;terminated;truncated;traj_id",
            "obs=state next=next_state action=action reward=reward episode=traj_id "
            "terminal=terminated truncated=truncated");

    // case matters here
    planned("stateFeature0;stateFeature1;Action;Reward;episodeId;isTerminal;timeOut;TimeStamp",
            "obs=stateFeature0,stateFeature1 action=Action reward=Reward episode=episodeId "
            "terminal=isTerminal truncated=timeOut time=TimeStamp");
    planned("x;Episode Number;a;r;isDone;is_truncated",
            "obs=x action=a reward=r episode=Episode Number terminal=isDone "
            "truncated=is_truncated");

    // names that only look similar
    planned("obs_0;state_of_charge;action;action_prob;reward",
            "obs=obs_0 action=action reward=reward");
    planned("state!;temp;a;r", "obs=temp action=a reward=r");
}

static void what_remains(void **unused)
{
    (void)unused;
    planned(";Unnamed: 0;temp;level;mode!;index;step;info.x;pump;action;reward;done",
            "obs=temp,level,pump action=action reward=reward terminal=done step=step");
    planned("x_0;x_1;a;r", "obs=x_0,x_1 action=a reward=r");
    planned("temp;temp_next;level;level_next;a;r",
            "obs=temp,level next=temp_next,level_next action=a reward=r");
    planned("temp;next_temp;level;a;r", "obs=temp,level action=a reward=r");
}

// A column with another role's name is never an observation, even if that role is taken.
static void never_observed(void **unused)
{
    (void)unused;
    planned("x;action;reward;r;done;terminated;timestamp;time;action_0;episode_return",
            "obs=x action=action reward=reward terminal=terminated time=time");
    rh_log_options opt = rh_log_defaults();
    opt.terminal = "";
    opt.reward = "-cost";
    opt.action = "pump";
    opt.time = "";
    planned_with("x;pump;cost;reward;action;terminal;dones;time;truncated", &opt,
                 "obs=x action=pump reward=cost truncated=truncated");
    opt.obs = "x,terminal"; // unless the caller says so
    planned_with("x;pump;cost;terminal", &opt, "obs=x,terminal action=pump reward=cost");

    // a note mentions it, as for text columns
    rh_columns c;
    rh_columns__plan plan;
    opt = rh_log_defaults();
    opt.terminal = "";
    init(&c, "x;a;r;done;mo\nde!");
    assert_int_equal(rh_columns__plan_make(&plan, &c, &opt, NULL), RH_OK);
    assert_int_equal(plan.nnote, 3);
    assert_string_equal(plan.note[1], "left out, as the name belongs to another role: done");
    assert_string_equal(plan.note[2], "left out, as it contains text: mo?de");
    rh_columns__plan_clear(&plan);
    rh_columns__clear(&c);

    opt = rh_log_defaults();
    refused_with("is_first;is_last;is_terminal;x;a;r", &opt,
                 "t.csv: columns is_last and is_terminal are RLDS's, where an episode's last "
                 "row has no action of its own; docs/logs.md shows how to export it, or name "
                 "the end of steps with --terminal");
    opt.terminal = "is_terminal";
    planned_with("is_first;is_last;is_terminal;x;a;r", &opt,
                 "obs=x action=a reward=r terminal=is_terminal");
}

static void next_by_name(void **unused)
{
    (void)unused;
    planned("obs_0;obs_1;a;r;next_obs_1;next_obs_0",
            "obs=obs_0,obs_1 next=next_obs_0,next_obs_1 action=a reward=r");
    planned("obs_0;a;r;new_obs_0", "obs=obs_0 next=new_obs_0 action=a reward=r");
    planned("observation_0;a;r;next_observations_0",
            "obs=observation_0 next=next_observations_0 action=a reward=r");
    planned("obs.temp;a;r;next.temp", "obs=obs.temp next=next.temp action=a reward=r");

    // an s' is never an s, whatever its name
    planned("s;a;r;s'", "obs=s next=s' action=a reward=r");
    planned("s;a;r;s\xe2\x80\xb2;a'", "obs=s next=s\xe2\x80\xb2 action=a reward=r");
    planned("obs_0;obs_1;act;rew;done;obs_next_0;obs_next_1",
            "obs=obs_0,obs_1 next=obs_next_0,obs_next_1 action=act reward=rew terminal=done");
    planned("obs_0;obs_1;a;r;obs_next_0", "obs=obs_0,obs_1 action=a reward=r");
    planned("x(t);y(t);a;r;x(t+1);y(t+1)", "obs=x,y next=x(t+1),y(t+1) action=a reward=r");
    planned("x_t;a;r;x_t+1", "obs=x_t next=x_t+1 action=a reward=r");
    planned("x_k;a;r;x_kp1", "obs=x_k next=x_kp1 action=a reward=r");
    planned("temp;nextTemp;a;r", "obs=temp next=nextTemp action=a reward=r");
    planned("obs;obs2;act;rew;done", "obs=obs next=obs2 action=act reward=rew terminal=done");
    planned("obs1;obs2;a;r", "obs=obs1,obs2 action=a reward=r");
    planned("obs_next_x;obs_y;a;r",
            "obs=obs_next_x,obs_y action=a reward=r"); // there is no such s
    rh_log_options opt = rh_log_defaults();
    opt.obs = "sensor_*";
    planned_with("sensor_1;sensor_1_next;a;r", &opt,
                 "obs=sensor_1 next=sensor_1_next action=a reward=r");
    opt.obs = "*_next";
    planned_with("sensor_1;sensor_1_next;a;r", &opt, "obs=sensor_1_next action=a reward=r");
    opt.next = "q,p";
    opt.obs = "x,y";
    planned_with("x;y;p;q;a;r", &opt, "obs=x,y next=q,p action=a reward=r");
    opt.next = "next_*";
    planned_with("x;y;next_y;next_x;a;r", &opt, "obs=x,y next=next_x,next_y action=a reward=r");
    opt.next = "";
    planned_with("x;y;next_y;next_x;a;r", &opt, "obs=x,y action=a reward=r");
    opt.next = "p";
    refused_with("x;y;p;q;a;r", &opt, "t.csv: next: 1 column, expected 2 as in obs");
}

static void two_candidates(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    rh_columns c;
    rh_columns__plan plan;
    init(&c, "s0;a;r;done;terminal;ts;time");
    assert_int_equal(rh_columns__plan_make(&plan, &c, &opt, NULL), RH_OK);
    assert_string_equal(c.name[plan.terminal], "terminal");
    assert_string_equal(c.name[plan.time], "time");
    assert_false(plan.done);
    assert_int_equal(plan.nnote, 2);
    assert_string_equal(plan.note[0], "terminal = column terminal; column done is left out");
    assert_string_equal(plan.note[1], "time = column time; column ts is left out");
    rh_columns__plan_clear(&plan);
    rh_columns__clear(&c);
}

// ---------------------------------------------------------------------------- the caller's

static void lists(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    opt.obs = "sensor_* , temp [degC],\"a, b\"";
    opt.action = "valve";
    opt.reward = "-energy + 0.5*temp";
    planned_with("sensor_a;sensor_b;temp [degC];a, b;valve;energy;reward;done", &opt,
                 "obs=sensor_a,sensor_b,temp,a, b action=valve reward=energy,temp "
                 "terminal=done");
    opt = rh_log_defaults();
    opt.reward = "-obs_0 - u"; // a computed reward leaves a column its role
    planned_with("obs_0;obs_1;u;reward", &opt, "obs=obs_0,obs_1 action=u reward=obs_0,u");
    opt.reward = "-cost";
    planned_with("temp;cost;u", &opt, "obs=temp action=u reward=cost");
    opt = rh_log_defaults();
    opt.action = "reward"; // odd, but requested
    opt.reward = "action";
    planned_with("s0;action;reward", &opt, "obs=s0 action=reward reward=action");
    opt = rh_log_defaults();
    opt.terminal = "";
    opt.episode = "";
    planned_with("s0;a;r;done;episode;step", &opt, "obs=s0 action=a reward=r step=step");
}

static void refusals(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    refused_with("temp;level;pump;energy;reward", &opt,
                 "t.csv: no action column: none of the columns (temp, level, pump, energy, "
                 "reward) has a usual name; say which it is with --action NAME");
    refused_with("temp;level;action;energy", &opt,
                 "t.csv: no reward column: none of the columns (temp, level, action, energy) "
                 "has a usual name; say which it is with --reward NAME");
    refused_with("temp;action;cost", &opt,
                 "t.csv: no reward column: none of the columns (temp, action, cost) has a "
                 "usual name; say which it is with --reward NAME, perhaps --reward=-cost");
    refused_with("mode!;action;reward", &opt,
                 "t.csv: no observations: none of the columns (mode, action, reward) has a "
                 "usual name; say which it is with --obs NAME,...");
    refused_with("reward;s0;a;reward", &opt,
                 "t.csv: reward: columns 1 and 4 are both called 'reward', expected one");
    opt.obs = "tmp";
    refused_with("temp;a;r", &opt,
                 "t.csv: obs: no column 'tmp'; did you mean 'temp'? (temp, a, r)");
    opt.obs = "x_*";
    refused_with("temp;a;r", &opt, "t.csv: obs: no column 'x_*'; expected one of temp, a, r");
    opt.obs = "temp,a";
    opt.action = "a";
    refused_with("temp;a;r", &opt, "t.csv: column 'a' is named for both obs and action");
    opt.obs = "temp";
    opt.reward = "temp";
    refused_with("temp;a;r", &opt, "t.csv: column 'temp' is named for both obs and reward");
    opt = rh_log_defaults();
    opt.episode = "x,y";
    refused_with("s0;a;r;x;y", &opt, "t.csv: episode = x,y: 2 columns, expected one");
    opt = rh_log_defaults();
    opt.reward = "2";
    refused_with("s0;a;r", &opt, "t.csv: reward: '2': no column in it, expected at least one");
    opt.reward = "r * x";
    refused_with("s0;a;r", &opt, "t.csv: reward: no column 'x'; expected one of s0, a, r");
    opt.reward = "r a";
    refused_with("s0;a;r", &opt,
                 "t.csv: reward: 'r a': found 'a', expected an operator or the end after 'r' "
                 "at character 3");
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    rh_log_options opt = rh_log_defaults();
    opt.obs = "s0,s1";
    opt.reward = "-r";
    rh_status rc = RH_ENOMEM;
    int64_t live = rh_base__alloc_live();
    for (int64_t n = 1; rc; n++) {
        rh_columns c;
        rh_columns__plan plan;
        init(&c, "s0;s1;a;r;next_s0;next_s1");
        rh_base__alloc_fail_at(n);
        rc = rh_columns__plan_make(&plan, &c, &opt, NULL);
        rh_base__alloc_fail_at(0);
        if (rc)
            assert_int_equal(rc, RH_ENOMEM);
        rh_columns__plan_clear(&plan);
        rh_columns__clear(&c);
        assert_int_equal(rh_base__alloc_live(), live);
        assert_true(n < 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units),          cmocka_unit_test(usual_names),
        cmocka_unit_test(what_remains),   cmocka_unit_test(next_by_name),
        cmocka_unit_test(two_candidates), cmocka_unit_test(lists),
        cmocka_unit_test(refusals),       cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(never_observed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
