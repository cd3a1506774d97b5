package payment

import (
	"context"
	"net/http"

	"payonce/domain"
	"payonce/repository"
)

// CreateCart is the command to start a basket.
type CreateCart struct {
	Currency domain.Currency   `json:"currency"`
	Metadata map[string]string `json:"metadata"`
}

// CreateCart starts an empty basket in one currency.
func (s *Service) CreateCart(ctx context.Context, req Request, cmd CreateCart) (Reply, error) {
	return s.once(ctx, req, domain.OpCartsCreate, "/v1/carts", cmd, func(ctx context.Context, tx *repository.Tx) (Result, error) {
		c := domain.Cart{ID: s.NewID("cart"), MerchantID: req.MerchantID, Currency: cmd.Currency, Items: []domain.CartItem{},
			Metadata: cmd.Metadata, CreatedAt: tx.Now, UpdatedAt: tx.Now}
		if err := tx.InsertCart(ctx, c); err != nil {
			return Result{}, err
		}
		return Result{Status: http.StatusCreated, Location: "/v1/carts/" + c.ID, Object: c, Resource: c.ID}, nil
	})
}

// PutCartItem sets the quantity of a product in a cart, 1 to domain.MaxQuantity. Stock is not reserved by a cart.
func (s *Service) PutCartItem(ctx context.Context, merchant, cart, product string, quantity int64) (domain.Cart, error) {
	return s.changeCart(ctx, merchant, cart, func(tx *repository.Tx, c domain.Cart) error {
		p, err := tx.Product(ctx, merchant, product)
		if err != nil {
			return err
		}
		if _, sold := p.PriceIn(c.Currency); !sold || !p.Active {
			return invalid("/product_id", "the product is not sold in %s", c.Currency)
		}
		if len(c.Items) >= domain.MaxLines && !inCart(c, product) {
			return invalid("/items", "a cart holds at most %d different products", domain.MaxLines)
		}
		return tx.PutCartItem(ctx, merchant, cart, product, quantity)
	})
}

// DeleteCartItem takes a product out of a cart.
func (s *Service) DeleteCartItem(ctx context.Context, merchant, cart, product string) (domain.Cart, error) {
	return s.changeCart(ctx, merchant, cart, func(tx *repository.Tx, _ domain.Cart) error {
		return tx.DeleteCartItem(ctx, merchant, cart, product)
	})
}

func (s *Service) changeCart(ctx context.Context, merchant, id string, change func(*repository.Tx, domain.Cart) error) (domain.Cart, error) {
	var c domain.Cart
	err := s.Store.InTx(ctx, func(tx *repository.Tx) error {
		var err error
		if c, err = tx.CartForUpdate(ctx, merchant, id); err != nil {
			return err
		}
		if c.OrderID != nil {
			return cartOrdered(c)
		}
		if err := change(tx, c); err != nil {
			return err
		}
		c, err = tx.Cart(ctx, merchant, id)
		return err
	})
	return c, err
}

func inCart(c domain.Cart, product string) bool {
	for _, item := range c.Items {
		if item.ProductID == product {
			return true
		}
	}
	return false
}

func cartOrdered(c domain.Cart) error {
	return domain.E(domain.CodeCartAlreadyOrdered, domain.Fields{"order_id": *c.OrderID}, "the cart has become an order and no longer changes")
}
