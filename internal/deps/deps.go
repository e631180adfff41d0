package deps

import (
	_ "github.com/apache/arrow/go/v17/arrow/ipc"
	_ "github.com/draffensperger/golp"
	_ "github.com/goccy/go-yaml"
	_ "github.com/jedib0t/go-pretty/v6/table"
	_ "github.com/parquet-go/parquet-go"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/cobra/doc"
	_ "golang.org/x/tools/go/packages"
	_ "gonum.org/v1/gonum/stat"
	_ "gonum.org/v1/plot"
)
