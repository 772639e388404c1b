// neighbours_libraries.cpp - nanoflann and FLANN (Debian: libnanoflann-dev libflann-dev) for
// bench_neighbours.c, which loads this when it is given its name. Not part of the build:
//
//     g++ -O3 -march=native -DNDEBUG -shared -fPIC -w bench/neighbours_libraries.cpp
//         -o /tmp/neighbours_libraries.so -lflann -llz4

#include <flann/flann.hpp>
#include <nanoflann.hpp>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

static double seconds()
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct cloud {
    const float *x;
    size_t n;
    int d;
    size_t kdtree_get_point_count() const { return n; }
    float kdtree_get_pt(size_t i, size_t j) const { return x[i * d + j]; }
    template <class B> bool kdtree_get_bbox(B &) const { return false; }
};

// Questions in the order of the points, 32 of them here and 32 there, until the time is up.
template <class F> static double drive(size_t n, double budget, double *sum, F ask)
{
    size_t nchunk = (n + 31) / 32, at = 0, done = 0;
    double from = seconds();
    *sum = 0.0;
    for (size_t i = 0; i < nchunk; i++, at = (at + 7919) % nchunk) {
        size_t begin = at * 32, end = std::min(n, begin + 32);
        *sum += ask(begin, end);
        done += end - begin;
        if (seconds() - from > budget)
            break;
    }
    *sum /= (double)done;
    return 1e6 * (seconds() - from) / (double)done;
}

template <int D>
static void nanoflann_of(const float *x, size_t n, int k, double budget, double *out)
{
    typedef nanoflann::L2_Simple_Adaptor<float, cloud> metric;
    typedef nanoflann::KDTreeSingleIndexAdaptor<metric, cloud, D, uint32_t> tree;
    cloud c{x, n, D};
    double from = seconds();
    tree t(D, c, nanoflann::KDTreeSingleIndexAdaptorParams(10));
    t.buildIndex();
    out[0] = seconds() - from;
    out[1] = drive(n, budget, &out[2], [&](size_t begin, size_t end) {
        double sum = 0.0;
        std::vector<uint32_t> index(k);
        std::vector<float> d2(k);
        for (size_t i = begin; i < end; i++) {
            nanoflann::KNNResultSet<float, uint32_t> found(k);
            found.init(index.data(), d2.data());
            t.findNeighbors(found, x + i * D, nanoflann::SearchParams());
            sum += d2[k - 1];
        }
        return sum;
    });
}

// out: seconds to build, microseconds a query, mean squared distance of the k-th.
extern "C" void with_nanoflann(const float *x, long n, int d, int k, double budget, double *out)
{
    switch (d) {
    case 2: return nanoflann_of<2>(x, n, k, budget, out);
    case 4: return nanoflann_of<4>(x, n, k, budget, out);
    case 6: return nanoflann_of<6>(x, n, k, budget, out);
    case 8: return nanoflann_of<8>(x, n, k, budget, out);
    case 16: return nanoflann_of<16>(x, n, k, budget, out);
    case 32: return nanoflann_of<32>(x, n, k, budget, out);
    }
}

extern "C" void with_flann(const float *x, long n, int d, int k, double budget, double *out)
{
    float *data = const_cast<float *>(x);
    double from = seconds();
    flann::Index<flann::L2_Simple<float>> index(flann::Matrix<float>(data, n, d),
                                                flann::KDTreeSingleIndexParams(10));
    index.buildIndex();
    out[0] = seconds() - from;
    flann::SearchParams how(-1, 0.0f);
    how.cores = 1;
    std::vector<int> found(32 * k);
    std::vector<float> d2(32 * k);
    out[1] = drive(n, budget, &out[2], [&](size_t begin, size_t end) {
        size_t m = end - begin;
        flann::Matrix<int> mi(found.data(), m, k);
        flann::Matrix<float> md(d2.data(), m, k);
        index.knnSearch(flann::Matrix<float>(data + begin * d, m, d), mi, md, k, how);
        double sum = 0.0;
        for (size_t i = 0; i < m; i++)
            sum += d2[i * k + k - 1];
        return sum;
    });
}
