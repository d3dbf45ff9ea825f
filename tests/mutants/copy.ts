import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BUN } from '../run/children'

/** Everything that tests read but the packages, which are linked. */
const PARTS = ['src', 'cli', 'drizzle', 'tests', '.ci', 'package.json', 'bunfig.toml', 'tsconfig.json', 'svc-admin']
const MORE = ['README.md', 'bun.lock', 'LICENSE']

export type Verdict = 'caught' | 'survived' | 'slow'

export type Copy = ReturnType<typeof makeCopy>

/** A copy of the tree in which mutations are made, so that the checkout is never changed. */
export function makeCopy(scratch: string, number: number) {
  const folder = join(scratch, `tree-${number}`)
  for (const part of [...PARTS, ...MORE]) cpSync(part, join(folder, part), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return {
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    /** Runs test files until the first failure. A run that takes longer than `mostMs` was held up by the fault. */
    async test(files: readonly string[], maxMs: number, env: Record<string, string> = {}): Promise<Verdict> {
      if (!files.length) return 'survived'
      const paths = files.map((file) => `./${file}`)
      const command = [BUN, 'test', '--no-isolate', '--bail=1', '--timeout=60000', ...paths]
      return run(command, maxMs, env)
    },
    /** What the test command checks besides tests when a file is changed: migrations of tables, and types. */
    async checked(file: string, maxMs: number): Promise<Verdict> {
      const isTable = file.endsWith('/table.ts')
      const generated = isTable ? await run([BUN, 'drizzle/generate.ts', '--check'], maxMs, {}) : 'survived'
      return generated === 'survived' ? run([BUN, 'run', 'check:types'], maxMs, {}) : generated
    },
  }

  async function run(command: string[], maxMs: number, env: Record<string, string>): Promise<Verdict> {
    const temporary = mkdtempSync(join(scratch, 'run-'))
    const settings = Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_'))
    const child = Bun.spawn(['nice', '-n', '2', ...command], {
      cwd: folder,
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
      detached: true,
      env: { ...Object.fromEntries(settings), ...env, TMPDIR: temporary },
    })
    let late = false
    const timer = setTimeout(() => {
      late = true
      endGroup(child.pid)
    }, maxMs)
    const code = await child.exited
    clearTimeout(timer)
    endGroup(child.pid)
    rmSync(temporary, { recursive: true, force: true })
    return late ? 'slow' : code === 0 ? 'survived' : 'caught'
  }
}

/** A test may have started servers, and one that failed has left them. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left.
  }
}
