package simulator

import (
	"container/heap"
	"time"
)

// job names work that is done later by nobody's call: the bank's, or Stripe's own.
type job string

const (
	jobBook                job = "book"                 // on a charge
	jobExpireAuthorization job = "expire authorization" // on a payment intent
	jobSettle              job = "settle"               // on a payment intent
	jobBankAnswersRefund   job = "bank answers refund"
	jobDispute             job = "dispute" // on a charge
	jobDisputeDue          job = "dispute is due"
	jobReviewEnds          job = "review ends" // on a dispute
	jobSubmitPayout        job = "submit payout"
	jobReconcilePayout     job = "reconcile payout"
	jobPayoutArrives       job = "payout arrives"
)

// jobs is what there is to do, by name; id is the object that later was given. A job works on its effect and never
// commits: the world does, after each. (One that did would be refused by the compiler, as an initialization cycle.)
var jobs = map[job]func(e *effect, id string){
	jobBook:                (*effect).bookLater,
	jobExpireAuthorization: (*effect).expireAuthorization,
	jobSettle:              (*effect).settleLater,
	jobBankAnswersRefund:   (*effect).bankAnswersRefund,
	jobDispute:             (*effect).plannedDispute,
	jobDisputeDue:          (*effect).disputeIsDue,
	jobReviewEnds:          (*effect).reviewEnds,
	jobSubmitPayout:        (*effect).submitPayout,
	jobReconcilePayout:     (*effect).reconcilePayout,
	jobPayoutArrives:       (*effect).payoutArrives,
}

// task is a job at its time.
type task struct {
	N      int       `json:"n"` // from the world's count, see world.lastN
	Due    time.Time `json:"due"`
	Job    job       `json:"job"`
	Object string    `json:"object"`
}

// later makes work due on the virtual clock. It is kept with the change, and done when the clock has passed its time:
// while the clock is advanced, or by itself as real time goes by.
func (e *effect) later(after time.Duration, what job, id string) {
	e.change.Tasks = append(e.change.Tasks, task{
		N: e.world.lastN + len(e.change.Tasks) + 1, Due: e.now.Add(after), Job: what, Object: id,
	})
}

// due is an entry of the agenda: something that happens at a time.
type due struct {
	at time.Time
	n  int // the task's or the delivery's; equal times are taken in this order
}

// agenda is what is due, the soonest first. An entry whose task was done or whose delivery has another time by now is
// left where it is and means nothing.
type agenda []due

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if a[i].at.Equal(a[j].at) {
		return a[i].n < a[j].n
	}
	return a[i].at.Before(a[j].at)
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push is for container/heap.
func (a *agenda) Push(entry any) { *a = append(*a, entry.(due)) }

// Pop is for container/heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	entry := (*a)[last]
	*a = (*a)[:last]
	return entry
}

// nextDue returns the soonest thing to happen. The caller holds mu.
func (w *world) nextDue() (due, bool) {
	for len(w.agenda) > 0 {
		if next := w.agenda[0]; w.means(next) {
			return next, true
		}
		heap.Pop(&w.agenda)
	}
	return due{}, false
}

// means reports whether an entry of the agenda still stands.
func (w *world) means(entry due) bool {
	if _, isTask := w.tasks[entry.n]; isTask {
		return true
	}
	d, ok := w.deliveries.get(w.post.pending[entry.n])
	return ok && d.Due.Equal(entry.at) && !w.post.sending[d.ID]
}

// happen does what is due by now, as far as it can be done at once. The caller holds mu.
func (w *world) happen() {
	defer w.dispatch()
	for {
		next, ok := w.nextDue()
		if !ok || next.at.After(w.clock.now()) {
			return
		}
		heap.Pop(&w.agenda)
		if t, isTask := w.tasks[next.n]; isTask {
			w.perform(t)
		} else {
			w.ready(w.post.pending[next.n])
		}
	}
}

// perform does a task as a change of its own. One whose object is being worked on waits until that is over.
func (w *world) perform(t task) {
	if w.busy[t.Object] {
		w.delayed[t.Object] = append(w.delayed[t.Object], t)
		return
	}
	e := newEffect(w, cause("job", string(t.Job), t.Object), "")
	jobs[t.Job](e, t.Object)
	e.change.TasksDone = []int{t.N}
	if err := w.commit(e.change); err != nil {
		w.log.Error("commit", "world", w.name, "job", string(t.Job), "object", t.Object, "error", err)
	}
}

// unbusy gives an object free, and brings back the tasks that waited for it. The caller holds mu.
func (w *world) unbusy(id string) {
	delete(w.busy, id)
	for _, t := range w.delayed[id] {
		heap.Push(&w.agenda, due{t.Due, t.N})
	}
	delete(w.delayed, id)
	w.wake()
}

// wake sees to it that what is due next happens, on a goroutine of its own. The caller holds mu.
func (w *world) wake() {
	next, ok := w.nextDue()
	if !ok || w.ended() || !w.live {
		return
	}
	wait := next.at.Sub(w.clock.now())
	if wait > 0 && w.clock.frozen() {
		return // only an advance gets there
	}
	// A clock that stands still without being frozen, as a test's may, must not make this a busy loop.
	wait = max(wait, 0)
	if w.timer == nil {
		w.timer = time.AfterFunc(wait, w.woken)
		return
	}
	w.timer.Reset(wait)
}

// goLive lets things happen in a world that is complete, new or read back from disk. The caller holds mu.
func (w *world) goLive() {
	w.live = true
	w.rememberPast()
	w.wake()
}

func (w *world) woken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended() {
		return
	}
	w.happen()
	w.wake()
}

// advance moves the clock forward through everything that is due on the way, each at its own time: a delivery that fails
// is tried again as if that time had passed. The caller holds mu, which is given free while deliveries are on the wire.
func (w *world) advance(by time.Duration) error {
	target := w.clock.now().Add(by)
	for {
		w.catchUp()
		next, ok := w.nextDue()
		if !ok || next.at.After(target) {
			break
		}
		if err := w.moveTo(next.at); err != nil {
			return err
		}
		w.happen()
	}
	return w.moveTo(target)
}

// moveTo sets the clock forward to a time; it never sets it back.
func (w *world) moveTo(at time.Time) error {
	by := at.Sub(w.clock.now())
	if by <= 0 {
		return nil
	}
	setting := w.clock.advanced(by)
	return w.commit(change{Clock: &setting})
}
