// Package server serves the dashboard's pages and the query API over HTTP. It
// keeps nothing: pages come from a report.Site, runs are stored by whoever
// passes Run, and nothing else is written.
//
//	GET    /…                     the pages of report.Site
//	POST   /api/query             retrieve for one question, in both shapes
//	GET    /api/experiments       the stored Experiments
//	POST   /api/experiments       start a run
//	GET    /api/runs              the runs since the server started
//	GET    /api/runs/{id}/events  progress of a run, as server-sent events
//	DELETE /api/runs/{id}         cancel a run
//	GET    /api/compare?ids=a,b   a Comparison
//	GET    /openapi.json          all of this, for programs
//
// Requests name a data set; which folder that is the server's owner decides.
// Components that could read a file or call a host are refused, at any depth,
// unless the owner named them. Requests of other origins are refused, as are
// host names other than the server's, so that no page of another site can use
// it. Every error is {"error": text}.
package server
