package stripe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	stripego "github.com/stripe/stripe-go/v79"

	"payonce/domain"
	"payonce/provider"
)

// call says which call a result is about, and what its answer must agree with.
type call struct {
	kind      kind
	key       string
	reference string // of the object that is asked or acted upon; empty for create, which does not know it yet, and for lists
}

type kind string

const (
	create  kind = "create"
	confirm kind = "confirm"
	capture kind = "capture"
	cancel  kind = "cancel"
	refund  kind = "refund"
	lookup  kind = "lookup"
	list    kind = "list"
)

// reads reports whether a call changes nothing, whatever becomes of it. Stripe ignores keys of such calls.
func (k kind) reads() bool { return k == lookup || k == list }

// send makes one call and judges what came of it. accept reads the object of a good answer into the result and gives the
// outcome, or says why the answer proves nothing.
func (s *Stripe) send(ctx context.Context, c call, params *stripego.Params, do func() error, accept func(*provider.Result) error) provider.Result {
	if err := c.check(); err != nil {
		return c.refuse(err)
	}
	if err := ctx.Err(); err != nil {
		return c.refuse(err)
	}
	w := &wire{maxBody: maxBody}
	if c.kind == list {
		w.maxBody = maxList
	}
	if !c.kind.reads() {
		params.SetIdempotencyKey(c.key)
	}
	params.Context = w.watch(ctx)
	result := s.judge(c, do(), w, accept)
	if ctx.Err() != nil {
		result.Repeatable = false // there is nobody to repeat it for
	}
	if n := w.connections.Load(); n > 1 {
		s.log.InfoContext(ctx, "stripe call sent again by the transport after a connection died", "call", c.kind,
			"reference", c.reference, "connections", n, "outcome", result.Outcome, "request_id", result.RequestID)
	}
	return result
}

// check refuses a key or a reference that would reach Stripe as something else. An empty reference would turn a look-up
// into a list, one with a slash or dots into another path.
func (c call) check() error {
	switch {
	case !c.kind.reads() && (c.key == "" || len(c.key) > domain.MaxKeyLength || !printable(c.key)):
		return errors.New("the idempotency key is not 1 to 255 visible ASCII characters")
	case c.kind != create && c.kind != list && !validReference(c.reference):
		return errors.New("the reference is not the id of an object")
	}
	return nil
}

func validReference(s string) bool {
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, func(r rune) bool { return !word(r) })
}

// refuse is the result of a call that this adapter did not even try to send.
func (c call) refuse(err error) provider.Result {
	return provider.Result{Outcome: provider.NotSent, Err: fmt.Errorf("stripe %s: not sent: %w", c.kind, err)}
}

// refuseMoney says why an amount cannot be asked for.
func refuseMoney(m domain.Money) error {
	if m.Amount <= 0 {
		return fmt.Errorf("amount %d is not positive", m.Amount)
	}
	if _, sold := m.Currency.Rule(); !sold {
		return errors.New("the currency is not one we know the minor unit of")
	}
	return nil
}
