// puddle_world.c - a walk across the unit square to the far corner, around two puddles.
//
// Sutton (1996). A step moves 0.05 along one axis, plus normal noise of 0.01 in both
// directions, and stops at the walls. The reward is -1 - 400 depth at the point reached. The
// episode ends within 0.1 of (1, 1), measured along the axes. A puddle is everything within 0.1
// of its axis, a straight segment.
//
// 1. Depth in the union U of the puddles is the distance to the nearest point of U's edge, so
//    it exceeds 0.1 where the puddles meet. The paper's experiments had this. `overlap = max`
//    takes the deeper of the two puddles, as the paper says; `sum` adds them.
// 2. A point is on the edge of U when its nearer axis is exactly one radius away. The edge
//    point nearest to p is therefore the projection of p on one of the lines beside the axes or
//    circles about their ends, or a corner where two of these cross. init() finds the corners;
//    a step tries all candidates and keeps those on the edge.
// 3. The depth in U is at most two radii: U lies in two strips two radii wide, and strips that
//    cover a disc are together at least as wide as the disc (Bang 1951).
// 4. The walls are not an edge of a puddle.
// 5. Both kinds of start are uniform outside the goal, puddles included.

#include "env_internal.h"

#include <assert.h>

enum {
    MOVE,
    NOISE,
    GOAL_DISTANCE,
    PUDDLE_RADIUS,
    PUDDLE_COST,
    OVERLAP,
    PUDDLE_1_X1,
    PUDDLE_1_Y1,
    PUDDLE_1_X2,
    PUDDLE_1_Y2,
    PUDDLE_2_X1,
    PUDDLE_2_Y1,
    PUDDLE_2_X2,
    PUDDLE_2_Y2,
    START,
    GAMMA,
    NPARAM
};

enum { UNION, MAX, SUM };
static const char *const overlap_name[] = {"union", "max", "sum"};

static const rh_param param[NPARAM] = {
    [MOVE] = {"move", "length of a move", .lo = 0.0, .hi = 1.0, .initial = 0.05},
    [NOISE] = {"noise", "standard deviation of a move, in both directions", .lo = 0.0,
               .hi = 1.0, .initial = 0.01},
    [GOAL_DISTANCE] = {"goal_distance", "size of the goal: distance from (1, 1) along the axes",
                       .lo = 0.001, .hi = 1.0, .initial = 0.1},
    [PUDDLE_RADIUS] = {"puddle_radius", "distance from a puddle's axis to its edge", .lo = 0.0,
                       .hi = 1.0, .initial = 0.1},
    [PUDDLE_COST] = {"puddle_cost", "cost of a step per unit of depth", .lo = 0.0, .hi = 1e6,
                     .initial = 400.0},
    [OVERLAP] = {"overlap", "depth where the puddles meet", .lo = 0, .hi = 2, .initial = UNION,
                 .choice = overlap_name},
    [PUDDLE_1_X1] = {"puddle_1_x1", "one end of the first puddle's axis", .lo = 0.0, .hi = 1.0,
                     .initial = 0.1},
    [PUDDLE_1_Y1] = {"puddle_1_y1", "one end of the first puddle's axis", .lo = 0.0, .hi = 1.0,
                     .initial = 0.75},
    [PUDDLE_1_X2] = {"puddle_1_x2", "other end of the first puddle's axis", .lo = 0.0,
                     .hi = 1.0, .initial = 0.45},
    [PUDDLE_1_Y2] = {"puddle_1_y2", "other end of the first puddle's axis", .lo = 0.0,
                     .hi = 1.0, .initial = 0.75},
    [PUDDLE_2_X1] = {"puddle_2_x1", "one end of the second puddle's axis", .lo = 0.0, .hi = 1.0,
                     .initial = 0.45},
    [PUDDLE_2_Y1] = {"puddle_2_y1", "one end of the second puddle's axis", .lo = 0.0, .hi = 1.0,
                     .initial = 0.4},
    [PUDDLE_2_X2] = {"puddle_2_x2", "other end of the second puddle's axis", .lo = 0.0,
                     .hi = 1.0, .initial = 0.45},
    [PUDDLE_2_Y2] = {"puddle_2_y2", "other end of the second puddle's axis", .lo = 0.0,
                     .hi = 1.0, .initial = 0.8},
    [START] = {"start", "normal and random: both anywhere outside the goal", .lo = 0, .hi = 1,
               .initial = RH_ENV_START_NORMAL, .choice = rh_env__start_name},
    [GAMMA] = {"gamma", "discount", .lo = 0.0, .hi = 1.0, .initial = 1.0},
};

// w_init: "paper" has the values of the authors' experiments, "paper-text" those of the text.
static const rh_axis grid[] = {
    {"paper", "esarsa", "alpha", 3, {0.01, 0.03, 0.1}},
    {"paper", "esarsa", "beta1", 2, {0.0, 0.9}},
    {"paper", "esarsa", "tau", 3, {1.0, 10.0, 100.0}},
    {"paper", "esarsa", "w_init", 3, {0.0, 4.0, 8.0}},
    {"paper", "esarsa", "lambda", 1, {0.1}},
    {"paper-text", "esarsa", "alpha", 3, {0.01, 0.03, 0.1}},
    {"paper-text", "esarsa", "beta1", 2, {0.0, 0.9}},
    {"paper-text", "esarsa", "tau", 3, {1.0, 10.0, 100.0}},
    {"paper-text", "esarsa", "w_init", 3, {0.0, 8.0, 16.0}},
    {"paper-text", "esarsa", "lambda", 1, {0.1}},
    {"paper", "actor_critic", "alpha_critic", 6, {0.001, 0.003, 0.01, 0.03, 0.1, 0.3}},
    {"paper", "actor_critic", "actor_ratio", 6, {0.001, 0.003, 0.01, 0.03, 0.1, 0.3}},
};

typedef struct point {
    double x, y;
} point;

typedef struct axis {
    point end[2];
    point along;   // unit vector from end 0 to end 1; zero for a round puddle
    double length; // of the axis
} axis;

// Part of a puddle's edge: one of two lines beside its axis or two circles about its ends.
typedef struct piece {
    point at;    // the circle's centre, or a point of the line
    point along; // the line's direction; zero for a circle
} piece;

typedef struct puddle {
    axis axis;
    piece piece[4]; // (npiece)
    int npiece;
} puddle;

typedef struct puddle_world {
    double move, noise, goal_distance;
    double radius, cost;
    int overlap; // UNION, MAX or SUM
    puddle puddle[2];
    point corner[32]; // where the edges of the two cross  (ncorner)
    int ncorner;
} puddle_world;

// ---------------------------------------------------------------------------- geometry

static double dot(point a, point b)
{
    return a.x * b.x + a.y * b.y;
}

static point minus(point a, point b)
{
    return (point){a.x - b.x, a.y - b.y};
}

// a + t b
static point offset(point a, double t, point b)
{
    return (point){a.x + t * b.x, a.y + t * b.y};
}

static point across(point a)
{
    return (point){-a.y, a.x};
}

static double distance(point a, point b)
{
    point d = minus(a, b);
    return sqrt(dot(d, d));
}

static bool is_line(const piece *e)
{
    return e->along.x != 0.0 || e->along.y != 0.0;
}

static double axis_distance(const axis *a, point p)
{
    double t = rh_env__clip(dot(minus(p, a->end[0]), a->along), 0.0, a->length);
    return distance(p, offset(a->end[0], t, a->along));
}

static bool on_edge(const puddle_world *w, point p)
{
    double d1 = axis_distance(&w->puddle[0].axis, p);
    double d2 = axis_distance(&w->puddle[1].axis, p);
    return fabs((d1 < d2 ? d1 : d2) - w->radius) <= 1e-12;
}

// The point of the line or circle nearest to p.
static point project(const puddle_world *w, const piece *e, point p)
{
    point d = minus(p, e->at);
    if (is_line(e))
        return offset(e->at, dot(d, e->along), e->along);
    double length = sqrt(dot(d, d));
    if (length == 0.0) // every point of the circle is nearest
        return (point){e->at.x + w->radius, e->at.y};
    return offset(e->at, w->radius / length, d);
}

static void add_corner(puddle_world *w, point p)
{
    if (on_edge(w, p))
        w->corner[w->ncorner++] = p;
}

// Corners where e and f cross, at most two.
static void cross(puddle_world *w, const piece *e, const piece *f)
{
    if (!is_line(e) && is_line(f)) {
        cross(w, f, e);
        return;
    }
    if (is_line(e) && is_line(f)) {
        double sine = dot(across(e->along), f->along);
        if (fabs(sine) < 1e-12) // parallel
            return;
        double t = dot(across(f->along), minus(e->at, f->at)) / sine;
        add_corner(w, offset(e->at, t, e->along));
        return;
    }

    // f is a circle: the crossings lie on one line, at equal distances from its middle
    point middle, along;
    if (is_line(e)) {
        middle = project(w, e, f->at);
        along = e->along;
    } else {
        double apart = distance(e->at, f->at);
        if (apart == 0.0)
            return;
        middle = offset(e->at, 0.5, minus(f->at, e->at));
        along = across(minus(f->at, e->at));
        along = (point){along.x / apart, along.y / apart};
    }
    double off = distance(middle, f->at);
    double square = w->radius * w->radius - off * off;
    if (square < 0.0)
        return;
    add_corner(w, offset(middle, sqrt(square), along));
    add_corner(w, offset(middle, -sqrt(square), along));
}

static void build_puddle(puddle *u, const double end[4], double radius)
{
    axis *a = &u->axis;
    a->end[0] = (point){end[0], end[1]};
    a->end[1] = (point){end[2], end[3]};
    a->length = distance(a->end[0], a->end[1]);
    u->npiece = 0;
    for (int i = 0; i < 2; i++)
        u->piece[u->npiece++] = (piece){a->end[i], {0.0, 0.0}};
    if (a->length == 0.0) // round: no lines
        return;

    point d = minus(a->end[1], a->end[0]);
    a->along = (point){d.x / a->length, d.y / a->length};
    for (int side = -1; side <= 1; side += 2) {
        point beside = offset(a->end[0], side * radius, across(a->along));
        u->piece[u->npiece++] = (piece){beside, a->along};
    }
}

static double union_depth(const puddle_world *w, point p)
{
    double best = 2.0 * w->radius;
    for (int i = 0; i < w->ncorner; i++) {
        double d = distance(p, w->corner[i]);
        best = d < best ? d : best;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < w->puddle[k].npiece; i++) {
            point q = project(w, &w->puddle[k].piece[i], p);
            double d = distance(p, q);
            if (d < best && on_edge(w, q))
                best = d;
        }
    return best;
}

static double depth(const puddle_world *w, point p)
{
    double d1 = w->radius - axis_distance(&w->puddle[0].axis, p);
    double d2 = w->radius - axis_distance(&w->puddle[1].axis, p);
    if (d1 <= 0.0 && d2 <= 0.0)
        return 0.0;
    if (w->overlap == UNION)
        return union_depth(w, p);
    if (w->overlap == MAX || d1 <= 0.0 || d2 <= 0.0)
        return d1 > d2 ? d1 : d2;
    return d1 + d2;
}

// ---------------------------------------------------------------------------- the walk

static rh_status puddle_world_init(void *self, rh_task *task, const double *opt, rh_error *err)
{
    (void)err;
    puddle_world *w = self;
    w->move = opt[MOVE];
    w->noise = opt[NOISE];
    w->goal_distance = opt[GOAL_DISTANCE];
    w->radius = opt[PUDDLE_RADIUS];
    w->cost = opt[PUDDLE_COST];
    w->overlap = (int)opt[OVERLAP];
    build_puddle(&w->puddle[0], opt + PUDDLE_1_X1, w->radius);
    build_puddle(&w->puddle[1], opt + PUDDLE_2_X1, w->radius);
    w->ncorner = 0;
    for (int i = 0; i < w->puddle[0].npiece; i++)
        for (int j = 0; j < w->puddle[1].npiece; j++)
            cross(w, &w->puddle[0].piece[i], &w->puddle[1].piece[j]);

    task->naction = 4;
    task->nact = 1;
    task->gamma = opt[GAMMA];
    task->reward_lo = -1.0 - w->cost * w->radius * (w->overlap == MAX ? 1.0 : 2.0);
    task->nstep = 30000;
    rh_env__sensor(task, "x", 0.0, 1.0);
    rh_env__sensor(task, "y", 0.0, 1.0);
    return RH_OK;
}

static bool at_goal(const puddle_world *w, const rh_env__puddle_world_state *s)
{
    return (1.0 - s->x) + (1.0 - s->y) < w->goal_distance;
}

static void puddle_world_start(const void *self, void *state, rh_streams *streams, double *obs)
{
    const puddle_world *w = self;
    rh_env__puddle_world_state *s = state;
    do {
        obs[0] = s->x = rh_rng_uniform(&streams->start);
        obs[1] = s->y = rh_rng_uniform(&streams->start);
    } while (at_goal(w, s));
}

static bool puddle_world_step(const void *self, void *state, const double *act,
                              rh_streams *streams, double *obs, double *reward)
{
    const puddle_world *w = self;
    rh_env__puddle_world_state *s = state;
    int action = (int)act[0];
    assert(action >= 0 && action <= 3);

    // x-, x+, y-, y+
    double move[2] = {0.0, 0.0}, z[2];
    move[action / 2] = action % 2 ? w->move : -w->move;
    rh_rng_normal(&streams->noise, z);
    s->x = rh_env__clip(s->x + (move[0] + w->noise * z[0]), 0.0, 1.0);
    s->y = rh_env__clip(s->y + (move[1] + w->noise * z[1]), 0.0, 1.0);

    obs[0] = s->x;
    obs[1] = s->y;
    *reward = -1.0 - w->cost * depth(w, (point){s->x, s->y});
    return at_goal(w, s);
}

const rh_env_type rh_env_puddle_world = {
    .name = "puddle_world",
    .about = "a noisy walk across a square to its far corner, around two puddles",
    .self_size = sizeof(puddle_world),
    .state_size = sizeof(rh_env__puddle_world_state),
    .param = param,
    .nparam = NPARAM,
    .grid = grid,
    .ngrid = sizeof grid / sizeof grid[0],
    .init = puddle_world_init,
    .start = puddle_world_start,
    .step = puddle_world_step,
};
