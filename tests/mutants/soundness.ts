import type { Copy } from './copy'

type Env = Record<string, string>
type Fault = { file: string; text: string; faulty: string }

/**
 * A run with a fault may take so much longer than the one without; a run that takes longer was held up by the fault.
 */
const TIMES_LONGER = 5
const MIN_MS = 60_000
const MAX_MS = 900_000
/** Before it is known how long they take; a run that takes longer is asked again when it is. */
const FIRST_MS = 180_000

/** Asks test files about faults, and only those that say nothing against the code without a fault. */
export function createSoundness(print: (line: string) => void) {
  /** How long each file took without a fault, in milliseconds; null when it failed. */
  const known = new Map<string, Promise<number | null>>()

  return { sees }

  /** Whether one of these files fails because of the fault. */
  async function sees(copy: Copy, files: readonly string[], env: Env, { file, text, faulty }: Fault): Promise<boolean> {
    const verdictOf = async (requests: readonly string[], ms: number) => {
      copy.write(file, faulty)
      const verdict = await copy.test(requests, ms, env)
      copy.write(file, text)
      return verdict
    }
    // Files that pass with the fault pass without it: whether they are sound matters only where one fails.
    const isKnown = files.every((one) => known.has(nameOf(one, env)))
    if (!isKnown && (await verdictOf(files, FIRST_MS)) === 'survived') return false
    const { sound, tookMs } = await soundOf(copy, files, env)
    for (let maxMs = Math.max(MIN_MS, tookMs * TIMES_LONGER); ; maxMs *= 2) {
      const verdict = await verdictOf(sound, maxMs)
      if (verdict !== 'slow') return verdict === 'caught'
      // The machine may be busier than it was: then the run without the fault takes long as well.
      const started = performance.now()
      await copy.test(sound, maxMs, env)
      if ((performance.now() - started) * 3 < maxMs) return true
      if (maxMs > MAX_MS) return false
    }
  }

  async function soundOf(copy: Copy, files: readonly string[], env: Env) {
    const unknown = files.filter((file) => !known.has(nameOf(file, env)))
    const tried = measured(copy, unknown, env)
    for (const file of unknown)
      known.set(
        nameOf(file, env),
        tried.then((took) => took.get(file) ?? null),
      )
    const took = await Promise.all(files.map(async (file) => ({ file, ms: await known.get(nameOf(file, env))! })))
    const sound = took.filter(({ ms }) => ms !== null)
    return { sound: sound.map(({ file }) => file), tookMs: sound.reduce((sum, { ms }) => sum + ms!, 0) }
  }

  /** Runs them together, and one by one when one of them fails. */
  async function measured(copy: Copy, files: readonly string[], env: Env): Promise<Map<string, number>> {
    if (!files.length) return new Map()
    const started = performance.now()
    const verdict = await copy.test(files, MAX_MS, env)
    const tookMs = performance.now() - started
    if (verdict === 'survived') return new Map(files.map((file) => [file, tookMs / files.length]))
    if (files.length === 1) {
      print(`  left out, for it fails without a fault: ${files[0]}`)
      return new Map()
    }
    const found = new Map<string, number>()
    for (const file of files) for (const [name, ms] of await measured(copy, [file], env)) found.set(name, ms)
    return found
  }
}

const nameOf = (file: string, env: Env): string => `${env.SVC_TEST_POSTGRES_URL ? 'postgres' : 'sqlite'} ${file}`
