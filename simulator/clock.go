package simulator

import (
	"encoding/json"
	"time"
)

// latestTime is how far the clock can be advanced. Beyond it durations overflow, which would set it back, and years get too
// long for JSON.
var latestTime = time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC)

// clock is a world's virtual time: the real time plus what was added to it, or one instant while it is frozen. It only
// moves forward, so objects stay ordered by creation time.
type clock struct {
	real func() time.Time
	set  clockSetting
}

// clockSetting is the part of a clock that is written to disk.
type clockSetting struct {
	Offset   time.Duration `json:"offset,omitempty"`
	FrozenAt time.Time     `json:"frozen_at,omitzero"` // zero while the clock runs
}

func (c clock) frozen() bool { return !c.set.FrozenAt.IsZero() }

func (c clock) now() time.Time {
	if c.frozen() {
		return c.set.FrozenAt
	}
	return c.real().Add(c.set.Offset).UTC().Round(0) // without the monotonic reading, as it comes back from disk
}

func (c clock) advanced(by time.Duration) clockSetting {
	if c.frozen() {
		return clockSetting{FrozenAt: c.set.FrozenAt.Add(by)}
	}
	return clockSetting{Offset: c.set.Offset + by}
}

func (c clock) froze() clockSetting { return clockSetting{FrozenAt: c.now()} }

// thawed lets a frozen clock run on from the instant it shows.
func (c clock) thawed() clockSetting { return clockSetting{Offset: c.now().Sub(c.real())} }

// MarshalJSON shows the clock to the control interface; the virtual time is in Unix seconds, like Stripe's.
func (c clock) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Now    int64  `json:"now"`
		Frozen bool   `json:"frozen"`
		Ahead  string `json:"ahead"`
	}{c.now().Unix(), c.frozen(), c.now().Sub(c.real()).Round(time.Second).String()})
}
