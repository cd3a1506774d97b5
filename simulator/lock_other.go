//go:build !unix

package simulator

import "errors"

// lockFile refuses: without a lock that ends with its process, two simulators could write to one file.
func lockFile(string) (unlock func() error, err error) {
	return nil, errors.New("data files need a Unix system; leave Data empty")
}
