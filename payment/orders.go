package payment

import (
	"context"
	"fmt"
	"net/http"

	"payonce/domain"
	"payonce/repository"
)

// CreateOrder is the command to place an order: either Items or CartID. Its JSON is what the key's fingerprint covers.
type CreateOrder struct {
	CartID          string            `json:"cart_id"`
	Items           []OrderLine       `json:"items"`
	Currency        domain.Currency   `json:"currency"`
	Customer        domain.Customer   `json:"customer"`
	ShippingAddress *domain.Address   `json:"shipping_address"`
	ShippingMethod  *string           `json:"shipping_method"`
	Metadata        map[string]string `json:"metadata"`
	ExpectedTotal   *int64            `json:"expected_total"` // minor units; the order is refused when it comes to another total
}

// OrderLine is how many units of a product are wanted.
type OrderLine struct {
	ProductID string `json:"product_id"`
	Quantity  int64  `json:"quantity"`
}

// CreateOrder places an order: it freezes today's prices and reserves the stock.
func (s *Service) CreateOrder(ctx context.Context, req Request, cmd CreateOrder) (Reply, error) {
	if cmd.CartID != "" && cmd.Currency == "" {
		// The default must be known before the fingerprint is taken: with and without it, the command is the same.
		cart, err := s.Store.Cart(ctx, req.MerchantID, cmd.CartID)
		if err != nil {
			return Reply{}, err
		}
		cmd.Currency = cart.Currency
	}
	return s.once(ctx, req, domain.OpOrdersCreate, "/v1/orders", cmd, func(ctx context.Context, tx *repository.Tx) (Result, error) {
		order, err := s.placeOrder(ctx, tx, req, cmd)
		if err != nil {
			return Result{}, err
		}
		return Result{Status: http.StatusCreated, Location: "/v1/orders/" + order.ID, Object: order, Resource: order.ID}, nil
	})
}

// placeOrder decides everything first (cart, products, prices, total, stock, in the fixed order of locks) and only then
// writes, so that a refusal leaves nothing behind.
func (s *Service) placeOrder(ctx context.Context, tx *repository.Tx, req Request, cmd CreateOrder) (domain.Order, error) {
	lines, err := wantedLines(ctx, tx, req.MerchantID, cmd)
	if err != nil {
		return domain.Order{}, err
	}
	order, err := s.priceOrder(ctx, tx, req.MerchantID, cmd, lines)
	if err != nil {
		return domain.Order{}, err
	}
	if cmd.ExpectedTotal != nil && *cmd.ExpectedTotal != order.Total {
		return domain.Order{}, domain.E(domain.CodeTotalChanged, domain.Fields{"total": order.Total}, "the order comes to %d, not to the expected %d", order.Total, *cmd.ExpectedTotal)
	}
	if err := enoughStock(ctx, tx, order); err != nil {
		return domain.Order{}, err
	}
	if err := tx.InsertOrder(ctx, order, req.Key.Hash()); err != nil {
		return domain.Order{}, err
	}
	return order, tx.ReserveStock(ctx, order)
}

// wantedLines are the command's lines, or those of its cart, which is locked so that it becomes one order only.
func wantedLines(ctx context.Context, tx *repository.Tx, merchant string, cmd CreateOrder) ([]wantedLine, error) {
	if cmd.CartID == "" {
		return merged(cmd.Items)
	}
	cart, err := tx.CartForUpdate(ctx, merchant, cmd.CartID)
	if err != nil {
		return nil, err
	}
	switch {
	case cart.OrderID != nil:
		return nil, cartOrdered(cart)
	case cart.Currency != cmd.Currency:
		return nil, invalid("/currency", "the cart is in %s", cart.Currency)
	case len(cart.Items) == 0:
		return nil, invalid("/cart_id", "the cart is empty")
	}
	lines := make([]wantedLine, len(cart.Items))
	for i, item := range cart.Items {
		lines[i] = wantedLine{product: item.ProductID, quantity: item.Quantity, pointer: "/cart_id"}
	}
	return lines, nil
}

// wantedLine is a line to order, one per product, and where in the command it came from.
type wantedLine struct {
	product  string
	quantity int64
	pointer  string
}

// merged adds up lines that name the same product, since stock is taken once per product.
func merged(lines []OrderLine) ([]wantedLine, error) {
	at, out := map[string]int{}, []wantedLine{}
	for i, line := range lines {
		j, seen := at[line.ProductID]
		if !seen {
			at[line.ProductID] = len(out)
			out = append(out, wantedLine{line.ProductID, line.Quantity, fmt.Sprintf("/items/%d/product_id", i)})
			continue
		}
		if out[j].quantity += line.Quantity; out[j].quantity > domain.MaxQuantity {
			return nil, invalid(fmt.Sprintf("/items/%d/quantity", i), "together with the other lines of this product it is more than %d", domain.MaxQuantity)
		}
	}
	return out, nil
}

// priceOrder freezes names and prices and adds them up.
func (s *Service) priceOrder(ctx context.Context, tx *repository.Tx, merchant string, cmd CreateOrder, lines []wantedLine) (domain.Order, error) {
	ids := make([]string, len(lines))
	for i, line := range lines {
		ids[i] = line.product
	}
	products, err := tx.ProductsByID(ctx, merchant, ids)
	if err != nil {
		return domain.Order{}, err
	}
	order := domain.Order{
		ID: s.NewID("ord"), MerchantID: merchant, Status: domain.OrderPendingPayment, Currency: cmd.Currency, Customer: cmd.Customer,
		ShippingAddress: cmd.ShippingAddress, ShippingMethod: cmd.ShippingMethod, Metadata: cmd.Metadata,
		ExpiresAt: tx.Now.Add(s.OrderTTL), CreatedAt: tx.Now, UpdatedAt: tx.Now,
	}
	if cmd.CartID != "" {
		order.CartID = &cmd.CartID
	}
	for _, line := range lines {
		p, ok := products[line.product]
		if !ok || !p.Active {
			return domain.Order{}, invalid(line.pointer, "is not a product that can be ordered")
		}
		price, ok := p.PriceIn(cmd.Currency)
		if !ok {
			return domain.Order{}, invalid(line.pointer, "is not sold in %s", cmd.Currency)
		}
		order.Items = append(order.Items, domain.OrderItem{ProductID: p.ID, SKU: p.SKU, Name: p.Name, UnitAmount: price, Quantity: line.quantity})
	}
	order, ok := order.Sum()
	rule, _ := cmd.Currency.Rule()
	if !ok {
		return domain.Order{}, invalid("/items", "the total is too large")
	}
	if reason := rule.CheckTotal(order.Total); reason != "" {
		return domain.Order{}, invalid("/items", "%s", reason)
	}
	return order, nil
}

// enoughStock locks the stock of the order's products and refuses what is not there.
func enoughStock(ctx context.Context, tx *repository.Tx, order domain.Order) error {
	ids := make([]string, len(order.Items))
	for i, item := range order.Items {
		ids[i] = item.ProductID
	}
	stock, err := tx.LockStock(ctx, order.MerchantID, ids)
	if err != nil {
		return err
	}
	for _, item := range order.Items {
		if available := stock[item.ProductID].Available(); available < item.Quantity {
			return domain.E(domain.CodeOutOfStock, domain.Fields{"product_id": item.ProductID, "available": available},
				"%d of %q are wanted and %d are available", item.Quantity, item.Name, available)
		}
	}
	return nil
}

// SetShippingAddress sets where an order goes, until it is fulfilled. It needs no key.
func (s *Service) SetShippingAddress(ctx context.Context, merchant, id string, address domain.Address) (domain.Order, error) {
	var order domain.Order
	err := s.Store.InTx(ctx, func(tx *repository.Tx) error {
		var err error
		if order, err = tx.OrderForUpdate(ctx, merchant, id); err != nil {
			return err
		}
		if order.Status != domain.OrderPendingPayment && order.Status != domain.OrderPaid {
			return domain.E(domain.CodeVersionConflict, domain.Fields{"order_status": order.Status}, "the address of an order that is %s cannot change", order.Status)
		}
		order.ShippingAddress, order.UpdatedAt = &address, tx.Now
		return tx.UpdateOrder(ctx, order, order.Status)
	})
	return order, err
}

// invalid is the refusal of one value of a command.
func invalid(pointer, format string, args ...any) error {
	detail := fmt.Sprintf(format, args...)
	return domain.E(domain.CodeValidationFailed, domain.Fields{"errors": []domain.FieldError{{Pointer: pointer, Detail: detail}}}, "%s %s", pointer, detail)
}
