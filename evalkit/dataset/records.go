package dataset

// lines hands every record of a JSONL file to add, and reports its faults.
func (f *folder) lines(name string, add func(at place, data []byte) error) {
	file, err := f.open(name, 0)
	if err != nil {
		f.probs.add(place{file: name}, err)
		return
	}
	defer file.Close() // only read from
	line, err := eachLine(file, MaxText, func(line int, data []byte) {
		at := place{file: name, line: line}
		if err := add(at, data); err != nil {
			f.probs.add(at, err)
		}
	})
	if err != nil {
		f.probs.add(place{file: name, line: line}, bare(err))
	}
}

func (f *folder) documentLine(at place, data []byte) error {
	var id, text *string
	if err := parseObject(data, field{"id", &id}, field{"text", &text}); err != nil {
		return err
	}
	if text == nil {
		return errMissing("text")
	}
	f.document(at, value(id), *text)
	return nil
}

func (f *folder) queries() { f.lines(queriesFile, f.queryLine) }

func (f *folder) queryLine(at place, data []byte) error {
	var q rawQuery
	var tags []string // accepted for those who sort their questions; not used
	var gold []goldJSON
	err := parseObject(data,
		field{"id", &q.id}, field{"question", &q.question}, field{"gold", &gold},
		field{"answer", &q.answer}, field{"unanswerable", &q.unanswerable}, field{"tags", &tags})
	if err != nil {
		return err
	}
	for _, g := range gold {
		q.gold = append(q.gold, rawGold(g))
	}
	f.query(at, q)
	return nil
}

// goldJSON is a rawGold that reads itself strictly.
type goldJSON rawGold

// UnmarshalJSON reads one entry of gold; without a grade it is 1.
func (g *goldJSON) UnmarshalJSON(data []byte) error {
	g.grade = 1
	return parseObject(data,
		field{"doc", &g.doc}, field{"start", &g.start}, field{"end", &g.end}, field{"text", &g.text},
		field{"quote", &g.quote}, field{"occurrence", &g.occurrence}, field{"grade", &g.grade})
}

type errMissing string

func (e errMissing) Error() string { return string(e) + ": missing" }

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
