# Two commands are enough: "make run" and "make test". "make help" lists the rest.
GO      ?= go
RESULTS ?= results
CONFIG  ?= scripts/handbook.yaml
# An embedder in place of the file's. minilm is fetched if it is not there yet.
EMBEDDER ?=

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort

.PHONY: setup
setup: ## fetch the chart library and, where it can, a browser for the tests
	@scripts/fetch_echarts.sh
	@scripts/fetch_browser.sh

.PHONY: charts
charts:
	@scripts/fetch_echarts.sh

bin/evalkit: FORCE charts
	@mkdir -p bin
	@$(GO) build -trimpath -o $@ ./evalkit/cmd/evalkit
FORCE:

.PHONY: build
build: bin/evalkit ## build the command into bin/

.PHONY: run
run: bin/evalkit ## run the sweep over datasets/handbook, print the table, write the pages (EMBEDDER=minilm: with a neural model)
	@$(if $(filter minilm,$(EMBEDDER)),bin/evalkit model pull minilm)
	@bin/evalkit run $(CONFIG) --results $(RESULTS) $(if $(EMBEDDER),--embedder '$(EMBEDDER)')
	@bin/evalkit site reports/dashboard --results $(RESULTS)

.PHONY: serve
serve: bin/evalkit ## the same pages live, with queries and runs
	@bin/evalkit serve --results $(RESULTS) --config $(CONFIG)

.PHONY: test
test: setup check ## all checks and tests, with the race detector
	$(GO) test -race -shuffle=on ./...
	$(MAKE) --no-print-directory readers notebooks-test notebooks

.PHONY: check
check: ## formatting and vet
	@test -z "$$(gofmt -l evalkit)" || { echo "gofmt: run gofmt -w on:"; gofmt -l evalkit; exit 1; }
	$(GO) vet ./...

TOOL = $(GO) tool -modfile=scripts/tools/go.mod

.PHONY: lint
lint: ## gofumpt, staticcheck and go fix, at the versions pinned in scripts/tools
	@test -z "$$($(TOOL) gofumpt -l evalkit)" || { echo "gofumpt: run it on:"; $(TOOL) gofumpt -l evalkit; exit 1; }
	$(TOOL) staticcheck -checks all,-ST1000 ./... # package comments are checked by deps_test.go
	@test -z "$$($(GO) fix -diff ./...)" || { echo "go fix: run it"; exit 1; }

.PHONY: readers
readers: bin/evalkit ## read stored Parquet with DuckDB and pyarrow, and JUnit with junitparser
	@scripts/check_readers.sh

.PHONY: jupyter
jupyter: charts ## open JupyterLab with the Go kernel ready (all below bin/jupyter)
	@scripts/notebooks/setup.sh lab
	@$(GO) build ./evalkit/notebook/... ./evalkit/gate # what cells link; the first time takes minutes
	@scripts/notebooks/with.sh jupyter lab --ServerApp.root_dir=notebooks $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: notebooks
notebooks: charts ## run every notebook without a browser, write reports/notebooks/*.html
	@scripts/notebooks/setup.sh
	@python3 scripts/notebooks/check.py notebooks/*.ipynb
	@$(GO) build ./evalkit/notebook/... ./evalkit/gate # not on the time of a cell
	@scripts/notebooks/with.sh python scripts/notebooks/run.py --out reports/notebooks notebooks/*.ipynb

.PHONY: notebooks-test
notebooks-test: charts ## tests of how notebooks are run: cells that fail, hang, exit, print too much
	@scripts/notebooks/setup.sh
	@scripts/notebooks/with.sh python scripts/notebooks/test_notebooks.py

.PHONY: reproduce
reproduce: bin/evalkit ## run what reports/*.yaml describe and hold the numbers to it
	@bin/evalkit reproduce $(wildcard reports/*.yaml) --results $(RESULTS) --quiet

.PHONY: reproduce-page
reproduce-page: bin/evalkit ## write reports/reproduce.md from reports/*.yaml
	@bin/evalkit reproduce $(wildcard reports/*.yaml) --page reports/reproduce.md

.PHONY: paper
paper: ## the published table beside ours (needs ../shared/data/chroma)
	@scripts/paper.sh

.PHONY: bench
bench: ## benchmarks of every stage
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: golden
golden: ## rewrite golden files; look at the diff
	$(GO) test $$(grep -rl internal/golden --include=*_test.go evalkit | xargs -n1 dirname | sort -u | sed 's,^,./,') -update

.PHONY: clean
clean: ## remove what was built; results stay
	rm -rf bin
