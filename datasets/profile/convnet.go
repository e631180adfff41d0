package profile

import "fmt"

// image is the shape of one sample's feature map.
type image struct{ channels, height, width int64 }

func (m image) elements() int64 { return m.channels * m.height * m.width }

// convnet builds an architecture for images. Every operation keeps its output
// for the backward pass, except activations and additions, which work in place.
type convnet struct {
	Architecture
	at image // output of the last operation
}

func newConvnet(model string, batch int, side int64) *convnet {
	return &convnet{Architecture: Architecture{Model: model, Batch: batch}, at: image{3, side, side}}
}

// end closes a layer: its output is all that the next one needs.
func (c *convnet) end() { c.work().Output = c.batch() * c.at.elements() }

func (c *convnet) batch() int64 { return int64(c.Batch) }

func (c *convnet) keep() { c.work().Stored += element * c.batch() * c.at.elements() }

// filter is the shape and step of a convolution or pooling.
type filter struct{ height, width, stride, padHeight, padWidth int64 }

// square returns a k×k filter.
func square(k, stride, pad int64) filter { return filter{k, k, stride, pad, pad} }

func (w filter) slide(m image, channels int64) image {
	return image{channels, (m.height+2*w.padHeight-w.height)/w.stride + 1, (m.width+2*w.padWidth-w.width)/w.stride + 1}
}

func (c *convnet) convolve(out int64, w filter) {
	in := c.at
	c.at = w.slide(in, out)
	weights := out * in.channels * w.height * w.width
	c.kernel(c.batch()*c.at.height*c.at.width*weights, c.batch()*(in.elements()+c.at.elements())+weights)
	c.work().Parameters += weights
	c.keep()
}

// biasRelu adds a bias to a convolution's output and rectifies it in place.
func (c *convnet) biasRelu() {
	c.work().Parameters += c.at.channels
	c.relu()
}

func (c *convnet) relu() { c.kernel(0, 2*c.batch()*c.at.elements()) }

// normalise is a batch normalisation: one pass for the statistics, one that
// reads and writes.
func (c *convnet) normalise() {
	c.kernel(0, 3*c.batch()*c.at.elements())
	c.work().Parameters += 2 * c.at.channels
	c.keep()
}

// unit is a convolution without bias, batch normalisation and rectification.
func (c *convnet) unit(out int64, w filter) {
	c.convolve(out, w)
	c.normalise()
	c.relu()
}

func (c *convnet) pool(w filter) {
	in := c.at
	c.at = w.slide(in, in.channels)
	c.kernel(0, c.batch()*(in.elements()+c.at.elements()))
	c.keep()
}

// average pools each channel to one value.
func (c *convnet) average() { c.pool(filter{c.at.height, c.at.width, 1, 0, 0}) }

// connect is a fully connected layer with bias.
func (c *convnet) connect(out int64) {
	c.matmul(c.batch(), c.at.elements(), out, biased)
	c.at = image{out, 1, 1}
	c.keep()
}

// classify ends the network: the last layer sends nothing on.
func (c *convnet) classify(classes int64) *Architecture {
	c.connect(classes)
	c.kernel(0, 3*c.batch()*classes) // softmax and loss
	return &c.Architecture
}

// VGG19 is configuration E for 224×224 images. A layer is one weight layer,
// with the pooling that follows it.
//
// Source: Simonyan, Zisserman, Very deep convolutional networks for large-scale
// image recognition, ICLR 2015, table 1.
func VGG19(batch int) *Architecture {
	c := newConvnet("vgg19", batch, 224)
	for block, convolutions := range []int{2, 2, 4, 4, 4} {
		channels := min(int64(64)<<block, 512)
		for i := range convolutions {
			c.layer(fmt.Sprintf("conv%d_%d", block+1, i+1))
			c.convolve(channels, square(3, 1, 1))
			c.biasRelu()
			if i == convolutions-1 {
				c.pool(square(2, 2, 0))
			}
			c.end()
		}
	}
	for i := range 2 {
		c.layer(fmt.Sprintf("fc%d", i+6))
		c.connect(4096)
		c.relu()
		c.relu() // dropout moves as much as a rectifier
		c.end()
	}
	c.layer("fc8")
	return c.classify(1000)
}

// ResNet152 has bottleneck blocks whose 3×3 convolution takes the stride, for
// 224×224 images. A layer is one block.
//
// Source: He et al., Deep residual learning for image recognition, CVPR 2016,
// table 1. The place of the stride is that of the implementations in use.
func ResNet152(batch int) *Architecture {
	c := newConvnet("resnet152", batch, 224)
	c.layer("stem")
	c.unit(64, square(7, 2, 3))
	c.pool(square(3, 2, 1))
	c.end()
	for stage, blocks := range []int{3, 8, 36, 3} {
		width := int64(64) << stage
		for i := range blocks {
			stride := int64(1)
			if i == 0 && stage > 0 {
				stride = 2
			}
			c.layer(fmt.Sprintf("block%d_%d", stage+2, i+1))
			c.bottleneck(width, stride, i == 0)
			c.end()
		}
	}
	c.layer("head")
	c.average()
	return c.classify(1000)
}

func (c *convnet) bottleneck(width, stride int64, project bool) {
	in := c.at
	if project {
		c.convolve(4*width, square(1, stride, 0))
		c.normalise()
	}
	c.at = in
	c.unit(width, square(1, 1, 0))
	c.unit(width, square(3, stride, 1))
	c.convolve(4*width, square(1, 1, 0))
	c.normalise()
	c.kernel(0, 3*c.batch()*c.at.elements()) // residual addition
	c.relu()
}

// InceptionV3 is the network without auxiliary classifier, for 299×299 images.
// A layer is one inception block, or one convolution of the stem.
//
// Source: Szegedy et al., Rethinking the Inception architecture for computer
// vision, CVPR 2016, table 1 and figures 5 to 7; widths as in the reference
// implementation.
func InceptionV3(batch int) *Architecture {
	c := newConvnet("inception-v3", batch, 299)
	for i, s := range []struct {
		out  int64
		w    filter
		pool bool
	}{{32, square(3, 2, 0), false}, {32, square(3, 1, 0), false}, {64, square(3, 1, 1), true}, {80, square(1, 1, 0), false}, {192, square(3, 1, 0), true}} {
		c.layer(fmt.Sprintf("stem%d", i+1))
		c.unit(s.out, s.w)
		if s.pool {
			c.pool(square(3, 2, 0))
		}
		c.end()
	}
	one, three, halve := square(1, 1, 0), square(3, 1, 1), square(3, 2, 0)
	row, column := filter{1, 7, 1, 0, 3}, filter{7, 1, 1, 3, 0}
	for i, pooled := range []int64{32, 64, 64} {
		c.inception(fmt.Sprintf("a%d", i+1), average{three, pooled},
			branch{{64, one}}, branch{{48, one}, {64, square(5, 1, 2)}}, branch{{64, one}, {96, three}, {96, three}})
	}
	c.inception("b", average{halve, 0}, branch{{384, halve}}, branch{{64, one}, {96, three}, {96, halve}})
	for i, n := range []int64{128, 160, 160, 192} {
		c.inception(fmt.Sprintf("c%d", i+1), average{three, 192}, branch{{192, one}}, branch{{n, one}, {n, row}, {192, column}},
			branch{{n, one}, {n, column}, {n, row}, {n, column}, {192, row}})
	}
	c.inception("d", average{halve, 0}, branch{{192, one}, {320, halve}}, branch{{192, one}, {192, row}, {192, column}, {192, halve}})
	for i := range 2 {
		c.inceptionE(fmt.Sprintf("e%d", i+1))
	}
	c.layer("head")
	c.average()
	return c.classify(1000)
}

// branch is a sequence of convolutions of one inception block.
type branch []struct {
	out int64
	w   filter
}

// average is the pooling branch, with a 1×1 convolution of so many channels
// after it, or none.
type average struct {
	w   filter
	out int64
}

// inception is a block whose branches begin at the same input and are
// concatenated.
func (c *convnet) inception(name string, pooling average, branches ...branch) {
	c.layer(name)
	in, channels := c.at, int64(0)
	for _, b := range branches {
		channels += c.branch(in, b)
	}
	c.at = in
	c.pool(pooling.w)
	if pooling.out > 0 {
		c.unit(pooling.out, square(1, 1, 0))
	}
	c.concatenate(channels + c.at.channels)
}

// branch runs the convolutions from an input and returns the channels made.
func (c *convnet) branch(in image, b branch) int64 {
	c.at = in
	for _, s := range b {
		c.unit(s.out, s.w)
	}
	return c.at.channels
}

func (c *convnet) concatenate(channels int64) {
	c.at.channels = channels
	c.kernel(0, 2*c.batch()*c.at.elements())
	c.keep()
	c.end()
}

// inceptionE is the widest block: two of its branches end in a 1×3 and a 3×1
// convolution side by side.
func (c *convnet) inceptionE(name string) {
	one, three := square(1, 1, 0), square(3, 1, 1)
	row, column := filter{1, 3, 1, 0, 1}, filter{3, 1, 1, 1, 0}
	c.layer(name)
	in := c.at
	channels := c.branch(in, branch{{320, one}})
	for _, trunk := range []branch{{{384, one}}, {{448, one}, {384, three}}} {
		c.branch(in, trunk)
		split := c.at
		channels += c.branch(split, branch{{384, row}}) + c.branch(split, branch{{384, column}})
	}
	c.at = in
	c.pool(three)
	c.unit(192, one)
	c.concatenate(channels + c.at.channels)
}
