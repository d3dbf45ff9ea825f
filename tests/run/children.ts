/** The Bun that runs this: it need not be on PATH. */
export const BUN = process.execPath

/** How many passed and failed, of tests or of a check as one. */
export type Tally = { passed: number; failed: number }

/** A test that takes longer hangs, even on a machine much slower than usual. */
const MOST_TEST_MS = 120_000

type TestOptions = { workers: number; env: Record<string, string> }

/** A check passes or fails as a whole; what it says is shown only when it fails. */
export async function runCheck(command: string[]): Promise<Tally> {
  const { exitCode, text } = await run(command, {}, () => undefined)
  if (exitCode !== 0) process.stdout.write(text)
  return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/**
 * Runs test files with Bun's own runner and reads its closing summary. Workers keep their modules from file to
 * file: loading the whole product anew for each was more than half of the work. Each file has a store, a world
 * and a clock of its own, so there is nothing in the modules that one could leave behind for the next. A runner that ends badly
 * without a failed test (a crash, a file that does not load) counts as one failure.
 */
export async function runTests(files: readonly string[], { workers, env }: TestOptions): Promise<Tally> {
  if (!files.length) return { passed: 0, failed: 0 }
  const command = [
    BUN,
    'test',
    `--parallel=${workers}`,
    '--no-isolate',
    '--only-failures',
    `--timeout=${MOST_TEST_MS}`,
    ...files.map((file) => `./${file}`),
  ]
  const { exitCode, text } = await run(command, env, (chunk) => process.stdout.write(chunk))
  const passed = summed(text, 'pass')
  const failed = summed(text, 'fail')
  return { passed, failed: exitCode === 0 ? failed : Math.max(1, failed) }
}

/** The last line of the form ` 12 pass`: a test may print one of its own before. */
function summed(text: string, word: 'pass' | 'fail'): number {
  const found = [...text.matchAll(new RegExp(`^\\s*(\\d+) ${word}$`, 'gm'))].at(-1)
  return found ? Number(found[1]) : 0
}

/** This environment without settings of the product: they would reach the servers under test. */
const unconfigured = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')))

async function run(command: string[], env: Record<string, string>, onText: (chunk: string) => void) {
  const child = Bun.spawn(command, {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...unconfigured(), FORCE_COLOR: '0', NO_COLOR: '1', ...env },
  })
  const parts: string[] = []
  const drain = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of stream) {
      const chunk = decoder.decode(bytes, { stream: true })
      parts.push(chunk)
      onText(chunk)
    }
  }
  await Promise.all([drain(child.stdout), drain(child.stderr)])
  return { exitCode: await child.exited, text: parts.join('') }
}
