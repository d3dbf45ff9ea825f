import { Database } from 'bun:sqlite'
import { afterAll } from 'bun:test'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { and, eq, isNotNull } from 'drizzle-orm'
import { type OpenApp, openApp } from '../../src/app/open'
import { createLog } from '../../src/kernel/log'
import { takeovers } from '../../src/takeovers/table'
import type { World } from '../support/world'

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
  database.run('PRAGMA busy_timeout = 10000')
  return {
    run: async (text) => database.run(text),
    all: async (text) => database.query(text).all(),
    close: async () => database.close(),
  }
}

/**
 * Has the database itself write down what is committed to chats. Everything that does so holds the lock of the chat's
 * takeover, so the order of the rows is that of the commits.
 */
export async function watchCommits(world: World) {
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
    /** Its holder has been silent for too long. */
    age: (chat: string) =>
      world.app.store.write(async (tx) => {
        const t = tx.of(takeovers)
        await tx
          .update(t)
          .set({ until: 1 })
          .where(and(eq(t.subject_id, chat), isNotNull(t.until)))
      }),
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

/** Where the history of one chat breaks the rule: the AI is silent while a person has it, and after one had it meanwhile. */
export function violationsOf(log: Log): string[] {
  const byChat = Map.groupBy(log, ({ chat }) => chat)
  return [...byChat].flatMap(([chat, rows]) => {
    let holder = 'ai'
    let takenSinceAsked = false
    return rows.flatMap(({ what }, at) => {
      if (what === 'human' || what === 'ai') {
        holder = what
        takenSinceAsked ||= what === 'human'
        return []
      }
      if (what === 'user') takenSinceAsked = holder === 'human'
      const isWrong = what === 'assistant' && (holder === 'human' || takenSinceAsked)
      return isWrong ? [`${chat} ${at}: ${rows.map(({ what }) => what).join(' ')}`] : []
    })
  })
}
