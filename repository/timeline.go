package repository

import (
	"context"
	"database/sql"
	"fmt"

	"payonce/domain"
)

// Timeline reads everything that happened to an order, in order: what it and its charges became, which requests asked for
// it, every call to the provider with what came back. Nothing is left out of it and nothing is derived, so it is what a
// person needs who has to find out where the money is.
func (r Reader) Timeline(ctx context.Context, merchant, order string) ([]domain.TimelineEntry, error) {
	var rows []timelineRow
	err := r.q.SelectContext(ctx, &rows, `
		WITH mine AS (
			SELECT charge_id, key_operation, key_hash
			FROM charges
			WHERE merchant_id = $1 AND order_id = $2
		)
		SELECT h.at, 1 AS rank, 'order' AS type, h.status, NULL::text AS charge_id, NULL::text AS resolved_by,
			NULL::text AS operation, NULL::text AS request_id, NULL::integer AS http_status, NULL::text AS call,
			NULL::integer AS attempt, NULL::text AS provider_key, NULL::text AS provider_request_id, NULL::text AS found,
			NULL::text AS failure_code, NULL::timestamptz AS ended_at
		FROM order_history h
		WHERE h.merchant_id = $1 AND h.order_id = $2
		UNION ALL
		SELECT h.at, 3, 'charge', h.status, h.charge_id, h.resolved_by, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
		FROM charge_history h
		JOIN mine USING (charge_id)
		WHERE h.merchant_id = $1
			AND NOT EXISTS (
				SELECT FROM charge_history before
				WHERE before.merchant_id = h.merchant_id AND before.charge_id = h.charge_id
					AND before.version = h.version - 1 AND before.status = h.status
			)
		UNION ALL
		SELECT k.created_at, 0, 'request', k.recovery_point, CASE WHEN k.operation = 'orders.create' THEN NULL ELSE k.resource_id END,
			NULL, k.operation, k.request_id, k.response_status, NULL, NULL, NULL, NULL, NULL, NULL, k.finished_at
		FROM idempotency_keys k
		WHERE k.merchant_id = $1 AND (
			(k.operation, k.key_hash) IN (SELECT key_operation, key_hash FROM mine)
			OR (k.operation, k.key_hash) IN (SELECT 'orders.create', key_hash FROM orders WHERE merchant_id = $1 AND order_id = $2)
			OR (k.operation, k.key_hash) IN (
				SELECT a.operation, a.key_hash FROM charge_requests a JOIN mine USING (charge_id) WHERE a.merchant_id = $1
			)
		)
		UNION ALL
		SELECT coalesce(p.sent_at, p.written_at), 2, 'provider_call', coalesce(p.outcome, 'open'), p.charge_id, NULL, NULL, NULL, p.http_status,
			p.kind, p.attempt, p.provider_key, p.request_id, p.found, p.failure_code, p.answered_at
		FROM provider_calls p
		JOIN mine USING (charge_id)
		WHERE p.merchant_id = $1
		UNION ALL
		SELECT s.sent_at, 2, 'provider_call', coalesce(s.outcome, 'open'), s.charge_id, NULL, NULL, NULL, s.http_status,
			s.kind, s.attempt, p.provider_key, s.request_id, s.found, s.failure_code, s.answered_at
		FROM provider_sendings s
		JOIN mine USING (charge_id)
		JOIN provider_calls p USING (merchant_id, charge_id, kind, attempt)
		WHERE s.merchant_id = $1
		ORDER BY at, rank, attempt`, merchant, order)
	if err != nil {
		return nil, fmt.Errorf("timeline of %s: %w", order, err)
	}
	if len(rows) == 0 { // an order has at least its own beginning
		return nil, domain.E(domain.CodeNotFound, nil, "no such order")
	}
	entries := make([]domain.TimelineEntry, len(rows))
	for i, row := range rows {
		entries[i] = row.entry()
	}
	return entries, nil
}

type timelineRow struct {
	At                sql.NullTime   `db:"at"`
	Rank              int            `db:"rank"`
	Type              string         `db:"type"`
	Status            string         `db:"status"`
	ChargeID          sql.NullString `db:"charge_id"`
	ResolvedBy        sql.NullString `db:"resolved_by"`
	Operation         sql.NullString `db:"operation"`
	RequestID         sql.NullString `db:"request_id"`
	HTTPStatus        sql.NullInt32  `db:"http_status"`
	Call              sql.NullString `db:"call"`
	Attempt           sql.NullInt32  `db:"attempt"`
	ProviderKey       sql.NullString `db:"provider_key"`
	ProviderRequestID sql.NullString `db:"provider_request_id"`
	Found             sql.NullString `db:"found"`
	FailureCode       sql.NullString `db:"failure_code"`
	EndedAt           sql.NullTime   `db:"ended_at"`
}

func (r timelineRow) entry() domain.TimelineEntry {
	e := domain.TimelineEntry{
		At: r.At.Time.UTC(), Type: r.Type, Status: r.Status, ChargeID: r.ChargeID.String, ResolvedBy: r.ResolvedBy.String,
		Operation: domain.Operation(r.Operation.String), RequestID: r.RequestID.String, HTTPStatus: int(r.HTTPStatus.Int32),
		Call: r.Call.String, Attempt: int(r.Attempt.Int32), ProviderKey: r.ProviderKey.String,
		ProviderRequestID: r.ProviderRequestID.String, Found: r.Found.String, FailureCode: r.FailureCode.String,
	}
	if r.EndedAt.Valid {
		ended := r.EndedAt.Time.UTC()
		e.EndedAt = &ended
	}
	return e
}
