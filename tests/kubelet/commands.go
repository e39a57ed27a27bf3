package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/utils/exec"
)

// commands implements everything that a container can run:
//
//	echo WORDS    writes the words and a newline
//	warn WORDS    the same, to stderr
//	cat           copies its input until EOF
//	sizes N       writes the first N sizes of the terminal, as WIDTHxHEIGHT
//	sleep         waits until the client disconnects
//	exit CODE     exits with the code
//
// With `programs`, those replace the commands of the same name.
type commands struct{ programs *programs }

func (c commands) ExecInContainer(
	ctx context.Context, _, _, _ string, command []string,
	in io.Reader, out, errors io.WriteCloser,
	tty bool, sizes <-chan remotecommand.TerminalSize, _ time.Duration,
) error {
	if c.programs != nil {
		if path, found := c.programs.paths[command[0]]; found {
			return c.programs.run(ctx, path, command, in, out, errors, tty, sizes)
		}
	}
	words := strings.Join(command[1:], " ")
	switch command[0] {
	case "echo":
		return line(out, words)
	case "warn":
		return line(errors, words)
	case "cat":
		return copyInput(in, out)
	case "sizes":
		return writeSizes(out, sizes, words)
	case "sleep":
		<-ctx.Done()
		return nil
	case "exit":
		return exitError(words)
	}
	return fmt.Errorf("exec: %q: executable file not found in $PATH", command[0])
}

// AttachContainer behaves as if every container ran `cat`.
func (commands) AttachContainer(
	_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser,
	_ bool, _ <-chan remotecommand.TerminalSize,
) error {
	return copyInput(in, out)
}

func line(out io.Writer, text string) error {
	if out == nil {
		return nil
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

func copyInput(in io.Reader, out io.Writer) error {
	if in == nil || out == nil {
		return nil
	}
	_, err := io.Copy(out, in)
	return err
}

func writeSizes(out io.Writer, sizes <-chan remotecommand.TerminalSize, text string) error {
	count, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	for ; count > 0; count-- {
		size, open := <-sizes
		if !open {
			return nil
		}
		if err := line(out, fmt.Sprintf("%dx%d", size.Width, size.Height)); err != nil {
			return err
		}
	}
	return nil
}

func exitError(code string) error {
	number, err := strconv.Atoi(code)
	if err != nil || number == 0 {
		return err
	}
	return exec.CodeExitError{Err: fmt.Errorf("exit status %d", number), Code: number}
}
