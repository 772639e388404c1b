// test_preset.c - published values: the paper's numbers, in the parameters of their kind.

#include "base/base.h"
#include "repr/repr.h"
#include "repr_test.h"

static void every_preset_applies(void **unused)
{
    (void)unused;
    assert_null(rh_repr_preset__at(-1));
    assert_null(rh_repr_preset__at(rh_repr__npreset()));
    assert_null(rh_repr_type_at(-1));
    assert_null(rh_repr_type_at(rh_repr_ntype()));
    assert_int_equal(rh_repr__npreset(), 5);
    for (int i = 0; i < rh_repr__npreset(); i++) {
        const rh_repr__preset *preset = rh_repr_preset__at(i);
        const rh_repr_type *type = rh_repr_find(preset->type, NULL);
        rh_error err = {""};
        double param[16];
        assert_non_null(type);
        assert_ptr_equal(rh_repr_preset__find(preset->name, NULL), preset);
        assert_true(strlen(preset->about) > 10);
        for (int k = 0; k < 16; k++)
            param[k] = NAN;
        if (rh_repr_preset__apply(preset, param, &err))
            fail_msg("%s", err.text);
        assert_int_equal(rh_param__check(type->param, type->nparam, type->name, param, &err),
                         RH_OK); // none is left as it was
    }
}

// d, zeta, window, rate as in the appendix of the paper.
static void the_papers_numbers(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        double d, zeta, window, rate;
    } paper[] = {
        {"acrobot", 8, 0.5, 20, 3e-5},       {"acrobot-exp2", 8, 0.05, 20, 3e-5},
        {"puddle_world", 4, 0.05, 10, 3e-4}, {"puddle_world-exp2", 4, 0.05, 5, 1e-4},
        {"cartpole", 8, 0.05, 50, 3e-5},
    };
    const rh_repr_type *type = &rh_repr_laplacian;
    for (int i = 0; i < 5; i++) {
        double got[16], want[16];
        rh_param_initial(type->param, type->nparam, got);
        assert_int_equal(
            rh_repr_preset__apply(rh_repr_preset__find(paper[i].name, NULL), got, NULL), RH_OK);
        param_of(type, want, "scale", (double)RH_SCALE_NONE, "first_bias", 0.0, "d", paper[i].d,
                 "zeta", paper[i].zeta, "window", paper[i].window, "rate", paper[i].rate,
                 "kappa", 0.8, "beta", 5.0, "batch", 128.0, "steps", 30000.0, NULL);
        assert_memory_equal(got, want, (size_t)type->nparam * sizeof *got);
    }
}

static void slips_of_the_pen(void **unused)
{
    (void)unused;
    rh_error err = {""};
    assert_null(rh_repr_preset__find("acrobat", &err));
    assert_string_equal(err.text,
                        "no preset of a representation 'acrobat'; did you mean 'acrobot'? "
                        "(acrobot, acrobot-exp2, cartpole, puddle_world, puddle_world-exp2)");
    rh_repr__preset wrong = {.name = "x", .type = "laplacian", .set = {{"dim", "8"}}};
    double param[16];
    assert_int_equal(rh_repr_preset__apply(&wrong, param, &err), RH_EINVAL);
    wrong.set[0] = (rh_setting){"d", "800"};
    assert_int_equal(rh_repr_preset__apply(&wrong, param, &err), RH_EINVAL);
    assert_string_equal(err.text, "laplacian: d = 800, expected a whole number, 1 to 64");
    wrong.type = "none";
    assert_int_equal(rh_repr_preset__apply(&wrong, param, &err), RH_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_applies),
        cmocka_unit_test(the_papers_numbers),
        cmocka_unit_test(slips_of_the_pen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
