package fetch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"yardstick/datasets/table"
)

// Item is one file that can be fetched.
type Item struct {
	Name    string // what it is asked for by
	What    string // in a few words
	Licence string
	URL     string
	File    string // name to store it under
	Bytes   int64  // 0 if the source does not say
	Most    int64  // bytes that it has at most, where Bytes is 0: twice what its page says, or more; 0 stands for 1 GiB
	// What the content is checked against; at most one is set. A git blob id
	// is the SHA-1 that git names the file by; where the source states only
	// its first digits, these are compared.
	SHA256  string
	GitBlob string
	Format  string // the import format that reads it
	Note    string // what to do with it, "" if it can be imported as it is
}

// Verifiable reports whether the item has a checksum.
func (it *Item) Verifiable() bool { return it.SHA256 != "" || it.GitBlob != "" }

// limit is how many bytes of the item are received at most.
func (it *Item) limit() int64 { return cmp.Or(it.Bytes, it.Most, 1<<30) }

// github returns the address of a file at a commit.
func github(repository, commit, path string) string {
	return "https://raw.githubusercontent.com/" + repository + "/" + commit + "/" + strings.ReplaceAll(path, " ", "%20")
}

// Commits that several items come from.
const (
	acmeCommit    = "6d6ac9cd15f3b01151ac6ba00ecddd9156f0dc73"
	alibabaCommit = "7a6c496e4f4b6ce6150be8f881cb051bf2abff42"
	heliosCommit  = "159f0caeec16600b9b6017862952a36aae01c43f"
	muriCommit    = "4e69a78ce75f629a5a00abd48150a1860b341ce6"
	openbCommit   = "8f3d6417353c5083c6d56617f255fadd8dc306bc"
	phillyCommit  = "29a1b87fa2d9ed80b83c9e3a37f3a88d382b031d"
	polluxCommit  = "c793c7089bd307462686339d29707925c461f9a9"
	gavelCommit   = "c4fa40097339e9608ab71fd64c8bdea96a5e4a4c"
	tireCommit    = "959f9b08f44fa1b4f2b3aed79b01e4d439264a94"
)

const paiTables = "https://aliopentrace.oss-cn-beijing.aliyuncs.com/v2020GPUTraces/"

// Catalog lists what can be fetched, in order of name.
func Catalog() []Item {
	unpack := "unpack it: tar -xzf"
	paiLicence := "Alibaba Cluster Trace Program, no licence file"
	pai := func(name, what, file, sha string, most int64) Item {
		return Item{Name: name, What: what, Licence: paiLicence, URL: paiTables + file, File: file, SHA256: sha, Most: most, Format: "pai", Note: unpack}
	}
	acme := func(name, what, file, blob string, most int64) Item {
		return Item{Name: name, What: what, Licence: "CC-BY-4.0", File: file, GitBlob: blob, Most: most, Format: "acme",
			URL: github("InternLM/AcmeTrace", acmeCommit, "data/job_trace/"+file)}
	}
	simulator := func(name, what, file, blob string, most int64) Item {
		return Item{Name: name, What: what, Licence: paiLicence, File: file, GitBlob: blob, Most: most, Format: "pai-sim",
			URL: github("alibaba/clusterdata", alibabaCommit, "cluster-trace-gpu-v2020/simulator/traces/pai/"+file)}
	}
	list := []Item{
		acme("acme-seren", "Acme: Seren cluster, 2023 (about 99 MB)", "trace_seren.csv", "31335353", 200_000_000),
		acme("acme-kalos", "Acme: Kalos cluster, 2023 (about 9 MB)", "trace_kalos.csv", "6e6c11a6", 20_000_000),
		{Name: "gavel-throughputs", What: "Gavel: throughputs of jobs alone and in pairs, for interference tables", Licence: "MIT",
			URL: github("stanford-futuredata/gavel", gavelCommit, "scheduler/simulation_throughputs.json"), File: "simulation_throughputs.json",
			Most: 100_000_000, Format: "gavel-throughputs"},
		{Name: "helios", What: "Helios: four clusters of SenseTime, 2020 (36.4 MB)", Licence: "CC-BY-4.0",
			URL: github("S-Lab-System-Group/HeliosData", heliosCommit, "data.zip"), File: "helios-data.zip",
			GitBlob: "1a48d5e0fb816fe9bbf1ad7086e7dec90923e5c6", Most: 75_000_000, Format: "helios"},
		{Name: "muri-1", What: "Muri: a Philly virtual cluster with models, 1,494 jobs", Licence: "Apache-2.0", Bytes: 97_574,
			URL: github("Rivendile/Muri", muriCommit, "simulator/trace-data/trace1.csv"), File: "muri-trace1.csv",
			GitBlob: "1cd226fe57ea20df4ef624b1def6a27a7459ab6b", Format: "tiresias", Note: "times are in milliseconds"},
		{Name: "openb", What: "Alibaba gpu-v2023: 8,152 pods", Licence: "Apache-2.0", Bytes: 575_468,
			URL: github("hkust-adsl/kubernetes-scheduler-simulator", openbCommit, "data/csv/openb_pod_list_default.csv"), File: "openb_pod_list_default.csv",
			GitBlob: "bd82505791c723c5b11486ef457fb338529912c0", Format: "openb"},
		pai("pai-groups", "Alibaba PAI gpu-v2020: group tags (53 MB)", "pai_group_tag_table.tar.gz", "722fef30b7fb7aa50dabd79155614b5423a9d65cf45a9b26c590d57725423a14", 110_000_000),
		pai("pai-jobs", "Alibaba PAI gpu-v2020: jobs (60 MB)", "pai_job_table.tar.gz", "5aad7f7caac501136d14ed6a48e40546f825d7b0617a3a4f337e2348fe0a6cb0", 120_000_000),
		pai("pai-tasks", "Alibaba PAI gpu-v2020: tasks (34 MB)", "pai_task_table.tar.gz", "cd1d6dc3215d2a8607ccf6b6dd952b5db776df86926c73259fea7c1499ac40e5", 70_000_000),
		simulator("pai-sim-estimate", "Alibaba PAI simulator: 100,000 jobs with estimates (12.7 MB)", "pai_job_duration_estimate_100K.csv", "46ae2491", 30_000_000),
		simulator("pai-sim", "Alibaba PAI simulator: 100,000 jobs (about 5 MB)", "pai_job_no_estimate_100K.csv", "4007bdd1", 15_000_000),
		{Name: "philly-json", What: "Philly: the whole job log with attempts, users and placement", Licence: "CC-BY-4.0", Bytes: 1_055_988_361,
			URL:  "https://media.githubusercontent.com/media/msr-fiddle/philly-traces/" + phillyCommit + "/trace-data.tar.gz",
			File: "philly-trace-data.tar.gz", SHA256: "2037ccf63a725a02be718b0e1aeee6142c90b7f62d0d849295120e9f6ba13d2c",
			Format: "philly-json", Note: unpack + ", then import cluster_job_log"},
		{Name: "philly", What: "Philly: 82,247 cleaned jobs, as published with Pollux", Licence: "Apache-2.0; derives from CC-BY-4.0",
			URL: github("petuum/adaptdl", polluxCommit, "simulator/traces/philly.csv"), File: "philly.csv", Most: 50_000_000, Format: "philly"},
		{Name: "pollux-1", What: "Pollux: workload 1, 160 jobs in 8 hours", Licence: "Apache-2.0", Bytes: 4_770,
			URL: github("petuum/adaptdl", polluxCommit, "simulator/workloads/workload-1.csv"), File: "pollux-workload-1.csv",
			GitBlob: "86b171d509a279536de5f01d47bb7939e5a33fe0", Format: "pollux"},
		{Name: "tiresias-60", What: "Tiresias: 60 jobs of its simulator", Licence: "Apache-2.0", Bytes: 1_871,
			URL: github("SymbioticLab/Tiresias", tireCommit, "simulator/60_job.csv"), File: "tiresias-60_job.csv",
			GitBlob: "009d89eedebcdf244d7861acc61e970013bd138d", Format: "tiresias"},
	}
	slices.SortFunc(list, func(a, b Item) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Find returns the item of a name. Errors: there is none; the nearest is named.
func Find(name string) (Item, error) {
	var names []string
	for _, it := range Catalog() {
		if it.Name == name {
			return it, nil
		}
		names = append(names, it.Name)
	}
	return Item{}, fmt.Errorf("fetch: there is nothing called %q to fetch; the nearest is %q (all: %s)", name, table.Nearest(name, names), strings.Join(names, ", "))
}
