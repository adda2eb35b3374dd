"""What axe-core has against the page that is open.

Only what it is sure of counts: what it leaves to a person to judge is no fault.
"""

import json

import tools

RUN = "axe.run(document, {preload: false, resultTypes: ['violations']}).then(found => JSON.stringify(found))"
GRAVE = ("serious", "critical")


def grave_faults(browser):
    """A line for each serious or critical fault, with the elements that have it."""
    found = json.loads(browser.run_apart(tools.axe(), RUN))
    if not found["passes"]:
        raise RuntimeError("axe-core has looked at nothing")
    return [
        f"{fault['id']} at {' and '.join(str(node['target']) for node in fault['nodes'])}"
        for fault in found["violations"]
        if fault["impact"] in GRAVE
    ]
