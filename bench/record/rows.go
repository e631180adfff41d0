package record

// Ratio is a row of ratios.arrow: what one method reached on one instance
// under one objective, or why it reached nothing. Fields are described in
// tables.go.
type Ratio struct {
	CellID         string
	Suite          string
	Instance       string
	InstanceSHA256 string
	Family         string
	Model          string
	Class          string // "" if not known
	Jobs           int
	GPUs           int
	Seed           Opt[int64]
	Objective      string
	Method         string
	MethodVersion  Text
	Sense          string // Min or Max
	Kind           string // online, offline or exact
	Clairvoyant    Opt[bool]

	Termination   string
	PrimalStatus  Text
	DualStatus    Text
	Cost          Opt[float64]
	Optimum       Opt[float64]
	OptimumStatus Text // Certified, Proven or Claimed

	LowerBound          Opt[float64]
	UpperBound          Opt[float64]
	LowerBoundMethod    Text
	LowerBoundClass     Text
	LowerBoundCertified Opt[bool]
	BestKnown           Opt[float64]
	BestKnownBy         Text

	RatioToOptimum    Opt[float64]
	RatioToLowerBound Opt[float64]
	RatioToBestKnown  Opt[float64]

	Theorem      Text
	TheoremBound Opt[float64]
	TheoremHolds Opt[bool]

	Makespan       Opt[float64] // s, as all times below
	JCTMean        Opt[float64]
	JCTP50         Opt[float64]
	JCTP95         Opt[float64]
	WaitMean       Opt[float64]
	WaitP50        Opt[float64]
	WaitP95        Opt[float64]
	Preemptions    Opt[int]
	FutilePreempts Opt[int]
	Futile         Opt[float64]
	GPUUtilization Opt[float64]
	Decisions      Opt[int64]

	DeferralChoices, Deferrals         Opt[int]
	DeferralPromised, DeferralRealised Opt[float64]
	DeferralExplained, DeferralWithin  Opt[float64]
	DecisionP50                        Opt[float64]
	DecisionP99                        Opt[float64]
	Wall                               Opt[float64]
	CPU                                Opt[float64]
	PeakRSS                            Opt[int64] // bytes
	Message                            Text
	Servers                            Opt[int]
	OptimumMethod                      Text
	CostExact                          Text // see Exact; in the unit of Cost
	OptimumExact                       Text
	LowerBoundExact                    Text // of LowerBound, or of UpperBound where Sense is Max
	Schedule                           Opt[int]
	WallLimited                        bool
	OfferedLoad                        Opt[float64]
	Fresh                              Opt[bool]
	// Of what a predictor told the policy; missing where it was told the truth.
	UnseenShare     Opt[float64]
	PredictionError Opt[float64]

	// Params holds the values of the swept parameters, by Param.Name.
	Params map[string]string
}

// Values of Ratio.Sense.
const (
	Min = "min"
	Max = "max"
)

// Values of Ratio.OptimumStatus, and of the primal and dual statuses.
const (
	Certified Text = "certified" // a certificate was checked in exact arithmetic
	Proven    Text = "proven"    // proven and verified, without a stored certificate
	Claimed   Text = "claimed"   // a solver says so; nobody checked
	// Checkable says, of Solve.ProofStatus, that there is a proof that strangers check.
	Checkable Text = "independently checkable"
)

// Job is a row of jobs.arrow: one job under one cell's schedule. Times are in
// seconds since the instance's epoch.
type Job struct {
	CellID         string
	Schedule       int
	Job            int
	Name           Text
	Release        float64
	Start          Opt[float64]
	Completion     Opt[float64]
	JCT            Opt[float64]
	Wait           Opt[float64]
	Train          Opt[float64]
	Load           Opt[float64]
	Pause          Opt[float64]
	Preemptions    Opt[int]
	GPUs           Opt[int]
	Servers        Opt[int]
	Iteration      Opt[float64]
	IterationBest  Opt[float64]
	ItersPredicted Opt[float64]
	Iters          Opt[int64]
	Weight         Opt[float64]
	Futile         Opt[float64]
	Task           Text
}

// Prediction is a row of predictions.arrow: what one policy was told about the
// length of one job.
type Prediction struct {
	CellID    string
	Instance  string
	Method    string
	Predictor string
	Job       int
	Release   float64
	User      Text
	Group     Text
	GPUs      int
	History   int
	Predicted int64
	Iters     int64
	Error     int64
}

// Theorem is a row of theorems.arrow: one published inequality on one schedule.
type Theorem struct {
	CellID    string
	Instance  string
	Method    string
	Theorem   string
	Form      string
	Met       bool
	Unmet     Text
	Left      Opt[float64]
	Right     Opt[float64]
	Slack     Opt[float64]
	AtOptimum bool
	Verdict   string
	Bound     Opt[float64]
	Job       Opt[int]
}

// Segment is a row of segments.arrow: one segment of a schedule on one server.
type Segment struct {
	CellID   string
	Schedule int
	Job      int
	Segment  int
	Server   int
	Start    float64
	End      float64
	Phase    string // train, load or pause
	GPUs     int
	Stages   Text // such as 2,1; missing where a job of one stage has all GPUs
	Devices  Text // such as 0,3; missing in exclusive classes
	// What the scheduler chose besides the place; missing if nothing.
	WorkerType, ServerType, Accumulation Opt[int]
}

// Solve is a row of solves.arrow: one exact solve or linear program.
type Solve struct {
	CellID           string
	Solve            int
	Instance         string
	Objective        string
	Formulation      string
	Relation         Text
	Solver           string
	SolverVersion    Text
	Rows             Opt[int]
	Columns          Opt[int]
	Nonzeros         Opt[int64]
	Integers         Opt[int]
	Termination      string
	PrimalStatus     Text
	DualStatus       Text
	PrimalBound      Opt[float64]
	DualBound        Opt[float64]
	GapPrimalRel     Opt[float64]
	Nodes            Opt[int64]
	Iterations       Opt[int64]
	GeneratedColumns Opt[int64]
	Wall             Opt[float64]
	CPU              Opt[float64]
	PeakRSS          Opt[int64]
	Certificate      Text // sha256
	ProofStatus      Text // Checkable, or "" where there is no proof for strangers
	ProofFormat      Text
	ProofBytes       Opt[int64]
	Proof, Problem   Text // sha256
	Opened, Solved   Opt[int]
	Message          Text
	WallLimited      bool
}

// Bound is a row of bounds.arrow: one proven bound on one instance's optimum,
// or the reason why there is none.
type Bound struct {
	Suite          string
	Instance       string
	InstanceSHA256 string
	Objective      string
	Bound          string // the bound's name
	Side           string // Lower or Upper
	Value          Opt[float64]
	Class          string // "" if there is no value
	Certified      Opt[bool]
	Wall           Opt[float64]
	ValueExact     Text // see Exact; in the unit of Value
	CellID         Text // part of the key: never missing
	Message        Text
	WallLimited    bool
	Certificate    Text // sha256, in hex
}

// Values of Bound.Side.
const (
	Lower = "lower"
	Upper = "upper"
)
