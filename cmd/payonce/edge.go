package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"payonce/api"
)

// Edge are the settings of what stands between the network and the use cases. It is a part of config.
type Edge struct {
	AdminAddr   string `env:"PAYONCE_ADMIN_ADDR" help:"address of metrics and profiles; unset: 127.0.0.1:8081, or a free port when that is taken"`
	AdminPublic bool   `env:"PAYONCE_ADMIN_PUBLIC" envDefault:"false" help:"allow an address for them that other machines reach; they are not protected"`

	TrustedProxies networks `env:"PAYONCE_TRUSTED_PROXIES" help:"reverse proxies whose X-Forwarded-For and -Proto are believed, such as 10.0.0.0/8,fd00::/8; unset: nobody's are"`
	RateLimit      float64  `env:"PAYONCE_RATE_LIMIT" envDefault:"500" help:"requests per second of one API key, in each process; 0: no limit"`
	RateBurst      int      `env:"PAYONCE_RATE_BURST" envDefault:"1000" help:"how many of them may come at once"`
	FailureLimit   float64  `env:"PAYONCE_FAILURE_LIMIT" envDefault:"5" help:"requests without a valid API key per second and client address, ten times as many at once; 0: no limit"`
	MaxConnections int      `env:"PAYONCE_MAX_CONNECTIONS" envDefault:"10000" help:"connections to the public address; more have to wait"`

	DatabaseConns int           `env:"PAYONCE_DATABASE_CONNECTIONS" envDefault:"16" help:"how many requests may be at the database at once; 4 to 8 per core of it"`
	DatabaseWait  time.Duration `env:"PAYONCE_DATABASE_WAIT" envDefault:"1s" help:"a request that waits longer for its turn at the database is answered 503"`
	DatabaseQueue int           `env:"PAYONCE_DATABASE_QUEUE" envDefault:"1000" help:"how many may wait for it; the next one is answered 503 at once"`

	DrainDelay   time.Duration `env:"PAYONCE_DRAIN_DELAY" envDefault:"1s" help:"how long serve, told to stop, says so at /readyz before it takes no more requests"`
	DrainTimeout time.Duration `env:"PAYONCE_DRAIN_TIMEOUT" envDefault:"20s" help:"how long running requests get to finish after that"`
}

// slowest and fastest are the rates per second that a limit may have. Beyond them it is a mistake.
const slowest, fastest = 0.01, 1e6

// defaultAdmin is where metrics are unless a setting says otherwise.
const defaultAdmin = "127.0.0.1:8081"

func (e Edge) check() (problems []error) {
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if e.AdminAddr != "" {
		host, port, err := net.SplitHostPort(e.AdminAddr)
		switch {
		case err != nil || port == "":
			wrong("PAYONCE_ADMIN_ADDR: is not an address with a port, for example %s", defaultAdmin)
		case !loopback(host) && !e.AdminPublic:
			wrong("PAYONCE_ADMIN_ADDR: is reached by other machines, and profiles show memory with secrets in it; set PAYONCE_ADMIN_PUBLIC=true if a network of yours keeps them away")
		}
	}
	for name, positive := range map[string]bool{
		"PAYONCE_RATE_BURST": e.RateBurst > 0, "PAYONCE_MAX_CONNECTIONS": e.MaxConnections > 0,
		"PAYONCE_DATABASE_CONNECTIONS": e.DatabaseConns > 0, "PAYONCE_DATABASE_WAIT": e.DatabaseWait > 0, "PAYONCE_DATABASE_QUEUE": e.DatabaseQueue > 0,
		"PAYONCE_DRAIN_TIMEOUT": e.DrainTimeout > 0,
	} {
		if !positive {
			wrong("%s: must be more than 0", name)
		}
	}
	for name, rate := range map[string]float64{"PAYONCE_RATE_LIMIT": e.RateLimit, "PAYONCE_FAILURE_LIMIT": e.FailureLimit} {
		if rate != 0 && !(rate >= slowest && rate <= fastest) { // which refuses what is not a number, too
			wrong("%s: must be 0, or from %g to %g", name, slowest, fastest)
		}
	}
	if float64(e.RateBurst) > fastest {
		wrong("PAYONCE_RATE_BURST: must be at most %g", fastest)
	}
	if e.DrainDelay < 0 {
		wrong("PAYONCE_DRAIN_DELAY: must not be negative")
	}
	return problems
}

func (e Edge) keyRate() api.Rate { return api.Rate{PerSecond: e.RateLimit, Burst: e.RateBurst} }

// failureRate lets a client that is set up wrongly fail for a moment before it is slowed down.
func (e Edge) failureRate() api.Rate {
	return api.Rate{PerSecond: e.FailureLimit, Burst: int(10 * e.FailureLimit)}
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// networks is a setting of the form address,address/bits.
type networks []netip.Prefix

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *networks) UnmarshalText(text []byte) error {
	var out networks
	for word := range strings.SplitSeq(string(text), ",") {
		word = strings.TrimSpace(word)
		network, err := netip.ParsePrefix(word)
		if address, bare := netip.ParseAddr(word); bare == nil {
			network, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return errors.New("an address or a network such as 10.0.0.0/8 is expected")
		}
		out = append(out, network.Masked())
	}
	*n = out
	return nil
}
