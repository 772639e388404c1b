// plugin.c - loads shared libraries and registers what they offer.
//
// 1. A path is resolved before it is opened: dlopen() would search the system's folders for a
//    name without a slash.
// 2. A plug-in need not be linked with the library: it finds the functions in the process. The
//    program exports them. Where the library itself was loaded privately, as by Python, its
//    names are made visible first.
// 3. The file is hashed before it is loaded, so that a study that is resumed, and every rank of
//    it, knows that it has the same build.
// 4. A plug-in stays loaded: registered kinds point into it. It is closed only if nothing of it
//    was registered.

#include "rehearse/plugin.h"

#include "base/base_internal.h"
#include "base/text.h"
#include "plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ENTRY "rehearse_plugin"

static rh_plugin__info loaded[RH_MAX_KIND];
static atomic_int nloaded;
static _Atomic(const char *) loading;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

// ---------------------------------------------------------------------------- asking

int rh_plugin__count(void)
{
    return atomic_load(&nloaded);
}

const rh_plugin__info *rh_plugin__at(int i)
{
    return i >= 0 && i < rh_plugin__count() ? &loaded[i] : NULL;
}

const char *rh_plugin__loading(void)
{
    return atomic_load(&loading);
}

const rh_plugin__info *rh_plugin__of_agent(const rh_agent_type *type)
{
    for (int i = 0; i < rh_plugin__count(); i++)
        for (int k = 0; loaded[i].plugin->agent && loaded[i].plugin->agent[k]; k++)
            if (loaded[i].plugin->agent[k] == type)
                return &loaded[i];
    return NULL;
}

const rh_plugin__info *rh_plugin__of_env(const rh_env_type *type)
{
    for (int i = 0; i < rh_plugin__count(); i++)
        for (int k = 0; loaded[i].plugin->env && loaded[i].plugin->env[k]; k++)
            if (loaded[i].plugin->env[k] == type)
                return &loaded[i];
    return NULL;
}

const rh_plugin__info *rh_plugin__of_address(const void *address)
{
    Dl_info place;
    if (!dladdr(address, &place) || !place.dli_fname)
        return NULL;
    for (int i = 0; i < rh_plugin__count(); i++)
        if (strcmp(loaded[i].file, place.dli_fname) == 0)
            return &loaded[i];
    return NULL;
}

// ---------------------------------------------------------------------------- the file

// FNV-1a, 64 bits.
static rh_status hash_file(const char *path, uint64_t *hash, rh_error *err)
{
    unsigned char bytes[4096];
    size_t n;
    struct stat is;
    if (stat(path, &is) == 0 && S_ISDIR(is.st_mode))
        return rh_fail(err, RH_EINVAL, "%s: a folder, expected the shared library of a plug-in",
                       rh_base__path_tail(path));
    FILE *file = fopen(path, "rb");
    if (!file)
        return rh_fail(err, RH_EIO, "%s: %s", rh_base__path_tail(path), strerror(errno));
    *hash = UINT64_C(0xcbf29ce484222325);
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0)
        for (size_t i = 0; i < n; i++)
            *hash = (*hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    bool bad = ferror(file) != 0;
    fclose(file);
    return bad ? rh_fail(err, RH_EIO, "%s: cannot be read", rh_base__path_tail(path)) : RH_OK;
}

// Decision 2. Nothing happens in a program that was linked with the library.
static void show_own_names(void)
{
    Dl_info place;
    if (dladdr(&nloaded, &place) && place.dli_fname) {
        void *self = dlopen(place.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
        if (self)
            dlclose(self);
    }
}

// What the loader said, without the path that it starts with.
static rh_status not_loaded(const char *path, const char *file, rh_error *err)
{
    const char *why = dlerror();
    size_t n = strlen(file);
    why = why ? why : "cannot be loaded";
    if (strncmp(why, file, n) == 0 && why[n] == ':')
        why += n + 1 + strspn(why + n + 1, " ");
    return rh_fail(err, RH_EFORMAT, "%s: %.240s; expected the shared library of a plug-in",
                   rh_base__path_tail(path), why);
}

// ---------------------------------------------------------------------------- loading

// The description that the library gives, checked; NULL: refused.
static const rh_plugin *describe(const char *path, void *library, rh_error *err)
{
    union { // ISO C has no conversion from an object to a function
        void *object;
        const rh_plugin *(*call)(void);
    } entry = {.object = dlsym(library, ENTRY)};
    const char *name = rh_base__path_tail(path);
    const rh_plugin *plugin = entry.object ? entry.call() : NULL;
    if (!entry.object)
        rh_fail(err, RH_EFORMAT,
                "%s: exports no function " ENTRY "(), expected one that returns the plug-in's "
                "rh_plugin",
                name);
    else if (!plugin)
        rh_fail(err, RH_EFORMAT, "%s: " ENTRY "() returned NULL, expected an rh_plugin", name);
    else if (plugin->abi != RH_PLUGIN_ABI)
        rh_fail(err, RH_EFORMAT,
                "%s: built for plug-in interface %u, expected %d; rebuild it with the headers "
                "of rehearse %s",
                name, plugin->abi, RH_PLUGIN_ABI, rh_version());
    else if (!(plugin->agent && plugin->agent[0]) && !(plugin->env && plugin->env[0]))
        rh_fail(err, RH_EFORMAT, "%s: has no agent and no environment, expected some", name);
    else
        return plugin;
    return NULL;
}

// Register its kinds. *n: how many.
static rh_status register_all(const char *path, const rh_plugin *plugin, int *n, rh_error *err)
{
    rh_error why = {""};
    rh_status rc = RH_OK;
    *n = 0;
    for (int i = 0; !rc && plugin->agent && plugin->agent[i]; i++, *n += !rc)
        rc = rh_agent_register(plugin->agent[i], &why);
    for (int i = 0; !rc && plugin->env && plugin->env[i]; i++, *n += !rc)
        rc = rh_env_register(plugin->env[i], &why);
    return rc ? rh_fail(err, rc, "%s: %.320s", rh_base__path_tail(path), why.text) : RH_OK;
}

static rh_status load(rh_plugin__info *info, rh_error *err)
{
    int n = 0;
    rh_status rc = hash_file(info->file, &info->fingerprint, err);
    if (rc)
        return rc;
    show_own_names();
    void *library = dlopen(info->file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return not_loaded(info->path, info->file, err);
    info->plugin = describe(info->path, library, err);
    rc = info->plugin ? register_all(info->path, info->plugin, &n, err) : RH_EFORMAT;
    if (rc && n == 0)
        dlclose(library);
    return rc;
}

// Load the file, unless it is loaded.
static rh_status add(const char *path, const char *file, rh_error *err)
{
    int n = rh_plugin__count();
    for (int i = 0; i < n; i++)
        if (strcmp(loaded[i].file, file) == 0)
            return RH_OK;
    if (n == RH_MAX_KIND)
        return rh_fail(err, RH_EINVAL, "%s: expected at most %d plug-ins",
                       rh_base__path_tail(path), RH_MAX_KIND);
    char *given = rh_base__copy(path), *whole = rh_base__copy(file);
    rh_plugin__info info = {.path = given, .file = whole};
    rh_status rc = given && whole ? load(&info, err) : rh_base__no_memory(err, "plug-in");
    if (rc) {
        rh_free(given);
        rh_free(whole);
        return rc;
    }
    loaded[n] = info;
    atomic_store(&nloaded, n + 1);
    return RH_OK;
}

rh_status rh_plugin_load(const char *path, rh_error *err)
{
    char *file = realpath(path, NULL);
    if (!file)
        return rh_fail(err, errno == ENOMEM ? RH_ENOMEM : RH_EIO,
                       "%s: %s; expected the shared library of a plug-in",
                       rh_base__path_tail(path), strerror(errno));
    pthread_mutex_lock(&adding);
    atomic_store(&loading, path);
    rh_status rc = add(path, file, err);
    atomic_store(&loading, NULL);
    pthread_mutex_unlock(&adding);
    free(file);
    return rc;
}
