// test_hdf5_check.c - HDF5 files that lie about where and how their numbers are stored.

#include <hdf5.h>
#include <time.h>
#include <zlib.h>

#include "log/sample.h"

#define N 40

// How the observations of a flat log are stored. The rest is plain.
typedef struct flat {
    hid_t file, made; // made: creation settings of the observations
    hid_t space;      // (N)
} flat;

static flat begin(const char *name)
{
    flat f;
    f.file = H5Fcreate(in_folder(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    f.made = H5Pcreate(H5P_DATASET_CREATE);
    f.space = H5Screate_simple(1, &(hsize_t){N}, NULL);
    assert_true(f.file >= 0);
    assert_true(f.made >= 0);
    assert_true(f.space >= 0);
    return f;
}

static void put(const flat *f, const char *name, hid_t made, const double *x)
{
    hid_t set =
        H5Dcreate2(f->file, name, H5T_NATIVE_DOUBLE, f->space, H5P_DEFAULT, made, H5P_DEFAULT);
    assert_true(set >= 0);
    if (x)
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(set);
}

static void end(flat *f, bool all)
{
    double x[N], zero[N] = {0};
    for (int i = 0; i < N; i++)
        x[i] = i;
    if (all) {
        put(f, "actions", H5P_DEFAULT, x);
        put(f, "rewards", H5P_DEFAULT, x);
        put(f, "terminals", H5P_DEFAULT, zero);
    }
    H5Sclose(f->space);
    H5Pclose(f->made);
    assert_true(H5Fclose(f->file) >= 0);
}

static void refuse_and_remove(const char *name, const char *words)
{
    char path[300];
    snprintf(path, sizeof path, "%s", in_folder(name));
    refuses(path, NULL, words);
    remove(path);
}

// ---------------------------------------------------------------------------- other files

static void external_storage(void **unused)
{
    (void)unused;
    flat f = begin("outside.h5");
    H5Pset_external(f.made, "/etc/passwd", 0, N * sizeof(double));
    put(&f, "observations", f.made, NULL);
    end(&f, true);
    refuse_and_remove("outside.h5",
                      "outside.h5: observations is stored in other files (external storage)");
}

static void external_links(void **unused)
{
    (void)unused;
    double x[N] = {0};
    flat other = begin("other.h5");
    put(&other, "observations", other.made, x);
    end(&other, true);

    flat f = begin("link.h5");
    H5Lcreate_external("other.h5", "/observations", f.file, "observations", H5P_DEFAULT,
                       H5P_DEFAULT);
    end(&f, true);
    refuse_and_remove("link.h5", "link.h5: observations is a link to another file");

    // a soft link that leads through an external one
    f = begin("soft.h5");
    H5Lcreate_external("other.h5", "/", f.file, "there", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/there/observations", f.file, "observations", H5P_DEFAULT, H5P_DEFAULT);
    end(&f, true);
    refuse_and_remove("soft.h5", "soft.h5: ");

    // a soft link inside the file is followed
    f = begin("inside.h5");
    put(&f, "sensors", f.made, x);
    H5Lcreate_soft("/sensors", f.file, "observations", H5P_DEFAULT, H5P_DEFAULT);
    end(&f, true);
    rh_log *log = read_log(in_folder("inside.h5"), NULL);
    assert_int_equal(log->n, N - 1);
    rh_log_destroy(log);
    remove(in_folder("inside.h5"));
    remove(in_folder("other.h5"));
}

static void virtual_datasets(void **unused)
{
    (void)unused;
    flat f = begin("virtual.h5");
    H5Pset_virtual(f.made, f.space, "other.h5", "observations", f.space);
    put(&f, "observations", f.made, NULL);
    end(&f, true);
    refuse_and_remove("virtual.h5",
                      "virtual.h5: observations is put together from other datasets (virtual)");
}

// ---------------------------------------------------------------------------- filters

static void unknown_filters(void **unused)
{
    (void)unused;
    double x[N] = {0};
    flat f = begin("filter.h5");
    H5Pset_chunk(f.made, 1, &(hsize_t){8});
    H5Pset_filter(f.made, 32000, H5Z_FLAG_OPTIONAL, 0, NULL);
    put(&f, "observations", f.made, x);
    end(&f, true);
    refuse_and_remove("filter.h5", "filter.h5: observations is packed with lzf, expected gzip");
    f = begin("filter.h5");
    H5Pset_chunk(f.made, 1, &(hsize_t){8});
    H5Pset_scaleoffset(f.made, H5Z_SO_FLOAT_DSCALE, 2);
    put(&f, "observations", f.made, x);
    end(&f, true);
    refuse_and_remove("filter.h5", "observations is packed with scaleoffset");
}

static void known_filters(void **unused)
{
    (void)unused;
    double x[N];
    rh_rng rng = rh_rng_stream(1, RH_STREAM_FIT, 0, 0);
    for (int i = 0; i < N; i++)
        x[i] = i < N / 2 ? 3.0 : rh_rng_uniform(&rng); // deflate is skipped for the second half
    for (int all = 0; all < 8; all++) {
        flat f = begin("good.h5");
        H5Pset_chunk(f.made, 1, &(hsize_t){7});
        if (all & 1)
            H5Pset_shuffle(f.made);
        if (all & 2)
            H5Pset_deflate(f.made, 4);
        if (all & 4)
            H5Pset_fletcher32(f.made);
        put(&f, "observations", f.made, x);
        end(&f, true);
        rh_log *log = read_log(in_folder("good.h5"), NULL);
        assert_int_equal(log->n, N - 1);
        for (int i = 0; i < N - 1; i++)
            assert_true(log->obs[log->from[i]] == x[i]);
        rh_log_destroy(log);
        remove(in_folder("good.h5"));
    }
}

// One chunk, stored as these bytes with this mask of skipped filters.
static void store_chunk(const char *name, const void *bytes, size_t n, uint32_t mask)
{
    flat f = begin(name);
    H5Pset_chunk(f.made, 1, &(hsize_t){N});
    H5Pset_shuffle(f.made);
    H5Pset_deflate(f.made, 4);
    put(&f, "observations", f.made, NULL);
    hid_t set = H5Dopen2(f.file, "observations", H5P_DEFAULT);
    assert_true(H5Dwrite_chunk(set, H5P_DEFAULT, mask, &(hsize_t){0}, n, bytes) >= 0);
    H5Dclose(set);
    end(&f, true);
}

static void wrong_chunks(void **unused)
{
    (void)unused;
    static const char words[] = "chunk.h5: observations is damaged or cut off: its stored "
                                "bytes do not fill its shape";
    unsigned char plain[N * 8 + 8] = {0}, packed[1000];
    static const size_t size[] = {N * 8 - 1, N * 8 / 2, 0, N * 8 + 8};
    for (int i = 0; i < 4; i++) {
        uLongf n = sizeof packed;
        assert_int_equal(compress(packed, &n, plain, size[i]), Z_OK);
        store_chunk("chunk.h5", packed, n, 0);
        refuse_and_remove("chunk.h5", words);
    }
    uLongf n = sizeof packed;
    compress(packed, &n, plain, (size_t)N * 8);
    store_chunk("chunk.h5", packed, n, 2); // said to be unpacked, and is not
    refuse_and_remove("chunk.h5", words);
    store_chunk("chunk.h5", packed, n, 1); // not shuffled
    refuse_and_remove("chunk.h5", words);
    store_chunk("chunk.h5", packed, n, 4); // a filter that it does not have
    refuse_and_remove("chunk.h5", words);
    store_chunk("chunk.h5", packed, n - 1, 0);
    refuse_and_remove("chunk.h5", words);

    // the right size is read
    store_chunk("chunk.h5", plain, (size_t)N * 8, 2);
    rh_log_destroy(read_log(in_folder("chunk.h5"), NULL));
    store_chunk("chunk.h5", packed, n, 0);
    rh_log_destroy(read_log(in_folder("chunk.h5"), NULL));
    remove(in_folder("chunk.h5"));
}

// ---------------------------------------------------------------------------- mazes

// Every group below the observations contains itself, under twenty names.
static void hard_links_in_circles(void **unused)
{
    (void)unused;
    double x[N] = {0};
    flat f = begin("maze.h5");
    hid_t episode = H5Gcreate2(f.file, "episode_0", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t obs = H5Gcreate2(episode, "observations", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", i);
        H5Lcreate_hard(episode, "observations", obs, name, H5P_DEFAULT, H5P_DEFAULT);
    }
    H5Gclose(obs);
    H5Gclose(episode);
    put(&f, "episode_0/actions", f.made, x);
    put(&f, "episode_0/rewards", f.made, x);
    end(&f, false);
    clock_t before = clock();
    refuse_and_remove("maze.h5", "maze.h5: episode_0/observations is nested too deeply");
    assert_true(clock() - before < 5 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(external_storage),      cmocka_unit_test(external_links),
        cmocka_unit_test(virtual_datasets),      cmocka_unit_test(unknown_filters),
        cmocka_unit_test(known_filters),         cmocka_unit_test(wrong_chunks),
        cmocka_unit_test(hard_links_in_circles),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
