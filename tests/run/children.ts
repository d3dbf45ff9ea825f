import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** The Bun that runs this: it need not be on PATH. */
export const BUN = process.execPath

/** How many passed and failed, of tests or of a check as one. */
export type Tally = { passed: number; failed: number }

export type FileTally = Tally & { file: string; seconds: number }

/** Also each file, and those with a failed test that passed when they ran once more, with nothing beside them. */
export type TestTally = Tally & { files: FileTally[]; unsteady: string[] }

/** More files than this that fail are no matter of a busy machine: they do not run again. */
const MAX_AGAIN = 2

/** A test that takes longer hangs, even on a machine much slower than usual. */
const MAX_TEST_MS = 120_000

type TestOptions = { workers: number; env: Record<string, string>; say?: (text: string) => void }

const toOutput = (text: string) => void process.stdout.write(text)

/** A check passes or fails as a whole; what it says is shown only when it fails. */
export async function runCheck(command: string[], env: Record<string, string>): Promise<Tally> {
  const { exitCode, text } = await run(command, env, () => undefined)
  if (exitCode !== 0) process.stdout.write(text)
  return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

/**
 * Runs test files with Bun's own runner and reads its closing summary. Workers keep their modules from file to
 * file: loading the whole product anew for each was more than half of the work. Each file has a store, a world
 * and a clock of its own, so there is nothing in the modules that one could leave behind for the next. A runner that
 * ends badly without a failed test (a crash, a file that does not load) counts as one failure.
 *
 * One or two files that fail run once more, alone. What passes then is no failure of this run but is named in it: the
 * test or the product depends on what else the machine does, and somebody has to find out which.
 */
export async function runTests(files: readonly string[], options: TestOptions): Promise<TestTally> {
  const first = await runOnce(files, options)
  const again = first.files.filter(({ failed }) => failed).map(({ file }) => file)
  const isKnown = first.failed === failedIn(first.files)
  if (!isKnown || !again.length || again.length > MAX_AGAIN) return { ...first, unsteady: [] }
  const { say = toOutput } = options
  say(`\n── once more, alone: ${again.join(', ')}\n`)
  const second = await runOnce(again, { ...options, workers: 1 })
  if (second.failed) return { ...first, unsteady: [] }
  const steady = first.files.filter(({ failed }) => !failed)
  return { passed: first.passed + first.failed, failed: 0, files: [...steady, ...second.files], unsteady: again }
}

const failedIn = (files: readonly FileTally[]) => files.reduce((sum, { failed }) => sum + failed, 0)

async function runOnce(files: readonly string[], { workers, env, say = toOutput }: TestOptions) {
  if (!files.length) return { passed: 0, failed: 0, files: [] }
  const report = join(env.TMPDIR ?? tmpdir(), `report-${crypto.randomUUID()}.xml`)
  const command = [
    BUN,
    'test',
    `--parallel=${workers}`,
    '--no-isolate',
    '--only-failures',
    `--timeout=${MAX_TEST_MS}`,
    '--reporter=junit',
    `--reporter-outfile=${report}`,
    ...files.map((file) => `./${file}`),
  ]
  const { exitCode, text } = await run(command, env, say)
  const failed = exitCode === 0 ? summed(text, 'fail') : Math.max(1, summed(text, 'fail'))
  return { passed: summed(text, 'pass'), failed, files: await talliesIn(report) }
}

/**
 * The suites of files in a report of Bun's; those within them are groups of tests. A file that did not load has none.
 */
async function talliesIn(report: string): Promise<FileTally[]> {
  if (!(await Bun.file(report).exists())) return []
  const text = await Bun.file(report).text()
  await Bun.file(report).delete()
  return [...text.matchAll(/^ {2}<testsuite name="[^"]*" file="([^"]*)" (.*)>$/gm)].map(([, file, counts]) => {
    const count = (name: string) => Number(new RegExp(`\\b${name}="([\\d.]+)"`).exec(counts!)?.[1] ?? 0)
    const failed = count('failures')
    return {
      file: relative('.', file!),
      passed: count('tests') - failed - count('skipped'),
      failed,
      seconds: count('time'),
    }
  })
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
