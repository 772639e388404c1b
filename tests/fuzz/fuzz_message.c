// fuzz_message.c - any line is refused with a message or is an observation with valid actions,
// without an allocation; and the reply is one line.

#include "fuzz_best.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rh_best *best;
    static rh_message message;
    static char text[RH_DEPLOY__TEXT];
    if (!best)
        best = any_best();
    rh_error err = {""};
    int64_t count = rh_base__alloc_count();
    rh_status rc = rh_message__parse(&message, best, (const char *)data, size, &err);
    require(rc == RH_OK || (*err.text && !strchr(err.text, '\n')));
    if (rc)
        require(isnan(message.obs[0]) && isnan(message.obs[1]) && !message.seen.act &&
                !message.seen.controller);
    const double *act[] = {message.seen.act, message.seen.controller};
    for (int i = 0; i < 2; i++)
        if (act[i])
            require(act[i][0] == 0.0 || act[i][0] == 1.0 || act[i][0] == 2.0);
    require(message.seen.seq >= -1);
    rh_deploy_reply reply = {.act = {1.0}};
    size_t n =
        rh_message__reply(best, &message.seen, &reply, rc ? err.text : NULL, text, sizeof text);
    require(n > 2 && n < sizeof text && text[0] == '{');
    require(text[n - 1] == '\n' && !memchr(text, '\n', n - 1));
    require(rh_base__alloc_count() == count);
    return 0;
}
