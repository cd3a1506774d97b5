package stripe_test

import (
	"os"
	"testing"

	"payonce/simulator/stripemocktest"
)

func TestMain(m *testing.M) { os.Exit(stripemocktest.Main(m)) }
