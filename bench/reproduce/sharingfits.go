package reproduce

import (
	"context"
	"fmt"

	"yardstick/bench/report/chart"
	"yardstick/datasets/instances"
	"yardstick/datasets/interference"
	"yardstick/datasets/throughput"
)

// sharingGPU is the GPU of the built-in measurements that is nearest to the
// paper's.
const sharingGPU = "rtx"

// sharingFig2 draws the throughput of every task and lists how well its
// parameters fit.
func sharingFig2(context.Context, Input) (*Output, error) {
	tasks, err := instances.PolluxTasks(sharingGPU)
	if err != nil {
		return nil, err
	}
	out := &Output{}
	table := Table{Title: "Parameters of Eqs. (3), (4) and (7) on the Quadro RTX 6000, in ms, and how well they fit",
		Columns: []string{"task", "alpha", "beta", "comm, one server", "per further GPU", "comm, several", "per further GPU", "delta", "rows", "R²", "R² of logs", "RMSE of logs", "worst"}}
	for i := range tasks {
		a, err := throughput.FindBuiltin(tasks[i].Name, sharingGPU)
		if err != nil {
			return nil, err
		}
		ms := func(seconds float64) string { return fmt.Sprintf("%.3g", 1000*seconds) }
		table.Rows = append(table.Rows, []string{a.Name, ms(a.AlphaGrad), ms(a.BetaGrad), ms(a.Local.Alpha), ms(a.Local.Beta), ms(a.Node.Alpha), ms(a.Node.Beta), fmt.Sprintf("%.3g", a.Gamma),
			fmt.Sprint(a.Rows), fmt.Sprintf("%.3f", a.R2), fmt.Sprintf("%.3f", a.LogR2), fmt.Sprintf("%.3f", a.LogRMSE), fmt.Sprintf("%.0f %%", 100*a.Worst)})
		figure := chart.Figure{Title: "Figure 2: " + a.Name, X: "samples per GPU", Y: "samples per second", LogX: true, LogY: true}
		for _, at := range []throughput.Point{{Nodes: 1, Replicas: 1}, {Nodes: 1, Replicas: 4}, {Nodes: 2, Replicas: 8}, {Nodes: 4, Replicas: 16}} {
			line := chart.Line{Name: fmt.Sprintf("%d GPUs", at.Replicas)}
			for at.Batch = max(1, tasks[i].Batch/16); at.Batch <= 2*tasks[i].Batch; at.Batch *= 2 {
				t, err := a.IterTime(at)
				if err != nil {
					return nil, err
				}
				line.X, line.Y = append(line.X, float64(at.Batch)), append(line.Y, float64(at.Batch*at.Replicas)/t)
			}
			figure.Lines = append(figure.Lines, line)
		}
		out.Figures = append(out.Figures, figure)
	}
	out.Tables = []Table{table}
	out.Notes = []string{
		"As in the paper, BERT's throughput rises with the mini-batch throughout, and YOLOv3's is bound by the network on several servers.",
		"The fits of YOLOv3, NCF and BERT are poor in R², which large times dominate; by the RMSE of logarithms a typical error is 5 to 12 %.",
	}
	return out, nil
}

// sharingFig3 draws the throughput of every task alone and beside CIFAR10, and
// lists the factors of all pairs.
func sharingFig3(context.Context, Input) (*Output, error) {
	tasks, err := instances.PolluxTasks(sharingGPU)
	if err != nil {
		return nil, err
	}
	table := interference.Synthetic()
	var names []string
	for i := range tasks {
		names = append(names, tasks[i].Name)
	}
	xi, _, err := table.Matrix(table.Settings()[0], names, 0)
	if err != nil {
		return nil, err
	}
	const beside = 1 // cifar10
	factors := Table{Title: "xi of the task in the row beside the one in the column, synthetic", Columns: append([]string{"task"}, names...)}
	speeds := Table{Title: "Samples per second of one GPU, whole mini-batch", Columns: []string{"task", "alone", "beside " + names[beside], "work done by the pair, over one alone"}}
	figure := chart.Figure{Title: "Figure 3: throughput beside CIFAR10", X: "xi of the task", Y: "throughput over that alone"}
	line := chart.Line{Name: "tasks", Style: chart.Points}
	for i := range tasks {
		row := []string{names[i]}
		for k := range tasks {
			row = append(row, fmt.Sprintf("%.3f", xi[i][k]))
		}
		factors.Rows = append(factors.Rows, row)
		a, err := throughput.FindBuiltin(names[i], sharingGPU)
		if err != nil {
			return nil, err
		}
		t, err := a.IterTime(throughput.Point{Nodes: 1, Replicas: 1, Batch: tasks[i].Batch})
		if err != nil {
			return nil, err
		}
		alone := float64(tasks[i].Batch) / t
		speeds.Rows = append(speeds.Rows, []string{names[i], fmt.Sprintf("%.1f", alone), fmt.Sprintf("%.1f", alone/xi[i][beside]), fmt.Sprintf("%.2f", 1/xi[i][beside]+1/xi[beside][i])})
		line.X, line.Y = append(line.X, xi[i][beside]), append(line.Y, 1/xi[i][beside])
	}
	figure.Lines = []chart.Line{line}
	return &Output{Tables: []Table{factors, speeds}, Figures: []chart.Figure{figure}}, nil
}
