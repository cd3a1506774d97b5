package api

import (
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks of the reverse proxies in front of the service. What the headers X-Forwarded-For and
// X-Forwarded-Proto say is believed only as far as one of these has written it: anybody can send such a header, and who
// could choose the address that is counted and logged would be neither limited nor found.
type Proxies []netip.Prefix

// client is the address of whoever sent the request: the direct peer, unless that is a trusted proxy. Each proxy appends
// the address that it has seen, so the header is read from the right, and the first address that is no proxy of ours is
// the client. Everything to the left of it is what the client claims.
func (p Proxies) client(r *http.Request) netip.Addr {
	client := peer(r)
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.trust(client); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // the nearest address that is known
		}
		client = unmapped(hop)
	}
	return client
}

// secure reports whether the request reached us, or our proxy, over TLS.
func (p Proxies) secure(r *http.Request) bool {
	return r.TLS != nil || p.trust(peer(r)) && r.Header.Get("X-Forwarded-Proto") == "https"
}

func (p Proxies) trust(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// peer is the other end of the connection; not valid when there is none, as for a request of this process to itself.
func peer(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return unmapped(at.Addr())
}

// unmapped writes an address in its one form: 127.0.0.1 and ::ffff:127.0.0.1 are the same.
func unmapped(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// subscriber is the part of an address that one client has for itself. An IPv6 line comes with a whole /64, so counting
// single addresses would limit nobody.
func subscriber(address netip.Addr) netip.Prefix {
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	network, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}

// StrictTransport tells browsers that came over TLS to use nothing else from now on (RFC 6797). Over plain HTTP the header
// would mean nothing, and must not be sent.
func StrictTransport(proxies Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if proxies.secure(r) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}
