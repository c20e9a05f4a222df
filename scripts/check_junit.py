"""Holds a JUnit file of evalkit gate, read by junitparser, to the JSON of the same verdict."""

import json
import sys

from junitparser import Failure, JUnitXml, Skipped


def main(junit, verdict):
    want = json.load(open(verdict, encoding="utf-8"))
    (suite,) = JUnitXml.fromfile(junit)
    cases = list(suite)
    assert len(cases) == suite.tests == len(want["checks"]), (len(cases), suite.tests)
    results = {"pass": 0, "fail": 0, "inconclusive": 0}
    for case, check in zip(cases, want["checks"]):
        assert (case.classname, case.name) == (check["strategy"], check["metric"]), case
        kinds = [type(r) for r in case.result]
        assert kinds == {"pass": [], "fail": [Failure], "inconclusive": [Skipped]}[check["state"]], (case, kinds)
        assert all(r.message == check["text"] for r in case.result), case
        results[check["state"]] += 1
    assert (suite.failures, suite.skipped) == (results["fail"], results["inconclusive"])
    assert all(results.values()), f"not every state was checked: {results}"
    told = "".join(r.text for case in cases for r in case.result)
    assert want["regressed"] and all(r["question"] in told for r in want["regressed"])
    print(f"junit: {len(cases)} cases are the same in junitparser and JSON: {results}")


main(*sys.argv[1:])
