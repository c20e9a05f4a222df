package wire

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/chunkeval/chunkeval/evalkit"
	"github.com/chunkeval/chunkeval/evalkit/answer"
	"github.com/chunkeval/chunkeval/evalkit/experiment"
	"github.com/chunkeval/chunkeval/evalkit/llm"
)

// answerer is an answer.Answerer with its judge, as package experiment sees it.
type answerer struct {
	inner answer.Answerer
	judge *answer.Judge // nil: there is none
}

// answering builds what the keys answerer and judge name.
func (l *Lab) answering(g *Group, d draft, spec *experiment.Spec, set *experiment.Setup) error {
	v, ok := d.values["answerer"]
	j, judged := d.values["judge"]
	if judged && !ok {
		return j.At(errJudgeAlone)
	}
	if !ok || v.Text == "none" {
		return nil
	}
	var err error
	if g.answerSpec, err = answer.Parse(v.Text); err != nil {
		return v.At(err)
	}
	a := &answerer{}
	if a.inner, err = g.answerSpec.New(answer.Env{Chat: l.chat("answerer")}); err != nil {
		return v.At(err)
	}
	spec.Answerer = a.inner.String()
	g.Components["answerer"] = evalkit.Fingerprint(a.inner)
	if judged && j.Text != "none" {
		judge, err := answer.ParseJudge(j.Text)
		if err != nil {
			return j.At(err)
		}
		if a.judge, err = judge.New(answer.Env{Chat: l.chat("judge")}); err != nil {
			return j.At(err)
		}
		g.judgeSpec = &judge
		spec.Judge = a.judge.String()
		g.Components["judge"] = evalkit.Fingerprint(a.judge)
	}
	set.Answerer = a
	return nil
}

// chat returns what makes the client of a role. Its answers are kept under
// CacheDir: a run that is repeated sends nothing and gives the same numbers.
func (l *Lab) chat(role string) func(llm.Config) (llm.Chatter, error) {
	return func(c llm.Config) (llm.Chatter, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		key := role + " " + c.Identity() + c.Rest()
		if known, ok := l.chats[key]; ok {
			return known, nil
		}
		client, err := llm.New(c, llm.Options{})
		if err != nil {
			return nil, err
		}
		l.spent = append(l.spent, &account{role: role, spender: client})
		dir := ""
		if l.CacheDir != "" {
			dir = filepath.Join(l.CacheDir, "answers")
		}
		if l.chats == nil {
			l.chats = map[string]llm.Chatter{}
		}
		l.chats[key] = llm.NewCache(client, c.Identity(), dir)
		return l.chats[key], nil
	}
}

// Answer implements experiment.Answerer.
func (a *answerer) Answer(ctx context.Context, q evalkit.Query, flat []evalkit.RetrievedChunk, texts *evalkit.Texts) *experiment.Answer {
	p := a.inner.Prompt(q.Text, flat, texts)
	got, err := a.inner.Answer(ctx, p)
	if err != nil {
		out := a.Unanswered(q, "answerer: "+err.Error())
		out.PromptSHA256 = p.SHA256()
		return out
	}
	out := &experiment.Answer{
		Text: got.Text, Abstained: got.Abstained, Cut: got.Cut, Model: got.Model,
		PromptSHA256: got.PromptHash, PromptTokens: got.Prompt, CompletionTokens: got.Completion,
	}
	scores := answer.Scores(q, got)
	if a.judge != nil {
		verdicts, err := a.judge.Judge(ctx, q, p, got)
		if err != nil {
			out.Failed = err.Error()
		}
		scores = append(scores, answer.JudgeScores(q, got, verdicts)...)
		for _, v := range verdicts {
			out.Verdicts = append(out.Verdicts, verdictOf(v))
		}
	}
	out.Scores = stored(scores)
	if out.Failed != "" {
		a.countFailed(q, out)
	}
	return out
}

// Unanswered implements experiment.Answerer.
func (a *answerer) Unanswered(q evalkit.Query, why string) *experiment.Answer {
	out := &experiment.Answer{Failed: why}
	a.countFailed(q, out)
	return out
}

// countFailed gives a failed answer 0 in every score that it lacks and an answer
// to q could have.
func (a *answerer) countFailed(q evalkit.Query, x *experiment.Answer) {
	all := answer.Scores(q, &answer.Answer{})
	if a.judge != nil {
		all = append(all, answer.JudgeScores(q, &answer.Answer{Abstained: true}, nil)...)
	}
	for _, s := range stored(all) {
		s.Value = 0
		if s.Metric == answer.MetricFaithfulness {
			s.Reason = "nothing was said"
		}
		at := slices.IndexFunc(x.Scores, func(y experiment.AnswerScore) bool { return y.Metric == s.Metric })
		switch {
		case at < 0:
			x.Scores = append(x.Scores, s)
		case x.Scores[at].Reason != "" && s.Reason == "":
			x.Scores[at] = s
		}
	}
}

func stored(scores []answer.Score) []experiment.AnswerScore {
	var out []experiment.AnswerScore
	for _, s := range scores {
		out = append(out, experiment.AnswerScore{Metric: s.Metric, Value: s.Value, Reason: s.Reason})
	}
	return out
}

// The words of a stored verdict.
const (
	verdictYes        = "yes"
	verdictNo         = "no"
	verdictUnreadable = "unreadable"
)

func verdictOf(v answer.Verdict) experiment.Verdict {
	word := verdictNo
	switch {
	case !v.Readable:
		word = verdictUnreadable
	case v.Yes:
		word = verdictYes
	}
	return experiment.Verdict{
		Metric: v.Metric, Pass: v.Pass, Verdict: word, Raw: v.Raw, Judge: v.Judge, PromptVersion: v.PromptVersion,
		PromptSHA256: v.PromptHash, PromptTokens: v.Prompt, CompletionTokens: v.Completion,
	}
}

// Summarize implements experiment.Answerer.
func (a *answerer) Summarize(answers []*experiment.Answer) *experiment.AnswerSummary {
	s := &experiment.AnswerSummary{N: len(answers)}
	metrics := []string{answer.MetricExactMatch, answer.MetricTokenF1, answer.MetricROUGEL, answer.MetricAbstention}
	if a.judge != nil {
		metrics = append(metrics, answer.MetricFaithfulness, answer.MetricCorrectness)
	}
	for _, x := range answers {
		if x.Failed != "" {
			s.Failed++
		}
		if x.Abstained {
			s.Abstained++
		}
		s.PromptTokens += x.PromptTokens
		s.CompletionTokens += x.CompletionTokens
		for _, v := range x.Verdicts {
			s.PromptTokens += v.PromptTokens
			s.CompletionTokens += v.CompletionTokens
		}
	}
	for _, m := range metrics {
		s.Means = append(s.Means, meanOf(m, answers))
	}
	if a.judge != nil {
		s.Agreement = []experiment.Agreement{agreement(answer.MetricFaithfulness, answers), agreement(answer.MetricCorrectness, answers)}
	}
	return s
}

func meanOf(metric string, answers []*experiment.Answer) experiment.AnswerMean {
	m := experiment.AnswerMean{Metric: metric}
	sum := 0.0
	for _, a := range answers {
		at := slices.IndexFunc(a.Scores, func(s experiment.AnswerScore) bool { return s.Metric == metric && s.Reason == "" })
		if at < 0 {
			m.Undefined++
			continue
		}
		m.N++
		sum += a.Scores[at].Value
	}
	if m.N > 0 {
		mean := sum / float64(m.N)
		m.Mean = &mean
	}
	return m
}

func agreement(metric string, answers []*experiment.Answer) experiment.Agreement {
	all := make([][]answer.Verdict, len(answers))
	for i, a := range answers {
		for _, v := range a.Verdicts {
			all[i] = append(all[i], answer.Verdict{Metric: v.Metric, Pass: v.Pass, Yes: v.Verdict == verdictYes, Readable: v.Verdict != verdictUnreadable})
		}
	}
	kappa, pairs, err := answer.Agreement(metric, all)
	if err != nil {
		return experiment.Agreement{Metric: metric, Pairs: pairs, Note: err.Error()}
	}
	return experiment.Agreement{Metric: metric, Pairs: pairs, Kappa: &kappa}
}
