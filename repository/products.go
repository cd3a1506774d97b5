package repository

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"payonce/domain"
)

const productColumns = `t.product_id, t.merchant_id, t.sku, t.name, t.description, t.image_url, t.active, t.metadata,
	t.created_at, t.updated_at,
	(SELECT s.on_hand - s.reserved FROM stock s
	 WHERE s.merchant_id = t.merchant_id AND s.product_id = t.product_id) AS available,
	(SELECT coalesce(jsonb_agg(jsonb_build_object('currency', p.currency, 'unit_amount', p.unit_amount)
	                           ORDER BY p.currency), '[]')
	 FROM prices p WHERE p.merchant_id = t.merchant_id AND p.product_id = t.product_id) AS prices`

// Product reads one product with its prices and what can be sold of it.
func (r Reader) Product(ctx context.Context, merchant, id string) (domain.Product, error) {
	return r.product(ctx, merchant, id, "")
}

// ProductForUpdate is Product with the row locked until the transaction ends.
func (tx *Tx) ProductForUpdate(ctx context.Context, merchant, id string) (domain.Product, error) {
	return tx.product(ctx, merchant, id, "FOR UPDATE OF t")
}

func (r Reader) product(ctx context.Context, merchant, id, locking string) (domain.Product, error) {
	var row productRow
	err := r.q.GetContext(ctx, &row, `
		SELECT `+productColumns+`
		FROM products t
		WHERE t.merchant_id = $1 AND t.product_id = $2 `+locking, merchant, id)
	if err := one(err, "product", id); err != nil {
		return domain.Product{}, err
	}
	return row.product(), nil
}

// ProductsByID reads the named products; ids that are unknown are simply not in the map.
func (r Reader) ProductsByID(ctx context.Context, merchant string, ids []string) (map[string]domain.Product, error) {
	var rows []productRow
	err := r.q.SelectContext(ctx, &rows, `
		SELECT `+productColumns+`
		FROM products t
		WHERE t.merchant_id = $1 AND t.product_id = ANY ($2)`, merchant, pq.Array(ids))
	if err != nil {
		return nil, fmt.Errorf("products by id: %w", err)
	}
	found := make(map[string]domain.Product, len(rows))
	for _, row := range rows {
		found[row.ProductID] = row.product()
	}
	return found, nil
}

// ListProducts reads a page of products, newest first.
func (r Reader) ListProducts(ctx context.Context, merchant string, page Page) (products []domain.Product, more bool, err error) {
	list := listing{columns: productColumns, from: "products t", id: "product_id", merchant: merchant, page: page}
	var rows []productRow
	if err := list.read(ctx, r.q, &rows); err != nil {
		return nil, false, err
	}
	rows, more = cut(rows, page.Limit)
	products = make([]domain.Product, len(rows))
	for i, row := range rows {
		products[i] = row.product()
	}
	return products, more, nil
}

// InsertProduct writes a new product with its prices and an empty stock. A SKU that the merchant already uses is refused
// as validation-failed.
func (tx *Tx) InsertProduct(ctx context.Context, p domain.Product) error {
	metadata, err := asJSON(p.Metadata)
	if err != nil {
		return err
	}
	_, err = tx.q.ExecContext(ctx, `
		INSERT INTO products (merchant_id, product_id, sku, name, description, image_url, active, metadata, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		p.MerchantID, p.ID, p.SKU, p.Name, p.Description, p.ImageURL, p.Active, metadata, p.CreatedAt, p.UpdatedAt)
	if err := skuTaken(err); err != nil {
		return err
	}
	if _, err = tx.q.ExecContext(ctx, `
		INSERT INTO stock (merchant_id, product_id, on_hand, reserved)
		VALUES ($1, $2, 0, 0)`, p.MerchantID, p.ID); err != nil {
		return fmt.Errorf("insert stock of %s: %w", p.ID, err)
	}
	return tx.insertPrices(ctx, p)
}

// UpdateProduct replaces everything that may change of a product, its prices included.
func (tx *Tx) UpdateProduct(ctx context.Context, p domain.Product) error {
	metadata, err := asJSON(p.Metadata)
	if err != nil {
		return err
	}
	result, err := tx.q.ExecContext(ctx, `
		UPDATE products
		SET sku = $3, name = $4, description = $5, image_url = $6, active = $7, metadata = $8, updated_at = $9
		WHERE merchant_id = $1 AND product_id = $2`,
		p.MerchantID, p.ID, p.SKU, p.Name, p.Description, p.ImageURL, p.Active, metadata, p.UpdatedAt)
	if err := skuTaken(err); err != nil {
		return err
	}
	if err := exactly(1, result, nil, "update product "+p.ID); err != nil {
		return err
	}
	if _, err := tx.q.ExecContext(ctx, `
		DELETE FROM prices
		WHERE merchant_id = $1 AND product_id = $2`, p.MerchantID, p.ID); err != nil {
		return fmt.Errorf("delete prices of %s: %w", p.ID, err)
	}
	return tx.insertPrices(ctx, p)
}

func (tx *Tx) insertPrices(ctx context.Context, p domain.Product) error {
	currencies, amounts := make([]string, len(p.Prices)), make([]int64, len(p.Prices))
	for i, price := range p.Prices {
		currencies[i], amounts[i] = string(price.Currency), price.UnitAmount
	}
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO prices (merchant_id, product_id, currency, unit_amount)
		SELECT $1, $2, * FROM unnest($3::text[], $4::bigint[])`, p.MerchantID, p.ID, pq.Array(currencies), pq.Array(amounts))
	if err != nil {
		return fmt.Errorf("insert prices of %s: %w", p.ID, err)
	}
	return nil
}

func skuTaken(err error) error {
	switch {
	case violated(err, "products_sku_once"):
		return domain.E(domain.CodeValidationFailed, domain.Fields{"errors": []domain.FieldError{
			{Pointer: "/sku", Detail: "another product of this merchant has this SKU"}}}, "the SKU is taken")
	case err != nil:
		return fmt.Errorf("write product: %w", err)
	}
	return nil
}

type productRow struct {
	ProductID   string                        `db:"product_id"`
	MerchantID  string                        `db:"merchant_id"`
	SKU         string                        `db:"sku"`
	Name        string                        `db:"name"`
	Description string                        `db:"description"`
	ImageURL    string                        `db:"image_url"`
	Active      bool                          `db:"active"`
	Metadata    jsonColumn[map[string]string] `db:"metadata"`
	Available   int64                         `db:"available"`
	Prices      jsonColumn[[]domain.Price]    `db:"prices"`
	CreatedAt   time.Time                     `db:"created_at"`
	UpdatedAt   time.Time                     `db:"updated_at"`
}

func (r productRow) product() domain.Product {
	return domain.Product{
		ID: r.ProductID, MerchantID: r.MerchantID, SKU: r.SKU, Name: r.Name, Description: r.Description,
		ImageURL: r.ImageURL, Prices: r.Prices.V, Active: r.Active, Available: r.Available, Metadata: r.Metadata.V,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}
