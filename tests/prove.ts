/** `bun run prove NAME [options]`: one of the proofs that take longer than the test command has time for. */
const PROOFS: Record<string, { file: string; what: string }> = {
  floods: { file: './floods/run.ts', what: 'texts without end in every text field, while others ask for /health' },
  model: { file: './billing/model-run.ts', what: 'random lives of an account, beside a model' },
  mutants: { file: './mutants/run.ts', what: 'small faults in rooms, and whether a test sees each' },
  overdraft: { file: './billing/overdraft-run.ts', what: 'credit for 10 calls, under 200 at once' },
}

const [name = ''] = process.argv.splice(2, 1)
const proof = PROOFS[name]
if (!proof) {
  const known = Object.entries(PROOFS).map(([one, { what }]) => `  bun run prove ${one.padEnd(10)} ${what}`)
  process.stderr.write(`${['Name a proof:', ...known].join('\n')}\n`)
  process.exit(1)
}
await import(proof.file)
