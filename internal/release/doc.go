// Package release holds the tests of release.py, which makes releases (docs/releases.md).
package release
