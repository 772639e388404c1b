// test_kinds.c - the kinds of model of a confirmation: their labels, those that are named, and
// those that the comparison of models found credible.

#include "model/model.h"
#include "model/model_sample.h"
#include "study/kinds.h"

// A model chosen among these types (n), with few epochs.
static rh_model *choose(const rh_log *log, const char *const *type, int n)
{
    rh_model_trial candidate[RH_MODEL_NTRIAL] = {{0}};
    rh_model_options opt = plain_options();
    rh_model *model = NULL;
    rh_error err = {""};
    for (int i = 0; i < n; i++) {
        rh_model_trial *t = &candidate[i];
        t->type = rh_model_find(type[i], NULL);
        rh_param_initial(t->type->param, t->type->nparam, t->param);
        t->kind = rh_kinds__label(t->type, t->param);
        int epochs = rh_param_find(t->type->param, t->type->nparam, "epochs");
        if (epochs >= 0)
            t->param[epochs] = 2;
        t->repr = rh_repr_find("raw", NULL);
        rh_param_initial(t->repr->param, t->repr->nparam, t->repr_param);
    }
    if (rh_model__choose(&model, candidate, n, log, &opt, NULL, &err))
        fail_msg("%s", err.text);
    return model;
}

static void labels(void **unused)
{
    (void)unused;
    static const char *const carry[] = {"none", "log", "action"};
    const rh_param table[] = {{"k", .lo = 1, .hi = 64, .initial = 3},
                              {"carry", .hi = 2, .choice = carry}};
    rh_model_type knn = {.name = "knn", .param = table, .nparam = 2}, other = knn;
    other.name = "tree";
    assert_string_equal(rh_kinds__label(&knn, (double[]){3, 0}), "stitching");
    assert_string_equal(rh_kinds__label(&knn, (double[]){3, 2}), "carrying");
    assert_string_equal(rh_kinds__label(&rh_model_nn, (double[16]){0}), "network");
    assert_string_equal(rh_kinds__label(&other, (double[]){3, 0}), "tree");
}

static void most(void **unused)
{
    (void)unused;
    rh_error err = {""};
    static const char *const name[] = {"a", "b", "c", "d", "e"};
    rh_kinds kinds = {.n = 0};
    double param[RH_KINDS__NPARAM] = {0};
    for (int i = 0; i < 5; i++) {
        rh_model_type type = {.name = name[i]};
        rh_status rc = rh_kinds__add(&kinds, &type, param, NULL, NULL, &err);
        assert_int_equal(rc, i < RH_KINDS__MOST ? RH_OK : RH_EINVAL);
    }
    assert_string_equal(err.text, "confirm: more than 4 kinds of model, expected fewer");
    rh_model_type wide = {.name = "wide", .nparam = RH_KINDS__NPARAM + 1};
    kinds.n = 0;
    assert_int_equal(rh_kinds__add(&kinds, &wide, param, NULL, NULL, &err), RH_EINVAL);
    assert_int_equal(kinds.n, 0);
}

// Only credible kinds have a vote; a kind that is named has one in any case.
static void of_a_comparison(void **unused)
{
    (void)unused;
    rh_error err = {""};
    rh_log *log = log_by_chance(5, 900, 2, 3);
    rh_model *model = choose(log, (const char *const[]){"knn", "nn"}, 2);
    rh_model_comparison *all = model->compared;
    assert_non_null(all);
    assert_int_equal(all->ntrial, 2);
    int own = all->trial[1].chosen, other = !own;
    assert_true(all->trial[own].chosen);
    assert_false(all->trial[other].chosen);
    assert_true(all->trial[other].tried);
    for (int credible = 0; credible < 2; credible++)
        for (int named = 0; named < 2; named++) {
            rh_kinds kinds;
            all->trial[other].credible = credible;
            int wanted = named ? RH_KINDS__FIRST * (other ? 4 : 1) : RH_KINDS__AUTO;
            assert_int_equal(rh_kinds__begin(&kinds, model, &err), RH_OK);
            assert_int_equal(rh_kinds__add_wanted(&kinds, wanted, model, &err), RH_OK);
            assert_int_equal(kinds.n, credible || named ? 2 : 1);
            assert_string_equal(kinds.kind[0].label, all->trial[own].kind);
            if (kinds.n < 2)
                continue;
            assert_true(kinds.kind[1].type == all->trial[other].type);
            assert_memory_equal(kinds.kind[1].param, all->trial[other].param,
                                (size_t)kinds.kind[1].type->nparam * sizeof(double));
            assert_null(kinds.kind[1].repr); // the same as the model's
            rh_kinds alone;
            assert_int_equal(rh_kinds__begin(&alone, model, &err), RH_OK);
            assert_int_equal(rh_kinds__add_wanted(&alone, RH_KINDS__CHOSEN, model, &err),
                             RH_OK);
            assert_int_equal(alone.n, 1);
        }

    // another representation is kept
    rh_kinds kinds;
    all->trial[other].repr = rh_repr_find("random", NULL);
    rh_param_initial(all->trial[other].repr->param, all->trial[other].repr->nparam,
                     all->trial[other].repr_param);
    assert_int_equal(rh_kinds__begin(&kinds, model, &err), RH_OK);
    assert_int_equal(rh_kinds__add_wanted(&kinds, RH_KINDS__AUTO, model, &err), RH_OK);
    assert_int_equal(kinds.n, 2);
    assert_ptr_equal(kinds.kind[1].repr, all->trial[other].repr);
    rh_model_destroy(model);
    rh_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels),
        cmocka_unit_test(most),
        cmocka_unit_test(of_a_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
