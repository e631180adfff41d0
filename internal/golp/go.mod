module github.com/draffensperger/golp

go 1.22.3
