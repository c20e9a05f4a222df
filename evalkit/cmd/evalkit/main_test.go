package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"evalkit": main})
}

// TestScripts runs testdata/script: commands, files and what they print, one
// page each. A status is checked with "status N evalkit …".
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", e.WorkDir+"/user-cache")
			return writeToy(e.WorkDir + "/toy")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": checkStatus},
	})
}

// checkStatus runs a command and compares its exit status.
func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command…")
	}
	got := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// writeToy makes the data set that the scripts share: three documents, two
// questions with an answer and one without.
func writeToy(dir string) error {
	files := map[string]string{
		"dataset.yaml":        "name: toy\nlanguage: en\nlicence: CC0-1.0\n",
		"documents/leave.md":  "# Leave\n\nStaff in Bergen have 27 days of leave. Staff in Halifax have fewer days.\n\n## Notice\n\nAsk three weeks ahead. For long leave the notice is eight weeks.\n",
		"documents/travel.md": "# Travel\n\nTrains replace flights of up to six hours. First class is paid from three hours upward.\n\n## Cars\n\nA kilometre in your own car is paid with 38 cents.\n",
		"documents/empty.md":  " \n\n",
		"queries.jsonl": `{"id":"q1","question":"How long is the notice for long leave?","gold":[{"doc":"leave.md","quote":"For long leave the notice is eight weeks."}],"answer":"eight weeks"}
{"id":"q2","question":"What does a kilometre in the car pay?","gold":[{"doc":"travel.md","quote":"A kilometre in your own car is paid with 38 cents."}]}
{"id":"q3","question":"Who repairs the boats?","gold":[],"unanswerable":true}
`,
	}
	if err := os.MkdirAll(dir+"/documents", 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// capture runs the command in this process.
func capture(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var out, errs strings.Builder
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGUSR2)
	defer stop()
	err = run(ctx, args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), err
}

func TestHO_CLI_03_HelpListsExitStatuses(t *testing.T) {
	out, _, err := capture(t, "--help")
	require.NoError(t, err)
	for _, s := range []string{"0    done", "1    failed", "2    usage", "3    inconclusive", "130  interrupted"} {
		assert.Contains(t, out, s)
	}
	assert.Equal(t, 0, status(nil))
	assert.Equal(t, exitInterrupted, status(fmt.Errorf("run: %w", context.Canceled)))
	assert.Equal(t, exitUsage, status(usage(os.ErrNotExist)))
	assert.Equal(t, exitFailed, status(os.ErrClosed))
}
