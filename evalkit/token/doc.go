// Package token counts tokens and says where in a text each one starts. It
// makes no model input: ids are there for checks against other encoders.
//
// Offsets are bytes of the text as it is given. A byte-level encoder may start
// a token inside a character; such a token is placed at the character's start,
// so that no cut at a token damages a text.
package token
