// Package wire turns what a user wrote into components: the strings of a
// configuration file, of flags or of a request into the values that package
// experiment runs. It is the one place that knows all stages; it holds no
// logic of theirs.
package wire
