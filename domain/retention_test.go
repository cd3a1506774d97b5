package domain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
)

func TestKeyRecord_StatusAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	answer := &domain.Answer{Status: 201}
	for _, row := range []struct {
		situation string
		record    domain.KeyRecord
		status    domain.KeyStatus
	}{
		{"an owner is at work", domain.KeyRecord{Point: domain.PointChargeRecorded, Lease: domain.Lease{Live: true}, ExpiresAt: now.Add(time.Hour)}, domain.KeyInProgress},
		{"the owner is gone", domain.KeyRecord{Point: domain.PointIntentRecorded, ExpiresAt: now.Add(time.Hour)}, domain.KeyRecoverable},
		{"an outcome that is still owed does not expire", domain.KeyRecord{Point: domain.PointIntentRecorded, ExpiresAt: now.Add(-time.Hour)}, domain.KeyRecoverable},
		{"answered", domain.KeyRecord{Point: domain.PointFinished, Answer: answer, ExpiresAt: now.Add(1)}, domain.KeyCompleted},
		{"answered, to the moment it expires", domain.KeyRecord{Point: domain.PointFinished, Answer: answer, ExpiresAt: now}, domain.KeyExpired},
		{"expired, whether or not the purge has come round", domain.KeyRecord{Point: domain.PointFinished, Answer: answer, ExpiresAt: now.Add(-1)}, domain.KeyExpired},
		{"a tombstone", domain.KeyRecord{Point: domain.PointFinished, ExpiresAt: now.Add(time.Hour)}, domain.KeyExpired},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.status, row.record.StatusAt(now))
		})
	}
}

func TestRetention_EveryOperationIsKeptForAllItsReasons(t *testing.T) {
	t.Parallel()
	defaults := domain.RetentionPolicy{Default: domain.Retention{Answer: 720 * time.Hour, Tombstone: 9600 * time.Hour}}
	for _, op := range domain.Operations() {
		kept, reasons := defaults.For(op), domain.RetentionReasons(op)
		require.NotEmpty(t, reasons)
		for _, reason := range reasons {
			require.NotEmpty(t, reason.Why)
			require.LessOrEqual(t, reason.Within, kept.Answer+kept.Tombstone, "%s of %s", reason.Name, op)
		}
	}
}

func TestRetention_AnOperationMayDiffer(t *testing.T) {
	t.Parallel()
	p := domain.RetentionPolicy{Default: domain.Retention{Answer: time.Hour, Tombstone: 2 * time.Hour},
		Answers: map[domain.Operation]time.Duration{domain.OpCartsCreate: time.Minute}}
	require.Equal(t, domain.Retention{Answer: time.Minute, Tombstone: 2 * time.Hour}, p.For(domain.OpCartsCreate))
	require.Equal(t, p.Default, p.For(domain.OpOrdersCreate))
}
