package repository

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// CallKind is what a provider call does.
type CallKind string

// The kinds of provider calls.
const (
	CallCreate  CallKind = "create"
	CallConfirm CallKind = "confirm"
	CallCapture CallKind = "capture"
	CallCancel  CallKind = "cancel"
	CallLookup  CallKind = "lookup"
)

// ProviderCall is one call to the provider for a charge, written before it is sent. SentAt nil: provably never sent.
// SentAt set and Outcome empty: it may have been executed, and the answer was lost with the process that waited for it.
type ProviderCall struct {
	MerchantID  string
	ChargeID    string
	Kind        CallKind
	Attempt     int
	ProviderKey string // empty for look-ups
	Params      []byte // exactly what is sent, as JSON
	SentAt      *time.Time
	HorizonAt   *time.Time // the key is never sent after this
	Doubted     bool       // an earlier sending may have been executed, whatever the last one came to
	Answer      CallAnswer
}

// CallAnswer is what came back.
type CallAnswer struct {
	Outcome     string // one of provider.Outcome; empty while there is none
	HTTPStatus  int
	RequestID   string // the provider's
	Found       string // the state of the provider's object as the answer showed it
	FailureCode string
	DeclineCode string
}

// ProviderCall reads the latest attempt of a kind. The second result is false when there is none.
func (r Reader) ProviderCall(ctx context.Context, merchant, charge string, kind CallKind) (ProviderCall, bool, error) {
	var row struct {
		Attempt int            `db:"attempt"`
		Key     sql.NullString `db:"provider_key"`
		Params  []byte         `db:"params"`
		SentAt  sql.NullTime   `db:"sent_at"`
		Horizon sql.NullTime   `db:"horizon_at"`
		Outcome sql.NullString `db:"outcome"`
		Doubted bool           `db:"doubted"`
	}
	err := r.q.GetContext(ctx, &row, `
		SELECT attempt, provider_key, params, sent_at, horizon_at, outcome, doubted
		FROM provider_calls
		WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3
		ORDER BY attempt DESC
		LIMIT 1`, merchant, charge, kind)
	if errors.Is(err, sql.ErrNoRows) {
		return ProviderCall{}, false, nil
	}
	if err != nil {
		return ProviderCall{}, false, fmt.Errorf("provider call %s of %s: %w", kind, charge, err)
	}
	call := ProviderCall{MerchantID: merchant, ChargeID: charge, Kind: kind, Attempt: row.Attempt, ProviderKey: row.Key.String,
		Params: row.Params, Doubted: row.Doubted, Answer: CallAnswer{Outcome: row.Outcome.String}}
	if row.SentAt.Valid {
		call.SentAt = &row.SentAt.Time
	}
	if row.Horizon.Valid {
		call.HorizonAt = &row.Horizon.Time
	}
	return call, true, nil
}

// InsertProviderCall writes a call down. With c.SentAt set it is marked as sent in the same moment: the transaction that
// commits it must be followed by the sending.
func (tx *Tx) InsertProviderCall(ctx context.Context, c ProviderCall) error {
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO provider_calls (merchant_id, charge_id, kind, attempt, provider_key, params, sent_at, horizon_at, written_at, doubted)
		VALUES ($1, $2, $3, $4, nullif($5, ''), $6, $7, $8, $9, $10)`,
		c.MerchantID, c.ChargeID, c.Kind, c.Attempt, c.ProviderKey, c.Params, c.SentAt, c.HorizonAt, tx.Now, c.Doubted)
	if err != nil {
		return fmt.Errorf("insert provider call %s of %s: %w", c.Kind, c.ChargeID, err)
	}
	return nil
}

// AnswerProviderCall records what came back for one call. A later answer to the same call replaces an earlier "unknown",
// since the provider repeats its first answer under the same key.
func (tx *Tx) AnswerProviderCall(ctx context.Context, c ProviderCall, a CallAnswer) error {
	result, err := tx.q.ExecContext(ctx, `
		UPDATE provider_calls
		SET answered_at = $5, outcome = $6, http_status = nullif($7, 0), request_id = nullif($8, ''), found = nullif($9, ''),
			failure_code = nullif($10, ''), decline_code = nullif($11, '')
		WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3 AND attempt = $4`,
		c.MerchantID, c.ChargeID, c.Kind, c.Attempt, tx.Now, a.Outcome, a.HTTPStatus, a.RequestID, a.Found, a.FailureCode, a.DeclineCode)
	return exactly(1, result, err, fmt.Sprintf("answer of provider call %s of %s", c.Kind, c.ChargeID))
}

// ReopenProviderCall puts the answer of a call that is about to be sent again aside. Unless that answer proved that the
// sending before was not executed, the call is in doubt from now on.
func (tx *Tx) ReopenProviderCall(ctx context.Context, c ProviderCall) error {
	_, err := tx.q.ExecContext(ctx, `
		INSERT INTO provider_sendings (merchant_id, charge_id, kind, attempt, n, sent_at, answered_at, outcome, http_status,
			request_id, found, failure_code)
		SELECT merchant_id, charge_id, kind, attempt, 1 + (SELECT count(*) FROM provider_sendings s
				WHERE (s.merchant_id, s.charge_id, s.kind, s.attempt) = (c.merchant_id, c.charge_id, c.kind, c.attempt)),
			sent_at, answered_at, outcome, http_status, request_id, found, failure_code
		FROM provider_calls c
		WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3 AND attempt = $4 AND sent_at IS NOT NULL`,
		c.MerchantID, c.ChargeID, c.Kind, c.Attempt)
	if err != nil {
		return fmt.Errorf("earlier sending of provider call %s of %s: %w", c.Kind, c.ChargeID, err)
	}
	result, err := tx.q.ExecContext(ctx, `
		UPDATE provider_calls
		SET doubted = doubted OR outcome IS NULL OR outcome NOT IN ('not_sent', 'rejected'),
			sent_at = $5, answered_at = NULL, outcome = NULL, http_status = NULL, request_id = NULL, found = NULL, failure_code = NULL, decline_code = NULL
		WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3 AND attempt = $4`, c.MerchantID, c.ChargeID, c.Kind, c.Attempt, tx.Now)
	return exactly(1, result, err, fmt.Sprintf("reopen provider call %s of %s", c.Kind, c.ChargeID))
}
