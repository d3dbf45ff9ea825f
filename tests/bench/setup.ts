import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, type ConfigOverrides, loadConfig } from '../../src/app/config'
import { type OpenApp, openApp } from '../../src/app/open'
import type { Clock } from '../../src/kernel/clock'
import { createLog } from '../../src/kernel/log'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { createMigratedDatabase } from '../support/store'

export const print = (line = ''): void => void process.stdout.write(`${line}\n`)

/** The word of `--name=word`. */
export const option = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)

/** The number of `--name=7`, or the usual one. */
export const count = (name: string, usual: number): number => Number(option(name) ?? usual)

/** A new empty folder, removed when this process ends. */
export function benchFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `svc-bench-${name}-`))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Limits that no benchmark meets. */
const OPEN = { rpm: 1_000_000, tpm: 1_000_000_000 }
export const OPEN_TIERS = { free: OPEN, starter: OPEN, pro: OPEN, enterprise: OPEN }

export const benchConfig = (dataDir: string, more: ConfigOverrides = {}): Config =>
  loadConfig({ dataDir, tiers: OPEN_TIERS, ...more })

export const openQuietly = (config: Config, clock?: Clock): Promise<OpenApp> => {
  const log = createLog({ level: 'error', pretty: true, write: (line) => void process.stderr.write(line) })
  return openApp({ config, log, ...(clock && { clock }) })
}

/** The product in this process: on SQLite, or with `--postgres=URL` on a database that `close` drops. */
export async function openBench(name: string, more: ConfigOverrides = {}, clock?: Clock) {
  const folder = benchFolder(name)
  const server = option('postgres')
  const database = server === undefined ? null : await createMigratedDatabase(server)
  const place = database
    ? ({ dialect: 'postgres', url: database.url } as const)
    : ({ dialect: 'sqlite', path: join(folder, 'svc.db') } as const)
  const config = benchConfig(folder, { ...(database && { databaseUrl: database.url }), ...more })
  const app = await openQuietly(config, clock)
  const close = async () => {
    await app.close()
    await database?.drop()
  }
  return { app, place, close }
}

/** A server in a process and a folder of its own. `ask` reads, or with a body posts, and trusts that
 * the answer has the type that is asked for; it throws what is refused. */
export async function serveBench(name: string, env: Record<string, string> = {}) {
  const dataDir = benchFolder(name)
  const server = await startServerProcess({ dataDir, env })
  const headers = { authorization: `Bearer ${devKeyOf(dataDir)}`, 'content-type': 'application/json' }
  async function ask<Answer>(path: string, body?: object): Promise<Answer> {
    const input = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    const response = await fetch(`${server.url}/api/v1/${path}`, { headers, ...input })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    const isJson = response.headers.get('content-type')?.includes('json')
    return (isJson ? response.json() : response.text()) as Promise<Answer>
  }
  return { ...server, dataDir, headers, ask }
}
