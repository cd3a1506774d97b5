package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"payonce/api"
	"payonce/domain"
	"payonce/payment"
	"payonce/repository"
)

// The demo's merchants and keys. They are fixed so that every example in the documentation works, and they exist nowhere
// but in databases that were seeded on purpose.
const (
	demoAlpha  = "sk_test_demo_alpha"
	demoBeta   = "sk_test_demo_beta"
	demoReader = "sk_test_demo_reader"

	merchantAlpha = "mrc_alpha"
	merchantBeta  = "mrc_beta"
)

func (a *app) seed() *cobra.Command {
	return &cobra.Command{
		Use:   "seed",
		Short: "Write the demo's merchants, keys and catalogue; a second run changes nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, log, err := a.load(needDatabase)
			if err != nil {
				return err
			}
			store, err := openStore(cmd.Context(), c)
			if err != nil {
				return err
			}
			defer store.Close() //nolint:errcheck // the process ends
			made, err := seedDemo(cmd.Context(), c, store, log)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "seeded: %d new products\n", made)
			return nil
		},
	}
}

// seedDemo writes what the demo starts with: two merchants, their keys and their catalogues. It makes no orders, since
// their payments would be known to no provider. Each product is made under an idempotency key of its own, so a seed that
// was killed half-way goes on where it stopped.
func seedDemo(ctx context.Context, c config, store *repository.Store, log *slog.Logger) (made int, err error) {
	err = store.InTx(repository.AsSystem(ctx), func(tx *repository.Tx) error {
		return errors.Join(
			tx.EnsureMerchant(ctx, merchantAlpha, "Alpha Goods"),
			tx.EnsureMerchant(ctx, merchantBeta, "Beta Books"),
			tx.EnsureAPIKey(ctx, domain.APIKey{MerchantID: merchantAlpha, ID: "key_alpha", Role: domain.RoleOperator, Name: "demo"}, demoAlpha),
			tx.EnsureAPIKey(ctx, domain.APIKey{MerchantID: merchantBeta, ID: "key_beta", Role: domain.RoleOperator, Name: "demo"}, demoBeta),
			tx.EnsureAPIKey(ctx, domain.APIKey{MerchantID: merchantAlpha, ID: "key_reader", Role: domain.RoleRead, Name: "demo, read only"}, demoReader),
		)
	})
	if err != nil {
		return 0, fmt.Errorf("seed merchants: %w", err)
	}
	service := &payment.Service{Store: store, Present: api.Present, NewID: payment.NewID, Log: log, Lease: c.Lease, Retention: c.retention()}
	for _, merchant := range []string{merchantAlpha, merchantBeta} {
		n, err := seedCatalogue(repository.AsMerchant(ctx, merchant), service, merchant)
		if made += n; err != nil {
			return made, fmt.Errorf("seed catalogue of %s: %w", merchant, err)
		}
	}
	return made, nil
}

func seedCatalogue(ctx context.Context, service *payment.Service, merchant string) (made int, err error) {
	for i := len(catalogue) - 1; i >= 0; i-- { // lists show the newest first
		item := catalogue[i]
		reply, err := service.CreateProduct(ctx, payment.Request{MerchantID: merchant, Key: domain.Key("seed-" + item.SKU), RequestID: payment.NewID("req")},
			payment.CreateProduct{SKU: item.SKU, Name: item.Name, Description: item.Description, ImageURL: "/static/products/" + item.SKU + ".svg",
				Prices: item.Prices, Active: true, Metadata: map[string]string{}})
		if domain.CodeOf(err) == domain.CodeValidationFailed {
			continue // seeded so long ago that its key is forgotten; the SKU is not
		}
		if err != nil {
			return made, err
		}
		stock, err := service.Store.Stock(ctx, merchant, reply.Resource)
		if err != nil {
			return made, err
		}
		if reply.Replayed && stock.OnHand > 0 {
			continue
		}
		if _, err := service.SetStock(ctx, merchant, reply.Resource, item.Stock); err != nil {
			return made, err
		}
		made++
	}
	return made, nil
}
