// replay.c - run a fuzz target over every file of the folders given, without a fuzzer.

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    static uint8_t room[1 << 20];
    size_t size = fread(room, 1, sizeof room, file);
    fclose(file);

    // a copy of the very size, so that a read too far is noticed
    uint8_t *data = malloc(size ? size : 1);
    if (!data)
        return -1;
    memcpy(data, room, size);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int nfile = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            perror(argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            if (entry->d_name[0] == '.')
                continue;
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            if (replay(path))
                return 1;
            nfile++;
        }
        closedir(folder);
    }
    printf("%d files\n", nfile);
    return nfile == 0;
}
