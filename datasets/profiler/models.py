"""The nine models in plain PyTorch, as chains of layers.

A model is a list of Layer. Its modules take and return a tuple of tensors, and
are made one at a time, so that a model larger than the GPU can be measured.
Layers, names and sizes are those of the analytic profiles (docs/profiles.md);
no weights are loaded.
"""

from dataclasses import dataclass
from typing import Callable

# Mini-batches of Table I of the A-SRPT paper; sequence lengths of docs/profiles.md.
BATCH = {
    "vgg19": 32, "resnet152": 4, "inception-v3": 32, "bert-large": 4, "xlnet-large": 4,
    "t5-11b": 8, "gpt-6.7b": 32, "gpt-13b": 32, "gpt-175b": 16,
}
# Models that do not fit one GPU: of each kind of layer three are measured.
LARGE = {"t5-11b", "gpt-6.7b", "gpt-13b", "gpt-175b"}


@dataclass(frozen=True)
class Layer:
    name: str
    kind: str  # layers of one kind are the same but for their weights
    build: Callable  # returns a torch.nn.Module


@dataclass(frozen=True)
class Model:
    name: str
    batch: int
    layers: list
    image: int = 0  # side of the images, or
    tokens: int = 0  # length of the sequences
    words: int = 0  # size of the vocabulary

    def inputs(self, device, dtype):
        """Return random input for the first layer."""
        import torch

        if self.image:
            return (torch.randn(self.batch, 3, self.image, self.image, device=device, dtype=dtype),)
        return (torch.randint(self.words, (self.batch, self.tokens), device=device),)

    def truncated(self, limit):
        """Return the model with at most so many layers of each kind."""
        seen, layers = {}, []
        for layer in self.layers:
            seen[layer.kind] = seen.get(layer.kind, 0) + 1
            if seen[layer.kind] <= limit:
                layers.append(layer)
        return Model(self.name, self.batch, layers, self.image, self.tokens, self.words)


def build(name, batch=0, tiny=False):
    """Return a model by name; tiny ones have the same structure and run anywhere.

    batch: 0 is that of Table I, or 2 if tiny.
    """
    if name not in BATCH:
        raise ValueError(f"there is no model {name!r}: {', '.join(BATCH)}")
    import nets

    n = batch or (2 if tiny else BATCH[name])
    if name == "vgg19":
        return Model(name, n, nets.vgg19(tiny), image=32 if tiny else 224)
    if name == "resnet152":
        return Model(name, n, nets.resnet152(tiny), image=32 if tiny else 224)
    if name == "inception-v3":
        return Model(name, n, nets.inception_v3(tiny), image=75 if tiny else 299)
    if name in ("bert-large", "xlnet-large"):
        words = 50 if tiny else {"bert-large": 30522, "xlnet-large": 32000}[name]
        shape = dict(width=16, heads=2, hidden=32, depth=4) if tiny else dict(width=1024, heads=16, hidden=4096, depth=24)
        make = nets.bert if name == "bert-large" else nets.xlnet
        return Model(name, n, make(words=words, **shape), tokens=8 if tiny else 384, words=words)
    tokens = 8 if tiny else 512
    if name == "t5-11b":
        words = 50 if tiny else 32128
        shape = dict(width=16, heads=4, inner=32, hidden=64, depth=4) if tiny else dict(width=1024, heads=128, inner=16384, hidden=65536, depth=24)
        return Model(name, n, nets.t5(words=words, **shape), tokens=tokens, words=words)
    words = 50 if tiny else 50257
    depth, width, heads = {"gpt-6.7b": (32, 4096, 32), "gpt-13b": (40, 5120, 40), "gpt-175b": (96, 12288, 96)}[name]
    if tiny:
        depth, width, heads = 4, 16, 2
    return Model(name, n, nets.gpt(words, depth, width, heads), tokens=tokens, words=words)
