// mlp.c - a multilayer perceptron: dense layers, ReLU between them, a linear output; Adam.
//
// For a batch X_0 (n x inputs) and layers l = 0 .. L - 1 with weights W_l and biases b_l:
//
//     X_l+1 = relu(X_l W_l + b_l), the last one without relu
//
// and backwards, from D_L-1 = dLoss/dOutput:
//
//     dW_l += X_l' D_l,   db_l += column sums of D_l,   D_l-1 = (D_l W_l') where X_l > 0
//
// 1. All are matrix products of one kind (kernel.h), summed in the order of the rows: three
//    consecutive batches give the bits of one that holds all.
// 2. Rows are padded to whole vectors and to an odd number of cache lines: rows of 128 numbers
//    would otherwise share a quarter of the first-level cache. Padding is zero, has a zero
//    gradient, and affects no result.
// 3. W_l' is stored beside W_l and updated once after a step, by the first backward.
// 4. The first backward after a step sets the gradient, later ones add: it is never cleared.
// 5. Weights, moments and gradient are one block: one loop for Adam, one memcpy for a copy.
//
// Measured on one core of a 2.3 GHz Xeon (bench/bench_mlp.c), a step of 6-128-128-8 with
// three batches of 128 rows, drawing them and their loss included: 281 us with AVX-512 (147e9
// operations a second), 532 us with AVX2, 1.61 ms with SSE2, 0.85 ms in NumPy. Of 6-128-32:
// 84 us, 151 us, 0.42 ms, 0.25 ms. One row alone through 6-128-128-8: 0.7 us.

#include "mlp_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct rh_mlp__pass {
    size_t size;                 // floats of an array of the networks it fits
    int room, n;                 // rows it can hold, and those of the last forward
    float *x[RH_MLP_LAYERS + 1]; // inputs, then the output of each layer; in one owned block
    float *delta[2];             // D of a layer and of the one below
};

// ---------------------------------------------------------------------------- making

static int whole_columns(int n)
{
    return (n + RH_COLUMNS - 1) / RH_COLUMNS * RH_COLUMNS;
}

// An odd number of cache lines.
static ptrdiff_t row_of(int n)
{
    return (whole_columns(n) / RH_COLUMNS | 1) * RH_COLUMNS;
}

static bool has_bias(const rh_mlp *mlp, int l)
{
    return l > 0 || !(mlp->flags & RH_MLP_NO_FIRST_BIAS);
}

static float *weights(const rh_mlp *mlp, rh_mlp__array which, int l)
{
    return mlp->array[which] + mlp->layer[l].at;
}

static float *biases(const rh_mlp *mlp, rh_mlp__array which, int l)
{
    const rh_mlp__layer *at = &mlp->layer[l];
    return mlp->array[which] + at->at + at->nin * at->row;
}

static rh_status check_shape(const int *size, int nsize, rh_error *err)
{
    if (nsize < 2 || nsize > RH_MLP_LAYERS + 1)
        return rh_fail(err, RH_EINVAL, "mlp: %d layer sizes, expected 2 to %d", nsize,
                       RH_MLP_LAYERS + 1);
    for (int i = 0; i < nsize; i++)
        if (size[i] < 1 || size[i] > RH_MLP_WIDTH)
            return rh_fail(err, RH_EINVAL, "mlp: layer %d has %d units, expected 1 to %d",
                           i + 1, size[i], RH_MLP_WIDTH);
    return RH_OK;
}

rh_status rh_mlp__make(rh_mlp **out, const int *size, int nsize, unsigned flags, rh_error *err)
{
    rh_mlp *mlp = NULL;
    rh_status rc = check_shape(size, nsize, err);
    if (rc)
        goto done;
    rc = RH_ENOMEM;
    mlp = rh_alloc(1, sizeof *mlp);
    if (!mlp)
        goto full;

    // lay out the layers
    size_t nturned = 0;
    mlp->kernels = rh_mlp__kernels_best();
    mlp->nlayer = nsize - 1;
    mlp->flags = flags;
    for (int l = 0; l < mlp->nlayer; l++) {
        rh_mlp__layer *at = &mlp->layer[l];
        at->nin = size[l];
        at->nout = size[l + 1];
        at->columns = whole_columns(at->nout);
        at->row = row_of(at->nout);
        at->turned = row_of(at->nin);
        at->at = mlp->n;
        at->at_turned = nturned;
        mlp->n += (size_t)(at->nin + 1) * (size_t)at->row;
        nturned += l ? (size_t)at->nout * (size_t)at->turned : 0;
    }

    mlp->array[0] = rh_alloc(4 * mlp->n, sizeof(float));
    mlp->turned = rh_alloc(nturned ? nturned : 1, sizeof(float));
    if (!mlp->array[0] || !mlp->turned)
        goto full;
    for (int i = 1; i < 4; i++)
        mlp->array[i] = mlp->array[0] + i * mlp->n;
    mlp->fresh = mlp->stale = true;
    mlp->power1 = mlp->power2 = 1.0;
    *out = mlp;
    mlp = NULL;
    rc = RH_OK;
    goto done;

full:
    rh_fail(err, rc, "mlp: out of memory for %d layers", nsize - 1);
done:
    rh_mlp__destroy(mlp);
    return rc;
}

rh_status rh_mlp__create(rh_mlp **out, const int *size, int nsize, unsigned flags, rh_rng *rng,
                         rh_error *err)
{
    rh_mlp *mlp = NULL;
    rh_status rc = rh_mlp__make(&mlp, size, nsize, flags, err);
    if (rc)
        return rc;

    for (int l = 0; l < mlp->nlayer; l++) {
        const rh_mlp__layer *at = &mlp->layer[l];
        double reach = 1.0 / sqrt(at->nin);
        float *w = weights(mlp, RH_MLP_WEIGHTS, l);
        for (int k = 0; k < at->nin + has_bias(mlp, l); k++)
            for (int j = 0; j < at->nout; j++)
                w[k * at->row + j] = (float)rh_rng_range(rng, -reach, reach);
    }
    *out = mlp;
    return RH_OK;
}

void rh_mlp__destroy(rh_mlp *mlp)
{
    if (!mlp)
        return;
    rh_free(mlp->array[0]);
    rh_free(mlp->turned);
    rh_free(mlp);
}

void rh_mlp__copy(rh_mlp *to, const rh_mlp *from)
{
    assert(to->nlayer == from->nlayer && to->flags == from->flags && to->n == from->n);
    memcpy(to->array[0], from->array[0], 4 * from->n * sizeof(float));
    to->fresh = from->fresh;
    to->stale = true;
    to->power1 = from->power1;
    to->power2 = from->power2;
}

void rh_mlp__sizes(const rh_mlp *mlp, int *size)
{
    size[0] = mlp->layer[0].nin;
    for (int l = 0; l < mlp->nlayer; l++)
        size[l + 1] = mlp->layer[l].nout;
}

rh_status rh_mlp__clone(rh_mlp **out, const rh_mlp *mlp, rh_error *err)
{
    int size[RH_MLP_LAYERS + 1];
    rh_mlp__sizes(mlp, size);
    rh_mlp *same = NULL;
    rh_status rc = rh_mlp__make(&same, size, mlp->nlayer + 1, mlp->flags, err);
    if (rc)
        return rc;
    same->kernels = mlp->kernels;
    rh_mlp__copy(same, mlp);
    *out = same;
    return RH_OK;
}

int rh_mlp__ninput(const rh_mlp *mlp)
{
    return mlp->layer[0].nin;
}

int rh_mlp__noutput(const rh_mlp *mlp)
{
    return mlp->layer[mlp->nlayer - 1].nout;
}

// ---------------------------------------------------------------------------- passes

rh_status rh_mlp__pass_create(rh_mlp__pass **out, const rh_mlp *mlp, int room, rh_error *err)
{
    if (room < 1)
        return rh_fail(err, RH_EINVAL, "mlp: batches of %d rows, expected 1 or more", room);
    rh_mlp__pass *pass = rh_alloc(1, sizeof *pass);
    if (!pass)
        goto full;

    // inputs are kept without padding; the outputs of each layer with theirs
    size_t rows = (size_t)room, widest = 0;
    size_t at[RH_MLP_LAYERS + 1] = {0};
    size_t n = (rows * (size_t)mlp->layer[0].nin + RH_COLUMNS - 1) / RH_COLUMNS * RH_COLUMNS;
    for (int l = 0; l < mlp->nlayer; l++) {
        size_t row = (size_t)mlp->layer[l].row;
        at[l + 1] = n;
        n += rows * row;
        widest = row > widest ? row : widest;
    }
    float *block = rh_alloc(n + 2 * rows * widest, sizeof *block);
    if (!block)
        goto full;
    for (int l = 0; l <= mlp->nlayer; l++)
        pass->x[l] = block + at[l];
    pass->delta[0] = block + n;
    pass->delta[1] = pass->delta[0] + rows * widest;
    pass->size = mlp->n;
    pass->room = room;
    *out = pass;
    return RH_OK;

full:
    rh_mlp__pass_destroy(pass);
    return rh_fail(err, RH_ENOMEM, "mlp: out of memory for batches of %d rows", room);
}

void rh_mlp__pass_destroy(rh_mlp__pass *pass)
{
    if (!pass)
        return;
    rh_free(pass->x[0]);
    rh_free(pass);
}

// Floats from one row of the inputs of layer l to the next.
static ptrdiff_t input_row(const rh_mlp *mlp, int l)
{
    return l ? mlp->layer[l - 1].row : mlp->layer[0].nin;
}

static void pass_layer(const rh_mlp *mlp, int l, int n, const float *from, float *to)
{
    const rh_mlp__layer *at = &mlp->layer[l];
    mlp->kernels->product(&(rh_mlp__product){
        .m = n,
        .n = at->columns,
        .k = at->nin,
        .a = from,
        .a_row = input_row(mlp, l),
        .a_step = 1,
        .b = weights(mlp, RH_MLP_WEIGHTS, l),
        .b_row = at->row,
        .c = to,
        .c_row = at->row,
        .start = biases(mlp, RH_MLP_WEIGHTS, l),
        .relu = l < mlp->nlayer - 1,
    });
}

void rh_mlp__forward(const rh_mlp *mlp, rh_mlp__pass *pass, int n, const float *x, float *y)
{
    assert(n >= 1 && n <= pass->room && pass->size == mlp->n);
    pass->n = n;
    memcpy(pass->x[0], x, (size_t)n * (size_t)mlp->layer[0].nin * sizeof *x);
    for (int l = 0; l < mlp->nlayer; l++)
        pass_layer(mlp, l, n, pass->x[l], pass->x[l + 1]);

    const rh_mlp__layer *last = &mlp->layer[mlp->nlayer - 1];
    for (int i = 0; i < n; i++)
        memcpy(y + (ptrdiff_t)i * last->nout, pass->x[mlp->nlayer] + i * last->row,
               (size_t)last->nout * sizeof *y);
}

// The widest output, padding included.
static size_t widest(const rh_mlp *mlp)
{
    ptrdiff_t row = 0;
    for (int l = 0; l < mlp->nlayer; l++)
        row = mlp->layer[l].row > row ? mlp->layer[l].row : row;
    return (size_t)row;
}

size_t rh_mlp__nscratch(const rh_mlp *mlp)
{
    return 2 * widest(mlp); // the outputs of one layer and of the next
}

void rh_mlp__single(const rh_mlp *mlp, float *scratch, const float *x, float *y)
{
    float *half[2] = {scratch, scratch + widest(mlp)};
    for (int l = 0; l < mlp->nlayer; l++)
        pass_layer(mlp, l, 1, l ? half[(l + 1) % 2] : x, half[l % 2]);
    memcpy(y, half[(mlp->nlayer - 1) % 2],
           (size_t)mlp->layer[mlp->nlayer - 1].nout * sizeof *y);
}

void rh_mlp__evaluate(const rh_mlp *mlp, rh_mlp__pass *pass, int64_t n, const float *x,
                      float *y)
{
    int64_t nin = rh_mlp__ninput(mlp), nout = rh_mlp__noutput(mlp);
    for (int64_t i = 0; i < n; i += pass->room) {
        int64_t left = n - i;
        int rows = left < pass->room ? (int)left : pass->room;
        rh_mlp__forward(mlp, pass, rows, x + i * nin, y + i * nout);
    }
}

// ---------------------------------------------------------------------------- training

// The gradient of layer l from its D.
static void gather(rh_mlp *mlp, const rh_mlp__pass *pass, int l, const float *delta)
{
    static const float one = 1.0f;
    const rh_mlp__layer *at = &mlp->layer[l];
    float *g = weights(mlp, RH_MLP_GRADIENT, l), *b = biases(mlp, RH_MLP_GRADIENT, l);
    rh_mlp__product p = {
        .m = at->nin,
        .n = at->columns,
        .k = pass->n,
        .a = pass->x[l],
        .a_row = 1,
        .a_step = input_row(mlp, l),
        .b = delta,
        .b_row = at->row,
        .c = g,
        .c_row = at->row,
        .start = mlp->fresh ? NULL : g,
        .start_row = at->row,
    };
    mlp->kernels->product(&p);
    if (!has_bias(mlp, l))
        return;

    // a bias is the weight of a constant input 1
    p.m = 1;
    p.a = &one;
    p.a_step = 0;
    p.c = b;
    p.start = mlp->fresh ? NULL : b;
    mlp->kernels->product(&p);
}

void rh_mlp__backward(rh_mlp *mlp, rh_mlp__pass *pass, const float *dy)
{
    assert(pass->size == mlp->n);
    const rh_mlp__layer *last = &mlp->layer[mlp->nlayer - 1];
    float *delta = pass->delta[0], *below = pass->delta[1];
    for (int l = 1; mlp->stale && l < mlp->nlayer; l++) {
        const rh_mlp__layer *at = &mlp->layer[l];
        mlp->kernels->turn(at->nin, at->nout, weights(mlp, RH_MLP_WEIGHTS, l), at->row,
                           mlp->turned + at->at_turned, at->turned);
    }
    mlp->stale = false;

    for (int i = 0; i < pass->n; i++) {
        float *row = delta + i * last->row;
        memcpy(row, dy + (ptrdiff_t)i * last->nout, (size_t)last->nout * sizeof *row);
        memset(row + last->nout, 0, (size_t)(last->columns - last->nout) * sizeof *row);
    }

    for (int l = mlp->nlayer - 1; l >= 0; l--) {
        gather(mlp, pass, l, delta);
        if (l == 0)
            break;
        const rh_mlp__layer *at = &mlp->layer[l], *under = &mlp->layer[l - 1];
        mlp->kernels->product(&(rh_mlp__product){
            .m = pass->n,
            .n = under->columns,
            .k = at->nout,
            .a = delta,
            .a_row = at->row,
            .a_step = 1,
            .b = mlp->turned + at->at_turned,
            .b_row = at->turned,
            .c = below,
            .c_row = under->row,
            .gate = pass->x[l],
            .gate_row = under->row,
        });
        float *swap = delta;
        delta = below;
        below = swap;
    }
    mlp->fresh = false;
}

void rh_mlp__step(rh_mlp *mlp, const rh_mlp__adam *adam)
{
    assert(adam->beta1 >= 0.0 && adam->beta1 < 1.0 && adam->beta2 >= 0.0 && adam->beta2 < 1.0);
    if (mlp->fresh) // no backward since the last step: the gradient is zero
        memset(mlp->array[RH_MLP_GRADIENT], 0, mlp->n * sizeof(float));
    mlp->power1 *= adam->beta1;
    mlp->power2 *= adam->beta2;
    double root = sqrt(1.0 - mlp->power2);
    rh_mlp__adam_step step = {
        .keep1 = (float)adam->beta1,
        .take1 = (float)(1.0 - adam->beta1),
        .keep2 = (float)adam->beta2,
        .take2 = (float)(1.0 - adam->beta2),
        .rate = (float)(adam->rate * root / (1.0 - mlp->power1)),
        .eps = (float)(adam->eps * root),
    };
    float keep = (float)(1.0 - adam->rate * adam->decay);
    for (size_t i = 0; keep != 1.0f && i < mlp->n; i++)
        mlp->array[RH_MLP_WEIGHTS][i] *= keep;
    mlp->kernels->adam(mlp->n, &step, mlp->array[RH_MLP_WEIGHTS], mlp->array[RH_MLP_FIRST],
                       mlp->array[RH_MLP_SECOND], mlp->array[RH_MLP_GRADIENT]);
    mlp->fresh = mlp->stale = true;
}

// ---------------------------------------------------------------------------- numbers

size_t rh_mlp__nparam(const rh_mlp *mlp)
{
    size_t n = 0;
    for (int l = 0; l < mlp->nlayer; l++)
        n += (size_t)(mlp->layer[l].nin + has_bias(mlp, l)) * (size_t)mlp->layer[l].nout;
    return n;
}

void rh_mlp__get(const rh_mlp *mlp, rh_mlp__array which, double *x)
{
    for (int l = 0; l < mlp->nlayer; l++) {
        const rh_mlp__layer *at = &mlp->layer[l];
        const float *w = weights(mlp, which, l);
        for (int k = 0; k < at->nin + has_bias(mlp, l); k++)
            for (int j = 0; j < at->nout; j++)
                *x++ = (double)w[k * at->row + j];
    }
}

void rh_mlp__set(rh_mlp *mlp, rh_mlp__array which, const double *x)
{
    for (int l = 0; l < mlp->nlayer; l++) {
        const rh_mlp__layer *at = &mlp->layer[l];
        float *w = weights(mlp, which, l);
        for (int k = 0; k < at->nin + has_bias(mlp, l); k++)
            for (int j = 0; j < at->nout; j++)
                w[k * at->row + j] = (float)*x++;
    }
    mlp->stale = true;
    if (which == RH_MLP_GRADIENT)
        mlp->fresh = false;
}
