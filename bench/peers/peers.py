#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bench/peers.lua compares Meissa with: scikit-learn, scipy and Numba on the same data.

  peers.py TASK DIRECTORY     prints a JSON object for each peer: peer, seconds, quality

DIRECTORY has the arrays as .npy files and task.json, the numbers. Threads come from the environment
(OMP_NUM_THREADS, NUMBA_NUM_THREADS). The best of a few runs counts, after one that compiles. A
peer whose package is absent says so: {"peer": ..., "absent": why}.
"""
import json
import os
import sys
import time


def load(name):
    return numpy.load(os.path.join(directory, name + ".npy"))


def tell(peer, seconds, quality):
    print(json.dumps({"peer": peer, "seconds": seconds, "quality": float(quality)}), flush=True)


def best_of(run, fresh=tuple):
    """The least seconds of `run(*fresh())`, and what the last run gave."""
    best, result = float("inf"), None
    for _ in range(task["rounds"] + 1):
        given = fresh()
        started = time.perf_counter()
        result = run(*given)
        best = min(best, time.perf_counter() - started)
    return best, result


def boosting():
    from sklearn.ensemble import HistGradientBoostingRegressor

    data = load("points")
    X, y = data[:, :-1], data[:, -1]
    test = (numpy.arange(len(y)) + 1) % 5 == 0
    model = HistGradientBoostingRegressor(
        max_iter=task["trees"], learning_rate=0.2, max_bins=64, max_depth=task["depth"],
        max_leaf_nodes=None, min_samples_leaf=10, early_stopping=False)
    seconds, model = best_of(lambda: model.fit(X[~test], y[~test]))
    tell("HistGradientBoosting", seconds, model.score(X[test], y[test]))


def kmeans():
    from sklearn.cluster import KMeans

    X, start = load("points"), load("centres")

    def fit():
        return KMeans(len(start), init=start, n_init=1, max_iter=task["passes"], tol=0,
                      algorithm="lloyd").fit(X)

    import warnings
    warnings.simplefilter("ignore")
    seconds, model = best_of(fit)
    tell("KMeans", seconds / model.n_iter_, model.inertia_)


def svm():
    import warnings
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC

    warnings.simplefilter("ignore")
    X = csr_matrix((load("values"), load("columns"), load("starts")),
                   shape=(task["n"], task["features"]))
    y = load("labels")
    seconds, model = best_of(lambda: SGDClassifier(
        loss="hinge", alpha=1e-4, max_iter=task["passes"], tol=None, shuffle=False,
        fit_intercept=False).fit(X, y))
    tell("SGDClassifier", seconds, model.score(X, y))
    seconds, model = best_of(lambda: LinearSVC(
        C=1e4 / task["n"], loss="hinge", fit_intercept=False, max_iter=task["passes"]).fit(X, y))
    tell("liblinear", seconds, model.score(X, y))


def pagerank():
    from scipy.sparse import csr_matrix

    n = task["n"]
    into = csr_matrix((load("values"), load("columns"), load("starts")), shape=(n, n))

    def iterate():
        rank = numpy.full(n, 1 / n)
        for _ in range(task["passes"]):
            rank = 0.15 / n + 0.85 * (into @ rank)
        return rank

    seconds, rank = best_of(iterate)
    tell("scipy", seconds, rank.sum())


def factorization():
    from numba import njit, prange

    @njit(parallel=True, fastmath=True)
    def run(starts, columns, values, W, H):
        sse = 0.0
        for i in prange(len(W)):
            for e in range(starts[i], starts[i + 1]):
                j = columns[e]
                off = values[e]
                for k in range(W.shape[1]):
                    off -= W[i, k] * H[j, k]
                sse += off * off
                for k in range(W.shape[1]):
                    w = W[i, k]
                    W[i, k] = w + numpy.float32(0.01) * (off * H[j, k] - numpy.float32(0.05) * w)
                    H[j, k] += numpy.float32(0.01) * (off * w - numpy.float32(0.05) * H[j, k])
        return sse

    starts, columns, values = load("starts"), load("columns"), load("values").astype("float32")
    W, H = load("W"), load("H")

    def passes(w, h):
        for _ in range(task["passes"]):
            sse = run(starts, columns, values, w, h)
        return sse

    seconds, sse = best_of(passes, lambda: (W.copy(), H.copy()))
    tell("Numba, racing", seconds, (sse / len(values)) ** 0.5)


def stencil():
    from numba import njit, prange

    @njit(parallel=True)
    def step(U, V):
        for i in prange(1, U.shape[0] - 1):
            for j in range(1, U.shape[1] - 1):
                V[i, j] = U[i, j] + 0.2 * (
                    U[i - 1, j] + U[i + 1, j] + U[i, j - 1] + U[i, j + 1] - 4 * U[i, j])

    grid = load("grid")

    def steps(U, V):
        for _ in range(task["passes"]):
            step(U, V)
            U, V = V, U
        return U.sum()

    seconds, total = best_of(steps, lambda: (grid.copy(), grid.copy()))
    tell("Numba", seconds, total)


def monte_carlo():
    from numba import njit, prange

    @njit(parallel=True)
    def run(n):
        inside = 0
        for _ in prange(n):
            x, y = numpy.random.random(), numpy.random.random()
            if x * x + y * y < 1:
                inside += 1
        return 4 * inside / n

    seconds, pi = best_of(lambda: run(task["n"]))
    tell("Numba", seconds, pi)


name, directory = sys.argv[1:3]
with open(os.path.join(directory, "task.json")) as file:
    task = json.load(file)
try:
    import numpy

    {"boosting": boosting, "kmeans": kmeans, "svm": svm, "pagerank": pagerank,
     "factorization": factorization, "stencil": stencil, "monte_carlo": monte_carlo}[name]()
except ImportError as missing:
    print(json.dumps({"peer": "Python", "absent": str(missing)}))
