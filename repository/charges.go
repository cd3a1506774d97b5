package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"payonce/domain"
)

const chargeColumns = `t.charge_id, t.merchant_id, t.order_id, t.amount, t.currency, t.status, t.capture_method,
	t.amount_captured, t.amount_refunded, t.payment_method, t.return_url, t.provider, t.provider_reference, t.failure_code,
	t.decline_code, t.next_action_url, t.resolved_by, t.metadata, t.key_operation, t.key_hash,
	t.asked_operation, t.asked_key_hash, t.asked_amount, t.version, t.created_at, t.updated_at`

// ChargeFilter narrows a list of charges; zero values do not narrow.
type ChargeFilter struct {
	OrderID string
	Status  domain.ChargeStatus
}

// Charge reads one charge.
func (r Reader) Charge(ctx context.Context, merchant, id string) (domain.Charge, error) {
	return r.charge(ctx, merchant, id, "")
}

// ChargeForUpdate is Charge with the row locked until the transaction ends.
func (tx *Tx) ChargeForUpdate(ctx context.Context, merchant, id string) (domain.Charge, error) {
	return tx.charge(ctx, merchant, id, "FOR UPDATE OF t")
}

func (r Reader) charge(ctx context.Context, merchant, id, locking string) (domain.Charge, error) {
	var row chargeRow
	err := r.q.GetContext(ctx, &row, `
		SELECT `+chargeColumns+`
		FROM charges t
		WHERE t.merchant_id = $1 AND t.charge_id = $2 `+locking, merchant, id)
	if err := one(err, "charge", id); err != nil {
		return domain.Charge{}, err
	}
	return row.charge(), nil
}

// BlockingCharge finds the charge of an order that is open or has succeeded; there is at most one, by a unique index.
// The second result is false when another charge may be made.
func (r Reader) BlockingCharge(ctx context.Context, merchant, order string) (domain.Charge, bool, error) {
	var row chargeRow
	err := r.q.GetContext(ctx, &row, `
		SELECT `+chargeColumns+`
		FROM charges t
		WHERE t.merchant_id = $1 AND t.order_id = $2 AND t.status NOT IN ('failed', 'canceled')`, merchant, order)
	if errors.Is(err, sql.ErrNoRows) {
		return domain.Charge{}, false, nil
	}
	if err != nil {
		return domain.Charge{}, false, fmt.Errorf("blocking charge of %s: %w", order, err)
	}
	return row.charge(), true, nil
}

// ListCharges reads a page of charges, newest first.
func (r Reader) ListCharges(ctx context.Context, merchant string, f ChargeFilter, page Page) (charges []domain.Charge, more bool, err error) {
	list := listing{columns: chargeColumns, from: "charges t", id: "charge_id", merchant: merchant, page: page}
	if f.OrderID != "" {
		list.filter("t.order_id = ?", f.OrderID)
	}
	if f.Status != "" { // as it is shown: see Charge.Shown
		list.filter("CASE WHEN t.status = 'created' AND t.provider_reference IS NOT NULL THEN 'unknown' ELSE t.status END = ?", f.Status)
	}
	var rows []chargeRow
	if err := list.read(ctx, r.q, &rows); err != nil {
		return nil, false, err
	}
	rows, more = cut(rows, page.Limit)
	charges = make([]domain.Charge, len(rows))
	for i, row := range rows {
		charges[i] = row.charge()
	}
	return charges, more, nil
}

// InsertCharge writes a new charge. Recovery will look at it after lookIn, by the database's clock, unless it is settled
// by then.
func (tx *Tx) InsertCharge(ctx context.Context, c domain.Charge, lookIn time.Duration) error {
	metadata, err := asJSON(c.Metadata)
	if err != nil {
		return err
	}
	_, err = tx.q.ExecContext(ctx, `
		INSERT INTO charges (merchant_id, charge_id, order_id, amount, currency, status, capture_method, amount_captured,
			amount_refunded, payment_method, return_url, provider, metadata, key_operation, key_hash, version, look_at,
			created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8, $9, $10, $11, $12, $13, $14,
			clock_timestamp() + $15 * interval '1 microsecond', $16, $16)`,
		c.MerchantID, c.ID, c.OrderID, c.Amount, c.Currency, c.Status, c.CaptureMethod, c.PaymentMethod, c.ReturnURL,
		c.Provider, metadata, c.Key.Operation, c.Key.Hash, c.Version, lookIn.Microseconds(), c.CreatedAt)
	if err != nil {
		return fmt.Errorf("insert charge %s: %w", c.ID, err)
	}
	return nil
}

// UpdateCharge writes a charge that was read at c.Version and returns it at its new version. When somebody else has
// written meanwhile it returns ErrStale. While the charge is open, or asked something, recovery will look at it after
// lookIn.
func (tx *Tx) UpdateCharge(ctx context.Context, c domain.Charge, lookIn time.Duration) (domain.Charge, error) {
	var failureCode, declineCode, actionURL *string
	if c.Failure != nil {
		failureCode, declineCode = &c.Failure.Code, &c.Failure.DeclineCode
	}
	if c.NextAction != nil {
		actionURL = &c.NextAction.URL
	}
	var asked struct {
		operation *domain.Operation
		hash      []byte
		amount    *int64
	}
	if a := c.Asked; a != nil {
		asked.operation, asked.hash, asked.amount = &a.Key.Operation, a.Key.Hash, &a.Amount
	}
	result, err := tx.q.ExecContext(ctx, `
		UPDATE charges
		SET status = $4, amount_captured = $5, amount_refunded = $6, provider_reference = $7, failure_code = $8,
			decline_code = nullif($9, ''), next_action_url = $10, resolved_by = $11,
			look_at = CASE WHEN $12 THEN NULL ELSE clock_timestamp() + $13 * interval '1 microsecond' END,
			updated_at = $14, version = version + 1, asked_operation = $15, asked_key_hash = $16, asked_amount = $17
		WHERE merchant_id = $1 AND charge_id = $2 AND version = $3`,
		c.MerchantID, c.ID, c.Version, c.Status, c.AmountCaptured, c.AmountRefunded, c.ProviderReference, failureCode,
		declineCode, actionURL, c.ResolvedBy, c.Status.Final() && c.Asked == nil, lookIn.Microseconds(), c.UpdatedAt,
		asked.operation, asked.hash, asked.amount)
	c.Version++
	return c, exactly(1, result, err, "update charge "+c.ID)
}

// InsertChargeRequest writes down what was asked of a charge, and why.
func (tx *Tx) InsertChargeRequest(ctx context.Context, charge string, asked domain.Asked, reason string) error {
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO charge_requests (merchant_id, charge_id, operation, key_hash, amount, reason, asked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		asked.Key.MerchantID, charge, asked.Key.Operation, asked.Key.Hash, asked.Amount, reason, tx.Now)
	if err != nil {
		return fmt.Errorf("insert request of charge %s: %w", charge, err)
	}
	return nil
}

// ClaimOpenCharges takes up to limit open charges whose time to be looked at has come, and puts that time off, so that
// other workers leave them alone for a while: for putOff. Those whose state is proved and that wait for the buyer or the
// bank are put off for longer the longer nothing happens, or a few thousand of them would use up all the calls that the
// provider allows. Charges that are locked right now are left to whoever holds them.
func (tx *Tx) ClaimOpenCharges(ctx context.Context, limit int, putOff time.Duration) ([]domain.Charge, error) {
	var rows []chargeRow
	err := tx.q.SelectContext(ctx, &rows, `
		SELECT `+chargeColumns+`
		FROM charges t
		WHERE t.look_at <= clock_timestamp()
		ORDER BY t.look_at
		LIMIT $1
		FOR UPDATE OF t SKIP LOCKED`, limit)
	if err != nil {
		return nil, fmt.Errorf("open charges: %w", err)
	}
	charges := make([]domain.Charge, len(rows))
	for i, row := range rows {
		charges[i] = row.charge()
		result, err := tx.q.ExecContext(ctx, `
			UPDATE charges
			SET look_at = clock_timestamp() + greatest($3 * interval '1 microsecond',
				least((clock_timestamp() - updated_at) / 4, CASE
					WHEN status IN ('requires_action', 'processing') THEN interval '1 minute' -- somebody is at it
					WHEN status = 'authorized' THEN interval '1 hour' -- nothing happens by itself for days
					ELSE interval '0' END)) -- nobody knows where the money is
			WHERE merchant_id = $1 AND charge_id = $2`, row.MerchantID, row.ChargeID, putOff.Microseconds())
		if err := exactly(1, result, err, "put off charge "+row.ChargeID); err != nil {
			return nil, err
		}
	}
	return charges, nil
}

type chargeRow struct {
	ChargeID          string                        `db:"charge_id"`
	MerchantID        string                        `db:"merchant_id"`
	OrderID           string                        `db:"order_id"`
	Amount            int64                         `db:"amount"`
	Currency          domain.Currency               `db:"currency"`
	Status            domain.ChargeStatus           `db:"status"`
	CaptureMethod     domain.CaptureMethod          `db:"capture_method"`
	AmountCaptured    int64                         `db:"amount_captured"`
	AmountRefunded    int64                         `db:"amount_refunded"`
	PaymentMethod     string                        `db:"payment_method"`
	ReturnURL         string                        `db:"return_url"`
	Provider          string                        `db:"provider"`
	ProviderReference sql.NullString                `db:"provider_reference"`
	FailureCode       sql.NullString                `db:"failure_code"`
	DeclineCode       sql.NullString                `db:"decline_code"`
	NextActionURL     sql.NullString                `db:"next_action_url"`
	ResolvedBy        sql.NullString                `db:"resolved_by"`
	Metadata          jsonColumn[map[string]string] `db:"metadata"`
	KeyOperation      domain.Operation              `db:"key_operation"`
	KeyHash           []byte                        `db:"key_hash"`
	AskedOperation    sql.NullString                `db:"asked_operation"`
	AskedKeyHash      []byte                        `db:"asked_key_hash"`
	AskedAmount       sql.NullInt64                 `db:"asked_amount"`
	Version           int64                         `db:"version"`
	CreatedAt         time.Time                     `db:"created_at"`
	UpdatedAt         time.Time                     `db:"updated_at"`
}

func (r chargeRow) charge() domain.Charge {
	c := domain.Charge{
		ID: r.ChargeID, MerchantID: r.MerchantID, OrderID: r.OrderID, Amount: r.Amount, Currency: r.Currency,
		Status: r.Status, CaptureMethod: r.CaptureMethod, AmountCaptured: r.AmountCaptured, AmountRefunded: r.AmountRefunded,
		PaymentMethod: r.PaymentMethod, ReturnURL: r.ReturnURL, Provider: r.Provider,
		ProviderReference: orNil(r.ProviderReference), Metadata: r.Metadata.V, Version: r.Version,
		Key:       domain.KeyRef{MerchantID: r.MerchantID, Operation: r.KeyOperation, Hash: r.KeyHash},
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
	if r.FailureCode.Valid {
		c.Failure = &domain.ChargeFailure{Code: r.FailureCode.String, DeclineCode: r.DeclineCode.String,
			Message: domain.BuyerMessage(r.FailureCode.String, r.DeclineCode.String)}
	}
	if r.NextActionURL.Valid {
		c.NextAction = &domain.NextAction{Type: "redirect", URL: r.NextActionURL.String}
	}
	if r.AskedOperation.Valid {
		c.Asked = &domain.Asked{Amount: r.AskedAmount.Int64,
			Key: domain.KeyRef{MerchantID: r.MerchantID, Operation: domain.Operation(r.AskedOperation.String), Hash: r.AskedKeyHash}}
	}
	if r.ResolvedBy.Valid {
		by := domain.ResolvedBy(r.ResolvedBy.String)
		c.ResolvedBy = &by
	}
	return c
}
