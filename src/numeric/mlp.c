// mlp.c - a multilayer perceptron: dense layers, ReLU between them, a linear output; Adam.
// Optionally with layer norm before each ReLU.
//
// For a batch X_0 (n x inputs) and layers l = 0 .. L - 1 with weights W_l and biases b_l:
//
//     X_l+1 = relu(X_l W_l + b_l), the last one without relu
//
// and backwards, from D_L-1 = dLoss/dOutput:
//
//     dW_l += X_l' D_l,   db_l += column sums of D_l,   D_l-1 = (D_l W_l') where X_l > 0
//
// With layer norm (Ba, Kiros and Hinton 2016), Z = X_l W_l + b_l becomes, row by row,
//
//     H = (Z - mean Z) / sqrt(var Z + 1e-5),   X_l+1 = relu(gain H + shift)
//
// 1. All are matrix products of one kind (kernel.h), summed in the order of the rows: three
//    consecutive batches give the bits of one that holds all.
// 2. Rows are padded to whole vectors and to an odd number of cache lines: rows of 128 numbers
//    would otherwise share a quarter of the first-level cache. Padding is zero, has a zero
//    gradient, and affects no result.
// 3. W_l' is stored beside W_l and updated once after a step, by the first backward.
// 4. The first backward after a step sets the gradient, later ones add: it is never cleared.
// 5. Weights, moments and gradient are one block: one loop for Adam, one memcpy for a copy.
// 6. Gains and shifts are two more rows below the biases of their layer.
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
    size_t size;                  // floats of an array of the networks it fits
    int room, n;                  // rows it can hold, and those of the last forward
    float *x[RH_MLP_LAYERS + 1];  // inputs, then the output of each layer; in one owned block
    float *hat[RH_MLP_LAYERS];    // with layer norm: H of each hidden layer
    float *spread[RH_MLP_LAYERS]; // and one over the spread of each row  (room)
    float *delta[2];              // D of a layer and of the one below
};

// ---------------------------------------------------------------------------- making

static size_t whole(size_t n)
{
    return (n + RH_COLUMNS - 1) / RH_COLUMNS * RH_COLUMNS;
}

// An odd number of cache lines.
static ptrdiff_t row_of(int n)
{
    return (ptrdiff_t)(whole((size_t)n) / RH_COLUMNS | 1) * RH_COLUMNS;
}

static bool has_bias(const rh_mlp *mlp, int l)
{
    return l > 0 || !(mlp->flags & RH_MLP_NO_FIRST_BIAS);
}

static bool is_normed(const rh_mlp *mlp, int l)
{
    return (mlp->flags & RH_MLP_NORM) && l < mlp->nlayer - 1;
}

// Rows of a layer in an array: weights, biases (present or not), gains and shifts.
static int rows_of(const rh_mlp *mlp, int l)
{
    return mlp->layer[l].nin + 1 + 2 * is_normed(mlp, l);
}

static bool has_row(const rh_mlp *mlp, int l, int k)
{
    return k != mlp->layer[l].nin || has_bias(mlp, l);
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

// The gains; the shifts are in the next row.
static float *gains(const rh_mlp *mlp, rh_mlp__array which, int l)
{
    return biases(mlp, which, l) + mlp->layer[l].row;
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

// The weights have other numbers now.
static void changed(rh_mlp *mlp)
{
    mlp->stale = mlp->stale_first = true;
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
        at->columns = (int)whole((size_t)at->nout);
        at->row = row_of(at->nout);
        at->turned = row_of(at->nin);
        at->at = mlp->n;
        at->at_turned = nturned;
        mlp->n += (size_t)rows_of(mlp, l) * (size_t)at->row;
        nturned += (size_t)at->nout * (size_t)at->turned;
    }

    mlp->array[0] = rh_alloc(4 * mlp->n, sizeof(float));
    mlp->turned = rh_alloc(nturned, sizeof(float));
    if (!mlp->array[0] || !mlp->turned)
        goto full;
    for (int i = 1; i < 4; i++)
        mlp->array[i] = mlp->array[0] + i * mlp->n;
    changed(mlp);
    mlp->fresh = true;
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

void rh_mlp__draw(rh_mlp *mlp, rh_rng *rng)
{
    memset(mlp->array[0], 0, 4 * mlp->n * sizeof(float));
    for (int l = 0; l < mlp->nlayer; l++) {
        const rh_mlp__layer *at = &mlp->layer[l];
        double reach = 1.0 / sqrt(at->nin);
        float *w = weights(mlp, RH_MLP_WEIGHTS, l);
        for (int k = 0; k < at->nin + has_bias(mlp, l); k++)
            for (int j = 0; j < at->nout; j++)
                w[k * at->row + j] = (float)rh_rng_range(rng, -reach, reach);
        for (int j = 0; is_normed(mlp, l) && j < at->nout; j++)
            gains(mlp, RH_MLP_WEIGHTS, l)[j] = 1.0f;
    }
    changed(mlp);
    mlp->fresh = true;
    mlp->power1 = mlp->power2 = 1.0;
}

rh_status rh_mlp__create(rh_mlp **out, const int *size, int nsize, unsigned flags, rh_rng *rng,
                         rh_error *err)
{
    rh_mlp *mlp = NULL;
    rh_status rc = rh_mlp__make(&mlp, size, nsize, flags, err);
    if (rc)
        return rc;
    rh_mlp__draw(mlp, rng);
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

bool rh_mlp__same_shape(const rh_mlp *a, const rh_mlp *b)
{
    bool same = a->nlayer == b->nlayer && a->flags == b->flags;
    for (int l = 0; same && l < a->nlayer; l++)
        same = a->layer[l].nin == b->layer[l].nin && a->layer[l].nout == b->layer[l].nout;
    return same;
}

void rh_mlp__copy(rh_mlp *to, const rh_mlp *from)
{
    assert(rh_mlp__same_shape(to, from));
    memcpy(to->array[0], from->array[0], 4 * from->n * sizeof(float));
    to->fresh = from->fresh;
    changed(to);
    to->power1 = from->power1;
    to->power2 = from->power2;
}

void rh_mlp__blend(rh_mlp *to, const rh_mlp *from, double rate)
{
    assert(rh_mlp__same_shape(to, from));
    float step = (float)rate, *w = to->array[RH_MLP_WEIGHTS];
    const float *v = from->array[RH_MLP_WEIGHTS];
    for (size_t i = 0; i < to->n; i++)
        w[i] += step * (v[i] - w[i]);
    changed(to);
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
    size_t rows = (size_t)room, wide = (size_t)mlp->layer[0].turned;
    size_t at[RH_MLP_LAYERS + 1] = {0}, hat[RH_MLP_LAYERS] = {0};
    size_t n = whole(rows * (size_t)mlp->layer[0].nin);
    for (int l = 0; l < mlp->nlayer; l++) {
        size_t row = (size_t)mlp->layer[l].row;
        at[l + 1] = n;
        n += rows * row;
        hat[l] = n;
        n += is_normed(mlp, l) ? rows * row + whole(rows) : 0;
        wide = row > wide ? row : wide;
    }
    float *block = rh_alloc(n + 2 * rows * wide, sizeof *block);
    if (!block)
        goto full;
    for (int l = 0; l <= mlp->nlayer; l++)
        pass->x[l] = block + at[l];
    for (int l = 0; l < mlp->nlayer - 1 && (mlp->flags & RH_MLP_NORM); l++) {
        pass->hat[l] = block + hat[l];
        pass->spread[l] = pass->hat[l] + rows * (size_t)mlp->layer[l].row;
    }
    pass->delta[0] = block + n;
    pass->delta[1] = pass->delta[0] + rows * wide;
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

// One layer for n rows. Nullable: hat, spread, what layer norm needs to go backwards.
static void pass_layer(const rh_mlp *mlp, int l, int n, const float *from, float *to,
                       float *hat, float *spread)
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
        .relu = l < mlp->nlayer - 1 && !is_normed(mlp, l),
    });
    if (is_normed(mlp, l))
        mlp->kernels->norm(&(rh_mlp__norm){
            .m = n,
            .n = at->nout,
            .row = at->row,
            .gain = gains(mlp, RH_MLP_WEIGHTS, l),
            .shift = gains(mlp, RH_MLP_WEIGHTS, l) + at->row,
            .x = to,
            .hat = hat,
            .spread = spread,
        });
}

void rh_mlp__forward(const rh_mlp *mlp, rh_mlp__pass *pass, int n, const float *x, float *y)
{
    assert(n >= 1 && n <= pass->room && pass->size == mlp->n);
    pass->n = n;
    memcpy(pass->x[0], x, (size_t)n * (size_t)mlp->layer[0].nin * sizeof *x);
    for (int l = 0; l < mlp->nlayer; l++)
        pass_layer(mlp, l, n, pass->x[l], pass->x[l + 1], pass->hat[l], pass->spread[l]);

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
        pass_layer(mlp, l, 1, l ? half[(l + 1) % 2] : x, half[l % 2], NULL, NULL);
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

// Through layer norm: D by the outputs becomes D by the sums. With `learn` the gradient of
// gains and shifts is gathered.
static void gather_norm(rh_mlp *mlp, const rh_mlp__pass *pass, int l, float *delta, bool learn)
{
    const rh_mlp__layer *at = &mlp->layer[l];
    float *g = learn ? gains(mlp, RH_MLP_GRADIENT, l) : NULL;
    if (learn && mlp->fresh)
        memset(g, 0, 2 * (size_t)at->row * sizeof *g);
    mlp->kernels->norm_back(&(rh_mlp__norm){
        .m = pass->n,
        .n = at->nout,
        .row = at->row,
        .gain = gains(mlp, RH_MLP_WEIGHTS, l),
        .x = delta,
        .hat = pass->hat[l],
        .spread = pass->spread[l],
        .by_gain = g,
        .by_shift = g ? g + at->row : NULL,
    });
}

static void turn_layer(rh_mlp *mlp, int l)
{
    const rh_mlp__layer *at = &mlp->layer[l];
    mlp->kernels->turn(at->nin, at->nout, weights(mlp, RH_MLP_WEIGHTS, l), at->row,
                       mlp->turned + at->at_turned, at->turned);
}

// below = D of layer l times W_l transposed; gated by the ReLU of the layer below.
static void descend(const rh_mlp *mlp, const rh_mlp__pass *pass, int l, const float *delta,
                    float *below)
{
    const rh_mlp__layer *at = &mlp->layer[l];
    ptrdiff_t row = l ? mlp->layer[l - 1].row : at->turned;
    mlp->kernels->product(&(rh_mlp__product){
        .m = pass->n,
        .n = (int)whole((size_t)at->nin),
        .k = at->nout,
        .a = delta,
        .a_row = at->row,
        .a_step = 1,
        .b = mlp->turned + at->at_turned,
        .b_row = at->turned,
        .c = below,
        .c_row = row,
        .gate = l ? pass->x[l] : NULL,
        .gate_row = row,
    });
}

// D of all layers from dy, with `learn` the gradient. Returns D of the inputs if it is wanted.
static const float *go_back(rh_mlp *mlp, rh_mlp__pass *pass, const float *dy, bool learn,
                            bool inputs)
{
    assert(pass->size == mlp->n);
    const rh_mlp__layer *last = &mlp->layer[mlp->nlayer - 1];
    float *delta = pass->delta[0], *below = pass->delta[1];
    for (int l = 1; mlp->stale && l < mlp->nlayer; l++)
        turn_layer(mlp, l);
    mlp->stale = false;
    if (inputs && mlp->stale_first) {
        turn_layer(mlp, 0);
        mlp->stale_first = false;
    }

    for (int i = 0; i < pass->n; i++) {
        float *row = delta + i * last->row;
        memcpy(row, dy + (ptrdiff_t)i * last->nout, (size_t)last->nout * sizeof *row);
        memset(row + last->nout, 0, (size_t)(last->columns - last->nout) * sizeof *row);
    }

    for (int l = mlp->nlayer - 1; l >= 0; l--) {
        if (is_normed(mlp, l))
            gather_norm(mlp, pass, l, delta, learn);
        if (learn)
            gather(mlp, pass, l, delta);
        if (l == 0 && !inputs)
            break;
        descend(mlp, pass, l, delta, below);
        float *swap = delta;
        delta = below;
        below = swap;
    }
    return delta;
}

void rh_mlp__backward(rh_mlp *mlp, rh_mlp__pass *pass, const float *dy)
{
    go_back(mlp, pass, dy, true, false);
    mlp->fresh = false;
}

void rh_mlp__by_inputs(rh_mlp *mlp, rh_mlp__pass *pass, const float *dy, float *dx)
{
    const rh_mlp__layer *first = &mlp->layer[0];
    const float *delta = go_back(mlp, pass, dy, false, true);
    for (int i = 0; i < pass->n; i++)
        memcpy(dx + (ptrdiff_t)i * first->nin, delta + i * first->turned,
               (size_t)first->nin * sizeof *dx);
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
    changed(mlp);
    mlp->fresh = true;
}

// ---------------------------------------------------------------------------- numbers

size_t rh_mlp__nparam(const rh_mlp *mlp)
{
    size_t n = 0;
    for (int l = 0; l < mlp->nlayer; l++)
        n += (size_t)(rows_of(mlp, l) - !has_bias(mlp, l)) * (size_t)mlp->layer[l].nout;
    return n;
}

void rh_mlp__get(const rh_mlp *mlp, rh_mlp__array which, double *x)
{
    for (int l = 0; l < mlp->nlayer; l++) {
        const rh_mlp__layer *at = &mlp->layer[l];
        const float *w = weights(mlp, which, l);
        for (int k = 0; k < rows_of(mlp, l); k++)
            for (int j = 0; has_row(mlp, l, k) && j < at->nout; j++)
                *x++ = (double)w[k * at->row + j];
    }
}

void rh_mlp__set(rh_mlp *mlp, rh_mlp__array which, const double *x)
{
    for (int l = 0; l < mlp->nlayer; l++) {
        const rh_mlp__layer *at = &mlp->layer[l];
        float *w = weights(mlp, which, l);
        for (int k = 0; k < rows_of(mlp, l); k++)
            for (int j = 0; has_row(mlp, l, k) && j < at->nout; j++)
                w[k * at->row + j] = (float)*x++;
    }
    changed(mlp);
    if (which == RH_MLP_GRADIENT)
        mlp->fresh = false;
}
