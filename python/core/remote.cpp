// remote.cpp - runs that are done elsewhere (remote.h), and the process that does them.

#include "remote.h"

#include <chrono>
#include <cstring>

nb::object Remote::next(double seconds)
{
    std::optional<Task> task;
    {
        nb::gil_scoped_release release;
        std::unique_lock<std::mutex> hold(lock);
        if (news.wait_for(hold, std::chrono::duration<double>(seconds), [&] { return !todo.empty(); })) {
            task = std::move(todo.front());
            todo.pop_front();
        }
    }
    if (!task)
        return nb::none();
    return nb::make_tuple(task->id, task->stage, nb::bytes(task->bytes.data(), task->bytes.size()));
}

void Remote::answer(int64_t id, Answer what)
{
    std::lock_guard<std::mutex> hold(lock);
    if (wanted.count(id)) // otherwise nobody waits any more
        answers[id] = std::move(what);
    came.notify_all();
}

void Remote::finish(int64_t id, const nb::bytes &result)
{
    answer(id, {false, {result.c_str(), result.size()}});
}

void Remote::fail(int64_t id, const std::string &why)
{
    answer(id, {true, why});
}

rh_status Remote::add_stage(void *context, rh_stage stage, const void *bytes, size_t n, rh_error *err)
{
    Remote *self = static_cast<Remote *>(context);
    try {
        std::lock_guard<std::mutex> hold(self->lock);
        self->todo.push_back({-1, stage, std::string(static_cast<const char *>(bytes), n)});
        self->news.notify_all();
    } catch (const std::bad_alloc &) {
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    }
    return RH_OK;
}

rh_status Remote::wait_for(const rh_remote_run *run, rh_error *err)
{
    std::unique_lock<std::mutex> hold(lock);
    int64_t id = nid++;
    wanted.insert(id);
    todo.push_back({id, run->stage, std::string(static_cast<const char *>(run->bytes), run->nbyte)});
    news.notify_all();
    while (!answers.count(id) && !run->stop(run->context))
        came.wait_for(hold, std::chrono::milliseconds(50));
    wanted.erase(id);
    auto found = answers.find(id);
    if (found == answers.end())
        return rh_fail(err, RH_ESTOPPED, "study: stopped");
    Answer got = std::move(found->second);
    answers.erase(found);
    if (got.failed)
        return rh_fail(err, RH_EIO, "study: %.400s", got.text.c_str());
    if (got.text.size() != run->nresult)
        return rh_fail(err, RH_EFORMAT, "study: a result of %zu bytes, expected %zu", got.text.size(),
                       run->nresult);
    memcpy(run->result, got.text.data(), run->nresult);
    return RH_OK;
}

rh_status Remote::do_run(void *context, const rh_remote_run *run, rh_error *err)
{
    try {
        return static_cast<Remote *>(context)->wait_for(run, err);
    } catch (const std::bad_alloc &) {
        return rh_fail(err, RH_ENOMEM, "study: out of memory");
    }
}

// ---------------------------------------------------------------------------- the other side

// A stage in another process; of one thread.
class Server {
  public:
    explicit Server(const nb::bytes &stage)
    {
        rh_error err;
        rh_status rc;
        {
            nb::gil_scoped_release release;
            rc = rh_server_create(&server, stage.c_str(), stage.size(), &err);
        }
        check(rc, err);
    }
    ~Server() { rh_server_destroy(server); }
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;

    nb::bytes run(const nb::bytes &unit)
    {
        rh_error err;
        rh_status rc;
        std::string result(rh_server_nresult(), '\0');
        {
            nb::gil_scoped_release release;
            rc = rh_server_run(server, unit.c_str(), unit.size(), result.data(), &err);
        }
        check(rc, err);
        return nb::bytes(result.data(), result.size());
    }

  private:
    rh_server *server = nullptr;
};

void bind_remote(nb::module_ &m)
{
    nb::class_<Remote>(m, "Remote")
        .def(nb::init<int>())
        .def("next", &Remote::next)
        .def("finish", &Remote::finish)
        .def("fail", &Remote::fail);
    nb::class_<Server>(m, "Server").def(nb::init<const nb::bytes &>()).def("run", &Server::run);
}
