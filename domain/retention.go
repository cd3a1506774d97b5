package domain

import "time"

// Retention says how long a key is remembered after its intent was answered. It has two parts, because the two things
// remembered cost and mean different things: the answer is the caller's data, byte for byte; the tombstone is a hash and
// an id, and all it can do is say that the intent was carried out.
type Retention struct {
	Answer    time.Duration // the whole answer is kept and replayed
	Tombstone time.Duration // after that, the key is still recognised and never run again
}

// RetentionReason is a delay after which the same request can truly come again, and so a lower bound for how long its key
// must be known.
type RetentionReason struct {
	Name   string
	Within time.Duration
	Why    string
}

// Reasons for keeping keys, the longest last. The default of 30 days for answers covers all that repeat by themselves;
// the tombstone covers what people do by hand.
var (
	reasonClientRetry = RetentionReason{"client_retry", 24 * time.Hour,
		"a client that was offline, or whose process was restarted, sends again what it has not seen answered"}
	reasonQueueRedrive = RetentionReason{"queue_redrive", 14 * 24 * time.Hour,
		"common queues keep messages for up to 14 days, and a dead-letter queue is redriven as a whole"}
	reasonWebhookReplay = RetentionReason{"webhook_replay", 30 * 24 * time.Hour,
		"the provider can deliver its events again for 30 days, and a handler may answer one with a keyed request"}
	reasonOperatorReplay = RetentionReason{"operator_replay", 30 * 24 * time.Hour,
		"a person repeats a failed import or a day's work from logs, often at the end of the month"}
	reasonSettlement = RetentionReason{"settlement", 400 * 24 * time.Hour,
		"payouts, chargebacks and the yearly accounts are compared with orders for more than a year; whoever finds one missing must not be able to place or charge it again"}
)

// RetentionReasons are the reasons that apply to an operation. What moves no money and holds nothing back needs no
// settlement; its tombstone is kept for as long only because it costs next to nothing.
func RetentionReasons(op Operation) []RetentionReason {
	switch op {
	case OpProductsCreate, OpCartsCreate:
		return []RetentionReason{reasonClientRetry, reasonQueueRedrive, reasonOperatorReplay}
	default:
		return []RetentionReason{reasonClientRetry, reasonQueueRedrive, reasonWebhookReplay, reasonOperatorReplay, reasonSettlement}
	}
}

// RetentionPolicy is the retention of every operation: one default, and what differs from it.
type RetentionPolicy struct {
	Default Retention
	Answers map[Operation]time.Duration // operations whose answers are kept for another time
}

// For is the retention of one operation.
func (p RetentionPolicy) For(op Operation) Retention {
	r := p.Default
	if d, ok := p.Answers[op]; ok {
		r.Answer = d
	}
	return r
}
