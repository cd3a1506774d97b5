package repository

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// simpleQuery is the message by which a statement without parameters is asked.
func simpleQuery(sql string) []byte {
	length := len(sql) + 5
	return append(append([]byte{'Q', byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)}, sql...), 0)
}

func TestGuardedConn_AnEndAfterMoreThanBeginIsNoLeaveToRepeat(t *testing.T) {
	t.Parallel()
	startup, password, tls := []byte{0, 0, 0, 8, 4, 210, 22, 47}, []byte{'p', 0, 0, 0, 5, 0}, []byte{22, 3, 1, 0, 5}
	for _, row := range []struct {
		situation string
		sent      [][]byte
		eof       bool // database/sql may try again on another connection
	}{
		{"nothing sent", nil, true},
		{"still starting", [][]byte{startup, password}, true},
		{"BEGIN", [][]byte{startup, simpleQuery("BEGIN")}, true},
		{"BEGIN with options", [][]byte{startup, simpleQuery("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY")}, true},
		{"a second BEGIN, after a finished transaction", [][]byte{startup, simpleQuery("BEGIN"), simpleQuery("COMMIT"), simpleQuery("BEGIN")}, true},
		{"COMMIT", [][]byte{startup, simpleQuery("BEGIN"), simpleQuery("COMMIT")}, false},
		{"a statement", [][]byte{startup, simpleQuery("INSERT INTO x VALUES (1)")}, false},
		{"a prepared statement", [][]byte{startup, {'P', 0, 0, 0, 8, 0, 'x', 0, 0}}, false},
		{"BEGIN and more in one query", [][]byte{startup, simpleQuery("BEGIN; INSERT INTO x VALUES (1)")}, false},
		{"BEGIN with a message behind it", [][]byte{startup, append(simpleQuery("BEGIN"), simpleQuery("INSERT INTO x VALUES (1)")...)}, false},
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
