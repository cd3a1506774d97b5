package payment_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkPurge places orders with and without a purge at work beside them, in turns within one run, and reports how
// much the purge costs them. The table holds 200,000 keys whose time is over.
//
//	go test ./payment -run - -bench Purge -benchtime 3x
func BenchmarkPurge(b *testing.B) {
	for _, pace := range []struct {
		name  string
		batch int
		pause time.Duration
	}{{"paced", 500, 100 * time.Millisecond}, {"as fast as it can", 5000, 0}} {
		b.Run(pace.name, func(b *testing.B) {
			s := setup(b)
			s.db.Exec(b, `UPDATE stock SET on_hand = 1000000000`)
			s.db.Exec(b, `
				INSERT INTO idempotency_keys (merchant_id, operation, key_hash, fingerprint, recovery_point, request_id, resource_id,
					owner, generation, lease_until, response_status, response_body, created_at, finished_at, expires_at)
				SELECT $1, 'orders.create', sha256(n::text::bytea), 'v2:' || repeat('0', 64), 'finished', 'req_' || n, 'ord_' || n,
					'o', 1, now(), 201, convert_to(repeat('x', 300), 'UTF8'), now(), now(), now() - n * interval '1 millisecond'
				FROM generate_series(1, 200000) n`, merchant)
			s.db.Exec(b, `VACUUM ANALYZE idempotency_keys`)
			took := map[bool][]time.Duration{}
			purged := 0
			for b.Loop() {
				for _, purging := range []bool{false, true} {
					end := func() {}
					if purging {
						end = s.purging(pace.batch, pace.pause, &purged)
					}
					took[purging] = append(took[purging], s.orders(400)...)
					end()
				}
			}
			quiet, beside := took[false], took[true]
			slices.Sort(quiet)
			slices.Sort(beside)
			ratio := func(share float64) float64 {
				at := func(all []time.Duration) time.Duration { return all[int(share*float64(len(all)-1))] }
				return float64(at(beside)) / float64(at(quiet))
			}
			b.ReportMetric(ratio(0.5), "p50-ratio")
			b.ReportMetric(ratio(0.99), "p99-ratio")
			b.ReportMetric(float64(purged)/b.Elapsed().Seconds(), "purged/s")
		})
	}
}

// purging purges beside other work until it is ended.
func (b *bundle) purging(batch int, pause time.Duration, purged *int) (end func()) {
	ctx, cancel := context.WithCancel(asSystem(b.t))
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			n, err := b.PurgeKeys(context.WithoutCancel(ctx), batch)
			require.NoError(b.t, err)
			*purged += n
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// orders places n orders from eight buyers and returns how long each took.
func (b *bundle) orders(n int) []time.Duration {
	took := make([]time.Duration, n)
	var all sync.WaitGroup
	for buyer := range 8 {
		all.Go(func() {
			for i := buyer; i < n; i += 8 {
				start := time.Now()
				_, err := b.CreateOrder(asMerchant(b.t), b.request(), b.orderCommand(1))
				require.NoError(b.t, err)
				took[i] = time.Since(start)
			}
		})
	}
	all.Wait()
	return took
}
