package api

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClient(t *testing.T) {
	t.Parallel()
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, row := range []struct {
		situation string
		proxies   Proxies
		peer      string
		forwarded []string
		client    string
	}{
		{"nobody in between", proxies, "203.0.113.7:4000", nil, "203.0.113.7"},
		{"nobody is trusted", nil, "10.0.0.1:4000", []string{"203.0.113.7"}, "10.0.0.1"},
		{"a header that the client made up", proxies, "203.0.113.7:4000", []string{"127.0.0.1"}, "203.0.113.7"},
		{"behind one proxy", proxies, "10.0.0.1:4000", []string{"203.0.113.7"}, "203.0.113.7"},
		{"behind two", proxies, "10.0.0.1:4000", []string{"203.0.113.7, 10.0.0.2"}, "203.0.113.7"},
		{"in two header lines", proxies, "10.0.0.1:4000", []string{"203.0.113.7", "10.0.0.2"}, "203.0.113.7"},
		{"made up, and then a proxy", proxies, "10.0.0.1:4000", []string{"198.51.100.1, 203.0.113.7"}, "203.0.113.7"},
		{"made up to look like a proxy", proxies, "10.0.0.1:4000", []string{"10.9.9.9, 203.0.113.7"}, "203.0.113.7"},
		{"a thousand addresses", proxies, "10.0.0.1:4000", []string{strings.Repeat("198.51.100.1,", 1000) + "203.0.113.7"}, "203.0.113.7"},
		{"a proxy that asks itself", proxies, "10.0.0.1:4000", []string{"10.0.0.2"}, "10.0.0.2"},
		{"no header", proxies, "10.0.0.1:4000", nil, "10.0.0.1"},
		{"no address", proxies, "10.0.0.1:4000", []string{"unknown"}, "10.0.0.1"},
		{"no address further on", proxies, "10.0.0.1:4000", []string{"unknown, 10.0.0.2"}, "10.0.0.2"},
		{"IPv6", proxies, "[fd00::1]:4000", []string{"2001:db8::7"}, "2001:db8::7"},
		{"an IPv4 address in IPv6's clothes", proxies, "[::ffff:10.0.0.1]:4000", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"a zone", proxies, "[fe80::1%eth0]:4000", nil, "fe80::1"},
		{"no connection at all", proxies, "", []string{"203.0.113.7"}, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: row.peer, Header: http.Header{"X-Forwarded-For": row.forwarded, "X-Real-Ip": {"192.0.2.1"}, "Forwarded": {"for=192.0.2.1"}}}
		require.Equal(t, row.client, row.proxies.client(r).String(), row.situation)
	}
}

func TestSecure_IsTLSOrATrustedProxysWord(t *testing.T) {
	t.Parallel()
	proxies := Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	over := func(peer, proto string, state *tls.ConnectionState) *http.Request {
		return &http.Request{RemoteAddr: peer, TLS: state, Header: http.Header{"X-Forwarded-Proto": {proto}}}
	}
	require.True(t, proxies.secure(over("203.0.113.7:1", "", &tls.ConnectionState{})))
	require.True(t, proxies.secure(over("10.0.0.1:1", "https", nil)))
	require.False(t, proxies.secure(over("10.0.0.1:1", "http", nil)))
	require.False(t, proxies.secure(over("203.0.113.7:1", "https", nil)))
	require.False(t, Proxies(nil).secure(over("10.0.0.1:1", "https", nil)))
}

func TestSubscriber_IsAnIPv4AddressOrAnIPv6Line(t *testing.T) {
	t.Parallel()
	require.Equal(t, "203.0.113.7/32", subscriber(netip.MustParseAddr("203.0.113.7")).String())
	require.Equal(t, "2001:db8:0:1::/64", subscriber(netip.MustParseAddr("2001:db8:0:1:2:3:4:5")).String())
	require.Equal(t, netip.Prefix{}, subscriber(netip.Addr{}))
}
