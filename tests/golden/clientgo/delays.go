package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
	testingclock "k8s.io/utils/clock/testing"
)

// Every duration is given in milliseconds and answered in microseconds.
func ms(value float64) time.Duration { return time.Duration(value * float64(time.Millisecond)) }

func us(value time.Duration) int64 { return value.Round(time.Microsecond).Microseconds() }

type limiterCase struct {
	Kind     string        `json:"kind"`
	Base     float64       `json:"base"`
	Maximum  float64       `json:"maximum"`
	Attempts int           `json:"attempts"`
	Rate     float64       `json:"rate"`
	Burst    int           `json:"burst"`
	Parts    []limiterCase `json:"parts"`
	Steps    [][2]string   `json:"steps"`
}

func limiter(given limiterCase) workqueue.TypedRateLimiter[string] {
	switch given.Kind {
	case "exponential":
		return workqueue.NewTypedItemExponentialFailureRateLimiter[string](ms(given.Base), ms(given.Maximum))
	case "fastSlow":
		return workqueue.NewTypedItemFastSlowRateLimiter[string](ms(given.Base), ms(given.Maximum), given.Attempts)
	case "maxOf":
		parts := []workqueue.TypedRateLimiter[string]{}
		for _, part := range given.Parts {
			parts = append(parts, limiter(part))
		}
		return workqueue.NewTypedMaxOfRateLimiter(parts...)
	case "maxWait":
		return workqueue.NewTypedWithMaxWaitRateLimiter(limiter(given.Parts[0]), ms(given.Maximum))
	case "defaultItem":
		return workqueue.DefaultTypedItemBasedRateLimiter[string]()
	}
	panic("no limiter " + given.Kind)
}

type backoffCase struct {
	Duration float64 `json:"duration"`
	Factor   float64 `json:"factor"`
	Steps    int     `json:"steps"`
	Cap      float64 `json:"cap"`
	Count    int     `json:"count"`
}

func backoff(given backoffCase) wait.Backoff {
	return wait.Backoff{
		Duration: ms(given.Duration), Factor: given.Factor, Steps: given.Steps, Cap: ms(given.Cap),
	}
}

type clockStep struct {
	Do  string  `json:"do"`
	Key string  `json:"key"`
	By  float64 `json:"by"`
}

func init() {
	answers("limiter.steps", func(given limiterCase) (any, error) {
		made := limiter(given)
		found := []any{}
		for _, step := range given.Steps {
			switch step[0] {
			case "when":
				found = append(found, us(made.When(step[1])))
			case "forget":
				made.Forget(step[1])
				found = append(found, nil)
			case "requeues":
				found = append(found, made.NumRequeues(step[1]))
			}
		}
		return found, nil
	})
	// The bucket that client-go's limiters are made of, asked at moments that are given.
	answers("bucket.reserve", func(given struct {
		Rate  float64
		Burst int
		At    []float64
	}) (any, error) {
		made := rate.NewLimiter(rate.Limit(given.Rate), given.Burst)
		start, found := time.Unix(1_000_000, 0), []int64{}
		for _, at := range given.At {
			moment := start.Add(ms(at))
			found = append(found, us(made.ReserveN(moment, 1).DelayFrom(moment)))
		}
		return found, nil
	})
	answers("bucket.allow", func(given struct {
		Rate  float64
		Burst int
		At    []float64
	}) (any, error) {
		clock := testingclock.NewFakePassiveClock(time.Unix(1_000_000, 0))
		made := flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(float32(given.Rate), given.Burst, clock)
		found := []bool{}
		for _, at := range given.At {
			clock.SetTime(time.Unix(1_000_000, 0).Add(ms(at)))
			found = append(found, made.TryAccept())
		}
		return found, nil
	})
	answers("backoff.steps", func(given backoffCase) (any, error) {
		made, found := backoff(given), []int64{}
		for range given.Count {
			found = append(found, us(made.Step()))
		}
		return map[string]any{"delays": found, "left": made.Steps}, nil
	})
	answers("backoff.keyed", func(given struct {
		Initial, Maximum float64
		Steps            []clockStep
	}) (any, error) {
		clock := testingclock.NewFakeClock(time.Unix(1_000_000, 0))
		made := flowcontrol.NewFakeBackOff(ms(given.Initial), ms(given.Maximum), clock)
		found := []any{}
		for _, step := range given.Steps {
			switch step.Do {
			case "advance":
				clock.Step(ms(step.By))
				found = append(found, nil)
			case "next":
				made.Next(step.Key, clock.Now())
				found = append(found, us(made.Get(step.Key)))
			case "get":
				found = append(found, us(made.Get(step.Key)))
			case "waitingSince":
				found = append(found, made.IsInBackOffSince(step.Key, clock.Now().Add(-ms(step.By))))
			case "waitingAt":
				found = append(found, made.IsInBackOffSinceUpdate(step.Key, clock.Now().Add(-ms(step.By))))
			case "reset":
				made.Reset(step.Key)
				found = append(found, nil)
			case "gc":
				made.GC()
				found = append(found, nil)
			default:
				return nil, errUnexpected
			}
		}
		return found, nil
	})
	answers("backoff.resetting", func(given struct {
		Backoff backoffCase
		After   float64
		Steps   []clockStep
	}) (any, error) {
		clock := testingclock.NewFakeClock(time.Unix(1_000_000, 0))
		delay := backoff(given.Backoff).DelayWithReset(clock, ms(given.After))
		found := []any{}
		for _, step := range given.Steps {
			if step.Do == "advance" {
				clock.Step(ms(step.By))
				found = append(found, nil)
			} else {
				found = append(found, us(delay()))
			}
		}
		return found, nil
	})
	answers("retry.onError", func(given struct {
		Steps     int
		Failures  int
		Retriable bool
	}) (any, error) {
		calls, failure := 0, errors.New("failed")
		err := retry.OnError(wait.Backoff{Steps: given.Steps, Duration: time.Microsecond, Factor: 1},
			func(error) bool { return given.Retriable },
			func() error {
				calls++
				if calls <= given.Failures {
					return failure
				}
				return nil
			})
		return map[string]any{"calls": calls, "failed": err != nil}, nil
	})
	answers("backoff.exponential", func(given struct {
		Steps   int
		Succeed int
	}) (any, error) {
		calls := 0
		err := wait.ExponentialBackoffWithContext(context.Background(),
			wait.Backoff{Steps: given.Steps, Duration: time.Microsecond, Factor: 1},
			func(context.Context) (bool, error) {
				calls++
				return calls == given.Succeed, nil
			})
		return map[string]any{"calls": calls, "failed": err != nil}, nil
	})
}
