import { writeFileSync } from 'node:fs'
import { expectData } from '../failure'
import { settingsOf } from '../settings'
import { fromHere } from '../transport'
import type { Context, Result } from './check'

/** How many of the newest requests are reported. */
const MAX_LINES = 500

/**
 * Writes what a person who helps needs to know, as a packed archive, and first says what is in it (dx 2.19): the
 * checks, versions, the settings without secrets, and the newest requests without what was sent.
 */
export async function writeReport(context: Context, results: readonly Result[], out: string): Promise<void> {
  const { shell } = context
  const files: Record<string, string> = {
    'doctor.json': json(results),
    'versions.json': json({ bun: Bun.version, platform: `${process.platform}-${process.arch}` }),
  }
  const attempts: Record<string, () => Promise<unknown>> = {
    'settings.json': () => settingsOf(shell),
    'status.json': async () => expectData(await (await context.connect()).ops().status.get()),
    'requests.json': () => requestsOf(context),
  }
  for (const [name, attempt] of Object.entries(attempts)) {
    files[name] = json(await attempt().catch((error: Error) => ({ not_there: error.message })))
  }
  for (const [name, text] of Object.entries(files)) shell.note(`  ${name}  ${text.length} characters`)
  const packed = await new Bun.Archive(files, { compress: 'gzip' }).bytes()
  writeFileSync(fromHere(shell.cwd, out), packed, { mode: 0o600 })
  shell.note(`Written to ${out}. Read it before you send it.`)
}

async function requestsOf(context: Context): Promise<unknown[]> {
  const connection = await context.connect()
  const { topics } = expectData(await connection.ops().snapshot.get({ query: { topics: 'logs' } }))
  return topics.flatMap(({ rows }) => rows as unknown[]).slice(0, MAX_LINES)
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
