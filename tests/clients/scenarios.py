"""Which scenarios of the conformance suite are about a server like ours, and why the others are not.

The suite was written against a demonstration server with tools, prompts and resources of its own (`test_…`).
conformance.py fails when the suite lists a scenario that is in neither table, or when a table has one too many.
"""

APPLICABLE = (
    "server-initialize",
    "server-session-lifecycle",
    "server-stateless",
    "ping",
    "completion-complete",
    "tools-list",
    "resources-list",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "sep-2164-resource-not-found",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
)

NOT_APPLICABLE = {
    "calls a tool of the demonstration server": (
        "tools-call-simple-text",
        "tools-call-image",
        "tools-call-audio",
        "tools-call-embedded-resource",
        "tools-call-mixed-content",
        "tools-call-with-logging",
        "tools-call-error",
        "tools-call-with-progress",
        "json-schema-2020-12",
        "http-custom-header-server-validation",
    ),
    "needs a server that asks the client for something; ours never does": (
        "tools-call-sampling",
        "tools-call-elicitation",
        "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
        "input-required-result-basic-elicitation",
        "input-required-result-basic-sampling",
        "input-required-result-basic-list-roots",
        "input-required-result-request-state",
        "input-required-result-multiple-input-requests",
        "input-required-result-multi-round",
        "input-required-result-missing-input-response",
        "input-required-result-non-tool-request",
        "input-required-result-result-type",
        "input-required-result-tampered-state",
        "input-required-result-capability-check",
        "input-required-result-ignore-extra-params",
    ),
    "reads a resource of the demonstration server": (
        "resources-read-text",
        "resources-read-binary",
        "resources-templates-read",
    ),
    "gets a prompt of the demonstration server": (
        "prompts-get-simple",
        "prompts-get-with-args",
        "prompts-get-embedded-resource",
        "prompts-get-with-image",
    ),
    "we do not advertise logging to the client": ("logging-set-level",),
    "tests the tasks extension, which we do not offer": (
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-status-notifications",
        "tasks-required-task-error",
        "tasks-mrtr-composition",
    ),
    "tests the skills extension, which we do not offer": (
        "sep-2640-skills-directory",
        "sep-2640-skills-enumeration",
        "sep-2640-skills-manifest",
    ),
}

# Single checks within an applicable scenario that need the demonstration server.
# The suite itself complains about an entry that no longer fails.
EXPECTED_FAILURES = {
    "server-stateless": (
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    ),
}

AUTHORIZATION = (
    "authorization-server-metadata-endpoint",
    "authorization-code-grant",
)
