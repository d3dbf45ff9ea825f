import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../support/free-port'
import { cleanEnv } from '../support/server-process'

export type Clone = Awaited<ReturnType<typeof cloneRepository>>

export type Typed = { exitCode: number; stdout: string; stderr: string }

const STARTS_WITHIN_MS = 120_000

/** A fresh copy of what the repository holds, and a shell in it: what a stranger has after `git clone`. */
export async function cloneRepository() {
  const folder = mkdtempSync(join(tmpdir(), 'svc-first-run-'))
  const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  if (listed.exitCode !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`)
  for (const file of listed.stdout.toString().split('\0').filter(Boolean)) {
    if (!existsSync(file)) continue
    const target = join(folder, file)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(file, target)
    chmodSync(target, statSync(file).mode)
  }
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = cleanEnv({ SVC_PORT: String(port) })
  const here = (text: string) => text.replaceAll('127.0.0.1:3400', `127.0.0.1:${port}`)

  return {
    folder,
    url,
    env,
    /** Text of the README with the port of this copy. */
    here,
    path: (...parts: string[]) => join(folder, ...parts),
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),

    /** Types a block into a shell that stops at the first failure. */
    async type(text: string): Promise<Typed> {
      const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', here(text)], {
        cwd: folder,
        env,
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      return { exitCode: await child.exited, stdout, stderr }
    },

    /** Types a block that serves, waits until it answers, and leaves it running in a process group of its own. */
    async serve(text: string) {
      const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', here(text)], {
        cwd: folder,
        env,
        detached: true,
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      const end = async () => {
        if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL')
        await child.exited
      }
      const deadline = performance.now() + STARTS_WITHIN_MS
      while (!(await answers(url))) {
        if (child.exitCode === null && performance.now() < deadline) {
          await Bun.sleep(50)
          continue
        }
        await end()
        throw new Error(`nothing answers at ${url}:\n${(await output).join('')}`)
      }
      return { exited: child.exited, output: async () => (await output).join(''), end }
    },

    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/api/v1/health`)).ok
  } catch {
    return false
  }
}
