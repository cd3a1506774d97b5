package simulator

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
)

// apiVersion is the only version that objects are rendered in.
const apiVersion = "2024-06-20"

// wire says how an answer leaves.
type wire int

const (
	wireSent  wire = iota // as an ordinary HTTP response
	wireFIN               // not at all: the connection is closed
	wireRST               // not at all: the connection is reset
	wireStall             // not at all: the connection stays open as long as the client waits
	wireShort             // its beginning only, then the connection is closed
)

// answer is what a call comes to.
type answer struct {
	status      int
	contentType string
	header      map[string]string // beside those that every answer carries
	body        []byte
	wire        wire
	short       int  // how many bytes of the body are sent by wireShort
	store       bool // keep it under the idempotency key
}

func jsonAnswer(status int, body any) answer {
	// Indented like the real thing: people read these bodies with curl.
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		// Every body is made of our own types, none of which can refuse.
		panic(err)
	}
	return answer{status: status, contentType: "application/json", body: append(text, '\n')}
}

func errorAnswer(e *apiError) answer {
	return jsonAnswer(e.status, map[string]*apiError{"error": e})
}

// with adds a header.
func (a answer) with(name, value string) answer {
	header := map[string]string{name: value}
	for k, v := range a.header {
		if k != name {
			header[k] = v
		}
	}
	a.header = header
	return a
}

// sentStatus is the status the client was sent; 0 when it was sent nothing.
func (a answer) sentStatus() int {
	if a.wire != wireSent && a.wire != wireShort {
		return 0
	}
	return a.status
}

func (a answer) send(rw http.ResponseWriter) {
	if a.wire != wireSent && a.wire != wireShort {
		cut(rw, a.wire)
		return
	}
	h := rw.Header()
	for name, value := range a.header {
		h.Set(name, value)
	}
	h.Set("Content-Type", a.contentType)
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	h.Set("Cache-Control", "no-store")
	rw.WriteHeader(a.status)
	if a.wire == wireShort {
		_, _ = rw.Write(a.body[:a.short])          //nolint:errcheck // as below
		_ = http.NewResponseController(rw).Flush() //nolint:errcheck // as below
		cut(rw, wireFIN)
		return
	}
	_, _ = rw.Write(a.body) //nolint:errcheck // a client that left is no concern of ours
}

// cut ends the connection without an answer.
func cut(rw http.ResponseWriter, how wire) {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		// Not a connection that can be taken over (HTTP/2, a recorder): the server's own way to break off.
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && how == wireRST {
		_ = tcp.SetLinger(0) //nolint:errcheck // closing now discards what is queued and sends RST
	}
	_ = conn.Close() //nolint:errcheck // it is meant to break
}
