package repository

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// simpleQuery is the message by which a statement without parameters is asked.
func simpleQuery(sql string) []byte {
	length := len(sql) + 5
	return append(append([]byte{'Q', byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)}, sql...), 0)
}

func TestGuardedConn_AnEndAfterMoreThanTheBeginningIsNoLeaveToRepeat(t *testing.T) {
	t.Parallel()
	begin := simpleQuery("BEGIN READ WRITE; SET LOCAL payonce.merchant = 'mrc_a'")
	startup, password, tls := []byte{0, 0, 0, 8, 4, 210, 22, 47}, []byte{'p', 0, 0, 0, 5, 0}, []byte{22, 3, 1, 0, 5}
	for _, row := range []struct {
		situation string
		sent      [][]byte
		eof       bool // database/sql may try again on another connection
	}{
		{"nothing sent", nil, true},
		{"still starting", [][]byte{startup, password}, true},
		{"the beginning", [][]byte{startup, begin}, true},
		{"the beginning of work for all merchants", [][]byte{startup, simpleQuery("BEGIN READ ONLY; SET LOCAL payonce.merchant = '*'")}, true},
		{"a second beginning, after a finished transaction", [][]byte{startup, begin, simpleQuery("COMMIT"), begin}, true},
		{"COMMIT", [][]byte{startup, begin, simpleQuery("COMMIT")}, false},
		{"a statement", [][]byte{startup, simpleQuery("INSERT INTO x VALUES (1)")}, false},
		{"a prepared statement", [][]byte{startup, {'P', 0, 0, 0, 8, 0, 'x', 0, 0}}, false},
		{"a scope and a statement", [][]byte{startup, simpleQuery("SET LOCAL payonce.merchant = '*'; SELECT 1")}, false},
		{"the beginning and more in one query", [][]byte{startup, simpleQuery("BEGIN READ WRITE; SET LOCAL payonce.merchant = 'mrc_a'; INSERT INTO x VALUES (1)")}, false},
		{"more in one query, in the literal", [][]byte{startup, simpleQuery("BEGIN READ WRITE; SET LOCAL payonce.merchant = 'mrc_a'; DELETE FROM x WHERE y = 'mrc_a'")}, false},
		{"the beginning with a message behind it", [][]byte{startup, append(bytes.Clone(begin), simpleQuery("INSERT INTO x VALUES (1)")...)}, false},
		{"encrypted", [][]byte{startup, tls}, false},
	} {
		t.Run(row.situation, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			go func() {
				far, err := listener.Accept()
				if err != nil {
					return
				}
				for _, message := range row.sent {
					_, _ = io.ReadFull(far, make([]byte, len(message)))
				}
				far.Close()
			}()
			conn, err := newGuardedDialer(time.Minute).Dial("tcp", listener.Addr().String())
			require.NoError(t, err)
			defer conn.Close()
			for _, message := range row.sent {
				_, err := conn.Write(message)
				require.NoError(t, err)
			}
			_, err = conn.Read(make([]byte, 1))
			require.Equal(t, row.eof, errors.Is(err, io.EOF) && err == io.EOF, "%v", err) //nolint:errorlint // the driver compares like this
			if !row.eof {
				var network *net.OpError
				require.ErrorAs(t, err, &network)
			}
		})
	}
}

// begins says the same as isBegin of a statement, in another way.
func begins(text string) bool {
	rest, found := strings.CutPrefix(text, "BEGIN READ WRITE; SET LOCAL payonce.merchant = '")
	if !found {
		rest, found = strings.CutPrefix(text, "BEGIN READ ONLY; SET LOCAL payonce.merchant = '")
	}
	merchant, closed := strings.CutSuffix(rest, "'")
	number, named := strings.CutPrefix(merchant, "mrc_")
	return found && closed && (merchant == "*" || named && number != "" && strings.Trim(number, "0123456789abcdefghijklmnopqrstuvwxyz") == "")
}

func TestIsBegin_KnowsEveryBeginningAndNothingElse(t *testing.T) {
	t.Parallel()
	scopes := rapid.OneOf(rapid.Just(everyMerchant), rapid.StringMatching(`mrc_[0-9a-z]+`))
	rapid.Check(t, func(t *rapid.T) {
		text := beginning(scopes.Draw(t, "merchant"), rapid.Bool().Draw(t, "read only"))
		message := simpleQuery(text)
		require.True(t, isBegin(message), text)

		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		added := rapid.OneOf(rapid.SampledFrom([]string{";", "'", "--", "/*", "\x00", "\n", " ", "; COMMIT", "'; DROP TABLE x; --"}), rapid.StringN(1, 5, -1)).Draw(t, "added")
		changed := text[:at] + added + text[at:]
		require.Equal(t, begins(changed), isBegin(simpleQuery(changed)), "%q", changed)

		cut := rapid.IntRange(0, len(message)-1).Draw(t, "cut")
		require.False(t, isBegin(message[:cut]), "a part of the message")
		message[rapid.IntRange(0, 4).Draw(t, "byte of the head")]++
		require.False(t, isBegin(message), "another type or length")
	})
}
