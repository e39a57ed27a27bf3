package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what a piece of work took: seconds, and bytes of resident memory.
type cost struct {
	Wall   float64 `json:"wall"`
	CPU    float64 `json:"cpu"`
	Before int64   `json:"before"`
	Peak   int64   `json:"peak"`
	Steady int64   `json:"steady"`
}

// meter runs from the moment it was made.
type meter struct {
	begun  time.Time
	used   float64
	before int64
}

func begin() meter {
	return meter{before: status("VmRSS:"), begun: time.Now(), used: cpu()}
}

// again measures what follows, with the memory counted from where it was at first.
func (m meter) again() meter {
	return meter{before: m.before, begun: time.Now(), used: cpu()}
}

func (m meter) report() {
	wall, spent, peak := time.Since(m.begun).Seconds(), cpu()-m.used, status("VmHWM:")
	debug.FreeOSMemory()
	say(cost{wall, spent, m.before, peak, status("VmRSS:")})
}

// reportTurn is report for work that is done again at once: memory is not handed back before.
func (m meter) reportTurn() {
	resident := status("VmRSS:")
	say(cost{time.Since(m.begun).Seconds(), cpu() - m.used, m.before, status("VmHWM:"), resident})
}

// measure does some work once and reports its cost, or does so for each line of the input.
func measure(action func()) {
	if !*inTurns {
		meter := begin()
		action()
		meter.report()
		return
	}
	for range turns {
		meter := begin()
		action()
		meter.reportTurn()
	}
}

func say(what any) {
	line, err := json.Marshal(what)
	check(err)
	fmt.Println(string(line))
}

func cpu() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func status(field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, field) {
			kilobytes, err := strconv.ParseInt(strings.Fields(line)[1], 10, 64)
			check(err)
			return kilobytes * 1024
		}
	}
	return 0
}
