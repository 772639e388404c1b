// remote.h - runs that are done elsewhere: a study leaves them here, Python hands them out.
//
// 1. Threads of the study wait in do_run(); they never touch Python. A thread of Python takes the runs
//    (next) and brings their results (finish, fail), in any order.
// 2. A stage comes before its runs: they are in one queue.

#ifndef REHEARSE_PYTHON_REMOTE_H
#define REHEARSE_PYTHON_REMOTE_H

#include "core.h"

#include <condition_variable>
#include <deque>
#include <set>

class Remote {
  public:
    explicit Remote(int nrun) : hooks{nrun, add_stage, do_run, this} {}

    rh_remote hooks; // for the options of a study

    nb::object next(double seconds); // (id, stage, bytes); id -1: a stage begins. None: nothing came
    void finish(int64_t id, const nb::bytes &result);
    void fail(int64_t id, const std::string &why);

  private:
    struct Task {
        int64_t id;
        int stage;
        std::string bytes;
    };
    struct Answer {
        bool failed;
        std::string text; // the result's bytes, or why there is none
    };

    void answer(int64_t id, Answer what);
    rh_status wait_for(const rh_remote_run *run, rh_error *err);
    static rh_status add_stage(void *context, rh_stage stage, const void *bytes, size_t n, rh_error *err);
    static rh_status do_run(void *context, const rh_remote_run *run, rh_error *err);

    std::mutex lock; // guards all below
    std::condition_variable news, came;
    std::deque<Task> todo;
    std::set<int64_t> wanted;
    std::map<int64_t, Answer> answers;
    int64_t nid = 0;
};

#endif
