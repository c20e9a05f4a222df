// Package openai makes embedders of servers that speak the OpenAI interface:
// OpenAI, Ollama, vLLM, TEI, llama.cpp. Package llm does the talking; this one
// decides what is sent: batches, prefixes, what becomes of a text beyond the
// model's window, and which vectors are none.
//
// It is not for models that run in the process.
package openai
