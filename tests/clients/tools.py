"""Where tests/run has put the binary and the installed clients."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
BINARY = pathlib.Path(os.environ.get("BRAIN_MCP_BINARY", TARGET / "debug/brain-mcp"))
SAMPLE_VAULT = ROOT / "tests/fixtures/sample-vault"
NODE_MODULES = TARGET / "test-tools/npm/node_modules"


def node():
    """Node 22, which comes as a package: Debian's own is too old for some of the clients."""
    return str(next(NODE_MODULES.glob("node-linux-*/bin/node")))


def axe():
    """axe-core, which looks for what keeps people with a handicap out."""
    return (NODE_MODULES / "axe-core/axe.min.js").read_text()
