package dataset

// The words of generated documents. None of them begins with a letter outside
// ASCII.
var (
	places = []string{
		"Aldermoor", "Brünnfeld", "Cadwell", "Drumlin Bay", "Eastholm", "Fjordvik", "Grimsby Rise", "Haldén", "Ivorne",
		"Jarlstad", "Kettleby", "Lóndola", "Marrow Hill", "Norrbyn", "Ostwick", "Pellworth", "Quillan", "Rosscastle",
		"Sankt Veith", "Tannick", "Ullerby", "Vexford", "Wendmünde", "Yarrow End", "Zellbach",
	}
	topics = []string{
		"Harbour works", "River survey", "Winter roads", "Grain store", "Signal line", "Bell foundry", "Salt trade",
		"School garden", "Quarry railway", "Weather station", "Paper mill", "Night ferry", "Town archive", "Glass workshop",
		"Reading room", "Peat cutting", "Bridge repair", "Orchard census", "Tide table", "Lamp oil", "Café register",
	}
	people = []string{
		"keeper", "surveyor", "clerk", "ferryman", "teacher", "miller", "engineer", "printer", "gardener", "pilot", "archivist",
		"baker", "stonemason", "watchmaker", "forester", "postmaster",
	}
	acts = []string{
		"counted the barrels twice", "closed the upper gate", "measured the depth of the channel", "moved the fence to the east side",
		"found the old plans again", "asked for a second opinion", "repaired the roof before the rain came", "sold the spare timber",
		"opened the hall to visitors", "drew a map from memory", "answered every letter", "waited for the thaw",
		"painted the doors green", "kept a naïve diary", "trained two apprentices", "left the lamp burning",
	}
	causes = []string{
		"because the spring flood had come early", "after the council had voted on it", "although nobody had asked for it",
		"since the previous one had worn out", "to match the rules of the neighbouring town", "once the measurements were complete",
		"because the supplier had changed", "after a long dispute about costs", "so that the night shift could manage alone",
		"when the insurance was renewed",
	}
	things = []struct{ noun, attribute, unit string }{
		{"pump", "rated pressure", "kPa"},
		{"boiler", "test temperature", "°C"},
		{"crane", "greatest load", "kg"},
		{"sluice", "opening width", "mm"},
		{"turbine", "idle speed", "rpm"},
		{"beacon", "range", "m"},
		{"reservoir", "volume", "m³"},
		{"conveyor", "yearly service cost", "€"},
		{"kiln", "firing time", "min"},
		{"winch", "rope length", "cm"},
	}
)
