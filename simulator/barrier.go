package simulator

import "time"

// barrier holds calls until somebody releases it. It is what makes a zombie: a request that is on its way while its
// sender has given up, and that arrives exactly when the test says.
type barrier struct {
	arrived  chan struct{} // closed when the first call waits
	released chan struct{}
	waiting  int
}

// barrierNamed returns the barrier, new if need be. The caller holds mu.
func (w *world) barrierNamed(name string) *barrier {
	b := w.barriers[name]
	if b == nil {
		b = &barrier{arrived: make(chan struct{}), released: make(chan struct{})}
		w.barriers[name] = b
	}
	return b
}

// hold waits at a barrier.
func hold(c *call, f fault) *answer {
	w := c.world
	w.mu.Lock()
	b := w.barrierNamed(f.params["barrier"])
	b.waiting++
	if b.waiting == 1 {
		close(b.arrived)
	}
	w.mu.Unlock()
	select {
	case <-b.released:
		return nil
	case <-w.closed:
		return &answer{wire: wireFIN}
	}
}

// releaseBarrier lets every waiting call go and returns how many there were. The name is free afterwards: the next
// call that comes to it waits again.
func (w *world) releaseBarrier(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.barriers[name]
	if b == nil {
		return 0
	}
	close(b.released)
	delete(w.barriers, name)
	return b.waiting
}

// awaitBarrier waits, in real time, until a call waits at the barrier, and returns how many do. So a test can know that
// its zombie is in place instead of hoping for it.
func (w *world) awaitBarrier(name string, patience time.Duration) int {
	w.mu.Lock()
	b := w.barrierNamed(name)
	w.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-b.arrived:
	case <-b.released:
	case <-timer.C:
	case <-w.closed:
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return b.waiting
}
