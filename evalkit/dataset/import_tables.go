package dataset

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// chroma reads the general evaluation data of brandonstarxel/chunking_evaluation.
func (im *importer) chroma() error {
	im.meta = meta{name: "chroma", language: "en", licence: "MIT"}
	files, err := filepath.Glob(filepath.Join(globQuote(im.src), "corpora", "*.md"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		base := filepath.Base(file)
		im.document(place{file: "corpora/" + base}, strings.TrimSuffix(base, ".md"), string(text))
	}
	const table = "questions_df.csv"
	return im.eachRow(table, ',', func(at place, n int, row map[string]string) error {
		var refs []struct {
			Content *string `json:"content"`
			Start   *int    `json:"start_index"`
			End     *int    `json:"end_index"`
		}
		if err := json.Unmarshal([]byte(row["references"]), &refs); err != nil {
			return fmt.Errorf("references: %w", err)
		}
		q := rawQuery{id: fmt.Sprintf("q%03d", n), question: row["question"]}
		for _, r := range refs {
			q.gold = append(q.gold, rawGold{doc: row["corpus_id"], start: r.Start, end: r.End, text: r.Content, grade: 1})
		}
		im.query(at, q)
		return nil
	}, "question", "references", "corpus_id")
}

// globQuote makes every character of a path stand for itself in a pattern.
func globQuote(s string) string {
	if filepath.Separator == '\\' {
		return s // no quoting there
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// beir reads the format of the BEIR benchmark (Thakur et al. 2021).
func (im *importer) beir() error {
	if err := im.eachRecord("corpus.jsonl", func(at place, r beirRecord) {
		text := r.Text
		if strings.TrimSpace(r.Title) != "" {
			text = r.Title + paragraphBreak + text
		}
		im.document(at, r.ID, text)
	}); err != nil {
		return err
	}
	judged, err := im.judgments()
	if err != nil {
		return err
	}
	asked := map[string]bool{}
	unjudged := &Warning{Text: "queries have no judgment in the split and were left out"}
	err = im.eachRecord("queries.jsonl", func(at place, r beirRecord) {
		asked[r.ID] = true
		gold, ok := judged[r.ID]
		if !ok {
			unjudged.note("%q", r.ID)
			return
		}
		im.query(at, rawQuery{id: r.ID, question: r.Text, gold: gold})
	})
	for _, id := range slices.Sorted(maps.Keys(judged)) {
		if !asked[id] {
			im.probs.addf(place{file: "qrels"}, "query %q: not in queries.jsonl", id)
		}
	}
	im.notes = append(im.notes, found(unjudged)...)
	return err
}

type beirRecord struct {
	ID    string `json:"_id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func (im *importer) eachRecord(name string, f func(at place, r beirRecord)) error {
	file, err := os.Open(filepath.Join(im.src, name))
	if err != nil {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	defer file.Close() // only read from
	line, err := eachLine(file, MaxText, func(line int, data []byte) {
		at := place{file: name, line: line}
		var r beirRecord
		err := checkUnicode(data)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			im.probs.add(at, jsonError(err))
			return
		}
		f(at, r)
	})
	if err != nil {
		im.probs.add(place{file: name, line: line}, bare(err))
	}
	return nil
}

// judgments reads qrels/*.tsv: query, document and score, under a head line.
func (im *importer) judgments() (map[string][]rawGold, error) {
	split := im.opt.Split
	if split == "" {
		split = "*"
	} else {
		split = globQuote(split)
	}
	files, err := filepath.Glob(filepath.Join(globQuote(im.src), "qrels", split+".tsv"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("qrels: no file %s.tsv", split)
	}
	empty := &Warning{Text: "judgments of empty documents were left out"}
	judged := map[string][]rawGold{}
	for _, file := range files {
		err := im.eachRow("qrels/"+filepath.Base(file), '\t', func(at place, _ int, row map[string]string) error {
			doc, score := row["corpus-id"], row["score"]
			grade, err := strconv.ParseFloat(score, 64)
			if err != nil {
				return fmt.Errorf("score: %q is not a number", score)
			}
			if d, ok := im.docs[doc]; ok && d.text == "" {
				empty.note("%q", doc)
				return nil
			}
			query := row["query-id"]
			judged[query] = append(judged[query], rawGold{doc: doc, whole: true, grade: grade})
			return nil
		}, "query-id", "corpus-id", "score")
		if err != nil {
			return nil, err
		}
	}
	im.notes = append(im.notes, found(empty)...)
	return judged, nil
}

// eachRow calls f with the number, from 1, and the cells of every row of a
// table whose head line names at least columns.
func (im *importer) eachRow(name string, comma rune, f func(at place, n int, row map[string]string) error, columns ...string) error {
	file, err := os.Open(filepath.Join(im.src, filepath.FromSlash(name)))
	if err != nil {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	defer file.Close() // only read from
	rows := csv.NewReader(file)
	rows.Comma, rows.LazyQuotes = comma, comma == '\t'
	head, err := rows.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	head[0] = strings.TrimPrefix(head[0], bom)
	for _, c := range columns {
		if !slices.Contains(head, c) {
			return fmt.Errorf("%s: no column %q in its first line", name, c)
		}
	}
	for n := 1; ; n++ {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		at := place{file: name, line: line}
		row := map[string]string{}
		for i, c := range head {
			row[c] = cells[i]
		}
		if err := f(at, n, row); err != nil {
			im.probs.add(at, err)
		}
	}
}
