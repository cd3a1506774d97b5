package localpg

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// serves reports whether a process is the server of a data folder. A zombie has no command line and so serves nothing.
func serves(pid int, data string) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && slices.Contains(strings.Split(string(text), "\x00"), data)
}
