/** Prompts that ordinary code answers, so that a seeded server needs no language model. */
const REQUESTS = [
  { mode: 'fast', prompt: 'Count to {n}' },
  { mode: 'fast', prompt: 'What is {n} times 17?' },
  { mode: 'think', prompt: 'How many days are there between 2026-01-01 and 2026-03-{n}?' },
  { mode: 'code', prompt: 'Write a regular expression for exactly {n} digits' },
  { mode: 'auto', prompt: 'Convert {n} miles to kilometres' },
  { mode: 'auto', prompt: 'Summarise: The harbour opens at {n} o’clock. Boats leave with the tide. Nobody waits.' },
] as const

/** The nth prompt, each a little different, so that the cache answers some and not all. */
export function promptOf(n: number): { mode: string; prompt: string } {
  const { mode, prompt } = REQUESTS[n % REQUESTS.length]!
  return { mode, prompt: prompt.replace('{n}', String(10 + ((n * 7) % 18))) }
}
