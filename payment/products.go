package payment

import (
	"context"
	"net/http"

	"payonce/domain"
	"payonce/repository"
)

// CreateProduct is the command to offer something for sale.
type CreateProduct struct {
	SKU         string            `json:"sku"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	ImageURL    string            `json:"image_url"`
	Prices      []domain.Price    `json:"prices"`
	Active      bool              `json:"active"`
	Metadata    map[string]string `json:"metadata"`
}

// CreateProduct offers something for sale, with nothing in stock.
func (s *Service) CreateProduct(ctx context.Context, req Request, cmd CreateProduct) (Reply, error) {
	return s.once(ctx, req, domain.OpProductsCreate, "/v1/products", cmd, func(ctx context.Context, tx *repository.Tx) (Result, error) {
		p := domain.Product{
			ID: s.NewID("prd"), MerchantID: req.MerchantID, SKU: cmd.SKU, Name: cmd.Name, Description: cmd.Description,
			ImageURL: cmd.ImageURL, Prices: cmd.Prices, Active: cmd.Active, Metadata: cmd.Metadata,
			CreatedAt: tx.Now, UpdatedAt: tx.Now,
		}
		if err := tx.InsertProduct(ctx, p); err != nil {
			return Result{}, err
		}
		return Result{Status: http.StatusCreated, Location: "/v1/products/" + p.ID, Object: p, Resource: p.ID}, nil
	})
}

// UpdateProduct is the command to change a product; nil fields stay as they are.
type UpdateProduct struct {
	SKU         *string
	Name        *string
	Description *string
	ImageURL    *string
	Prices      []domain.Price // replaces all prices when not nil
	Active      *bool
	Metadata    map[string]string // replaces all metadata when not nil
}

// UpdateProduct changes a product. It sets values, so repeating it changes nothing more and it needs no key.
func (s *Service) UpdateProduct(ctx context.Context, merchant, id string, cmd UpdateProduct) (domain.Product, error) {
	var p domain.Product
	err := s.Store.InTx(ctx, func(tx *repository.Tx) error {
		var err error
		if p, err = tx.ProductForUpdate(ctx, merchant, id); err != nil {
			return err
		}
		set(&p.SKU, cmd.SKU)
		set(&p.Name, cmd.Name)
		set(&p.Description, cmd.Description)
		set(&p.ImageURL, cmd.ImageURL)
		set(&p.Active, cmd.Active)
		if cmd.Prices != nil {
			p.Prices = cmd.Prices
		}
		if cmd.Metadata != nil {
			p.Metadata = cmd.Metadata
		}
		p.UpdatedAt = tx.Now
		return tx.UpdateProduct(ctx, p)
	})
	return p, err
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// SetStock sets how many units of a product are on hand. Like every plain set it needs no key.
func (s *Service) SetStock(ctx context.Context, merchant, product string, onHand int64) (domain.Stock, error) {
	var stock domain.Stock
	err := s.Store.InTx(ctx, func(tx *repository.Tx) error {
		var err error
		stock, err = tx.SetStock(ctx, merchant, product, onHand)
		return err
	})
	return stock, err
}
