// cmd_completion.c - rehearse completion: what bash and zsh need to complete a command line;
// completion_fish.c has fish.
//
// The script contains all names, so completing starts no program. Both shells share one
// function that chooses what to offer: the argument of an option is completed by its kind,
// --set and --env-set by the parameters of the agent or environment already on the line.
//
// The script does not use the variables words, commands and options: they are zsh's own.

#include "base/base.h"
#include "cli_internal.h"

#include <string.h>

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static void print_words(const char *const *name, int n)
{
    for (int i = 0; i < n; i++)
        printf("%s%s", i ? " " : "", name[i]);
}

static void print_names(const rh_key *key)
{
    const char *name[CLI_MAX_NAMES];
    print_words(name, cli_names(key, name));
}

// One line per agent with grids. The table keeps axes of a grid and grids of an agent together.
static void print_grids(const rh_env_type *type)
{
    const rh_axis *before = NULL;
    for (int k = 0; k < type->ngrid; k++) {
        const rh_axis *axis = &type->grid[k];
        if (!before || strcmp(axis->agent, before->agent) != 0)
            printf("%s    %s/%s) echo '%s", before ? "' ;;\n" : "", type->name, axis->agent,
                   axis->grid);
        else if (strcmp(axis->grid, before->grid) != 0)
            printf(" %s", axis->grid);
        before = axis;
    }
    if (before)
        puts("' ;;");
}

const cli_lookup cli_lookups[CLI_NLOOKUP] = {
    {CLI_LIST_AGENTS, "agent", "__rehearse_value --agent -a"},
    {CLI_LIST_ENVS, "env", "__rehearse_env"},
    {CLI_LIST_MODELS, "model", "__rehearse_value --model -m"},
    {CLI_LIST_REPRS, "repr", "__rehearse_value --repr"},
    {CLI_LIST_METHODS, "method", "__rehearse_value --method"},
};

const cli_lookup *cli_lookup_of(const rh_key *option)
{
    for (int i = 0; option->type == RH_KEY_PAIRS && option->list && i < CLI_NLOOKUP; i++)
        if (strcmp(cli_topics[cli_lookups[i].topic], option->list) == 0)
            return &cli_lookups[i];
    return NULL;
}

bool cli_lookup_item(cli_list_topic topic, int i, cli_item *item)
{
    return cli_list_item(topic, i, item) && strcmp(item->name, "auto") != 0;
}

static void print_params(const cli_item *item)
{
    for (int i = 0; i < item->nparam; i++)
        printf("%s%s=", i ? " " : "", item->param[i].name);
}

// The functions both shells call: names of parameters, and of grids.
static void print_lookups(void)
{
    cli_item item;
    for (int k = 0; k < CLI_NLOOKUP; k++) {
        cli_list_topic topic = cli_lookups[k].topic;
        printf("_rehearse_%s_params() {\n    case $1 in\n", cli_lookups[k].word);
        for (int i = 0; cli_lookup_item(topic, i, &item); i++) {
            bool usual = topic == CLI_LIST_MODELS && i == 0;
            printf("    %s%s) echo '", item.name, usual ? "|''" : "");
            print_params(&item);
            puts("' ;;");
        }
        if (topic == CLI_LIST_ENVS) { // whichever kind a model is: that is in its file
            fputs("    model*) echo '", stdout);
            for (int i = 0; cli_lookup_item(CLI_LIST_MODELS, i, &item); i++) {
                print_params(&item);
                putchar(' ');
            }
            puts("' ;;");
        }
        puts("    esac\n}\n");
    }
    puts("_rehearse_grids() {\n    case $1/$2 in");
    for (int i = 0; i < rh_env_ntype(); i++)
        print_grids(rh_env_type_at(i));
    puts("    esac\n}\n");
}

// ---------------------------------------------------------------------------- what completes

// Every published grid, with its environment, once.
void cli_print_grids(void)
{
    const char *before = "";
    for (int e = 0; e < rh_env_ntype(); e++) {
        const rh_env_type *env = rh_env_type_at(e);
        for (int i = 0; i < env->ngrid; i++) {
            bool seen = false; // of another agent, or another axis of the same
            for (int k = 0; k < i; k++)
                seen = seen || strcmp(env->grid[k].grid, env->grid[i].grid) == 0;
            if (!seen)
                printf("%s%s:%s", before, env->name, env->grid[i].grid);
            before = seen ? before : " ";
        }
    }
}

// The shell words that offer the values of an option, from $agent and $env.
static void print_values(const rh_key *o)
{
    const cli_lookup *lookup = cli_lookup_of(o);
    if (lookup)
        printf("$(_rehearse_%s_params $%s)", lookup->word, lookup->word);
    if (o->list && strcmp(o->list, "grids") == 0) {
        fputs("$(_rehearse_grids $env $agent) ", stdout);
        cli_print_grids();
    }
    print_names(o);
}

// case arms "command:--option)" that set `offer`, or `files`.
static void print_option_arms(void)
{
    for (int i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        const rh_key *o;
        for (int k = 0; (o = cli_option_at(command, k)) != NULL; k++) {
            if (!o->value)
                continue;
            printf("    %s:--%s", command->name, o->option);
            if (o->letter)
                printf("|%s:-%c", command->name, o->letter);
            fputs(") ", stdout);
            if (o->type == RH_KEY_FILE) {
                puts("files=1; return ;;");
                continue;
            }
            fputs("offer=\"", stdout);
            print_values(o);
            puts("\"; return ;;");
        }
    }
}

// Whether a model can stand where the command wants an environment.
static bool takes_models(const cli_command *command)
{
    return command == &cli_run || command == &cli_sweep || command == &cli_tune;
}

// case arms "command)" that set `switches` and `operands`, or `paths` where those are files.
static void print_command_arms(void)
{
    for (int i = 0; cli_command_at(i); i++) {
        const cli_command *command = cli_command_at(i);
        printf("    %s) switches='", command->name);
        for (int k = 0; cli_option_at(command, k); k++)
            printf("--%s ", cli_option_at(command, k)->option);
        fputs("'; operands='", stdout);
        print_names(&command->operand);
        if (takes_models(command))
            fputs(" model:", stdout);
        puts(command->operand.type == RH_KEY_FILE ? "'; paths=1 ;;" : "' ;;");
    }
}

// Sets `offer` (or `files`) for the word $cur after $prev; $command, $agent, $env are known.
static void print_chooser(void)
{
    puts("_rehearse_choose() {\n"
         "    local switches= operands= paths=\n"
         "    case $command:$prev in");
    print_option_arms();
    static const struct {
        const char *topic, *key;
    } list[] = {{"list:envs|list:grids", "env.name"},
                {"list:agents", "agent.name"},
                {"list:models", "model.kind"},
                {"list:representations", "representation.kind"},
                {"list:methods", "method"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        printf("    %s) offer='", list[i].topic);
        print_names(cli_plan_key(list[i].key));
        puts("'; return ;;");
    }
    puts("    esac\n"
         "    case $command in");
    print_command_arms();
    puts("    esac\n"
         "    case $command:$env:$cur in\n"
         "    *:*:-*) offer=$switches ;;\n"
         "    run:?*:*|sweep:?*:*) offer=$switches ;;\n"
         "    *) offer=$operands files=$paths ;;\n"
         "    esac\n"
         "}\n");
}

// Sets $agent, $env, $model, $repr and $method from a word of the line, $word, and its $next.
static void print_reader(void)
{
    fputs("_rehearse_read() {\n"
          "    case $word in\n"
          "    --agent=*) agent=${word#*=} ;;\n"
          "    --agent|-a) agent=$next ;;\n"
          "    --model=*) model=${word#*=} ;;\n"
          "    --model|-m) model=$next ;;\n"
          "    --repr=*) repr=${word#*=} ;;\n"
          "    --repr) repr=$next ;;\n"
          "    --method=*) method=${word#*=} ;;\n"
          "    --method) method=$next ;;\n"
          "    model|model:*|",
          stdout);
    for (int i = 0; cli_env_name(i); i++)
        printf("%s%s", i ? "|" : "", cli_env_name(i));
    puts(") [ -n \"$env\" ] || env=$word ;;\n"
         "    esac\n"
         "}\n");
}

// ---------------------------------------------------------------------------- the shells

static void print_shared(void)
{
    print_lookups();
    print_chooser();
    print_reader();
}

static void print_bash(void)
{
    puts("# rehearse in bash: source <(rehearse completion bash)\n");
    print_shared();
    puts("_rehearse() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
         "    local command=${COMP_WORDS[1]} agent= env= model= repr= method= offer= files=\n"
         "    local i word next\n"
         "    if ((COMP_CWORD == 1)); then");
    fputs("        offer='", stdout);
    print_names(&cli_help.operand);
    puts(" --help --version'\n"
         "    else\n"
         "        # --agent=es arrives as three words, and the value of --set alpha=0.1 is "
         "free\n"
         "        local value=0\n"
         "        [[ $prev == = ]] && value=1 prev=${COMP_WORDS[COMP_CWORD-2]}\n"
         "        [[ $cur == = ]] && value=1 cur=\n"
         "        ((value)) && [[ $prev != -* ]] && return\n"
         "        for ((i = 2; i < COMP_CWORD; i++)); do\n"
         "            word=${COMP_WORDS[i]} next=${COMP_WORDS[i+1]}\n"
         "            [[ $next == = ]] && next=${COMP_WORDS[i+2]}\n"
         "            _rehearse_read\n"
         "        done\n"
         "        _rehearse_choose\n"
         "        # model:plant.model arrives as three words too\n"
         "        [[ $cur == : ]] && files=1 cur=\n"
         "        [[ $prev == : ]] && files=1\n"
         "    fi\n"
         "    if [[ -n $files ]]; then\n"
         "        compopt -o filenames\n"
         "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "    else\n"
         "        COMPREPLY=($(compgen -W \"$offer\" -- \"$cur\"))\n"
         "        [[ ${COMPREPLY[0]-} == *[=:] ]] && compopt -o nospace\n"
         "    fi\n"
         "}\n"
         "complete -F _rehearse rehearse");
}

static void print_zsh(void)
{
    puts("#compdef rehearse\n"
         "# rehearse in zsh: source <(rehearse completion zsh)\n");
    print_shared();
    puts("_rehearse() {\n"
         "    local cur=$words[CURRENT] prev=$words[CURRENT-1] command=$words[2]\n"
         "    local agent= env= model= repr= method= offer= files= i word next\n"
         "    if ((CURRENT == 2)); then");
    fputs("        offer='", stdout);
    print_names(&cli_help.operand);
    puts(" --help --version'\n"
         "    else\n"
         "        # --agent=es is one word: what stands before the = is the option\n"
         "        if [[ $cur == --*=* ]]; then\n"
         "            prev=${cur%%=*} cur=${cur#*=}\n"
         "            compset -P '*='\n"
         "        fi\n"
         "        [[ $cur == model:* ]] && compset -P 'model:' && _files && return\n"
         "        for ((i = 3; i < CURRENT; i++)); do\n"
         "            word=$words[i] next=$words[i+1]\n"
         "            _rehearse_read\n"
         "        done\n"
         "        _rehearse_choose\n"
         "    fi\n"
         "    if [[ -n $files ]]; then\n"
         "        _files\n"
         "    elif [[ $offer == *=* ]]; then\n"
         "        compadd -S '' -- ${=offer}\n"
         "    else\n"
         "        compadd -- ${=offer}\n"
         "    fi\n"
         "}\n"
         "if [[ $funcstack[1] == _rehearse ]]; then\n"
         "    _rehearse\n"
         "else\n"
         "    compdef _rehearse rehearse\n"
         "fi");
}

static int completion_main(const cli_args *args)
{
    const char *known[CLI_MAX_NAMES];
    int n = cli_names(&args->command->operand, known);
    if (args->nword != 1) {
        cli_refuse("completion: for which shell?");
        cli_try("rehearse completion bash");
        return CLI_USAGE;
    }
    if (strcmp(args->word[0], "bash") == 0)
        print_bash();
    else if (strcmp(args->word[0], "zsh") == 0)
        print_zsh();
    else if (strcmp(args->word[0], "fish") == 0)
        cli_completion_fish();
    else {
        rh_error err;
        return cli_pass(rh_base__unknown(&err, "completion: no shell", args->word[0], known, n),
                        &err);
    }
    return CLI_OK;
}

const cli_command cli_completion = {
    .name = "completion",
    .about = "The script that completes command lines in a shell",
    .operands = "bash|zsh|fish",
    .operand = {.type = RH_KEY_CHOICE, .words = shells},
    .group = {&cli_common_group},
    .example = {"in bash, for this session", "source <(rehearse completion bash)",
                "in zsh, for good", "rehearse completion zsh > ~/.zfunc/_rehearse", "in fish",
                "rehearse completion fish | source"},
    .main = completion_main,
};
