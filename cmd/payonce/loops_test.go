package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/payment"
	"payonce/repository/repositorytest"
)

func TestLoops_WorkForEveryMerchant(t *testing.T) {
	t.Parallel()
	db := repositorytest.New(t)
	for _, merchant := range []string{"mrc_a", "mrc_b"} {
		db.Exec(t, `INSERT INTO merchants VALUES ($1, 'M', now())`, merchant)
		db.Exec(t, `INSERT INTO products VALUES ($1, 'prd_1', 'mug', 'Mug', '', '', true, '{}', now(), now())`, merchant)
		db.Exec(t, `INSERT INTO stock VALUES ($1, 'prd_1', 10, 2)`, merchant)
		db.Exec(t, `WITH o AS (INSERT INTO orders (merchant_id, order_id, status, currency, subtotal, discount, shipping, tax, total, amount_paid,
				amount_refunded, customer_email, customer_name, metadata, expires_at, created_at, updated_at)
				VALUES ($1, 'ord_1', 'pending_payment', 'EUR', 20, 0, 0, 0, 20, 0, 0, 'a@example.com', '', '{}', now() - interval '1 hour', now(), now()))
			INSERT INTO order_items VALUES ($1, 'ord_1', 1, 'prd_1', 'mug', 'Mug', 10, 2, 20)`, merchant)
		db.Exec(t, `INSERT INTO stock_moves (merchant_id, product_id, kind, order_id, on_hand_delta, reserved_delta, moved_at)
			VALUES ($1, 'prd_1', 'reserve', 'ord_1', 0, 2, now())`, merchant)
	}
	service := &payment.Service{Store: db.Store, NewID: payment.NewID, Log: slog.New(slog.DiscardHandler), Lease: time.Minute, Grace: time.Minute,
		Retention: domain.RetentionPolicy{Default: domain.Retention{Answer: time.Hour, Tombstone: time.Hour}}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runLoops(ctx, config{Interval: time.Millisecond}, service)
	}()
	require.Eventually(t, func() bool {
		return db.Count(t, `SELECT count(*) FROM orders WHERE status = 'expired'`) == 2
	}, 10*time.Second, 5*time.Millisecond)
	stop()
	<-ended
	require.Zero(t, db.Count(t, `SELECT sum(reserved) FROM stock`))
}
