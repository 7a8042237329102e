// Times networks here and in ONNX Runtime in turn; started by tools/compare-networks.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { basename } from 'node:path';

const [program, modules, threadsText, roundsText, set, ...models] = process.argv.slice(2);
const ort = createRequire(modules + '/')('onnxruntime-node');
const threads = Number(threadsText);
const rounds = Number(roundsText);
const kRuns = 20; // of each round

const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// The fixed input of both: its bytes do not matter for the time.
async function open(model) {
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all',
    logSeverityLevel: 3
  });
  const feeds = {};
  for (const input of session.inputMetadata) {
    const shape = input.shape.map(side => (typeof side === 'number' ? side : 1));
    const count = shape.reduce((a, b) => a * b, 1);
    if (input.type === 'int64') {
      feeds[input.name] = new ort.Tensor('int64', BigInt64Array.from([640n, 480n]), shape);
    } else if (shape.length === 4) {
      const values = Float32Array.from({ length: count }, (_, i) => (Math.imul(i, 2654435761) >>> 24) / 255);
      feeds[input.name] = new ort.Tensor('float32', values, shape);
    }
  }
  return { session, feeds };
}

// Threads of the other one go on spinning for a while.
const rest = () => new Promise(resolve => setTimeout(resolve, 300));

async function theirs({ session, feeds }) {
  await rest();
  const times = [];
  for (let i = 0; i < kRuns; ++i) {
    const start = process.hrtime.bigint();
    await session.run(feeds);
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
  return median(times);
}

console.log(`| network | ours, ms | ONNX Runtime, ms | times as fast |\n|---|---|---|---|`);
for (const model of models) {
  const child = spawn(program, [model, String(threads), set], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ours = async () => {
    await rest();
    child.stdin.write(`${kRuns}\n`);
    return Number((await lines.next()).value);
  };
  const other = await open(model);
  await ours();
  await theirs(other);
  const own = [], their = [];
  for (let round = 0; round < rounds; ++round) {
    own.push(await ours());
    their.push(await theirs(other));
  }
  child.stdin.end();
  const ratios = own.map((one, i) => their[i] / one);
  console.log(`| ${basename(model)} | ${median(own).toFixed(2)} | ${median(their).toFixed(2)} | ${median(ratios).toFixed(2)} |`);
}
