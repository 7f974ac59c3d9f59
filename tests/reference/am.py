"""Literal transcription of Async-LinUCB-AM (linear.md, section Async-LinUCB-AM; algorithms 1, 3 and 5).

V_i, b_i are what client i knows of the global part (downloads, and its own data once it has started), dV_i,
db_i its own part not uploaded yet; V_l, b_l its local part, which never travels.
"""

import numpy as np

from reference.linear import log_determinant, passes, width
from reference.recorded import Ledger, count_clients, lowest_best

CUT = 1e-8  # full rank: smallest eigenvalue above it; generalised inverses leave out eigenvalues up to it
STILL = 1e-10  # an alternation ends early when both estimates move less than this


def generalised_inverse(matrix):
    """Inverse on the eigenvectors whose eigenvalue is above the cut."""
    # Reading: "cut at 1e-8" is absolute, like the full-rank test, not relative to the largest eigenvalue.
    values, vectors = np.linalg.eigh(matrix)
    return sum(
        (np.outer(v, v) / value for value, v in zip(values, vectors.T, strict=True) if value > CUT),
        start=np.zeros_like(matrix),
    )


def full_rank(matrix):
    return np.linalg.eigvalsh(matrix)[0] > CUT


def unit_ball(theta):
    """Euclidean projection onto the unit ball."""
    return theta / max(np.linalg.norm(theta), 1.0)


def alternate(theta_g, theta_l, global_part, local_part, xs_g, xs_l, ys, alternations):
    """Equation (7) for the rows of new data; each part is the V, b that stay fixed beside them."""
    inverse_l = generalised_inverse(local_part[0] + xs_l.T @ xs_l)
    inverse_g = generalised_inverse(global_part[0] + xs_g.T @ xs_g)
    for _ in range(alternations):
        # The local part first, with the partial rewards y - x_g.theta_g; then the global part.
        new_l = unit_ball(inverse_l @ (local_part[1] + xs_l.T @ (ys - xs_g @ theta_g)))
        new_g = unit_ball(inverse_g @ (global_part[1] + xs_g.T @ (ys - xs_l @ new_l)))
        still = np.linalg.norm(new_l - theta_l) < STILL and np.linalg.norm(new_g - theta_g) < STILL
        theta_l, theta_g = new_l, new_g
        if still:
            break
    return theta_g, theta_l


def async_linucb_am(
    world,
    *,
    ridge=0.1,
    noise=0.1,
    delta=0.1,
    upload_threshold=2.0,
    download_threshold=2.0,
    alpha=None,
    global_dimension=None,
    shared_features=False,
    alternations=100,
    smallest_upload=1,
):
    """Algorithm 5; x_g is the first `global_dimension` features, x_l the rest; x_g = x_l = x when shared."""
    clients, dimension = count_clients(world), world["arms"].shape[2]
    upload_threshold = np.broadcast_to(np.asarray(upload_threshold, dtype=float), clients)
    download_threshold = np.broadcast_to(np.asarray(download_threshold, dtype=float), clients)
    size_g = dimension if shared_features else global_dimension
    size_l = dimension if shared_features else dimension - global_dimension

    def split(x):
        """x_g and x_l of one arm, or of the rows of kept data."""
        return (x, x) if shared_features else (x[..., :size_g], x[..., size_g:])

    server_v, server_b = np.zeros((size_g, size_g)), np.zeros(size_g)
    known_v, known_b = np.zeros((clients, size_g, size_g)), np.zeros((clients, size_g))
    own_v, own_b = np.zeros_like(known_v), np.zeros_like(known_b)
    unsent_v, unsent_b = np.zeros_like(known_v), np.zeros_like(known_b)
    local_v, local_b = np.zeros((clients, size_l, size_l)), np.zeros((clients, size_l))
    theta_g, theta_l = np.zeros((clients, size_g)), np.zeros((clients, size_l))
    kept_x, kept_y = [[] for _ in range(clients)], [[] for _ in range(clients)]
    telling = np.zeros(clients, dtype=int)
    met, started, start_turn = [False] * clients, [False] * clients, np.full(clients, -1)
    ledger, chosen = Ledger(), []
    payload = size_g * size_g + size_g

    def wide(matrix, sigma):
        # Reading: a fixed `alpha` takes the place of all three widths (whole x, global part, local part).
        return width(matrix, ridge, sigma, delta) if alpha is None else alpha

    def bounds(xs, matrix, vector, sigma):
        """x.theta(ridge) + alpha |x| in the norm of (V + ridge I)^-1, for each row."""
        inverse = np.linalg.inv(matrix + ridge * np.eye(len(matrix)))
        width_now = wide(matrix, sigma)
        return np.array([x @ inverse @ vector + width_now * np.sqrt(x @ inverse @ x) for x in xs])

    for turn, i in enumerate(world["client"]):
        if not met[i]:
            # Lines 5-7.
            met[i] = True
            unsent_v[i], unsent_b[i] = server_v, server_b
        arms = world["arms"][turn]
        arms_g, arms_l = split(arms)
        if not started[i]:
            # Line 9, equation (5): plain LinUCB on the client's own data, all of x, width with `noise`.
            xs, ys = np.array(kept_x[i]).reshape(-1, dimension), np.array(kept_y[i])
            arm = lowest_best(bounds(arms, xs.T @ xs, xs.T @ ys, noise))
        else:
            # Line 16, equation (8), widths of lemma 3.3 with `noise` + 2, one for each part.
            global_bounds = bounds(arms_g, known_v[i], known_b[i], noise + 2)
            arm = lowest_best(global_bounds + bounds(arms_l, local_v[i], local_b[i], noise + 2))
        chosen.append(arm)
        x, y = arms[arm], world["reward"][turn, arm]
        x_g, x_l = split(x)
        telling[i] += x_g.any()
        if not started[i]:
            # Lines 10 and 11: the client keeps its data; the tests come after the observation is added.
            kept_x[i].append(x)
            kept_y[i].append(y)
            xs, ys = np.array(kept_x[i]), np.array(kept_y[i])
            downloaded = full_rank(known_v[i])
            if downloaded or full_rank(xs.T @ xs):
                xs_g, xs_l = split(xs)
                if downloaded:
                    # Reading: theta_g "from the download" is V_i^-1 b_i, without ridge.
                    first = generalised_inverse(known_v[i]) @ known_b[i]
                else:
                    # Joint least squares on (x_g, x_l), of least norm; its global part.
                    first = np.linalg.lstsq(np.hstack([xs_g, xs_l]), ys, rcond=None)[0][:size_g]
                # Line 12, over the kept data, with the downloaded V_i, b_i kept in the global equation.
                # Reading: the early stop of equation (7) holds here too; theta_l counts as zero before it.
                zero = (np.zeros((size_l, size_l)), np.zeros(size_l))
                theta_g[i], theta_l[i] = alternate(
                    first, zero[1], (known_v[i], known_b[i]), zero, xs_g, xs_l, ys, alternations
                )
                partial_g, partial_l = ys - xs_l @ theta_l[i], ys - xs_g @ theta_g[i]
                # Line 13.
                own_v[i], own_b[i] = xs_g.T @ xs_g, xs_g.T @ partial_g
                known_v[i] += own_v[i]
                known_b[i] += own_b[i]
                local_v[i], local_b[i] = xs_l.T @ xs_l, xs_l.T @ partial_l
                # Line 14.
                started[i], start_turn[i] = True, turn
        else:
            # Line 17, equation (7), from the last alternation's estimates.
            theta_g[i], theta_l[i] = alternate(
                theta_g[i],
                theta_l[i],
                (known_v[i], known_b[i]),
                (local_v[i], local_b[i]),
                x_g[None, :],
                x_l[None, :],
                np.array([y]),
                alternations,
            )
            partial_g, partial_l = y - x_l @ theta_l[i], y - x_g @ theta_g[i]
            # Line 18.
            known_v[i] += np.outer(x_g, x_g)
            known_b[i] += x_g * partial_g
            own_v[i] += np.outer(x_g, x_g)
            own_b[i] += x_g * partial_g
            local_v[i] += np.outer(x_l, x_l)
            local_b[i] += x_l * partial_l
        # Line 19: Algorithm 1, on the turn that starts, too; before its start a client has nothing to upload.
        growth = log_determinant(known_v[i], ridge) - log_determinant(known_v[i] - own_v[i], ridge)
        if own_v[i].any() and telling[i] >= smallest_upload and passes(growth, upload_threshold[i]):
            ledger.up(1, payload)
            server_v += own_v[i]
            server_b += own_b[i]
            for j in range(clients):
                if met[j] and j != i:
                    unsent_v[j] += own_v[i]
                    unsent_b[j] += own_b[i]
            own_v[i], own_b[i], telling[i] = 0.0, 0.0, 0
            now = log_determinant(server_v, ridge)
            for j in range(clients):
                if not met[j] or not unsent_v[j].any():
                    continue
                if passes(now - log_determinant(server_v - unsent_v[j], ridge), download_threshold[j]):
                    ledger.down(1, payload)
                    known_v[j] += unsent_v[j]
                    known_b[j] += unsent_b[j]
                    unsent_v[j], unsent_b[j] = 0.0, 0.0
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        **ledger.report(),
        "V_g": server_v,
        "b_g": server_b,
        "V": known_v,
        "b": known_b,
        "dV": own_v,
        "db": own_b,
        "V_l": local_v,
        "b_l": local_b,
        "theta_g": theta_g,
        "theta_l": theta_l,
        "start_turn": start_turn,
    }
