// Prints how many texts per second of processor time transformers.js embeds on
// one thread, and the first vector: the part of bench_embed.py that runs in Node.
//
//     node scripts/bench_embed.mjs NODE_MODULES FOLDER TEXTS
//
// FOLDER holds onnx/model.onnx, config.json and tokenizer.json; TEXTS is a JSON
// list. Texts go by length in batches of 1, 8 or 32, whichever is fastest. Nothing is
// fetched.
import { readFileSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, folder, file] = process.argv.slice(2).map((p) => resolve(p));
const home = resolve(modules, "@huggingface/transformers");
const { exports: entry } = JSON.parse(readFileSync(resolve(home, "package.json")));
const { env, pipeline } = await import(pathToFileURL(resolve(home, entry.node.import.default)));
env.allowRemoteModels = false;
env.localModelPath = dirname(folder);

const one = { intraOpNumThreads: 1, interOpNumThreads: 1 };
const embed = await pipeline("feature-extraction", basename(folder), { dtype: "fp32", device: "cpu", session_options: one });
const options = { pooling: "mean", normalize: true };
const texts = JSON.parse(readFileSync(file));
const first = await embed(texts.slice(0, 1), options);
const order = [...texts].sort((a, b) => b.length - a.length);

let rate = 0;
for (const size of [1, 8, 32]) {
  const start = process.cpuUsage();
  for (let i = 0; i < order.length; i += size) {
    await embed(order.slice(i, i + size), options);
  }
  const { user, system } = process.cpuUsage(start);
  rate = Math.max(rate, (texts.length / (user + system)) * 1e6);
}
console.log(JSON.stringify({ rate, first: Array.from(first.data) }));
