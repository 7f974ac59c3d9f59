"""Steps that the generalised linear transcriptions share: losses, minimisers, projections, widths and schedules."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq, minimize, root
from scipy.special import expit

from reference.recorded import lowest_best

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
        return 1 / max(1, n) ** 2 if self.suboptimality is None else self.suboptimality


def loss_gradient(theta, x, y, link):
    """Sum of the gradients of the losses: x [mu(x.theta) - y]."""
    return x.T @ (MEAN[link](x @ theta) - y)


def accelerated(theta, x, y, setting):
    """Algorithm 3 on (1/n) (sum of losses + ridge/2 |theta|^2); the model and the gradient evaluations."""
    n, ridge = max(1, len(y)), setting.ridge  # in an update of clients that have too few to tell, n = 0
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

    if excess(0.0) <= 0:  # it lies on the ball but for rounding, which differs from machine to machine
        return theta
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
