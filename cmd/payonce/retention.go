package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"payonce/domain"
)

// durations is a setting of the form operation=duration,operation=duration.
type durations map[domain.Operation]time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *durations) UnmarshalText(text []byte) error {
	out := durations{}
	for pair := range strings.SplitSeq(string(text), ",") {
		name, value, _ := strings.Cut(pair, "=")
		op := domain.Operation(strings.TrimSpace(name))
		if !slices.Contains(domain.Operations(), op) {
			return fmt.Errorf("%q is no keyed operation; they are %v", op, domain.Operations())
		}
		duration, err := time.ParseDuration(strings.TrimSpace(value))
		if err != nil || duration < time.Second {
			return fmt.Errorf("the retention of %s must be a duration of at least 1s, such as 48h", op)
		}
		out[op] = duration
	}
	*d = out
	return nil
}

// retention is what the settings say about remembering keys.
func (c config) retention() domain.RetentionPolicy {
	return domain.RetentionPolicy{Default: domain.Retention{Answer: c.KeyRetention, Tombstone: c.KeyTombstone}, Answers: c.KeyRetentions}
}
