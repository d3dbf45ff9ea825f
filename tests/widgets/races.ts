import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { type OpenApp, openApp } from '../../src/app/open'
import { createLog } from '../../src/kernel/log'
import type { World } from '../support/world'
import { SHOP } from './world'

/** What was committed to a chat, in order: the roles of messages, and who had it from then on. */
export type Log = { chat: string; what: string }[]

type Raw = { run(text: string): Promise<unknown>; all(text: string): Promise<unknown[]>; close(): Promise<void> }

function opened({ config, folder }: Pick<World, 'config' | 'folder'>): Raw {
  if (config.databaseUrl) {
    const client = new SQL(config.databaseUrl, { max: 1 })
    const all = async (text: string) => [...(await client.unsafe(text))]
    return { run: all, all, close: () => client.close() }
  }
  const database = new Database(join(folder, 'svc.db'))
  // A wait of SQLite's own would stop the app in this process, which could then never commit what is waited for.
  database.run('PRAGMA busy_timeout = 0')
  const run = async (text: string): Promise<unknown> => {
    try {
      return database.run(text)
    } catch (error) {
      if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error
      await Bun.sleep(1)
      return run(text)
    }
  }
  return { run, all: async (text) => database.query(text).all(), close: async () => database.close() }
}

/**
 * Has the database itself write down what is committed to chats. Everything that does so holds the lock of the chat's
 * takeover, so the order of the rows is that of the commits.
 */
export async function watchCommits(world: Pick<World, 'config' | 'folder'>) {
  const raw = opened(world)
  const isPostgres = Boolean(world.config.databaseUrl)
  await raw.run(
    isPostgres
      ? 'CREATE TABLE race_log (seq bigserial PRIMARY KEY, chat text, what text)'
      : 'CREATE TABLE race_log (seq integer PRIMARY KEY AUTOINCREMENT, chat text, what text)',
  )
  const log = (chat: string, what: string) => `INSERT INTO race_log (chat, what) VALUES (NEW.${chat}, NEW.${what});`
  const trigger = async (name: string, on: string, when: string, body: string) => {
    if (!isPostgres) return raw.run(`CREATE TRIGGER ${name} AFTER ${on} ${when} BEGIN ${body} END`)
    await raw.run(
      `CREATE FUNCTION ${name}_log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$`,
    )
    return raw.run(`CREATE TRIGGER ${name} AFTER ${on} FOR EACH ROW ${when} EXECUTE FUNCTION ${name}_log()`)
  }
  await trigger('race_messages', 'INSERT ON widget_messages', '', log('session_id', 'role'))
  await trigger('race_takeovers', 'UPDATE ON takeovers', 'WHEN (NEW.fence <> OLD.fence)', log('subject_id', 'status'))
  afterAll(() => raw.close())
  return {
    log: async () => (await raw.all('SELECT chat, what FROM race_log ORDER BY seq')) as Log,
    /** How often units waited for each other until Postgres ended one of them. */
    deadlocks: async (): Promise<number> => {
      if (!isPostgres) return 0
      const [found] = (await raw.all(
        'SELECT deadlocks::int AS times FROM pg_stat_database WHERE datname = current_database()',
      )) as [{ times: number }]
      return found.times
    },
    /** Its holder has been silent for too long. */
    age: (chat: string) => raw.run(`UPDATE takeovers SET until = 1 WHERE subject_id = '${chat}' AND until IS NOT NULL`),
  }
}

/** Another process's app on the same Postgres. */
export async function openSecond({ config, folder, clock }: World): Promise<OpenApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-second-'))
  copyFileSync(join(folder, 'secrets.json'), join(dataDir, 'secrets.json'))
  const log = createLog({ level: 'error', pretty: false, write: () => undefined })
  const app = await openApp({ config: { ...config, dataDir }, clock, log })
  afterAll(async () => {
    await app.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return app
}

/**
 * Where the history of one chat breaks the rule: the AI is silent while a person has it, and after one had it
 * meanwhile.
 */
export function violationsOf(log: Log): string[] {
  return [...Map.groupBy(log, ({ chat }) => chat)].flatMap(([chat, rows]) => {
    let holder = 'ai'
    let takenSinceRequested = false
    return rows.flatMap(({ what }, at) => {
      if (what === 'human' || what === 'ai') {
        holder = what
        takenSinceRequested ||= what === 'human'
        return []
      }
      if (what === 'user') takenSinceRequested = holder === 'human'
      const isWrong = what === 'assistant' && (holder === 'human' || takenSinceRequested)
      return isWrong ? [`${chat} ${at}: ${rows.map(({ what }) => what).join(' ')}`] : []
    })
  })
}

const CHATS = 30

type Send = (method: string, path: string, body: object, headers: Record<string, string>) => Promise<Answer>
type Answer = { status: number; body: Record<string, unknown> }
type Race = {
  rounds: number
  key: string
  chats: readonly { sessionId: string; token: string }[]
  /** Asks any of the processes, below `/api/v1/iframes/{id}/`. */
  send: Send
  /** Its holder has been silent for too long. */
  silent(sessionId: string): Promise<unknown>
  /** The random numbers, which say who comes when. */
  between(min: number, max: number): number
}

export const raced = (begin: () => Promise<{ sessionId: string; token: string }>) =>
  Promise.all(Array.from({ length: CHATS }, begin))

/** Rounds of a visitor, two operators, a release and the clock, at once and in any order. */
export async function races({ rounds, key, chats, send, silent, between }: Race) {
  const seen = { answered: 0, silent: 0, statuses: new Set<number>() }
  const round = async (at: number) => {
    const { sessionId, token } = chats[at % chats.length]!
    const operate = (verb: string, body: object = {}) =>
      send('POST', `conversations/${sessionId}/${verb}`, body, { authorization: `Bearer ${key}` })
    const ask = async () => {
      const visitor = { authorization: `Bearer ${token}`, origin: SHOP }
      const content = `What is ${at} + 1?`
      const { status, body } = await send('POST', `sessions/${sessionId}/messages`, { content }, visitor)
      seen.statuses.add(status)
      if (body.reply) seen.answered += 1
      else seen.silent += 1
    }
    const moves = [
      ask,
      () => operate('takeover', { operator_name: 'Ann' }),
      () => operate('takeover', { operator_name: 'Bob', force: between(0, 1) === 1 }),
      () => operate('release'),
      () => silent(sessionId),
      () => operate('messages', { content: 'Hello' }),
    ]
    const begun = moves.map(async (move) => {
      await Bun.sleep(between(0, 25))
      await move()
    })
    await Promise.all(begun)
    await operate('release')
  }
  for (let at = 0; at < rounds; at += chats.length) await Promise.all(chats.map((_, chat) => round(at + chat)))
  return seen
}
