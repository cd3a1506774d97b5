package repository_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/domain"
	"payonce/repository"
	"payonce/repository/repositorytest"
)

// BenchmarkScope measures what the wall costs: the same work on two databases of one server, with the wall, and without
// it as the product was before. They take turns, so that whatever else the machine does hits both. Run it alone:
//
//	go test ./repository -run '^$' -bench Scope -benchtime 3000x
func BenchmarkScope(b *testing.B) {
	walled, bare := repositorytest.New(b), repositorytest.New(b)
	require.NoError(b, repository.MigrateDown(b.Context(), bare.URL, 2)) // the wall and what came after it
	without, err := repository.OpenBareForTest(bare.URL)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, without.Close()) })
	for _, db := range []*repositorytest.DB{walled, bare} {
		db.Exec(b, `INSERT INTO merchants VALUES ('mrc_a', 'A', now())`)
		db.Exec(b, `INSERT INTO products SELECT 'mrc_a', 'prd_' || n, 'sku' || n, 'Mug', '', '', true, '{}', now(), now() FROM generate_series(1, 1000) n`)
		db.Exec(b, `INSERT INTO prices SELECT 'mrc_a', 'prd_' || n, 'EUR', 1999 FROM generate_series(1, 1000) n`)
		db.Exec(b, `INSERT INTO stock SELECT 'mrc_a', 'prd_' || n, 1000000, 0 FROM generate_series(1, 1000) n`)
		db.Exec(b, `INSERT INTO api_keys SELECT 'mrc_a', 'key_' || n, sha256(convert_to('secret ' || n, 'UTF8')), 'write', now() FROM generate_series(1, 1000) n`)
		db.Exec(b, `ANALYZE`)
	}
	ctx := repository.AsMerchant(b.Context(), "mrc_a")
	for _, work := range []struct {
		name string
		do   func(*repository.Store, int) error
	}{
		{"order", func(s *repository.Store, n int) error { return placeOrder(ctx, s, n) }},
		{"read", func(s *repository.Store, n int) error {
			_, err := s.Product(ctx, "mrc_a", "prd_"+strconv.Itoa(n%1000+1))
			return err
		}},
		{"list", func(s *repository.Store, _ int) error {
			_, _, err := s.ListProducts(ctx, "mrc_a", repository.Page{Limit: 100})
			return err
		}},
		{"authentication", func(s *repository.Store, n int) error {
			_, err := repository.CallerForTest(ctx, s, "secret "+strconv.Itoa(n%1000+1))
			return err
		}},
	} {
		b.Run(work.name, func(b *testing.B) {
			var took [2][]time.Duration
			stores := [2]*repository.Store{without, walled.Store}
			n := 0
			for b.Loop() {
				n++
				for i := range stores {
					i = (i + n) % 2 // neither is always first
					start := time.Now()
					require.NoError(b, work.do(stores[i], n))
					took[i] = append(took[i], time.Since(start))
				}
			}
			var median [2]float64
			for i, all := range took {
				slices.Sort(all)
				median[i] = float64(all[len(all)/2]) / float64(time.Microsecond)
			}
			b.ReportMetric(0, "ns/op") // of both together; says nothing
			b.ReportMetric(median[0], "µs-without")
			b.ReportMetric(median[1], "µs-with")
			b.ReportMetric(median[1]/median[0], "with/without")
		})
	}
}

// placeOrder does with the database what an order of one line does.
func placeOrder(ctx context.Context, s *repository.Store, n int) error {
	id, product := fmt.Sprintf("%d", n), "prd_"+strconv.Itoa(n%1000+1)
	claim := repository.Claim{KeyRef: domain.KeyRef{MerchantID: "mrc_a", Operation: domain.OpOrdersCreate, Hash: domain.HashSecret(id)},
		Fingerprint: "v1:" + zeros, RequestID: "req_" + id, Owner: "o", Lease: time.Minute, Retention: time.Hour}
	return s.InTx(ctx, func(tx *repository.Tx) error {
		record, _, err := tx.ClaimKey(ctx, claim)
		if err != nil {
			return err
		}
		if _, err := tx.ProductsByID(ctx, "mrc_a", []string{product}); err != nil {
			return err
		}
		order := domain.Order{ID: "ord_" + id, MerchantID: "mrc_a", Status: domain.OrderPendingPayment, Currency: domain.EUR, Subtotal: 1999, Total: 1999,
			Items:    []domain.OrderItem{{ProductID: product, SKU: "mug", Name: "Mug", UnitAmount: 1999, Quantity: 1, Amount: 1999}},
			Customer: domain.Customer{Email: "a@example.com"}, Metadata: map[string]string{}, ExpiresAt: tx.Now.Add(time.Hour), CreatedAt: tx.Now, UpdatedAt: tx.Now}
		if err := tx.InsertOrder(ctx, order, nil); err != nil {
			return err
		}
		if err := tx.ReserveStock(ctx, order); err != nil {
			return err
		}
		return tx.FinishKey(ctx, claim, record.Lease.Generation, order.ID, domain.Answer{Status: 201, Body: []byte(`{}`)})
	})
}
