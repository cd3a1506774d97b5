package stripemocktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// outsider is stripe-mock and the description that it was made from.
type outsider struct {
	folder string // where stripe-mock and what it reads are; deleted in the end
	mock   *mock
	spec   *description

	mu      sync.Mutex
	asked   map[shape]bool  // what stripe-mock was asked about
	answers int             // how many were held to the description
	told    map[string]bool // what was wrong with answers
}

// begin builds and starts the outsider.
func begin(ctx context.Context) (*outsider, error) {
	folder, err := os.MkdirTemp("", "stripe-mock")
	if err != nil {
		return nil, fmt.Errorf("folder for stripe-mock: %w", err)
	}
	o := &outsider{folder: folder, asked: map[shape]bool{}, told: map[string]bool{}}
	if err := o.start(ctx); err != nil {
		return nil, errors.Join(err, o.end())
	}
	return o, nil
}

func (o *outsider) start(ctx context.Context) error {
	tools, err := toolsFolder(ctx)
	if err != nil {
		return err
	}
	program, err := buildMock(ctx, tools, o.folder)
	if err != nil {
		return err
	}
	document, err := readDocument(ctx, tools)
	if err != nil {
		return err
	}
	closed := filepath.Join(o.folder, "spec3.json")
	if err := writeClosed(document, closed); err != nil {
		return err
	}
	if o.mock, err = startMock(program, closed); err != nil {
		return err
	}
	o.spec, err = newDescription(document)
	return err
}

// end stops stripe-mock and deletes it.
func (o *outsider) end() error {
	if o.mock != nil {
		o.mock.stop()
	}
	if err := os.RemoveAll(o.folder); err != nil {
		return fmt.Errorf("delete stripe-mock: %w", err)
	}
	return nil
}

// longest is how much of an answer a complaint quotes, in bytes.
const longest = 4000

// judge returns what is wrong with an exchange, as texts that tell all of it. The same is told once only: a field that is
// wrong is wrong in every answer.
func (o *outsider) judge(ctx context.Context, e exchange) (complaints []string, err error) {
	if accepted(e.status) && o.first(e.shape) {
		refusal, err := o.mock.refusal(ctx, e.shape)
		if err != nil {
			return nil, err
		}
		if refusal != "" {
			complaints = append(complaints, fmt.Sprintf("accepted with %d, and stripe-mock says: %s\n%s", e.status, refusal, e.shape))
		}
	}
	if e.answer == nil {
		return complaints, nil
	}
	problem, err := o.problem(e)
	if err != nil {
		return complaints, err
	}
	if problem != "" {
		complaints = append(complaints, fmt.Sprintf("answered with %d, and that is not what Stripe describes:\n%s\n%s\n%.*s",
			e.status, problem, e.shape, longest, e.answer))
	}
	return complaints, nil
}

// problem is what is wrong with an answer, "" when nothing is or it was told before.
func (o *outsider) problem(e exchange) (string, error) {
	problem, err := o.spec.problem(e)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers++
	kind := anyItem(problem)
	if err != nil || o.told[kind] {
		return "", err
	}
	o.told[kind] = problem != ""
	return problem, nil
}

// accepted reports whether the request of an answer was in order: a card may be declined all the same.
func accepted(status int) bool { return status/100 == 2 || status == http.StatusPaymentRequired }

// first reports whether a shape is seen for the first time.
func (o *outsider) first(s shape) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asked[s] {
		return false
	}
	o.asked[s] = true
	return true
}
