package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Pace is a rate that all processes keep together.
type Pace struct {
	Provider string
	Share    string        // "work" or "kept", see the table
	Interval time.Duration // between two tokens
	Depth    time.Duration // for how long tokens add up while nobody takes any
}

// TakeToken takes one token of a pace when it may be used within patience, and says how long to wait for it. Otherwise it
// takes none, and says how long to wait before asking again.
func (tx *Tx) TakeToken(ctx context.Context, p Pace, patience time.Duration) (wait time.Duration, taken bool, err error) {
	var seconds float64
	err = tx.q.GetContext(ctx, &seconds, `
		INSERT INTO provider_pace AS p (provider, share, full_at)
		VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 microsecond')
		ON CONFLICT (provider, share) DO UPDATE
		SET full_at = greatest(p.full_at, clock_timestamp()) + $3::bigint * interval '1 microsecond'
		WHERE greatest(p.full_at, clock_timestamp()) + ($3::bigint - $4::bigint - $5::bigint) * interval '1 microsecond' <= clock_timestamp()
		RETURNING extract(epoch FROM p.full_at - $4::bigint * interval '1 microsecond' - clock_timestamp())`,
		p.Provider, p.Share, p.Interval.Microseconds(), p.Depth.Microseconds(), patience.Microseconds())
	if taken = err == nil; errors.Is(err, sql.ErrNoRows) {
		err = tx.q.GetContext(ctx, &seconds, `
			SELECT extract(epoch FROM full_at + ($3::bigint - $4::bigint) * interval '1 microsecond' - clock_timestamp())
			FROM provider_pace
			WHERE provider = $1 AND share = $2`, p.Provider, p.Share, p.Interval.Microseconds(), p.Depth.Microseconds())
	}
	if err != nil {
		return 0, false, fmt.Errorf("take token of %s: %w", p.Provider, err)
	}
	return max(0, time.Duration(seconds*float64(time.Second))), taken, nil
}
