// launch.c - whether this is one process of several, by the variables of mpirun and srun.
//
// 1. MPI is not asked: MPI_Init takes a second and opens sockets; most users have one machine.
// 2. Only Slurm's step variables count: a batch script, one process, has SLURM_NTASKS too.
// 3. Only tune and paper share their work. Other commands refuse: every process would do the
//    same work, print the same table and write the same files.
// 4. A process gets its share of the machine's threads, but no more than it is bound to.

#include "cli_internal.h"

#include "base/number.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The number that the first of these variables begins with ("4(x2)" is 4); otherwise `none`.
static int number_in(const char *const *name, int none)
{
    for (; *name; name++) {
        const char *text = getenv(*name);
        double n;
        if (text && rh_number__parse(text, text + strspn(text, "0123456789"), &n) &&
            n <= INT_MAX)
            return (int)n;
    }
    return none;
}

cli_launch cli_launched(void)
{
    static const char *const count[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", NULL};
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                       "MV2_COMM_WORLD_RANK", "PMIX_RANK", NULL};
    static const char *const task[] = {"SLURM_PROCID", NULL};
    static const char *const local[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_LOCAL_SIZE",
                                        "SLURM_STEP_TASKS_PER_NODE", NULL};
    int me = number_in(rank, -1);
    cli_launch launch = {.count = number_in(count, me < 0 ? 1 : 0)};
    if (me < 0 && launch.count > 1) // a step of Slurm without variables of MPI
        me = number_in(task, 0);
    launch.me = me < 0 ? 0 : me;
    launch.local = number_in(local, 1);
    return launch;
}

int cli_launch_jobs(const cli_launch *launch)
{
    int bound = cli_ncpu();
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    if (launch->count == 1 || launch->local < 2 || all < 1)
        return bound;
    long share = all / launch->local;
    return share < 1 ? 1 : share < bound ? (int)share : bound;
}

int cli_launch_ranks(const char *command, const cli_launch *launch, rh_ranks **ranks)
{
    rh_error err;
    rh_status status = rh_ranks_begin(ranks, &err);
    if (status) {
        cli_refuse("%s: started as one of several processes: %s", command, err.text);
        cli_try("one process, or install MPI's part of rehearse (rehearse-mpi)");
        return status == RH_EINVAL ? CLI_USAGE : CLI_FAILED;
    }
    if (rh_ranks_count(*ranks) == 1 && launch->count > 1) {
        cli_refuse("%s: started as one of %d processes that do not see each other", command,
                   launch->count);
        cli_try("srun --mpi=pmix, or mpirun of the MPI that rehearse was built with");
        return CLI_USAGE;
    }
    cli_hush(rh_ranks_me(*ranks) > 0);
    return CLI_OK;
}

void cli_launch_pause(int seconds)
{
    struct timespec t = {.tv_sec = seconds};
    nanosleep(&t, NULL);
}

int cli_launch_check(const cli_command *command)
{
    cli_launch launch = cli_launched();
    if (!command->single || (launch.count <= 1 && launch.me == 0))
        return CLI_OK;
    if (launch.me > 0) {
        cli_launch_pause(CLI_GRACE);
        return CLI_USAGE;
    }
    cli_refuse("%s: started as one of %d processes, each of which would do the same work; only "
               "tune and paper share it",
               command->name, launch.count);
    cli_try("rehearse %s without mpirun or srun", command->name);
    return CLI_USAGE;
}
