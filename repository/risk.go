package repository

import (
	"context"
	"fmt"
	"time"

	"payonce/domain"
)

// Risk is money of which nobody can say at this moment where it is: charges whose outcome is not proved.
type Risk struct {
	Currency domain.Currency `db:"currency"`
	Amount   int64           `db:"amount"` // minor units
	Charges  int             `db:"charges"`
	Oldest   time.Duration   `db:"-"` // since the oldest of them changed last
}

// MoneyAtRisk adds up the undecided charges of all merchants by currency. A charge that waits for its buyer, or whose money
// is held, is not at risk: its state is proved. Only open charges are read, however many are settled.
func (r Reader) MoneyAtRisk(ctx context.Context) ([]Risk, error) {
	var rows []struct {
		Risk
		Seconds float64 `db:"seconds"`
	}
	err := r.q.SelectContext(ctx, &rows, `
		SELECT currency, sum(amount)::bigint AS amount, count(*) AS charges,
			extract(epoch FROM clock_timestamp() - min(updated_at)) AS seconds
		FROM charges
		WHERE look_at IS NOT NULL
			AND (status IN ('unknown', 'processing') OR status = 'created' AND provider_reference IS NOT NULL
				OR asked_operation = 'charges.capture') -- held, and perhaps taken
		GROUP BY currency
		ORDER BY currency`)
	if err != nil {
		return nil, fmt.Errorf("money at risk: %w", err)
	}
	risks := make([]Risk, len(rows))
	for i, row := range rows {
		risks[i] = row.Risk
		risks[i].Oldest = max(0, time.Duration(row.Seconds*float64(time.Second)))
	}
	return risks, nil
}
