package repository_test

import (
	"testing"

	"payonce/repository/repositorytest"
)

func TestMain(m *testing.M) { repositorytest.Main(m) }
