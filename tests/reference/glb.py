"""Literal transcriptions of the generalised linear family (glb.md; fedglb-ucb.txt, algorithms 1-6).

Clients act in rounds; t counts rounds, n counts observations of all clients. Every matrix is inverted and
every determinant taken afresh; all observations are kept and the global objective is summed over all of them.

Every algorithm takes the fields of `Setting` by name, beside its own arguments. It returns `arm`, `widths`
(the alpha of each turn, scaled), `messages` and `scalars` (cumulative by turn), `uploads` and `downloads`
(messages up and down in all), `rounds` (global updates), `update_turns` (turns, from 0, on which they
happened), `inner_steps` (gradient evaluations of each), `models` (the global model after each),
`client_models` (theta_i at the end) and the statistics at the end.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize, root
from scipy.special import expit

from reference.recorded import Ledger, count_clients, count_rounds, lowest_best

# Mean mu(z), its slope, and the log-partition m(z) of the loss -y z + m(z).
MEAN = {"logistic": expit, "identity": lambda z: z, "poisson": np.exp}
SLOPE = {"logistic": lambda z: expit(z) * expit(-z), "identity": np.ones_like, "poisson": np.exp}
PARTITION = {"logistic": lambda z: np.logaddexp(0.0, z), "identity": lambda z: z**2 / 2, "poisson": np.exp}


@dataclass(frozen=True)
class Setting:
    """The parameters of glb.md that the algorithms share, by their names there."""

    ridge: float = 2.0  # lambda
    delta: float = 0.01
    radius: float = 1.0  # S
    noise_bound: float = 0.5  # R_max
    link: str = "logistic"
    alpha: float | None = None  # a fixed width, not scaled
    suboptimality: float | None = None  # eps; None: 1/n^2
    arm_bound: float = 1.0

    @property
    def low(self):
        """c_mu: the least slope on [-S, S]."""
        if self.link == "logistic":
            return SLOPE["logistic"](self.radius)
        return {"identity": 1.0, "poisson": np.exp(-self.radius)}[self.link]

    @property
    def high(self):
        """k_mu: the greatest slope on [-S, S]."""
        return {"logistic": 0.25, "identity": 1.0, "poisson": np.exp(self.radius)}[self.link]

    def epsilon(self, n):
        """eps_t: 1/n^2, or a constant."""
        return 1 / n**2 if self.suboptimality is None else self.suboptimality


def loss_gradient(theta, x, y, link):
    """Sum of the gradients of the losses: x [mu(x.theta) - y]."""
    return x.T @ (MEAN[link](x @ theta) - y)


def accelerated(theta, x, y, setting):
    """Algorithm 3 on (1/n) (sum of losses + ridge/2 |theta|^2); the model and the gradient evaluations."""
    n, ridge = len(y), setting.ridge
    step = 1 / (setting.high * setting.arm_bound**2 + ridge / n)
    small = np.sqrt(2 * (ridge / n) * setting.epsilon(n))
    v = 1.0  # v_1 = (1 + sqrt(1 + 4 v_0^2)) / 2 with v_0 = 0
    look, place = theta.copy(), theta.copy()  # theta^(1) and vartheta^(1)
    for evaluations in range(1, 100_000):
        gradient = (loss_gradient(look, x, y, setting.link) + ridge * look) / n
        # |gradient| <= sqrt(2 (ridge/n) eps) guarantees sub-optimality eps; the model is the iterate tested.
        if np.linalg.norm(gradient) <= small:
            return look, evaluations
        v_next = (1 + np.sqrt(1 + 4 * v**2)) / 2
        gamma = (1 - v) / v_next
        next_place = look - step * gradient
        look, place, v = (1 - gamma) * next_place + gamma * place, next_place, v_next
    raise ArithmeticError("the accelerated iteration does not converge: is arm_bound too small?")


def maximum_likelihood(x, y, setting):
    """argmin of the sum of the losses plus ridge/2 |theta|^2, from zero, to about 1e-12."""
    link, ridge, identity = setting.link, setting.ridge, np.eye(x.shape[1])

    def objective(theta):
        z = x @ theta
        return (PARTITION[link](z) - y * z).sum() + ridge / 2 * theta @ theta

    def gradient(theta):
        return loss_gradient(theta, x, y, link) + ridge * theta

    def hessian(theta):
        return x.T @ (SLOPE[link](x @ theta)[:, None] * x) + ridge * identity

    start = np.zeros(len(identity))
    near = minimize(objective, start, jac=gradient, hess=hessian, method="trust-exact", tol=1e-8)
    exact = root(gradient, near.x, jac=hessian, tol=1e-15).x
    assert np.linalg.norm(gradient(exact)) <= 1e-10, "the minimiser was not found"
    return exact


def project(theta, matrix, radius):
    """The point of the ball |v| <= S nearest in the norm of A: (A + nu I) v = A theta with |v| = S."""
    if np.linalg.norm(theta) <= radius:
        return theta
    identity = np.eye(len(theta))

    def place(nu):
        return np.linalg.solve(matrix + nu * identity, matrix @ theta)

    def excess(nu):
        return np.linalg.norm(place(nu)) - radius

    upper = 1.0
    while excess(upper) > 0:
        upper *= 2
    return place(brentq(excess, 0.0, upper, xtol=1e-15, rtol=1e-15, maxiter=500))


def newton_step(theta, matrix, gradient, rate, radius):
    """Algorithm 2, with `rate` = c_mu (variant 3: gamma of lemma 12)."""
    return project(theta - np.linalg.inv(matrix) @ gradient / rate, matrix, radius)


def lemma_9(n, eps, dimension, setting):
    """Width around the global model, n for N t; the eps term is 0 before the first update."""
    low, high, ridge = setting.low, setting.high, setting.ridge
    accuracy = n * np.sqrt(2 * high / (ridge * low) + 2 / (n * low)) * np.sqrt(eps) if n > 0 else 0.0
    volume = dimension * np.log(1 + n * low / (dimension * ridge)) + 2 * np.log(1 / setting.delta)
    return accuracy + setting.noise_bound / low * np.sqrt(volume) + np.sqrt(ridge / low) * setting.radius


def online_term(bound, clients, setting):
    """(8 R^2/c^2) log((N/delta) sqrt(4 + 8 B/c + 64 R^4 / (c^4 4 delta^2))) + 1 + 4 B/c."""
    low, delta, noise_bound = setting.low, setting.delta, setting.noise_bound
    under = 4 + 8 / low * bound + 64 * noise_bound**4 / (low**4 * 4 * delta**2)
    return 8 * noise_bound**2 / low**2 * np.log(clients / delta * np.sqrt(under)) + 1 + 4 * bound / low


def lemma_2(n_last, eps_last, theta_last, gram_last, newton, z2, estimate, b, clients, setting):
    """alpha of lemma 2 (not squared), n_last for N t_last and S for |theta_star|; alpha^2 is at least 0.

    `gram_last` is the sum of x x^T at the last update, `newton` the client's sum of |gradient|^2 in the norm
    of A^-1 since then, `z2` its |z|^2, `estimate` its ridge centre.
    """
    low, ridge, radius = setting.low, setting.ridge, setting.radius
    b_1 = n_last * eps_last + ridge / 2 * radius**2
    # Appendix B (the root covers the sum): the bracket is lemma 9 at the last update.
    b_2 = newton / (2 * low) + low / 2 * lemma_9(n_last, eps_last, len(b), setting) ** 2
    # log((1/delta) sqrt(det(I + sum of x x^T))).
    volume = np.log(1 / setting.delta) + 0.5 * np.linalg.slogdet(np.eye(len(b)) + gram_last)[1]
    size = np.linalg.norm(theta_last) + radius + np.sqrt(b_1)
    beta = 8 * setting.noise_bound**2 / low**2 * volume + b_1
    beta += 4 * setting.noise_bound / low * np.sqrt(2 * volume) * size
    beta += online_term(b_2, clients, setting)
    return np.sqrt(max(beta + ridge / low * radius**2 - z2 + estimate @ b, 0.0))


def optimistic_arm(arms, centre, inverse, wide):
    """argmax x.centre + alpha |x| in the norm whose matrix is `inverse`."""
    return lowest_best([x @ centre + wide * np.sqrt(x @ inverse @ x) for x in arms])


def schedule_period(world, rounds_of_update):
    """Scheduled variants update after every floor(N T / B) turns (at least one), B times."""
    return max(1, len(world["client"]) // rounds_of_update)


def offline_and_online(world, due, alpha_scale, setting):
    """Algorithms 1 and 5, which differ only in when an update is `due`."""
    count_rounds(world)
    clients, dimension, ridge, low = count_clients(world), world["arms"].shape[2], setting.ridge, setting.low
    start = ridge / low * np.eye(dimension)
    matrix, new = np.tile(start, (clients, 1, 1)), np.zeros((clients, dimension, dimension))  # A_i, dA_i
    b, theta = np.zeros((clients, dimension)), np.zeros((clients, dimension))
    z2, newton = np.zeros(clients), np.zeros(clients)
    server_matrix, server_b, server_theta, server_z2 = start, np.zeros(dimension), np.zeros(dimension), 0.0
    t_last, n_last, eps_last = 0, 0, 0.0
    seen_x, seen_y = [], []
    ledger, chosen, widths, update_turns, inner_steps, models = Ledger(), [], [], [], [], []

    for turn, i in enumerate(world["client"]):
        t = turn // clients + 1
        # Line 6, equation (5), around the ridge centre A^-1 b of the predictions.
        inverse = np.linalg.inv(matrix[i])
        estimate = inverse @ b[i]
        wide = setting.alpha
        if wide is None:
            gram = server_matrix - start
            last = (n_last, eps_last, server_theta, gram)
            wide = alpha_scale * lemma_2(*last, newton[i], z2[i], estimate, b[i], clients, setting)
        arm = optimistic_arm(world["arms"][turn], estimate, inverse, wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        seen_x.append(x)
        seen_y.append(y)
        # Line 7.
        matrix[i] += np.outer(x, x)
        new[i] += np.outer(x, x)
        growth = np.linalg.slogdet(matrix[i])[1] - np.linalg.slogdet(matrix[i] - new[i])[1]
        if not due(turn, (t - t_last) * growth, len(update_turns)):
            # Line 9: b takes the prediction of the model before its step.
            gradient = loss_gradient(theta[i], x[None, :], np.array([y]), setting.link)
            newton[i] += gradient @ np.linalg.inv(matrix[i]) @ gradient
            z = x @ theta[i]
            b[i] += x * z
            z2[i] += z**2
            theta[i] = newton_step(theta[i], matrix[i], gradient, low, setting.radius)
        else:
            # Lines 11-14: the turn that triggers does no Newton step.
            fresh = new.sum(axis=0)
            server_matrix = server_matrix + fresh
            server_theta, evaluations = accelerated(server_theta, np.array(seen_x), np.array(seen_y), setting)
            server_b = server_b + fresh @ server_theta
            server_z2 = server_z2 + server_theta @ fresh @ server_theta
            t_last, n_last, eps_last = t, len(seen_y), setting.epsilon(len(seen_y))
            for j in range(clients):
                matrix[j], b[j], theta[j], z2[j] = server_matrix, server_b, server_theta, server_z2
                new[j], newton[j] = 0.0, 0.0
            # Each inner iteration: theta down, gradient up; then dA up, and A, b, theta down.
            ledger.down(clients * evaluations, dimension)
            ledger.up(clients * evaluations, dimension)
            ledger.up(clients, dimension**2)
            ledger.down(clients, dimension**2 + 2 * dimension)
            update_turns.append(turn)
            inner_steps.append(evaluations)
            models.append(server_theta)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": len(update_turns),
        "update_turns": update_turns,
        "inner_steps": inner_steps,
        "models": np.array(models).reshape(-1, dimension),
        "client_models": theta,
        "A": matrix,
        "b": b,
        "z2": z2,
    }


def fedglb_ucb(world, *, sync_threshold, alpha_scale=0.1, **setting):
    """Algorithm 1: an update when (t - t_last) log(det A_i / det(A_i - dA_i)) > D, strictly."""

    def due(turn, event, updates):
        return event > sync_threshold

    return offline_and_online(world, due, alpha_scale, Setting(**setting))


def n_ons_glm(world, *, alpha_scale=0.1, **setting):
    """FedGLB-UCB with D infinite."""
    # Reading: "is fedglb-ucb with D infinite" keeps N, the clients of the file, in the width's log(N/delta).
    return fedglb_ucb(world, sync_threshold=np.inf, alpha_scale=alpha_scale, **setting)


def fedglb_ucb_2(world, *, rounds_of_update, alpha_scale=0.1, **setting):
    """Algorithm 5: Algorithm 1 on a schedule, in mid-round where it falls so."""
    period = schedule_period(world, rounds_of_update)

    def due(turn, event, updates):
        return (turn + 1) % period == 0 and updates < rounds_of_update

    return offline_and_online(world, due, alpha_scale, Setting(**setting))


def fedglb_ucb_1(world, *, rounds_of_update, alpha_scale=1.0, **setting):
    """Algorithm 4: centre theta, A and the width of lemma 9, all frozen between updates."""
    count_rounds(world)
    setting = Setting(**setting)
    clients, dimension = count_clients(world), world["arms"].shape[2]
    period = schedule_period(world, rounds_of_update)
    start = setting.ridge / setting.low * np.eye(dimension)
    matrix, gram = start, np.zeros((dimension, dimension))
    theta, n_last, eps_last = np.zeros(dimension), 0, 0.0
    seen_x, seen_y = [], []
    ledger, chosen, widths, update_turns, inner_steps, models = Ledger(), [], [], [], [], []

    for turn in range(len(world["client"])):
        wide = setting.alpha
        if wide is None:
            wide = alpha_scale * lemma_9(n_last, eps_last, dimension, setting)
        # Equation (16).
        arm = optimistic_arm(world["arms"][turn], theta, np.linalg.inv(matrix), wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        seen_x.append(x)
        seen_y.append(y)
        gram += np.outer(x, x)
        if (turn + 1) % period == 0 and len(update_turns) < rounds_of_update:
            # Lines 12-16.
            matrix = start + gram
            theta, evaluations = accelerated(theta, np.array(seen_x), np.array(seen_y), setting)
            n_last, eps_last = len(seen_y), setting.epsilon(len(seen_y))
            ledger.down(clients * evaluations, dimension)
            ledger.up(clients * evaluations, dimension)
            ledger.up(clients, dimension**2)
            ledger.down(clients, dimension**2 + dimension)  # variant 1 has no b
            update_turns.append(turn)
            inner_steps.append(evaluations)
            models.append(theta)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": len(update_turns),
        "update_turns": update_turns,
        "inner_steps": inner_steps,
        "models": np.array(models).reshape(-1, dimension),
        "client_models": np.tile(theta, (clients, 1)),
        "A": np.tile(matrix, (clients, 1, 1)),
    }


def fedglb_ucb_3(world, *, rounds_of_update, alpha_scale=0.1, **setting):
    """Algorithm 6: online Newton steps, one for all clients' batch globally; scores with V."""
    count_rounds(world)
    setting = Setting(**setting)
    clients, dimension = count_clients(world), world["arms"].shape[2]
    ridge, radius = setting.ridge, setting.radius
    period = schedule_period(world, rounds_of_update)
    # Lemma 12, with max(n_p - n_(p-1)) = floor(N T / B) throughout.
    slack = setting.high**2 * radius**2 + setting.noise_bound**2
    gamma = 0.5 * min(1 / (4 * radius * np.sqrt(slack)), setting.low / (slack * period))
    start = ridge * np.eye(dimension)
    matrix, known = np.tile(start, (clients, 1, 1)), np.tile(start, (clients, 1, 1))  # A_i, V_i
    b, theta = np.zeros((clients, dimension)), np.zeros((clients, dimension))
    z2, newton = np.zeros(clients), np.zeros(clients)
    server_matrix, server_known, server_b, server_theta = (
        start,
        start,
        np.zeros(dimension),
        np.zeros(dimension),
    )
    server_z2, server_newton = 0.0, 0.0
    fresh_x, fresh_y = [], []  # all clients' observations since the last update
    ledger, chosen, widths, update_turns, models = Ledger(), [], [], [], []

    for turn, i in enumerate(world["client"]):
        # Line 6.
        inverse = np.linalg.inv(known[i])
        estimate = inverse @ b[i]
        wide = setting.alpha
        if wide is None:
            # Lemma 14 with B_P of lemma 12, R^4 under the root, and + theta^T b.
            bound = newton[i] / (2 * gamma) + 2 * gamma * ridge * radius**2
            square = ridge * radius**2 + online_term(bound, clients, setting) + estimate @ b[i] - z2[i]
            wide = alpha_scale * np.sqrt(max(square, 0.0))
        arm = optimistic_arm(world["arms"][turn], estimate, inverse, wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        fresh_x.append(x)
        fresh_y.append(y)
        # Lines 7 and 8.
        z = x @ theta[i]
        gradient = loss_gradient(theta[i], x[None, :], np.array([y]), setting.link)
        matrix[i] += np.outer(gradient, gradient)
        known[i] += np.outer(x, x)
        if (turn + 1) % period != 0 or len(update_turns) >= rounds_of_update:
            # Line 11.
            newton[i] += gradient @ np.linalg.inv(matrix[i]) @ gradient
            theta[i] = newton_step(theta[i], matrix[i], gradient, gamma, radius)
            b[i] += x * z
            z2[i] += z**2
        else:
            # Lines 13 and 14: everything at theta_last.
            fresh = sum(known[j] - server_known for j in range(clients))
            total = loss_gradient(server_theta, np.array(fresh_x), np.array(fresh_y), setting.link)
            server_matrix = server_matrix + np.outer(total, total)
            server_known = server_known + fresh
            server_b = server_b + fresh @ server_theta
            server_z2 = server_z2 + server_theta @ fresh @ server_theta
            server_newton = server_newton + total @ np.linalg.inv(server_matrix) @ total
            server_theta = newton_step(server_theta, server_matrix, total, gamma, radius)
            # Line 15.
            # Reading: the sum in B_P runs over the global updates, then over the client's own steps
            # since the last of them (its older local steps drop out, as in the paper's F_1 ... F_P).
            for j in range(clients):
                matrix[j], known[j], b[j], theta[j] = server_matrix, server_known, server_b, server_theta
                z2[j], newton[j] = server_z2, server_newton
            fresh_x, fresh_y = [], []
            # One gradient and dV up; A, V, b, theta down.
            ledger.up(clients, dimension + dimension**2)
            ledger.down(clients, 2 * dimension**2 + 2 * dimension)
            update_turns.append(turn)
            models.append(server_theta)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": len(update_turns),
        "update_turns": update_turns,
        "inner_steps": [1] * len(update_turns),
        "models": np.array(models).reshape(-1, dimension),
        "client_models": theta,
        "A": matrix,
        "V": known,
        "b": b,
        "z2": z2,
    }


def ucb_glm(world, group_of, raw_messages, alpha_scale, setting):
    """UCB-GLM in each group of clients: ridge maximum likelihood after every turn, lemma 9 with eps = 0."""
    count_rounds(world)
    clients, dimension, groups = count_clients(world), world["arms"].shape[2], max(group_of) + 1
    matrix = np.tile(setting.ridge / setting.low * np.eye(dimension), (groups, 1, 1))
    theta = np.zeros((groups, dimension))
    seen_x, seen_y = [[] for _ in range(groups)], [[] for _ in range(groups)]
    ledger, chosen, widths = Ledger(), [], []

    for turn, i in enumerate(world["client"]):
        group = group_of[i]
        wide = setting.alpha
        if wide is None:
            wide = alpha_scale * lemma_9(len(seen_y[group]), 0.0, dimension, setting)
        arm = optimistic_arm(world["arms"][turn], theta[group], np.linalg.inv(matrix[group]), wide)
        chosen.append(arm)
        widths.append(wide)
        x, y = world["arms"][turn, arm], world["reward"][turn, arm]
        seen_x[group].append(x)
        seen_y[group].append(y)
        matrix[group] += np.outer(x, x)
        theta[group] = maximum_likelihood(np.array(seen_x[group]), np.array(seen_y[group]), setting)
        if raw_messages:
            ledger.up(1, dimension + 1)
        ledger.end_turn()

    return {
        "arm": np.array(chosen),
        "widths": np.array(widths),
        **ledger.report(),
        "rounds": 0,
        "update_turns": [],
        "inner_steps": [],
        "models": np.zeros((0, dimension)),
        "client_models": np.array([theta[group_of[i]] for i in range(clients)]),
        "A": np.array([matrix[group_of[i]] for i in range(clients)]),
    }


def one_ucb_glm(world, *, alpha_scale=1.0, **setting):
    """One UCB-GLM over everyone's data; raw data travel."""
    # Reading: its communication is not specified. Booked like pooled-linucb: one message up of d + 1 scalars
    # a turn. "The client's own count of observations" is everyone's count here.
    return ucb_glm(world, [0] * count_clients(world), True, alpha_scale, Setting(**setting))


def n_ucb_glm(world, *, alpha_scale=1.0, **setting):
    """UCB-GLM alone at each client."""
    return ucb_glm(world, list(range(count_clients(world))), False, alpha_scale, Setting(**setting))
