/** The Bun that runs this: it need not be on PATH. */
export const BUN = process.execPath

/** How many passed and failed, of tests or of a check as one. */
export type Tally = { passed: number; failed: number }

/** Also the files with a failed test that passed when they ran once more, with nothing beside them. */
export type TestTally = Tally & { unsteady: string[] }

/** More files than this that fail are no matter of a busy machine: they do not run again. */
const MOST_AGAIN = 2

/** A test that takes longer hangs, even on a machine much slower than usual. */
const MOST_TEST_MS = 120_000

type TestOptions = { workers: number; env: Record<string, string>; say?: (text: string) => void }

const toOutput = (text: string) => void process.stdout.write(text)

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
 *
 * One or two files that fail run once more, alone. What passes then is no failure of this run but is named in it: the
 * test or the product depends on what else the machine does, and somebody has to find out which.
 */
export async function runTests(files: readonly string[], options: TestOptions): Promise<TestTally> {
  const first = await runOnce(files, options)
  const again = first.failed ? first.failedFiles : []
  if (!again.length || again.length > MOST_AGAIN) return { ...first, unsteady: [] }
  const { say = toOutput } = options
  say(`\n── once more, alone: ${again.join(', ')}\n`)
  const second = await runOnce(again, { ...options, workers: 1 })
  if (second.failed) return { ...first, unsteady: [] }
  return { passed: first.passed + first.failed, failed: 0, unsteady: again }
}

async function runOnce(files: readonly string[], { workers, env, say = toOutput }: TestOptions) {
  if (!files.length) return { passed: 0, failed: 0, failedFiles: [] }
  const command = [
    BUN,
    'test',
    `--parallel=${workers}`,
    '--no-isolate',
    '--only-failures',
    `--timeout=${MOST_TEST_MS}`,
    ...files.map((file) => `./${file}`),
  ]
  const { exitCode, text } = await run(command, env, say)
  const failed = exitCode === 0 ? summed(text, 'fail') : Math.max(1, summed(text, 'fail'))
  return { passed: summed(text, 'pass'), failed, failedFiles: failedFiles(text, files) }
}

/** The files with a line `(fail)` below their heading; none where a failure has no such line (a crash of the runner). */
function failedFiles(text: string, files: readonly string[]): string[] {
  const found = new Set<string>()
  let current = ''
  for (const line of text.split('\n')) {
    if (line.endsWith(':') && files.includes(line.slice(0, -1))) current = line.slice(0, -1)
    else if (line.startsWith('(fail)') && current) found.add(current)
  }
  return [...found]
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
