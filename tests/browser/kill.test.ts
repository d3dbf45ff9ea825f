import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { startServerProcess } from '../support/server-process'
import { hasChromium } from './support'

type Status = { pid: number; parent: number; state: string }

const statuses = (): Status[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/status`, 'utf8')
        const [state, parent] = [/^State:\s+(\w)/m.exec(text)?.[1] ?? '', Number(/^PPid:\s+(\d+)/m.exec(text)?.[1])]
        return [{ pid: Number(name), parent, state }]
      } catch {
        return []
      }
    })

/** Every process that this one started, and those that they did. */
function startedBy(pid: number, all = statuses()): number[] {
  const children = all.filter(({ parent }) => parent === pid).map((child) => child.pid)
  return [...children, ...children.flatMap((child) => startedBy(child, all))]
}

const alive = (pids: readonly number[]): number[] =>
  statuses()
    .filter(({ pid, state }) => pids.includes(pid) && state !== 'Z')
    .map(({ pid }) => pid)

describe.skipIf(!hasChromium || process.platform !== 'linux')(
  'kill -9 of a server with twenty sessions (I34, N17)',
  () => {
    test('leaves no Chromium, and the next start ends the sessions', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'svc-browser-kill-'))
      const env = { SVC_BROWSER_SESSIONS_PER_USER: '20' }
      const first = await startServerProcess({ dataDir: folder, env })
      const key = readFileSync(join(folder, 'dev-key'), 'utf8').trim()
      const send = (url: string, method: string, path: string) =>
        fetch(`${url}/api/v1/${path}`, {
          method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(method === 'POST' ? { body: '{}' } : {}),
        }).then((response) => response.json() as Promise<Record<string, unknown>>)
      const started = []
      for (let at = 0; at < 20; at++) started.push(await send(first.url, 'POST', 'browser/sessions'))
      expect(started.every(({ session_id }) => session_id)).toBe(true)
      const left = startedBy(first.pid)
      expect(left.length).toBeGreaterThan(3)
      process.kill(first.pid, 'SIGKILL')
      await first.exited
      await eventually(() => alive(left).length === 0)
      expect(alive(left)).toEqual([])
      const second = await startServerProcess({ dataDir: folder, env })
      const open = async () => (await send(second.url, 'GET', 'browser/sessions')).sessions as unknown[]
      await eventually(async () => (await open()).length === 0)
      expect(await open()).toEqual([])
      const one = await send(second.url, 'GET', `browser/sessions/${started[0]!.session_id}`)
      expect(one).toMatchObject({ status: 'ended', ended_reason: 'lost' })
      await second.kill()
      rmSync(folder, { recursive: true, force: true })
    }, 120_000)
  },
)
