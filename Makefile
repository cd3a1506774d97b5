# Shortcuts. Nothing needs them: "make help" shows the plain command of each.
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help

# For the program: make demo ARGS=--help
ARGS ?=

# Files that git does not know yet are checked too; hidden folders, such as the private database's, are not entered.
go_files := find . -name '.?*' -prune -o -name '*.go' -print
staticcheck := go tool -modfile=tools/go.mod staticcheck

.PHONY: help demo reset build test test-race outsider lint fmt verify fuzz clean postgres

help: ## show this list
	@awk -F ' *## *' '/^[a-z-]+:.*##/ { sub(/:.*/, "", $$1); printf "  make %-10s " ($$3 ? "%-62s %s" : "%s") "\n", $$1, $$2, $$3 }' Makefile

demo: postgres build ## run shop, API, worker, PostgreSQL and simulator; ARGS=... ## go run ./cmd/payonce demo
	@exec bin/payonce demo $(ARGS)

reset: build ## delete the demo's data ## go run ./cmd/payonce demo --reset
	@exec bin/payonce demo --reset

build: ## build bin/payonce ## go build -o bin/payonce ./cmd/payonce
	go build -o bin/payonce ./cmd/payonce

test: postgres ## run all tests, on a PostgreSQL that is started for them ## go test ./...
	go test ./...

test-race: postgres ## run them in random order under the race detector (needs gcc) ## go test -race -shuffle=on ./...
	go test -race -shuffle=on ./...

outsider: ## let stripe-mock judge the simulator and the adapter ## PAYONCE_STRIPE_MOCK=1 go test ./simulator/... ./provider/stripe
	PAYONCE_STRIPE_MOCK=1 go test -count=1 ./simulator/... ./provider/stripe

lint: ## gofmt, vet and staticcheck; golangci-lint 2 too, where it is installed
	@unformatted="$$($(go_files) | xargs gofmt -l)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted; make fmt does it:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	$(staticcheck) ./...
	@if golangci-lint version 2>/dev/null | grep -q 'version v\{0,1\}2\.'; then echo golangci-lint run; golangci-lint run; fi

fmt: ## format the Go files ## gofmt -w .
	@$(go_files) | xargs gofmt -w

verify: lint ## lint, tidy go.mod files, numbered migrations, structure, container files
	go mod tidy -diff
	cd tools && go mod tidy -diff
	go mod verify
	go test . ./migrations

fuzz: ## fuzz the strict JSON reader for a minute
	go test ./api/strictjson -run '^$$' -fuzz FuzzRead -fuzztime 60s

clean: ## delete what was built; data stay
	rm -rf bin

# On Debian as root, and only when PostgreSQL's programs are neither installed nor fetched, the distribution's are
# installed. Only the programs are wanted: the package would also start a server on port 5432, and is told not to.
# When that fails, what comes next says itself what to do.
postgres:
	@if [ -n "$${DATABASE_URL:-}" ] || [ "$$(id -u)" != 0 ] || [ ! -e /etc/debian_version ] || scripts/has-postgres; then exit 0; fi; \
	for initdb in "$${XDG_CACHE_HOME:-$${HOME:-/root}/.cache}"/payonce/postgresql-*/bin/initdb /var/tmp/payonce-cache-0/postgresql-*/bin/initdb; do \
		if [ -x "$$initdb" ]; then exit 0; fi; done; \
	echo "No PostgreSQL programs were found: installing Debian's, without a server of its own."; \
	scripts/install-postgres || echo "That did not work; going on without."
