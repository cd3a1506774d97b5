package simulator

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"strings"
)

// seed is the key of the pseudo-random function behind every id and every chance. Whatever is drawn depends on the
// seed and on what it is drawn for, never on time or on the order of goroutines; so the same calls give the same ids
// and the same faults, under concurrency too.
type seed uint64

func (s seed) digest(parts ...string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, binary.BigEndian.AppendUint64(nil, uint64(s)))
	for _, part := range parts {
		// The length keeps ("a", "bc") and ("ab", "c") apart.
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write([]byte(part))
	}
	return [sha256.Size]byte(mac.Sum(nil))
}

// text draws n base62 characters; n may be at most 40.
func (s seed) text(n int, parts ...string) string {
	sum := s.digest(parts...)
	digits := new(big.Int).SetBytes(sum[:]).Text(62)
	if len(digits) < n {
		digits = strings.Repeat("0", n-len(digits)) + digits
	}
	// The last digits: the first one of a 256-bit number in base 62 is far from uniform.
	return digits[len(digits)-n:]
}

// chance draws a number in [0, 1).
func (s seed) chance(parts ...string) float64 {
	sum := s.digest(parts...)
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// derive gives an isolated world its own seed.
func (s seed) derive(world string) seed {
	sum := s.digest("world", world)
	return seed(binary.BigEndian.Uint64(sum[:]))
}
