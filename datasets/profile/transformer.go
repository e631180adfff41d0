package profile

import "fmt"

// transformer builds an architecture of attention and feed-forward blocks.
//
// What is kept for the backward pass follows Korthikanti et al., Reducing
// activation recomputation in large transformer models, MLSys 2023, section 4:
// with 16-bit activations, one-byte dropout masks and 32-bit logits, a layer of
// a decoder-only model keeps sbh(34 + 5as/h) bytes for s tokens, b samples,
// width h and a heads. No operator is fused and no mask is exploited.
type transformer struct {
	Architecture
	width int64
}

func newTransformer(model string, batch int, width int64) *transformer {
	return &transformer{Architecture: Architecture{Model: model, Batch: batch}, width: width}
}

func (t *transformer) batch() int64 { return int64(t.Batch) }

// end closes a layer after which the given numbers of tokens per sample cross.
func (t *transformer) end(tokens int64) { t.work().Output = t.batch() * tokens * t.width }

func (t *transformer) stored(bytes int64) { t.work().Stored += bytes }

// embed looks tokens up in tables of so many rows in all, and drops some out.
func (t *transformer) embed(tokens, rows int64) {
	n := t.batch() * tokens * t.width
	t.work().Parameters += rows * t.width
	t.kernel(0, 2*n)
	t.dropout(n)
}

// dropout moves n elements in and out and keeps a mask of one byte each.
func (t *transformer) dropout(n int64) {
	t.kernel(0, 2*n)
	t.stored(n)
}

// normalise normalises each token over the width, with one or two parameters
// per component (scale, bias).
func (t *transformer) normalise(tokens, parameters int64) {
	n := t.batch() * tokens * t.width
	t.kernel(0, 2*n)
	t.work().Parameters += parameters * t.width
	t.stored(element * n)
}

// add is a residual addition.
func (t *transformer) add(tokens int64) { t.kernel(0, 3*t.batch()*tokens*t.width) }

// attention is multi-head attention of queries tokens over keys tokens. Heads
// are inner/heads wide, all together inner.
type attention struct {
	queries, keys, heads, inner int64
	relative                    bool // Transformer-XL's: positions and segments have scores of their own
	weights                     weights
}

func (t *transformer) attend(a attention) {
	b, h := t.batch(), t.width
	rows, columns := b*a.queries, b*a.keys
	scores := b * a.heads * a.queries * a.keys

	t.matmul(rows, h, a.inner, a.weights) // queries
	t.matmul(columns, h, a.inner, a.weights)
	t.matmul(columns, h, a.inner, a.weights) // values
	t.stored(element * rows * h)             // input of the projections
	if a.relative {
		t.relativeScores(a)
	}
	t.kernel(b*a.queries*a.keys*a.inner, (rows+columns)*a.inner+scores)
	t.stored(element * (rows + columns) * a.inner)
	t.kernel(0, 2*scores) // softmax
	t.stored(element * scores)
	t.dropout(scores)
	t.stored(element * scores) // what dropout leaves
	t.kernel(b*a.queries*a.keys*a.inner, scores+(rows+columns)*a.inner)
	t.stored(element * columns * a.inner)
	t.matmul(rows, a.inner, h, a.weights)
	t.stored(element * rows * a.inner)
	t.dropout(rows * h)
	t.add(a.queries)
}

// relativeScores adds what Transformer-XL's attention has besides: keys of the
// 2s relative positions, projected once for the whole mini-batch and scored
// against every query, and scores of two segment embeddings. Three vectors are
// added to the queries.
func (t *transformer) relativeScores(a attention) {
	b, positions := t.batch(), 2*a.queries
	scores := b * a.heads * a.queries * positions
	t.matmul(positions, t.width, a.inner, plain)
	t.work().Parameters += 3*a.inner + 2*a.inner
	t.kernel(b*a.queries*positions*a.inner, (b*a.queries+positions)*a.inner+scores)
	t.kernel(0, scores+scores/2) // the shift that aligns positions with keys
	t.kernel(b*a.queries*2*a.inner, b*a.queries*(a.inner+2*a.heads)+2*a.inner)
	t.kernel(0, 4*scores/2) // both added to the scores of the contents
	t.stored(element * (2*b*a.queries + positions) * a.inner)
}

// feedForward is a hidden layer of the given size between two matrices. A
// smooth activation keeps its input; a rectifier's is known from its output.
func (t *transformer) feedForward(tokens, hidden int64, smooth bool, w weights) {
	rows := t.batch() * tokens
	t.matmul(rows, t.width, hidden, w)
	t.stored(element * rows * t.width)
	t.kernel(0, 2*rows*hidden)
	if smooth {
		t.stored(element * rows * hidden)
	}
	t.matmul(rows, hidden, t.width, w)
	t.stored(element * rows * hidden)
	t.dropout(rows * t.width)
	t.add(tokens)
}

// vocabulary is the output layer, tied to the embedding, with its loss.
func (t *transformer) vocabulary(tokens, words int64) {
	rows := t.batch() * tokens
	t.matmul(rows, t.width, words, tied)
	t.stored(element * rows * t.width)
	t.kernel(0, 3*rows*words)
	t.stored(4 * rows * words)
}

// Sequence lengths, in tokens: SQuAD's usual one for the models that are tuned
// on it, and the one of the A-SRPT paper's measurements for the others.
const (
	squadTokens   = 384
	profileTokens = 512
)

// BERTLarge has 24 layers of width 1024 with 16 heads, a pooler and an output
// for question answering.
//
// Source: Devlin et al., BERT: pre-training of deep bidirectional transformers
// for language understanding, NAACL 2019, section 3; vocabulary of the
// published uncased model.
func BERTLarge(batch int) *Architecture {
	const tokens, hidden = squadTokens, 4096
	t := newTransformer("bert-large", batch, 1024)
	t.layer("embedding")
	t.embed(tokens, 30522+512+2) // words, positions, segments
	t.normalise(tokens, 2)
	t.end(tokens)
	for i := range 24 {
		t.layer(fmt.Sprintf("layer%d", i+1))
		t.attend(attention{queries: tokens, keys: tokens, heads: 16, inner: t.width, weights: biased})
		t.normalise(tokens, 2)
		t.feedForward(tokens, hidden, true, biased)
		t.normalise(tokens, 2)
		t.end(tokens)
	}
	t.layer("head")
	t.matmul(t.batch(), t.width, t.width, biased) // pooler
	t.answer(tokens)
	return &t.Architecture
}

// answer scores every token as the first and the last of the answer.
func (t *transformer) answer(tokens int64) {
	t.matmul(t.batch()*tokens, t.width, 2, biased)
	t.stored(element * t.batch() * tokens * t.width)
}

// XLNetLarge has 24 layers of width 1024 with 16 heads of relative attention.
// Tuning runs the content stream only.
//
// Source: Yang et al., XLNet: generalized autoregressive pretraining for
// language understanding, NeurIPS 2019, section 2 and appendix A; attention of
// Dai et al., Transformer-XL, ACL 2019, section 3.3. Vocabulary of the published
// cased model.
func XLNetLarge(batch int) *Architecture {
	const tokens, hidden = squadTokens, 4096
	t := newTransformer("xlnet-large", batch, 1024)
	t.layer("embedding")
	t.embed(tokens, 32000+1) // words, and the mask
	t.end(tokens)
	for i := range 24 {
		t.layer(fmt.Sprintf("layer%d", i+1))
		t.attend(attention{queries: tokens, keys: tokens, heads: 16, inner: t.width, relative: true, weights: plain})
		t.normalise(tokens, 2)
		t.feedForward(tokens, hidden, true, biased)
		t.normalise(tokens, 2)
		t.end(tokens)
	}
	t.layer("head")
	t.answer(tokens)
	return &t.Architecture
}

// T5 is the 11B model: 24 layers of encoder and 24 of decoder of width 1024,
// 128 heads of width 128 and 65536 hidden units. Every decoder layer reads the
// encoder's output, so cuts inside the decoder carry that besides the
// decoder's own.
//
// Source: Raffel et al., Exploring the limits of transfer learning with a
// unified text-to-text transformer, JMLR 2020, sections 2.1 and 3.7; vocabulary
// of the published model.
func T5(batch int) *Architecture {
	const tokens, hidden, heads, inner, words, buckets = profileTokens, 65536, 128, 128 * 128, 32128, 32
	t := newTransformer("t5-11b", batch, 1024)
	t.layer("embedding")
	t.embed(tokens, words)
	t.end(tokens)
	self := attention{queries: tokens, keys: tokens, heads: heads, inner: inner, weights: plain}
	cross := self // the keys are the encoder's output, which the encoder keeps
	block := func(name string, first bool, attentions ...attention) {
		t.layer(name)
		if first {
			t.work().Parameters += buckets * heads // biases by relative position, shared by the stack
		}
		for _, a := range attentions {
			t.normalise(tokens, 1)
			t.attend(a)
		}
		t.normalise(tokens, 1)
		t.feedForward(tokens, hidden, false, plain)
	}
	for i := range 24 {
		block(fmt.Sprintf("encoder%d", i+1), i == 0, self)
		t.end(tokens)
	}
	t.normalise(tokens, 1) // of the encoder's output
	for i := range 24 {
		block(fmt.Sprintf("decoder%d", i+1), i == 0, self, cross)
		if i == 0 {
			t.embed(tokens, 0) // the decoder's own input, by the tied table
		}
		t.end(2 * tokens)
	}
	t.end(tokens) // nothing reads the encoder's output any more
	t.layer("head")
	t.normalise(tokens, 1)
	t.vocabulary(tokens, words)
	return &t.Architecture
}

// GPT6B, GPT13B and GPT175B are the three largest models of the GPT-3 family.
//
// Source: Brown et al., Language models are few-shot learners, NeurIPS 2020,
// table 2.1 (the width of the 13B model there, 5140, is no multiple of its 40
// heads of width 128: 5120 is); vocabulary and positions of GPT-2.
func GPT6B(batch int) *Architecture { return gpt("gpt-6.7b", batch, 32, 4096, 32) }

// GPT13B is GPT-3 13B; see GPT6B.
func GPT13B(batch int) *Architecture { return gpt("gpt-13b", batch, 40, 5120, 40) }

// GPT175B is GPT-3 175B; see GPT6B.
func GPT175B(batch int) *Architecture { return gpt("gpt-175b", batch, 96, 12288, 96) }

func gpt(model string, batch, layers int, width, heads int64) *Architecture {
	const tokens, words, positions = profileTokens, 50257, 2048
	t := newTransformer(model, batch, width)
	t.layer("embedding")
	t.embed(tokens, words+positions)
	t.end(tokens)
	for i := range layers {
		t.layer(fmt.Sprintf("layer%d", i+1))
		t.normalise(tokens, 2)
		t.attend(attention{queries: tokens, keys: tokens, heads: heads, inner: width, weights: biased})
		t.normalise(tokens, 2)
		t.feedForward(tokens, 4*width, true, biased)
		t.end(tokens)
	}
	t.layer("head")
	t.normalise(tokens, 2)
	t.vocabulary(tokens, words)
	return &t.Architecture
}
