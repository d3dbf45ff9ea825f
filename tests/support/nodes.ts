import { Database } from 'bun:sqlite'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { eventually } from './eventually'
import type { seededRandom } from './random'
import { devKeyOf, type ServerProcess, startServerProcess } from './server-process'
import { createMigratedDatabase } from './store'

type Input = {
  random: ReturnType<typeof seededRandom>
  /** A Postgres server: two nodes on one database, each with a folder of its own. Without it one node on SQLite. */
  postgres: string | undefined
  env: Record<string, string>
  /** How long an answer is waited for while nodes are killed. */
  patienceMs: number
}

const SOONEST = `SELECT (SELECT min(run_at) FROM jobs) AS run_at, (SELECT min(lease_until) FROM jobs) AS lease_until,
  (SELECT min(run_at) FROM job_asks) AS asked`
const LOOK_MS = 200

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = any

/** Nodes that are killed and started again while they are asked, each question to any of them. */
export async function startNodes({ random, postgres, env, patienceMs }: Input) {
  const root = mkdtempSync(join(tmpdir(), 'svc-nodes-'))
  const database = postgres === undefined ? null : await createMigratedDatabase(postgres)
  const nodes = new Map<string, ServerProcess>()
  /** Since when at least one of them is up; null while none is. */
  let upSince: number | null = null
  const folderOf = (name: string) => join(root, name)
  const secretsOf = (name: string) => join(root, name, 'secrets.json')
  try {
    await boot('a')
    if (database) {
      mkdirSync(folderOf('b'), { mode: 0o700 })
      cpSync(secretsOf('a'), secretsOf('b'))
      await boot('b')
    }
  } catch (error) {
    await close()
    throw error
  }
  const key = devKeyOf(folderOf('a'))
  const names = [...nodes.keys()]
  const anyName = () => names[random.between(0, names.length - 1)]!

  async function boot(name: string): Promise<void> {
    const own = { ...env, ...(database ? { SVC_DATABASE_URL: database.url } : {}) }
    nodes.set(name, await startServerProcess({ dataDir: folderOf(name), env: own }))
    upSince ??= Date.now()
  }

  async function close(): Promise<void> {
    for (const node of nodes.values()) await node.kill()
    await database?.drop()
    rmSync(root, { recursive: true, force: true })
  }

  /** Kills one of them and starts it again, after a pause. */
  async function killOne(pauseMs = 0): Promise<void> {
    const victim = anyName()
    if (nodes.size === 1) upSince = null
    await nodes.get(victim)!.kill()
    await Bun.sleep(pauseMs)
    await boot(victim)
  }

  /** Reads, or with a body posts. Throws where no answer came or it is a refusal. */
  async function ask(path: string, body?: unknown, more: Record<string, string> = {}): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
    const input = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${nodes.get(anyName())!.url}/api/v1/${path}`, { headers, ...input })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }

  /** Until it is answered: an Idempotency-Key keeps a repeated request to one effect. */
  const surely = (path: string, body?: unknown, once?: string): Promise<Answer> =>
    eventually<Answer>(
      () => ask(path, body, once ? { 'idempotency-key': once } : {}).catch(() => null),
      Boolean,
      patienceMs,
    )

  /**
   * Looks at the jobs until it is told to stop, and says how long one that was due or asked for, or whose lease had
   * ended, stood there at most while a node was up, in milliseconds.
   */
  function watchOverdue(): () => Promise<number> {
    let isOver = false
    const looking = (async () => {
      const shared = database && new SQL(database.url, { max: 1 })
      const file = shared ? null : new Database(join(folderOf('a'), 'svc.db'), { readonly: true })
      let longestMs = 0
      while (!isOver) {
        const [row] = shared ? await shared.unsafe(SOONEST) : file!.query(SOONEST).all()
        const moments = Object.values(row as Record<string, number | string | null>)
        const oldest = Math.min(...moments.map((at) => Number(at ?? Infinity)))
        if (upSince !== null) longestMs = Math.max(longestMs, Date.now() - Math.max(oldest, upSince))
        await Bun.sleep(LOOK_MS)
      }
      await shared?.close()
      file?.close()
      return longestMs
    })()
    return () => {
      isOver = true
      return looking
    }
  }

  return { ask, surely, killOne, watchOverdue, close, isShared: database !== null }
}
