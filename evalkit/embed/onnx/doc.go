// Package onnx embeds texts with sentence-transformer models on this machine:
// BERT-like encoders with a WordPiece vocabulary, as an ONNX export or as
// safetensors weights, computed by onnxruntime, whose library is loaded when
// the first text is embedded. It needs cgo. It is not for servers, nor for
// tokenizers other than WordPiece, and it trains nothing.
//
// # Same bytes
//
// Each run computes on one thread, and all texts of a batch have one length, so
// nothing is padded: the vector of a text is the same to the last bit whatever
// texts stand beside it and however many cores there are. Another release of
// onnxruntime, or another kind of processor, may differ in the last bits.
//
// # Late chunking
//
// Under late=true the model reads whole documents, and a chunk's vector is pooled
// from those of its tokens; see Late.
//
// # What differs from sentence-transformers
//
// A text without a token (blank, or control characters only) has an all-zero
// row. Rows always have length 1, whether or not the model's modules say so.
// Prefixes are settings; those that a model's own files may list are not used.
package onnx
