# Every target says what it does in "make help".

CLAUDE_VERSION := $(shell sed -n 's/^CLAUDE_VERSION=//p' packaging/setup.sh)
CLAUDE := $(CURDIR)/.tools/claude-$(CLAUDE_VERSION)/claude
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME ?= 20s
DIR ?=
SHORT ?=
RUNS ?= 200
PREFIX ?= $(HOME)/.local

# What the tests need to know. BBOLT_VERIFY makes the store check itself at
# every transaction.
TESTENV := DECKHAND_TEST_CLAUDE=$(CLAUDE) BBOLT_VERIFY=all

.DEFAULT_GOAL := help
.PHONY: help setup setup-test setup-desktop build install demo test test-installed test-installed-write \
	test-installed-direct-write lint crash desktop soak bench fuzz cover clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-27s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Fetch the pinned Claude Code, and bubblewrap on Linux
	@packaging/setup.sh

setup-test: ## What setup does, and what the tests need beyond it
	@packaging/setup.sh test

setup-desktop:
	@packaging/setup.sh desktop

build: ## Build bin/deckhand
	@echo "build: bin/deckhand $(VERSION)"
	@go build -trimpath -buildvcs=false -ldflags "-X main.release=$(VERSION)" -o bin/deckhand ./app

install: build ## Put deckhand into PREFIX/bin (~/.local/bin)
	@mkdir -p "$(PREFIX)/bin"
	@install -m 0755 bin/deckhand "$(PREFIX)/bin/deckhand"
	@echo "install: $(PREFIX)/bin/deckhand"

demo: setup build ## Show the main job on a sample project, or on DIR=/some/project
	@DECKHAND_CLAUDE=$(CLAUDE) bin/deckhand demo $(if $(DIR),"$(DIR)")

test: setup-test build lint ## Do everything that has to pass before a change goes in
	@echo "test: go test -race ./..."
	@$(TESTENV) go test -race -timeout 20m ./...

# The suites that drive an installed Claude Code through one job. "make test" has
# them too.
test-installed: SUITE = TestInstalledRead
test-installed: ## Read a whole computer with the real Claude Code
test-installed-write: SUITE = TestInstalledWrite
test-installed-write: ## Read, write and run a command in a worktree, with the real Claude Code
test-installed-direct-write: SUITE = TestInstalledDirectWrite
test-installed-direct-write: ## The same in a real folder

test-installed test-installed-write test-installed-direct-write: setup-test build
	@echo "test: $(SUITE)"
	@$(TESTENV) go test -race -count=1 -timeout 12m -run '^$(SUITE)$$' -v ./tests

lint: ## Check formatting, go vet for Linux and macOS, staticcheck
	@echo "lint: gofmt"
	@unformatted=$$(gofmt -l app assets gateway tests tray); \
		if [ -n "$$unformatted" ]; then echo "not formatted, run gofmt -w on:"; echo "$$unformatted"; exit 1; fi >&2
	@echo "lint: go vet"
	@go vet ./...
	@echo "lint: go vet, as on macOS without cgo"
	@GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go vet ./...
	@GOOS=darwin GOARCH=amd64 CGO_ENABLED=0 go vet ./gateway/sandbox/...
	@echo "lint: staticcheck"
	@go run $(STATICCHECK) ./...

crash: setup-test build ## Kill the gateway 200 times, or RUNS=n, while sessions write
	@echo "crash: $(RUNS) kills"
	@$(TESTENV) DECKHAND_TEST_KILLS=$(RUNS) go test -run '^TestWritesSurviveKillsAtRandom' -count=1 -timeout 60m -v ./tests

desktop: setup-desktop build ## Drive the menu on a real panel, without a monitor; pictures go to bin/desktop
	@echo "desktop: go test -tags desktop ./tests"
	@$(TESTENV) go test -tags desktop -run '^TestTheMenuOnARealPanel' -count=1 -timeout 10m -v ./tests

soak: setup-test build ## Hold a turn 35 minutes and a tool call 11, or with SHORT=1 two minutes
	@echo "soak: go test -tags soak $(if $(SHORT),-short )./tests"
	@$(TESTENV) go test -tags soak $(if $(SHORT),-short) -run '^TestSoak' -count=1 -timeout 90m -v ./tests

bench: ## Print the ratios of our times to the least that is possible, on the disk of DIR (bin)
	@mkdir -p bin
	@go run ./tests/bench -dir $(if $(DIR),"$(DIR)",bin)

fuzz: ## Run every fuzzer for FUZZTIME (20s)
	@for file in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
			echo "fuzz: $$name in $$(dirname $$file) for $(FUZZTIME)"; \
			$(TESTENV) go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file) || exit 1; \
		done; \
	done

cover: setup-test ## Report which code the tests reach, in bin/cover.html
	@echo "cover: go test -cover ./..."
	@mkdir -p bin
	@$(TESTENV) go test -coverpkg=./... -coverprofile=bin/cover.out ./... >/dev/null
	@go tool cover -html=bin/cover.out -o bin/cover.html
	@go tool cover -func=bin/cover.out | tail -1

clean: ## Remove what build, cover and setup made
	rm -rf bin dist .tools
