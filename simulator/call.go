package simulator

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxBody is the largest request body in bytes; Stripe's forms are a thousand times smaller.
const maxBody = 1 << 20

// call is one request on its way through the pipeline.
type call struct {
	world   *world
	request *http.Request // read only for its method and headers once it has arrived
	path    string        // without the prefix of an isolated world
	baseURL string        // where the world's pages are reached
	key     string        // the idempotency key; "" on reads, which have none

	route       route[func(*call) (operation, *apiError)]
	id          string // the {id} of the path
	form        *node
	params      *params
	formProblem *apiError // why the form could not or must not be read

	arrival         Arrival
	requestID       string
	originalRequest string // the request that first executed under the key
	faults          []fault
	headerProblem   *apiError // why a header could not be read

	readsAt   time.Time                 // when the world was as a stale read sees it; zero for now
	past      *world                    // the world as it was then
	bank      func(behaviour) behaviour // what a fault makes of the card; nil leaves it as it is
	operation operation
	claimed   bool   // the key is ours in world.running
	locked    string // the object that is ours in world.busy
	answer    answer // what deliver is about to send
}

// serveAPI answers one request to the simulated API.
func (w *world) serveAPI(rw http.ResponseWriter, r *http.Request, path, baseURL string) {
	c := &call{world: w, request: r, path: path, baseURL: baseURL, form: newGroup()}
	if !c.read(rw) {
		return
	}
	if err := c.arrive(); err != nil {
		w.log.Error("note arrival", "world", w.name, "error", err)
		errorAnswer(internalError("The simulator cannot keep its journal.")).send(rw)
		return
	}
	defer w.answered(c.requestID)
	a := c.withHeaders(c.run())
	c.depart(a)
	if a.wire == wireStall {
		c.stall()
	}
	a.send(rw)
}

// read takes the whole request from the connection; from here on the client may go away. It is false for a client that
// went away before: its request never arrived.
func (c *call) read(rw http.ResponseWriter) bool {
	body, err := io.ReadAll(http.MaxBytesReader(rw, c.request.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		c.formProblem = invalid("", "", "The request body is larger than %d bytes.", maxBody)
		c.formProblem.status = http.StatusRequestEntityTooLarge
		return true
	}
	if err != nil {
		return false
	}
	if len(body) > 0 {
		kind, _, _ := mime.ParseMediaType(c.request.Header.Get("Content-Type")) //nolint:errcheck // what cannot be read is no form
		if kind != "application/x-www-form-urlencoded" {
			c.formProblem = invalid("", "", "Send parameters as application/x-www-form-urlencoded, not as %q.", kind)
			return true
		}
	}
	encoded := string(body)
	if query := c.request.URL.RawQuery; query != "" {
		encoded += "&" + query
	}
	form, problem := parseForm(encoded)
	if problem == nil {
		if name := form.cardData(""); name != "" {
			// Not even its hash may be kept: a card number is easily guessed from one.
			form, problem = newGroup(), invalid(name, "",
				"The simulator refuses raw card data (%s). Use a test token such as pm_card_visa.", name)
		}
	}
	c.form, c.formProblem = form, problem
	return true
}

// arrive notes the request in the journal and decides which faults it will meet.
func (c *call) arrive() error {
	c.params = newParams(c.form)
	c.route, c.id, _ = match(apiRoutes, c.request.Method, c.path)
	if c.request.Method == http.MethodPost {
		c.readKey()
	}
	w := c.world
	w.mu.Lock()
	defer w.mu.Unlock()
	c.arrival = Arrival{
		N: len(w.journal) + 1, Connection: c.request.RemoteAddr, Method: c.request.Method, Path: c.path, Key: c.key,
		Faults: []string{}, At: w.clock.now(),
	}
	if c.formProblem == nil {
		c.arrival.Hash = c.form.fingerprint()
	}
	c.requestID = "req_" + w.seed.text(24, "request", strconv.Itoa(c.arrival.N))
	c.arrival.RequestID, c.originalRequest = c.requestID, c.requestID
	faults, problem := parseFaults(c.request.Header.Values("X-Sim-Fault"))
	if c.faults = faults; problem != nil {
		c.headerProblem = problem
	}
	noted := change{Arrivals: []Arrival{c.arrival}}
	if r, hit := w.ruleFor(c); hit {
		c.faults = append(c.faults, r.Fault)
		noted.Hits = []string{r.ID}
	}
	return w.commit(noted)
}

// readKey takes the idempotency key. HTTP lets through any byte, but the data file is JSON, which is UTF-8: two keys that
// differ in other bytes only would be one and the same after a restart, and both would be forgotten.
func (c *call) readKey() {
	key := c.request.Header.Get("Idempotency-Key")
	if !utf8.ValidString(key) {
		c.headerProblem = invalid("", "", "The Idempotency-Key is not valid UTF-8.")
		return
	}
	c.key = key
}

// accept answers a header that makes no sense, before anything else is looked at: a test that asks for a fault must not
// pass without it.
func (c *call) accept() *answer {
	if c.headerProblem == nil {
		return nil
	}
	a := errorAnswer(c.headerProblem)
	return &a
}

// arrivalNow is the journal line as it stands; the slice is copied since the call goes on appending to its own.
func (c *call) arrivalNow() Arrival {
	line := c.arrival
	line.Faults = slices.Clone(line.Faults)
	return line
}

// depart completes the journal line, before the answer leaves: whoever has the answer finds it in the journal.
func (c *call) depart(a answer) {
	c.arrival.Status = a.sentStatus()
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if err := c.world.commit(change{Arrivals: []Arrival{c.arrivalNow()}}); err != nil && !errors.Is(err, errClosed) {
		c.world.log.Error("note departure", "world", c.world.name, "request_id", c.requestID, "error", err)
	}
}

// withHeaders adds what every answer of the API carries.
func (c *call) withHeaders(a answer) answer {
	a = a.with("Request-Id", c.requestID).with("Stripe-Version", apiVersion)
	if c.key != "" {
		a = a.with("Idempotency-Key", c.key).with("Original-Request", c.originalRequest)
	}
	return a
}
