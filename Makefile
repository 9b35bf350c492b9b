# The front door: `make` lists the targets. Logic lives in xtask.

XTASK = cargo run -q -p xtask --
EXAMPLE_SKILLS = cargo run -q -p switchboard-cli -- example-skills
TARGET ?= all
SECONDS ?= 60

.DEFAULT_GOAL := list
.PHONY: list run test check accept bench requirements contract store-pg dev fuzz soak advisories release ci clean example-skills-list example-skills-load

list:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build and serve on http://127.0.0.1:7100 (ARGS="--no-sample" …)
	cargo run -p switchboard-cli -- serve $(ARGS)

test: ## set up what tests need, then run every test (ARGS="-p switchboard-store" …)
	$(XTASK) test $(ARGS)

check: ## format, lints, dependency edges, sizes, spelling, unused dependencies, licences
	$(XTASK) check

accept: ## accept the snapshots that were reviewed
	$(XTASK) accept

bench: ## measure beside other gateways
	$(XTASK) postgres run -- bench/run $(ARGS)

requirements: ## which requirement is covered by which test (ARGS="--issue 1 --uncited")
	@$(XTASK) requirements $(ARGS)

contract: ## write openapi/v1.json; fails if it was stale
	$(XTASK) contract $(ARGS)

store-pg: ## the store's tests with a PostgreSQL and nothing else
	$(XTASK) test --no-tools -p switchboard-store

dev: ## serve from a data folder of its own (data/dev)
	cargo run -p switchboard-cli -- serve --data data/dev $(ARGS)

example-skills-list: ## list the skills under examples/skills (MCP=github)
	@$(EXAMPLE_SKILLS) list $(if $(MCP),--mcp '$(MCP)')

example-skills-load: ## load them for a member into a running server (USER_ID=… MCP=github DRY_RUN=1)
	@$(EXAMPLE_SKILLS) load $(if $(MCP),--mcp '$(MCP)') $(if $(USER_ID),--user '$(USER_ID)') $(if $(filter 1 true yes,$(DRY_RUN)),--dry-run)

fuzz: ## fuzz one target, or all in turn (TARGET=all SECONDS=60 ARGS="--keep")
	$(XTASK) fuzz $(TARGET) --seconds $(SECONDS) $(ARGS)

soak: ## the tests that take too long for every day
	$(XTASK) test $(ARGS) -- --run-ignored only -E 'test(/(^|::)soak/)'

advisories: ## ask the advisory database about our dependencies
	$(XTASK) advisories

release: ## build the optimized binary, target/guided/switchboard (ARGS=--plain: without training)
	$(XTASK) release $(ARGS)

ci: check test store-pg ## everything that must hold before a change lands
	$(XTASK) contract --check

clean: ## remove what was built and what tests were given
	cargo clean && rm -rf .cache
