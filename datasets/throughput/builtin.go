package throughput

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"yardstick/datasets/table"
)

// Application is an application of Pollux on one type of GPU, with parameters
// fitted to published measurements.
type Application struct {
	Name string // of the application, as Pollux and Sia call it
	GPU  string // t4: Pollux's servers of four; dgx and rtx: the A100 and the Quadro RTX 6000 servers of Sia
	Params
	Quality // of the fit
}

// Quality says how well the model agrees with measurements.
type Quality struct {
	Rows int
	// R2 is the coefficient of determination, 1 − Σ(t−T)²/Σ(t−mean t)², and
	// LogR2 that of the logarithms, which the fit maximises. NaN if all times
	// are equal.
	R2, LogR2 float64
	// LogRMSE is the root of the mean square of ln(T/t): about the relative
	// error. Worst is the largest |T/t − 1|.
	LogRMSE, Worst float64
}

// fits.csv is written by the tests with -update where the measurements are at
// hand.
//
//go:embed fits.csv
var fits string

// header are the columns of fits.csv.
const header = "application,gpu,alpha_grad,beta_grad,alpha_local,beta_local,alpha_node,beta_node,gamma,rows,r2,log_r2,log_rmse,worst"

// Builtin lists the six applications on the three types of GPU. Their
// parameters are fitted ([Fit]) to the iteration times that were published
// with Pollux (OSDI 2021) and Sia (SOSP 2023): placements on up to 16 GPUs and
// scalability to 64. Some fits are poor; Quality says which.
func Builtin() []Application {
	list, err := parseFits(fits)
	if err != nil {
		panic("throughput: " + err.Error()) // the tests read it
	}
	return list
}

// FindBuiltin returns an application on a type of GPU.
//
// Errors: there is no such one; the nearest is named.
func FindBuiltin(name, gpu string) (Application, error) {
	var names []string
	for _, a := range Builtin() {
		if a.Name == name && a.GPU == gpu {
			return a, nil
		}
		names = append(names, a.Name+" on "+a.GPU)
	}
	return Application{}, fmt.Errorf("throughput: there are no parameters for %s on %s; the nearest is %s (all: %s)", name, gpu, table.Nearest(name+" on "+gpu, names), strings.Join(names, ", "))
}

func parseFits(text string) ([]Application, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if lines[0] != header {
		return nil, fmt.Errorf("fits.csv begins with %q", lines[0])
	}
	var list []Application
	for _, line := range lines[1:] {
		fields := strings.Split(line, ",")
		if len(fields) != 14 {
			return nil, fmt.Errorf("fits.csv: %q", line)
		}
		v := make([]float64, 12)
		for i := range v {
			var err error
			if v[i], err = strconv.ParseFloat(fields[i+2], 64); err != nil {
				return nil, fmt.Errorf("fits.csv: %q: %w", line, err)
			}
		}
		list = append(list, Application{fields[0], fields[1],
			Params{AlphaGrad: v[0], BetaGrad: v[1], Local: Sync{true, v[2], v[3]}, Node: Sync{true, v[4], v[5]}, Gamma: v[6]},
			Quality{Rows: int(v[7]), R2: v[8], LogR2: v[9], LogRMSE: v[10], Worst: v[11]}})
	}
	return list, nil
}
