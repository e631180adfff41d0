package record

// Tables describes every table; the columns of the swept parameters, which
// differ from run to run, follow those of ratios.arrow.
func Tables(params ...Param) []Table {
	var list []Table
	for _, t := range tables(params) {
		list = append(list, t.table())
	}
	return list
}
