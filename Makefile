# Every target also works by its plain command, which "make help" shows.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

ARGS ?=
SOURCES := $(shell find . -name '*.go' -not -path './bin/*' 2>/dev/null) $(wildcard migrations/*.sql) $(shell find web -type f 2>/dev/null) go.mod go.sum

.PHONY: help demo reset test race lint fmt fuzz postgres clean

help: ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: postgres bin/payonce ## run shop, API, worker, PostgreSQL and simulator     (go run ./cmd/payonce demo)
	@exec bin/payonce demo $(ARGS)

reset: bin/payonce ## delete the demo's data                                     (go run ./cmd/payonce demo --reset)
	@exec bin/payonce demo --reset

test: postgres ## run all tests                                                 (go test ./...)
	go test ./...

race: postgres ## run all tests under the race detector                         (go test -race ./...)
	go test -race ./...

lint: ## gofmt, vet, staticcheck, and golangci-lint where it is installed
	@unformatted="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	@if command -v golangci-lint >/dev/null; then golangci-lint run; fi

fmt: ## format the Go files
	gofmt -w $$(git ls-files '*.go')

fuzz: ## fuzz the strict JSON reader for a minute
	go test ./api/strictjson -run '^$$' -fuzz FuzzRead -fuzztime 60s

clean: ## delete what was built; data stays
	rm -rf bin

bin/payonce: $(SOURCES)
	go build -o bin/payonce ./cmd/payonce

# On Debian as root, and only when nothing else provides PostgreSQL's programs, the distribution's are installed. They
# are used with a private folder; the cluster that the package would create and start on port 5432 is not wanted.
postgres:
	@if [ -z "$${DATABASE_URL:-}" ] && [ "$$(id -u)" = 0 ] && [ -e /etc/debian_version ] && ! scripts/has-postgres; then \
		echo "payonce: installing Debian's postgresql (no PostgreSQL programs were found)"; scripts/install-postgres; fi
