"""Definitions of the networks. Imports torch; models.py imports this lazily."""

import torch
from torch import nn
from torch.nn import functional as F

from models import Layer

# ---- images -----------------------------------------------------------------


class One(nn.Module):
    """A module of one tensor as a layer of a chain."""

    def __init__(self, *modules):
        super().__init__()
        self.body = nn.Sequential(*modules)

    def forward(self, x):
        return (self.body(x),)


def unit(inputs, outputs, kernel, stride=1, padding=0):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


def vgg19(tiny):
    layers, inputs, scale = [], 3, 16 if tiny else 1
    for block, convolutions in enumerate([2, 2, 4, 4, 4]):
        outputs = min(64 << block, 512) // scale
        for i in range(convolutions):
            pool = [nn.MaxPool2d(2, 2)] if i == convolutions - 1 else []

            def make(a=inputs, b=outputs, pool=pool):
                return One(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(inplace=True), *pool)

            name = f"conv{block + 1}_{i + 1}"
            layers.append(Layer(name, name, make))
            inputs = outputs
    flat, hidden = inputs * (1 if tiny else 49), 4096 // scale
    layers.append(Layer("fc6", "fc6", lambda: One(nn.Flatten(), nn.Linear(flat, hidden), nn.ReLU(inplace=True), nn.Dropout())))
    layers.append(Layer("fc7", "fc7", lambda: One(nn.Linear(hidden, hidden), nn.ReLU(inplace=True), nn.Dropout())))
    layers.append(Layer("fc8", "fc8", lambda: One(nn.Linear(hidden, 1000))))
    return layers


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.body = nn.Sequential(
            unit(inputs, width, 1), unit(width, width, 3, stride, 1),
            nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width))
        self.skip = nn.Identity()
        if stride > 1 or inputs != 4 * width:
            self.skip = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        return (F.relu(self.body(x) + self.skip(x), inplace=True),)


def resnet152(tiny):
    scale = 16 if tiny else 1
    stem = 64 // scale
    layers = [Layer("stem", "stem", lambda: One(unit(3, stem, 7, 2, 3), nn.MaxPool2d(3, 2, 1)))]
    inputs = stem
    for stage, blocks in enumerate([3, 8, 36, 3]):
        width = (64 << stage) // scale
        for i in range(min(blocks, 2) if tiny else blocks):
            stride = 2 if i == 0 and stage > 0 else 1

            def make(a=inputs, w=width, s=stride):
                return Bottleneck(a, w, s)

            kind = f"block{stage + 2}_{'first' if i == 0 else 'later'}"
            layers.append(Layer(f"block{stage + 2}_{i + 1}", kind, make))
            inputs = 4 * width
    last = inputs
    layers.append(Layer("head", "head", lambda: One(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(last, 1000))))
    return layers


class Inception(nn.Module):
    """Branches over one input, concatenated; a branch may end in two side by side."""

    def __init__(self, branches):
        super().__init__()
        self.trunks = nn.ModuleList(trunk for trunk, _ in branches)
        self.ends = nn.ModuleList(nn.ModuleList(ends) for _, ends in branches)

    def forward(self, x):
        outputs = []
        for trunk, ends in zip(self.trunks, self.ends):
            y = trunk(x)
            outputs += [end(y) for end in ends] if len(ends) else [y]
        return (torch.cat(outputs, 1),)


def inception_v3(tiny):
    scale = 16 if tiny else 1
    s = lambda n: n // scale  # all widths are multiples of 16
    layers = []
    stem = [(3, s(32), 3, 2, 0, False), (s(32), s(32), 3, 1, 0, False), (s(32), s(64), 3, 1, 1, True),
            (s(64), s(80), 1, 1, 0, False), (s(80), s(192), 3, 1, 0, True)]
    for i, (a, b, k, stride, pad, pool) in enumerate(stem):
        def make(a=a, b=b, k=k, stride=stride, pad=pad, pool=pool):
            return One(unit(a, b, k, stride, pad), *([nn.MaxPool2d(3, 2)] if pool else []))
        layers.append(Layer(f"stem{i + 1}", f"stem{i + 1}", make))

    def chain(inputs, *steps):
        modules = []
        for outputs, kernel, stride, padding in steps:
            modules.append(unit(inputs, s(outputs), kernel, stride, padding))
            inputs = s(outputs)
        return nn.Sequential(*modules)

    average = lambda: nn.AvgPool2d(3, 1, 1)
    one, three, five, half = (1, 1, 0), (3, 1, 1), (5, 1, 2), (3, 2, 0)
    row, column = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))

    def block_a(n, pooled):
        return Inception([
            (chain(n, (64, *one)), []), (chain(n, (48, *one), (64, *five)), []),
            (chain(n, (64, *one), (96, *three), (96, *three)), []),
            (nn.Sequential(average(), chain(n, (pooled, *one))), [])])

    def block_b(n):
        return Inception([
            (chain(n, (384, *half)), []), (chain(n, (64, *one), (96, *three), (96, *half)), []), (nn.MaxPool2d(3, 2), [])])

    def block_c(n, c):
        return Inception([
            (chain(n, (192, *one)), []), (chain(n, (c, *one), (c, *row), (192, *column)), []),
            (chain(n, (c, *one), (c, *column), (c, *row), (c, *column), (192, *row)), []),
            (nn.Sequential(average(), chain(n, (192, *one))), [])])

    def block_d(n):
        return Inception([
            (chain(n, (192, *one), (320, *half)), []),
            (chain(n, (192, *one), (192, *row), (192, *column), (192, *half)), []), (nn.MaxPool2d(3, 2), [])])

    def block_e(n):
        split = lambda: [chain(s(384), (384, (1, 3), 1, (0, 1))), chain(s(384), (384, (3, 1), 1, (1, 0)))]
        return Inception([
            (chain(n, (320, *one)), []), (chain(n, (384, *one)), split()), (chain(n, (448, *one), (384, *three)), split()),
            (nn.Sequential(average(), chain(n, (192, *one))), [])])

    for i, (n, pooled) in enumerate([(192, 32), (256, 64), (288, 64)]):
        layers.append(Layer(f"a{i + 1}", f"a{i + 1}", lambda n=n, p=pooled: block_a(s(n), p)))
    layers.append(Layer("b", "b", lambda: block_b(s(288))))
    for i, c in enumerate([128, 160, 160, 192]):
        layers.append(Layer(f"c{i + 1}", f"c{i + 1}", lambda c=c: block_c(s(768), c)))
    layers.append(Layer("d", "d", lambda: block_d(s(768))))
    for i, n in enumerate([1280, 2048]):
        layers.append(Layer(f"e{i + 1}", f"e{i + 1}", lambda n=n: block_e(s(n))))
    layers.append(Layer("head", "head", lambda: One(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(), nn.Linear(s(2048), 1000))))
    return layers


# ---- sequences --------------------------------------------------------------


class Attention(nn.Module):
    """Multi-head attention without fusion or mask; relative as in Transformer-XL."""

    def __init__(self, width, heads, inner, bias=True, relative=False):
        super().__init__()
        self.heads, self.size = heads, inner // heads
        self.q, self.k, self.v = (nn.Linear(width, inner, bias=bias) for _ in range(3))
        self.out = nn.Linear(inner, width, bias=bias)
        self.drop, self.after = nn.Dropout(0.1), nn.Dropout(0.1)
        if relative:
            self.r = nn.Linear(width, inner, bias=False)
            self.biases = nn.Parameter(torch.zeros(3, heads, 1, self.size))
            self.segments = nn.Parameter(torch.zeros(heads, 2, self.size))
        self.relative = relative

    def split(self, x):
        return x.view(*x.shape[:-1], self.heads, self.size).transpose(-2, -3)

    def forward(self, x, keys=None):
        keys = x if keys is None else keys
        q, k, v = self.split(self.q(x)), self.split(self.k(keys)), self.split(self.v(keys))
        if self.relative:
            scores = (q + self.biases[0]) @ k.transpose(-1, -2) + self.positions(q, x)
        else:
            scores = q @ k.transpose(-1, -2)
        weights = self.drop(torch.softmax(scores / self.size**0.5, -1))
        y = (weights @ v).transpose(-2, -3).flatten(-2)
        return self.after(self.out(y))

    def positions(self, q, x):
        """Scores by relative position, shifted into place, and by segment (all the same here)."""
        s = x.shape[1]
        r = self.split(self.r(sinusoids(2 * s, x.shape[-1], x)))
        scores = (q + self.biases[1]) @ r.transpose(-1, -2)
        shape = scores.shape
        scores = scores.reshape(*shape[:2], shape[3], shape[2])[:, :, 1:].reshape(*shape[:3], shape[3] - 1)[..., :s]
        return scores + ((q + self.biases[2]) @ self.segments.transpose(-1, -2))[..., :1]


def sinusoids(length, width, like):
    step = torch.arange(length, device=like.device, dtype=torch.float32)[:, None]
    rate = 10000 ** (-torch.arange(0, width, 2, device=like.device) / width)
    return torch.cat([torch.sin(step * rate), torch.cos(step * rate)], -1).to(like.dtype)


class Scale(nn.Module):
    """T5's normalisation: by the root mean square, with a scale only."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def feed_forward(width, hidden, activation, bias=True):
    return nn.Sequential(nn.Linear(width, hidden, bias=bias), activation, nn.Linear(hidden, width, bias=bias), nn.Dropout(0.1))


class Embedding(nn.Module):
    """Words, and positions and segments where there are such tables."""

    def __init__(self, words, width, positions=0, segments=0, normalise=False):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(positions, width) if positions else None
        self.segments = nn.Embedding(segments, width) if segments else None
        self.norm = nn.LayerNorm(width) if normalise else nn.Identity()
        self.drop = nn.Dropout(0.1)

    def forward(self, tokens):
        x = self.words(tokens)
        if self.positions is not None:
            x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        if self.segments is not None:
            x = x + self.segments(torch.zeros_like(tokens))
        return (self.drop(self.norm(x)),)


class PostNorm(nn.Module):
    """A layer of BERT or XLNet: normalised after each residual."""

    def __init__(self, width, heads, hidden, relative):
        super().__init__()
        self.attention = Attention(width, heads, width, bias=not relative, relative=relative)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = feed_forward(width, hidden, nn.GELU())

    def forward(self, x):
        x = self.first(x + self.attention(x))
        return (self.second(x + self.feed(x)),)


class Answer(nn.Module):
    """First and last token of the answer; BERT has a pooler besides."""

    def __init__(self, width, pooler):
        super().__init__()
        self.pooler = nn.Linear(width, width) if pooler else None
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        y = self.out(x)
        return (y if self.pooler is None else y + torch.tanh(self.pooler(x[:, :1])).mean(),)


def encoder(depth, embedding, layer, head):
    layers = [Layer("embedding", "embedding", embedding)]
    layers += [Layer(f"layer{i + 1}", "layer", layer) for i in range(depth)]
    return layers + [Layer("head", "head", head)]


def bert(words, width, heads, hidden, depth):
    return encoder(depth, lambda: Embedding(words, width, 512, 2, normalise=True),
                   lambda: PostNorm(width, heads, hidden, relative=False), lambda: Answer(width, pooler=True))


def xlnet(words, width, heads, hidden, depth):
    return encoder(depth, lambda: Embedding(words + 1, width),
                   lambda: PostNorm(width, heads, hidden, relative=True), lambda: Answer(width, pooler=False))


class PreNorm(nn.Module):
    """A layer of GPT: normalised before each block."""

    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, width)
        self.feed = feed_forward(width, 4 * width, nn.GELU())

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return (x + self.feed(self.second(x)),)


class Vocabulary(nn.Module):
    """Logits by the embedding's table, which is not counted twice, and their loss."""

    def __init__(self, words, width, norm):
        super().__init__()
        self.norm = norm
        self.register_buffer("table", torch.randn(words, width) * 0.02)

    def forward(self, x):
        logits = F.linear(self.norm(x), self.table).float()
        target = torch.zeros(logits.shape[:-1], dtype=torch.long, device=x.device)
        return (F.cross_entropy(logits.flatten(0, 1), target.flatten()),)


def gpt(words, depth, width, heads):
    return encoder(depth, lambda: Embedding(words, width, positions=2048), lambda: PreNorm(width, heads),
                   lambda: Vocabulary(words, width, nn.LayerNorm(width)))


class EncoderT5(nn.Module):
    def __init__(self, width, heads, inner, hidden, last):
        super().__init__()
        self.first, self.second = Scale(width), Scale(width)
        self.attention = Attention(width, heads, inner, bias=False)
        self.feed = feed_forward(width, hidden, nn.ReLU(inplace=True), bias=False)
        self.end = Scale(width) if last else nn.Identity()

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return (self.end(x + self.feed(self.second(x))),)


class DecoderT5(nn.Module):
    """Takes and passes on the encoder's output; the first also makes the decoder's input."""

    def __init__(self, width, heads, inner, hidden, first, last):
        super().__init__()
        self.is_first, self.is_last = first, last
        self.norms = nn.ModuleList(Scale(width) for _ in range(3))
        self.own = Attention(width, heads, inner, bias=False)
        self.cross = Attention(width, heads, inner, bias=False)
        self.feed = feed_forward(width, hidden, nn.ReLU(inplace=True), bias=False)

    def forward(self, encoded, x=None):
        x = torch.zeros_like(encoded) if self.is_first else x
        x = x + self.own(self.norms[0](x))
        x = x + self.cross(self.norms[1](x), encoded)
        x = x + self.feed(self.norms[2](x))
        return (x,) if self.is_last else (encoded, x)


def t5(words, width, heads, inner, hidden, depth):
    layers = [Layer("embedding", "embedding", lambda: Embedding(words, width))]
    for i in range(depth):
        last = i == depth - 1
        layers.append(Layer(f"encoder{i + 1}", "encoder-last" if last else "encoder",
                            lambda last=last: EncoderT5(width, heads, inner, hidden, last)))
    for i in range(depth):
        first, last = i == 0, i == depth - 1
        kind = "decoder-first" if first else "decoder-last" if last else "decoder"
        layers.append(Layer(f"decoder{i + 1}", kind,
                            lambda first=first, last=last: DecoderT5(width, heads, inner, hidden, first, last)))
    return layers + [Layer("head", "head", lambda: Vocabulary(words, width, Scale(width)))]
