package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// Versions are those of the program and of what it was built from.
type Versions struct {
	Bench    string `json:"bench"`
	Revision string `json:"vcs_revision,omitempty"`
	Modified bool   `json:"vcs_modified,omitempty"` // built from a changed working tree
	Go       string `json:"go"`
	Arrow    string `json:"arrow,omitempty"`
	LPSolve  string `json:"lp_solve,omitempty"`
	// Build holds the compiler's settings, by the names that Go gives them, such
	// as CGO_CFLAGS, GOAMD64 and vcs.time.
	Build map[string]string `json:"build,omitempty"`
}

// BuildVersions returns the versions that the running binary carries. The
// caller fills in the one of lp_solve.
func BuildVersions() Versions {
	v := Versions{Bench: "(devel)", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Bench = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		default:
			if v.Build == nil {
				v.Build = map[string]string{}
			}
			v.Build[s.Key] = s.Value
		}
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/apache/arrow/go/v17" {
			v.Arrow = d.Version
		}
	}
	return v
}

// MachineInfo describes the machine of a run. What cannot be found out is left
// zero.
type MachineInfo struct {
	Host        string `json:"host_hash,omitempty"` // start of the sha256 of its name
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	Kernel      string `json:"kernel,omitempty"`
	CPU         string `json:"cpu,omitempty"`
	Cores       int    `json:"cores"` // that the process may use
	Governor    string `json:"governor,omitempty"`
	RAM         int64  `json:"ram_bytes,omitempty"`
	MemoryLimit int64  `json:"cgroup_memory_bytes,omitempty"`
	Load        string `json:"load_average,omitempty"`
	GOMAXPROCS  int    `json:"gomaxprocs"`
	GOGC        string `json:"gogc,omitempty"`
	GOMEMLIMIT  string `json:"gomemlimit,omitempty"`
}

// ThisMachine describes the machine that the program runs on.
func ThisMachine() MachineInfo {
	m := MachineInfo{
		OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel:   firstLine("/proc/sys/kernel/osrelease"),
		CPU:      procField("/proc/cpuinfo", "model name"),
		Cores:    runtime.NumCPU(),
		Governor: firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		Load:     firstLine("/proc/loadavg"), GOMAXPROCS: runtime.GOMAXPROCS(0),
		GOGC: os.Getenv("GOGC"), GOMEMLIMIT: os.Getenv("GOMEMLIMIT"),
	}
	if name, err := os.Hostname(); err == nil {
		sum := sha256.Sum256([]byte(name))
		m.Host = hex.EncodeToString(sum[:6])
	}
	kib, _, _ := strings.Cut(procField("/proc/meminfo", "MemTotal"), " ")
	if n, err := strconv.ParseInt(kib, 10, 64); err == nil {
		m.RAM = n << 10
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		// Version 1 writes "none" as a number near 2^63.
		if n, err := strconv.ParseInt(firstLine(path), 10, 64); err == nil && n < 1<<60 {
			m.MemoryLimit = n
		}
	}
	return m
}

func firstLine(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// procField returns the value of the first "key : value" line.
func procField(path, key string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// ID identifies the machine, as far as results that a limit in time shaped are
// concerned.
func (m MachineInfo) ID() string {
	return hashOf(fmt.Appendf(nil, "%s %s %s %s %d %d", m.Host, m.OS, m.Arch, m.CPU, m.Cores, m.RAM))[:16]
}
