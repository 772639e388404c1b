// test_seal.c - no byte of a sealed file can change, come or go unseen.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "base/text.h"
#include "model/seal.h"

#define SIZE 1300
#define CRC_OF_1000 0x721746a6u

static char folder[] = "/tmp/rehearse-seal-XXXXXX";
static char path[256];

static int make_folder(void **unused)
{
    (void)unused;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/a.model", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(folder);
}

static void write_bytes(const unsigned char *x, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(x, 1, n, file), n);
    fclose(file);
}

static size_t read_bytes(unsigned char *x, size_t room)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(x, 1, room, file);
    fclose(file);
    return n;
}

// A sealed file of SIZE bytes.
static void seal_sample(unsigned char x[SIZE])
{
    rh_error err;
    for (int i = 0; i < SIZE; i++)
        x[i] = (unsigned char)(i * 31 + i / 7);
    write_bytes(x, SIZE);
    assert_int_equal(rh_seal__write(path, path, &err), RH_OK);
    assert_int_equal(read_bytes(x, SIZE), SIZE);
}

static void refuses(rh_status status, const char *words)
{
    rh_error err;
    int64_t size, live = rh_base__alloc_live();
    assert_int_equal(rh_seal__check(path, &size, &err), status);
    if (!strstr(err.text, words) || !strstr(err.text, "a.model: ") || strchr(err.text, '\n'))
        fail_msg("'%s' does not say '%s'", err.text, words);
    assert_int_equal(rh_base__alloc_live(), live);
}

// "123456789" is the CRC's own test; the other number is python's zlib.crc32 of 1000 bytes.
static void checksum_is_that_of_zip(void **unused)
{
    (void)unused;
    unsigned char x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = (unsigned char)(i % 251);
    assert_int_equal(rh_base__crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(rh_base__crc32(0, x, 1000), CRC_OF_1000);
    assert_int_equal(rh_base__crc32(0, x, 0), 0);
    for (size_t cut = 0; cut <= 1000; cut += 37) // in pieces
        assert_int_equal(rh_base__crc32(rh_base__crc32(0, x, cut), x + cut, 1000 - cut),
                         CRC_OF_1000);
}

static void a_sealed_file_is_good(void **unused)
{
    (void)unused;
    unsigned char x[SIZE];
    int64_t size = 0;
    rh_error err;
    seal_sample(x);
    assert_int_equal(rh_seal__check(path, &size, &err), RH_OK);
    assert_int_equal(size, SIZE);
    assert_ptr_equal(strstr((char *)x, "rehearse-model 1\nsize 1300\ncrc32 "), x);
}

static void every_byte_counts(void **unused)
{
    (void)unused;
    unsigned char x[SIZE];
    rh_error err;
    int64_t size;
    seal_sample(x);
    for (int i = 0; i < SIZE; i++) {
        x[i] ^= (unsigned char)(1 << i % 8);
        write_bytes(x, SIZE);
        assert_int_equal(rh_seal__check(path, &size, &err), RH_EFORMAT);
        assert_null(strchr(err.text, '\n'));
        x[i] ^= (unsigned char)(1 << i % 8);
    }
    for (size_t n = 0; n < SIZE; n++) {
        write_bytes(x, n);
        assert_int_equal(rh_seal__check(path, &size, &err), RH_EFORMAT);
    }
}

static void says_what_is_wrong(void **unused)
{
    (void)unused;
    unsigned char x[SIZE + 1] = {0};
    refuses(RH_EIO, "cannot read: No such file or directory");
    write_bytes((const unsigned char *)"a,b\n1,2\n", 8);
    refuses(RH_EFORMAT, "not a model file, expected one that `rehearse fit` wrote");
    write_bytes(x, 0);
    refuses(RH_EFORMAT, "not a model file");
    seal_sample(x);
    write_bytes(x, 1000);
    refuses(RH_EFORMAT, "cut off: 1000 bytes, expected 1300");
    write_bytes(x, 30);
    refuses(RH_EFORMAT, "cut off: 30 bytes");
    write_bytes(x, SIZE + 1);
    refuses(RH_EFORMAT, "damaged: 1301 bytes, expected 1300");
    x[900] ^= 4;
    write_bytes(x, SIZE);
    refuses(RH_EFORMAT, "damaged: its bytes have the checksum ");
    x[15] = '2';
    write_bytes(x, SIZE);
    refuses(RH_EFORMAT, "written by a newer rehearse (model format 2, this reads 1)");
    unlink(path);
}

static void other_things(void **unused)
{
    (void)unused;
    rh_error err;
    int64_t size;
    unlink(path);
    assert_int_equal(rh_seal__check(folder, &size, &err), RH_EIO);
    assert_non_null(strstr(err.text, "it is a directory, expected a model file"));
    assert_int_equal(rh_seal__check("/dev/null", &size, &err), RH_EIO);
    assert_non_null(strstr(err.text, "it is a device"));
    assert_int_equal(mkfifo(path, 0600), 0); // nobody writes: nothing to wait for
    assert_int_equal(rh_seal__check(path, &size, &err), RH_EIO);
    unlink(path);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_seal__check(path, &size, &err), RH_ENOMEM);
    rh_base__alloc_fail_at(1);
    assert_int_equal(rh_seal__write(path, path, &err), RH_ENOMEM);
    rh_base__alloc_fail_at(0);
    assert_int_equal(rh_seal__write("/nowhere/x", "x", &err), RH_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_that_of_zip),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(a_sealed_file_is_good),
        cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(other_things),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
