// Package llm calls servers that speak the OpenAI interface over HTTP: OpenAI,
// Ollama, vLLM, TEI, llama.cpp and others. It holds what every such call needs:
// the key, waiting and trying again, limits of time and size, and the count of
// what was used. It is the only importer of the client library.
//
// It does not know what is asked: package embed/openai makes embedders of it,
// package answer answerers. It keeps nothing on disk but the answers of a
// Cache.
//
// # Keys
//
// A key comes from a variable of the environment and from nowhere else. It is
// in no error, string, record or file; a message of the server that repeats it
// is changed. A URL with a user, password or query is refused, for the same
// reason, and a redirect is not followed.
package llm
