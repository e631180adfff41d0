package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

// system are the paths of the machine that every program sees.
var system = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/alternatives", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/nix/store"}

// devices are those that every program sees.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// buildRoot makes the file system of the program that of this process: nothing but the system's
// programs, the interpreter and the folders that the program may see, read-only, and
// an empty scratch folder.
func (w *warden) buildRoot() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	root := w.Folder
	if err := syscall.Mount("root", root, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, "size=1m,nr_inodes=4k,mode=0755"); err != nil {
		return fmt.Errorf("mounting a root: %w", err)
	}
	for _, path := range append(append([]string{}, system...), w.Visible...) {
		if err := show(root, path); err != nil {
			return err
		}
	}
	for _, path := range devices {
		if err := bind(path, root+path, attrNoExec); err != nil {
			return err
		}
	}
	scratch := filepath.Join(root, "scratch")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("scratch", scratch, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, fmt.Sprintf("size=%d,nr_inodes=4k,mode=0755", maxScratch)); err != nil {
		return fmt.Errorf("mounting the scratch folder: %w", err)
	}
	if err := w.fillScratch(scratch); err != nil {
		return err
	}
	for _, f := range w.Files {
		if w.Root {
			break // they are another user's than the program
		}
		path := filepath.Join(scratch, f.Path)
		if err := syscall.Mount(path, path, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("keeping %s: %w", f.Path, err)
		}
		if err := readOnly(path, attrNoDev); err != nil {
			return err
		}
	}
	if err := os.Mkdir(root+"/proc", 0o555); err != nil {
		return err
	}
	if err := syscall.Mount("proc", root+"/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mounting proc: %w", err)
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("leaving the old root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return syscall.Mount("", "/", "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV, "")
}

// show makes a path of the machine visible under the new root, read-only: a link as a
// link. What is not there is left out, and so is what is in a folder that is shown already.
func show(root, path string) error {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	to := root + path
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(target, to); err != nil {
			return err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return show(root, target)
	}
	return bind(path, to, attrNoDev)
}

// bind mounts a file or a folder elsewhere, read-only.
func bind(from, to string, attributes uint64) error {
	info, err := os.Stat(from)
	if err != nil {
		return nil // a machine without it
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(to, 0o755)
	} else {
		err = os.WriteFile(to, nil, 0o444)
	}
	if err != nil {
		return err
	}
	if err := syscall.Mount(from, to, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("showing %s: %w", from, err)
	}
	return readOnly(to, attributes)
}

// Numbers of mount_setattr(2), which package syscall lacks.
const (
	sysMountSetattr = 442
	atFDCWD         = -100
	atRecursive     = 0x8000
	attrReadOnly    = 1
	attrNoSUID      = 2
	attrNoDev       = 4
	attrNoExec      = 8
)

// readOnly makes a mount and all below it read-only.
func readOnly(path string, attributes uint64) error {
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	attr := struct{ set, clear, propagation, user uint64 }{set: attrReadOnly | attrNoSUID | attributes}
	at := atFDCWD
	if _, _, err := syscall.RawSyscall6(sysMountSetattr, uintptr(at), uintptr(unsafe.Pointer(name)), atRecursive, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0); err != 0 {
		return fmt.Errorf("making %s read-only: %w", path, err)
	}
	return nil
}
