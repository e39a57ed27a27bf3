package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"sync"
	"syscall"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/utils/exec"
)

// drain is how long output of a program's children is passed on after the program has ended.
const drain = 2 * time.Second

// programs starts programs of this machine, in one folder and with an empty environment. Their
// paths are looked up once; other programs are never started.
type programs struct {
	folder  string
	paths   map[string]string
	mutex   sync.Mutex
	running map[int]bool // process groups
}

// findPrograms looks up sh, cat, tar and vi; those that are missing are left out.
func findPrograms(folder string) *programs {
	found := &programs{folder: folder, paths: map[string]string{}, running: map[int]bool{}}
	for name, candidates := range map[string][]string{
		"sh": {"sh"}, "cat": {"cat"}, "tar": {"tar"},
		"vi": {"vi", "vim.tiny", "busybox"}, // busybox is what it is called
	} {
		for _, each := range candidates {
			if path, err := osexec.LookPath(each); err == nil {
				found.paths[name] = path
				break
			}
		}
	}
	return found
}

// run runs a program to its end. When the client of a terminal disconnects, the program is hung
// up; another program is killed when it writes.
func (p *programs) run(
	ctx context.Context, path string, command []string, in io.Reader, out, errors io.Writer,
	tty bool, sizes <-chan remotecommand.TerminalSize,
) error {
	program := osexec.CommandContext(ctx, path)
	program.Args, program.Dir, program.Env = command, p.folder, []string{}
	program.WaitDelay = drain
	if tty {
		return p.runInTerminal(program, in, out, sizes)
	}
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if out != nil {
		program.Stdout = out
	}
	if errors != nil {
		program.Stderr = errors
	}
	if in != nil {
		// Not Stdin: Wait would wait for the end of the client's input.
		input, err := program.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(input, in)
			_ = input.Close()
		}()
	}
	return p.wait(program, func() {})
}

func (p *programs) runInTerminal(
	program *osexec.Cmd, in io.Reader, out io.Writer, sizes <-chan remotecommand.TerminalSize,
) error {
	terminal, screen, err := openTerminal()
	if err != nil {
		return err
	}
	defer terminal.Close()
	program.Stdin, program.Stdout, program.Stderr = screen, screen, screen
	program.SysProcAttr = inTerminal()
	// The first size arrives before the program starts, as in a container.
	select {
	case size, open := <-sizes:
		if open {
			setSize(terminal, size)
		}
	case <-time.After(drain):
	}
	go func() {
		for size := range sizes {
			setSize(terminal, size)
		}
	}()
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		if out != nil {
			_, _ = io.Copy(out, terminal) // ends when the last program has closed the screen
		}
	}()
	if in != nil {
		go func() {
			_, _ = io.Copy(terminal, in)
			_ = terminal.Close() // hangs up
		}()
	}
	err = p.wait(program, func() { _ = screen.Close() })
	select {
	case <-drawn:
	case <-time.After(drain):
	}
	return err
}

func (p *programs) wait(program *osexec.Cmd, started func()) error {
	err := p.start(program)
	started()
	if err != nil {
		return err
	}
	err = program.Wait()
	p.mutex.Lock()
	delete(p.running, program.Process.Pid)
	p.mutex.Unlock()
	if errors.Is(err, osexec.ErrWaitDelay) {
		return nil // a child of the program still has its output
	}
	var exit *osexec.ExitError
	if errors.As(err, &exit) {
		code := exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			code = 128 + int(status.Signal())
		}
		return exec.CodeExitError{Err: fmt.Errorf("exit status %d", code), Code: code}
	}
	return err
}

func (p *programs) start(program *osexec.Cmd) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	program.Cancel = func() error { return syscall.Kill(-program.Process.Pid, syscall.SIGKILL) }
	err := program.Start()
	if err == nil {
		p.running[program.Process.Pid] = true
	}
	return err
}

// kill ends what still runs, before this process exits.
func (p *programs) kill() {
	p.mutex.Lock() // and starts nothing more
	for group := range p.running {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}

func checkFolder(folder string) {
	status, err := os.Stat(folder)
	check(err)
	if !status.IsDir() {
		check(errors.New(folder + " is not a folder"))
	}
}
