"""`python -m benchmarks.neural_libraries [cpu|cuda]`: what a round costs in JAX, and in PyTorch where it is installed.

Two clients with 1000 observations of 63 features each, a hidden layer of 20 units without biases: a training of 30
steps, and the gradients of 14 contexts. In PyTorch as its users write it: eager, all clients in one batch, gradients by
`autograd` and by `torch.func`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.row import best_seconds
from fedbandit.kernels.neural.rounds import rounds_of
from fedbandit.kernels.neural.steps import Plan

CLIENTS, SEEN, INPUTS, WIDTH, STEPS, ARMS = 2, 1000, 63, 20, 30, 7
REPEATS = 20


def jax_work(device: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a training and the gradients of a round's arms, as the package does them."""
    import jax

    plan = Plan(
        inputs=INPUTS, width=WIDTH, depth=1, initialisation="symmetric", network_seed=0, scale_features=True, ridge=0.1,
        nu_pooled=0.1, nu_local=0.1, diagonal=False, train_steps=STEPS, train_rate=1e-5, regulariser="anchor",
        precision="float32", device=device,
    )  # fmt: skip
    rounds = rounds_of(plan)
    rng = np.random.default_rng(0)
    chunk = rounds.device.chunk
    chunks = -(-SEEN // chunk)
    with rounds.active():
        contexts = rounds.device.put(rng.standard_normal((CLIENTS, chunks, INPUTS, chunk)))
        rewards = rounds.device.put(rng.standard_normal((CLIENTS, chunks, chunk)))
        arms = rounds.device.put(rng.standard_normal((CLIENTS, ARMS, INPUTS)))
        thetas = rounds.device.put(np.broadcast_to(rounds.network.initial, (CLIENTS, rounds.network.parameters)))
    sizes = np.full((2, CLIENTS), SEEN, np.float32)
    gradients = jax.jit(rounds.steps.features)

    def train() -> None:
        with rounds.active():
            rounds.train(thetas, thetas, contexts, rewards, sizes).block_until_ready()

    def differentiate() -> None:
        with rounds.active():
            gradients(arms).block_until_ready()

    return train, differentiate


def torch_work(device: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return the same two in PyTorch."""
    import torch  # type: ignore[import-not-found,unused-ignore]

    torch.set_num_threads(1)
    contexts = torch.randn(CLIENTS, SEEN, 2 * INPUTS, device=device)
    rewards = torch.randn(CLIENTS, SEEN, device=device)
    arms = torch.randn(CLIENTS * ARMS, 2 * INPUTS, device=device)
    begin = [torch.randn(CLIENTS, WIDTH, 2 * INPUTS, device=device), torch.randn(CLIENTS, WIDTH, device=device)]

    def train() -> None:
        layers = [each.clone().requires_grad_() for each in begin]
        for _ in range(STEPS):
            hidden = torch.relu(contexts @ layers[0].transpose(1, 2))
            loss = 0.5 * ((hidden @ layers[1][:, :, None])[:, :, 0] - rewards).square().sum()
            anchor = sum((one - start).square().sum() for one, start in zip(layers, begin, strict=True))
            found = torch.autograd.grad(loss + anchor, layers)
            layers = [(one - 1e-5 * slope).detach().requires_grad_() for one, slope in zip(layers, found, strict=True)]
        _wait(torch, device)

    def value(first: Any, last: Any, context: Any) -> Any:
        return torch.relu(first @ context) @ last

    gradients = torch.func.vmap(torch.func.grad(value, argnums=(0, 1)), in_dims=(None, None, 0))

    def differentiate() -> None:
        gradients(begin[0][0], begin[1][0], arms)
        _wait(torch, device)

    return train, differentiate


def _wait(torch: Any, device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def main() -> int:
    """Print a line for each library that is there."""
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    for name, module, work in (("JAX", "jax", jax_work), ("PyTorch", "torch", torch_work)):
        if find_spec(module) is None:
            print(f"{name} is not installed")
            continue
        train, differentiate = work(device)
        training, gradients = best_seconds(train, REPEATS), best_seconds(differentiate, REPEATS)
        print(f"{name} on {device}: a training {1e3 * training:.2f} ms, gradients {1e6 * gradients:.0f} µs", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
