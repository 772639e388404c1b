// albums.c - what agents see in the scenes of an environment, worked out once for all lives.
//
// A calibration model shows nothing but states of its log. Agents that declare it have their
// features of each worked out before the first life, once for every way of building an agent
// and every set of scenes; lives then tell the agent which scene it looks at.
//
// 1. Settings that agree in all fixed parameters share an album, and so do the members of one
//    model, which show the same array.
// 2. All albums together take at most 32 MB, each an equal part: 25,000 scenes of Acrobot's 336
//    features, or 170,000 of Puddle World's 48. A row that has to come from main memory takes
//    longer than working it out: in the model of a log of 200,000 steps a step was 5 % slower
//    with an album (of 270 MB) than without, and making it took 0.15 s, where in those of 5,000
//    and 20,000 steps it is 5 % and 2 % faster. Where there is none, features are worked out
//    step by step as everywhere else.
// 3. What was seen to be finite here need not be looked at again in every step.

#include "eval_internal.h"

#define MOST ((size_t)32 << 20) // bytes of all albums together

bool rh_albums__alike(const rh_agent_type *type, const double *a, const double *b)
{
    for (int i = 0; i < type->nparam; i++)
        if (type->param[i].fixed && a[i] != b[i])
            return false;
    return true;
}

static void sort_settings(rh_albums *a, const rh_agent_type *type, int nsetting,
                          const double *hp)
{
    size_t n = (size_t)type->nparam;
    for (int s = 0; s < nsetting; s++) {
        int like = 0;
        while (like < a->nbuild &&
               !rh_albums__alike(type, hp + (size_t)s * n, hp + (size_t)a->first[like] * n))
            like++;
        if (like == a->nbuild)
            a->first[a->nbuild++] = s;
        a->build[s] = like;
    }
}

static bool all_finite(const double *scene, int32_t n, int nobs)
{
    for (int32_t i = 0; i < n; i++)
        if (!rh_all_finite(scene + (size_t)i * (size_t)nobs, nobs))
            return false;
    return true;
}

static void sort_members(rh_albums *a, rh_env *const *env, int nmember, int nobs)
{
    for (int m = 0; m < nmember; m++) {
        int32_t n;
        const double *scene = rh_env_scenes(env[m], &n);
        int like = 0;
        while (like < a->nshow && (scene != a->scene[like] || n != a->nscene[like]))
            like++;
        a->show[m] = scene ? like : -1;
        if (!scene || like < a->nshow)
            continue;
        a->scene[like] = scene;
        a->nscene[like] = n;
        a->finite[like] = all_finite(scene, n, nobs);
        a->nshow++;
    }
}

rh_status rh_albums__sort(rh_albums *albums, rh_env *const *env, int nmember,
                          const rh_agent_type *agent, const rh_task *task, int nsetting,
                          const double *hp, rh_error *err)
{
    albums->build = rh_alloc((size_t)nsetting, sizeof *albums->build);
    albums->first = rh_alloc((size_t)nsetting, sizeof *albums->first);
    if (!albums->build || !albums->first)
        return rh_fail(err, RH_ENOMEM, "eval: out of memory for %d settings", nsetting);
    sort_settings(albums, agent, nsetting, hp);
    sort_members(albums, env, nmember, task->nobs);
    return RH_OK;
}

rh_status rh_albums__fill(rh_albums *albums, const rh_agent_type *agent, const rh_task *task,
                          const double *hp, rh_error *err)
{
    if (!agent->album || !albums->nshow)
        return RH_OK;
    size_t n = (size_t)albums->nbuild * (size_t)albums->nshow;
    albums->album = rh_alloc(n, sizeof(rh_album *));
    if (!albums->album)
        return rh_fail(err, RH_ENOMEM, "eval: out of memory for %zu albums", n);
    for (size_t i = 0; i < n; i++) {
        size_t build = i / (size_t)albums->nshow, show = i % (size_t)albums->nshow;
        size_t setting = (size_t)albums->first[build];
        rh_status rc = rh_album_create(
            &albums->album[i], agent, task, hp + setting * (size_t)agent->nparam,
            albums->scene[show], albums->nscene[show], MOST / n, err);
        if (rc)
            return rc;
    }
    return RH_OK;
}

void rh_albums__clear(rh_albums *albums)
{
    for (int i = 0; albums->album && i < albums->nbuild * albums->nshow; i++)
        rh_album_destroy(albums->album[i]);
    rh_free(albums->album);
    rh_free(albums->build);
    rh_free(albums->first);
}

const rh_album *rh_albums__of(const rh_albums *albums, int setting, int member)
{
    int show = albums->show[member];
    if (!albums->album || show < 0)
        return NULL;
    return albums->album[(size_t)albums->build[setting] * (size_t)albums->nshow + (size_t)show];
}

bool rh_albums__finite(const rh_albums *albums, int member)
{
    int show = albums->show[member];
    return show >= 0 && albums->finite[show];
}
