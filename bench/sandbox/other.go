//go:build !linux

package sandbox

import (
	"context"
	"errors"
)

type process struct{}

// Main returns at once: there are no wardens on this system.
func Main() {}

// Start refuses: programs are kept in by means that Linux alone has.
func Start(context.Context, Spec) (*Process, error) {
	return nil, errors.New("sandbox: programs of others are run on Linux only")
}

// CloseIn does nothing.
func (p *Process) CloseIn() {}

// Stop does nothing.
func (p *Process) Stop() {}

// Why returns nil.
func (p *Process) Why() error { return nil }
