package interference

import (
	"math"

	"yardstick/datasets"
)

// SyntheticSource is the source of the pairs that Synthetic makes.
const SyntheticSource = "synthetic"

// Load is how busy a task keeps a GPU that it has to itself: the share of an
// iteration in which a kernel of the task runs. For the rest it waits for data,
// the host or the network.
type Load struct {
	Task string
	Busy float64 // in [0, 1]
}

// SyntheticLoads lists the tasks of the default table: the nine models of the
// A-SRPT paper and the six applications of Pollux. The shares are made up, not
// measured: large models keep a GPU busy, small ones on small inputs do not.
func SyntheticLoads() []Load {
	return []Load{
		{"vgg19", 0.90}, {"resnet152", 0.80}, {"inception-v3", 0.70}, {"bert-large", 0.90}, {"xlnet-large", 0.90},
		{"t5-11b", 0.95}, {"gpt-6.7b", 0.95}, {"gpt-13b", 0.95}, {"gpt-175b", 1.00},
		{"cifar10", 0.40}, {"ncf", 0.30}, {"deepspeech2", 0.50}, {"bert", 0.85}, {"yolov3", 0.75}, {"imagenet", 0.80},
	}
}

// Synthetic is the default table, which is not measured. It derives xi from
// [SyntheticLoads] by [ProcessorSharing], rounded to three decimals, for jobs
// of any number of GPUs (gpus is 1, gpu_type is any).
//
// It gives experiments a table in which jobs that leave a GPU idle share it
// well and jobs that do not share it badly. It says nothing of any real GPU:
// there is no memory in it, so that no pair is NULL, and no cache, so that no
// xi is above 2; measured tables have both.
func Synthetic() *Table {
	t, err := New(syntheticRows(SyntheticLoads()))
	if err != nil {
		panic(err) // the tests make it
	}
	return t
}

func syntheticRows(loads []Load) []Row {
	s := Setting{SyntheticSource, "any", Consolidated, 1}
	var rows []Row
	for _, a := range loads {
		for _, b := range loads {
			xi, _ := ProcessorSharing(a.Busy, b.Busy)
			rows = append(rows, Row{s, a.Task, b.Task, datasets.Some(math.Round(xi*1000) / 1000)})
		}
	}
	return rows
}

// ProcessorSharing returns xi(a|b) and xi(b|a) of two jobs that keep a GPU busy
// for the shares a and b of their time when alone, if the GPU divides its time
// equally between jobs that have a kernel to run.
//
// With p_b the probability that b has a kernel to run, those of a take 1 + p_b
// times as long, independently of where b is in its iteration, and hence
//
//	xi(a|b) = 1 + a·p_b,    p_b = b(1 + p_a) / (1 + b·p_a),
//
// and likewise for p_a. The two are iterated from p_a = a, p_b = b: each rises
// with the other and neither passes 1, so that the iterates rise to the least
// fixed point.
//
// The assumption of independence is that of approximate mean-value analysis of
// closed queueing networks (Reiser and Lavenberg, "Mean-Value Analysis of
// Closed Multichain Queuing Networks", JACM 1980).
func ProcessorSharing(a, b float64) (xiA, xiB float64) {
	pa, pb := a, b
	for range 200 {
		pa, pb = a*(1+pb)/(1+a*pb), b*(1+pa)/(1+b*pa)
	}
	return 1 + a*pb, 1 + b*pa
}
