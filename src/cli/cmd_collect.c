#include "cli_internal.h"

static int main_collect(const cli_args *args)
{
    (void)args;
    return CLI_FAILED;
}

const cli_command cli_collect = {
    .name = "collect", .about = "collect", .operands = "", .main = main_collect};
