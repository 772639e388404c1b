#include "cli_internal.h"

static int main_inspect(const cli_args *args)
{
    (void)args;
    return CLI_FAILED;
}

const cli_command cli_inspect = {
    .name = "inspect", .about = "inspect", .operands = "", .main = main_inspect};
