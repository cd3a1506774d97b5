//go:build unix && !linux

package localpg

import (
	"os/exec"
	"strconv"
	"strings"
)

// serves reports whether a process is the server of a data folder. ps shows a zombie without its command line.
func serves(pid int, data string) bool {
	line, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // ps does not wait
	return err == nil && strings.Contains(string(line), " -D "+data+" ")
}
