package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// openTerminal returns both ends of a new terminal: the client's, and the program's.
func openTerminal() (*os.File, *os.File, error) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	var number, locked int32
	for request, argument := range map[uintptr]*int32{
		syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &locked,
	} {
		if err := control(terminal, request, unsafe.Pointer(argument)); err != nil {
			_ = terminal.Close()
			return nil, nil, err
		}
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		_ = terminal.Close()
		return nil, nil, err
	}
	return terminal, screen, nil
}

// inTerminal makes the terminal that of a new session.
func inTerminal() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
}

func setSize(terminal *os.File, size remotecommand.TerminalSize) {
	found := [4]uint16{size.Height, size.Width}
	_ = control(terminal, syscall.TIOCSWINSZ, unsafe.Pointer(&found))
}

// control keeps the file in non-blocking mode, so that closing it ends a read.
func control(file *os.File, request uintptr, argument unsafe.Pointer) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var failure syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, failure = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(argument))
	})
	if err == nil && failure != 0 {
		err = failure
	}
	return err
}
